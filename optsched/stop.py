"""When to stop: small immutable criteria that combine with ``|`` (whichever comes first; after PyVRP)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import TypeVar

from optsched.errors import OptschedError

N = TypeVar("N", int, float)


@dataclass(frozen=True)
class Stop:
    """A stopping criterion; None means no such limit.

    Attributes
    ----------
    seconds
        Wall time since the run's clock started, building included.
    gap
        Relative gap, e.g. 0.01.
    iterations
        Of a heuristic or decomposition.

    Raises
    ------
    OptschedError
        A limit that is not a sensible number.
    """

    seconds: float | None = None
    gap: float | None = None
    iterations: int | None = None

    def __post_init__(self) -> None:
        for name in ("seconds", "gap", "iterations"):
            if not isinstance(told := getattr(self, name), Real | None):
                said = f"{name} of a Stop must be a number, got {told!r}"
                raise OptschedError(f"{said}; text goes to `solve`, as time_limit='10s'")
        if self.seconds is not None and not 0 < self.seconds < math.inf:
            raise OptschedError(f"time limit must be a positive number of seconds, got {self.seconds}")
        if self.gap is not None and not 0 <= self.gap < math.inf:
            raise OptschedError(f"gap must be a number from 0 on, e.g. 0.01 for one per cent, got {self.gap}")
        if self.iterations is not None and self.iterations < 1:
            raise OptschedError(f"iterations must be at least 1, got {self.iterations}")

    def __or__(self, other: Stop) -> Stop:
        """Stop as soon as one of the two would."""
        return Stop(
            _least(self.seconds, other.seconds),
            _largest(self.gap, other.gap),
            _least(self.iterations, other.iterations),
        )

    def reason(self, elapsed_s: float, gap: float | None = None, iterations: int = 0) -> str | None:
        """The termination word if it is time to stop, else None.

        Parameters
        ----------
        elapsed_s
            Seconds since the run began.
        gap
            Relative gap so far, or None.
        iterations
            So far.
        """
        if self.seconds is not None and elapsed_s >= self.seconds:
            return "time_limit"
        if self.gap is not None and gap is not None and gap <= self.gap:
            return "gap_limit"
        if self.iterations is not None and iterations >= self.iterations:
            return "iteration_limit"
        return None


def _least(a: N | None, b: N | None) -> N | None:
    return min((x for x in (a, b) if x is not None), default=None)


def _largest(a: N | None, b: N | None) -> N | None:
    return max((x for x in (a, b) if x is not None), default=None)


class Clock:
    """Wall time since it was made; one a run."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    def elapsed_s(self) -> float:
        """Seconds since the clock was made."""
        return time.perf_counter() - self._began


PER_JOB_S = 2e-5  # to make a schedule of found starts, check it, judge it and seal it, once a search has ended
MOST_KEPT = 0.4  # of a limit, for that


def deadline(seconds: float | None, jobs: int) -> float | None:
    """When a search must end so that its schedule of `jobs` jobs is judged within the limit; None without one."""
    return None if seconds is None else seconds - min(MOST_KEPT * seconds, PER_JOB_S * jobs)


class Spare:
    """Whether there is time left, asked every so often by what can end early with what it has.

    Without a deadline no clock is asked: the same seed gives the same result.

    Attributes
    ----------
    cut
        Whether something was left undone for want of time.
    """

    def __init__(
        self, clock: Clock | None = None, until: float | None = None, stopped: Callable[[], bool] | None = None
    ) -> None:
        self._clock, self._until, self._stopped = clock or Clock(), until, stopped
        self.cut = False

    def __call__(self) -> bool:
        """True while there is time."""
        over = self.left_s() <= 0 or (self._stopped is not None and self._stopped())
        self.cut |= over
        return not over

    def left_s(self) -> float:
        """Seconds to the deadline, infinite without one."""
        return math.inf if self._until is None else self._until - self._clock.elapsed_s()
