"""Progress for people: lines of the logger ``optsched``, which `displayed` lets reach standard error."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from optsched.certificate import relative_gap
from optsched.report import number, percent
from optsched.stop import Clock

if TYPE_CHECKING:
    from optsched.instances.base import Instance
    from optsched.monitor import Progress

LOGGER = logging.getLogger("optsched")
EVERY_S = 1.0  # between two rows of a table


@contextmanager
def displayed(show: bool) -> Iterator[None]:
    """While the block runs, what the logger is told at level INFO goes to standard error."""
    if not show:
        yield
        return
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(message)s"))
    level, passed_on = LOGGER.level, LOGGER.propagate
    LOGGER.addHandler(handler)
    LOGGER.setLevel(min(level or logging.INFO, logging.INFO))
    LOGGER.propagate = False  # or a program with a log of its own shows every line twice
    try:
        yield
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(level)
        LOGGER.propagate = passed_on


class _Table:
    """Rows at most every second, under a header; the first row comes at once."""

    def __init__(self, columns: tuple[str, ...]) -> None:
        self._columns, self._clock, self._next = columns, Clock(), 0.0
        self._last: tuple[str, ...] = ()

    def row(self, *cells: str) -> None:
        """Tell a row, where there is news and the last one is long enough ago."""
        now = self._clock.elapsed_s()
        if not LOGGER.isEnabledFor(logging.INFO) or now < self._next or cells[1:] == self._last[1:]:
            return
        if not self._last:
            LOGGER.info("".join(f"{name:>16}" for name in self._columns))
        LOGGER.info("".join(f"{cell:>16}" for cell in cells))
        self._next, self._last = now + EVERY_S, cells


def solving(instance: Instance, then: Callable[[Progress], None] | None = None) -> Callable[[Progress], None]:
    """What to call with progress: it tells the logger, and calls `then`."""
    unit = f"objective {instance.unit}".strip()[:15]
    table = _Table(("seconds", unit, "bound", "gap"))

    def report(progress: Progress) -> None:
        objective, bound = progress.objective, progress.bound
        gap = percent(relative_gap(objective, bound))
        table.row(f"{progress.seconds:.1f}", number(objective), number(bound), gap)
        if then is not None:
            then(progress)

    return report


def replaying(then: Callable[[dict[str, object]], None] | None = None) -> Callable[[dict[str, object]], None]:
    """The same for a replay: a row says when it is there, what happens, and how much is left."""
    table = _Table(("hours", "waiting", "left", "event"))

    def report(row: dict[str, object]) -> None:
        event = f"{row['event']}, fallback" if "fallback" in row else str(row["event"])
        seconds = row["time_s"]
        hours = f"{seconds / 3600:.2f}" if isinstance(seconds, int | float) else "-"
        table.row(hours, str(row["waiting"]), str(row["left"]), event)
        if then is not None:
            then(row)

    return report
