"""A trace: the jobs that a cluster has seen, as columns, and what had to be assumed to read them so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from optsched.errors import OptschedError, expect
from optsched.instances.base import LARGEST, Bools, Floats, frozen
from optsched.instances.readers.table import Skipped, Table, told

Times = Mapping[str, tuple[float | None, ...]]
BUSIEST: Literal["busiest"] = "busiest"
MULTIPLES = (1e-3, 1e3)  # of a duration, that an estimate may be
DESERTED = 0.1  # of the busiest window's jobs: a first window with fewer begins at an outlier


@dataclass(frozen=True)
class Trace:
    """Jobs as columns, in the order of submission.

    Attributes
    ----------
    units : GPUs or cores of each job. origin_s : second 0 of the columns on the trace's own clock. begins_s : when that is, in
        seconds since 1970 (UTC); None where the trace has no dates.
    time_s : real times of each job by GPU type and number, where a profile gives them; else empty.
    moments : points in time that only some traces give, seconds on the same clock: ``due``, ``earliest``, ``latest``.
    columns : what else only some give: ``weight``, ``priority``, ``source``, ``slack_s``, ``data_gb``, ``model_gb``,
        ``requested_s`` (what a user asked for, NaN where nobody did).
    assumed, warnings : sentences. skipped : number and fault of every row left out as broken.
    mapped : which column was said to be which field, of a table of one's own.
    """

    kind: str
    files: tuple[str, ...]
    ids: tuple[str, ...]
    submitted_s: Floats
    duration_s: Floats
    units: Floats
    assumed: tuple[str, ...]
    skipped: Skipped = ()
    time_s: tuple[Times, ...] = ()
    origin_s: float = 0.0
    begins_s: float | None = None
    moments: Mapping[str, Floats] = field(default_factory=dict)
    columns: Mapping[str, np.ndarray] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    mapped: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def estimates(self) -> list[float | None]:
        """What users asked for, as a multiple of what a job took; None where nobody did."""
        asked = self.columns.get("requested_s")
        if asked is None:
            return [None] * len(self)
        multiples = np.clip(asked / self.duration_s, *MULTIPLES).round(6).tolist()
        return [multiple if multiple == multiple else None for multiple in multiples]

    def where(self, chosen: Bools, sentence: str = "") -> Trace:
        """The chosen jobs; `sentence`, with a {} for how many others there were, is added where there were others."""
        out = int(len(self) - chosen.sum())
        return replace(self._at(np.flatnonzero(chosen)), assumed=self.assumed + ((sentence.format(out),) if out else ()))

    def window(
        self,
        from_s: float | Literal["busiest"] | None = None,
        hours: float | None = None,
        limit: int | None = None,
        sample: int | None = None,
        seed: int = 0,
    ) -> Trace:
        """Jobs submitted within `hours` from `from_s`, with `from_s` as the new second 0.

        `from_s` is on the trace's clock, or the hour at which the busiest window begins; if not given, the hour of the first
        submission, unless hardly any job is submitted in the window from there. A random `sample` of these is kept, then the
        first `limit`.
        """
        expect(1e-6, 1e7, hours=hours)
        expect(1, 10**9, limit=limit, sample=sample)
        expect(-1e300, 1e300, from_s=None if isinstance(from_s, str) else from_s)
        first = float(self.submitted_s.min(initial=0.0 if not len(self) else np.inf))
        start, why = self._start(from_s, hours, first // 3600 * 3600)
        end = np.inf if hours is None else start + hours * 3600
        order = np.argsort(self.submitted_s, kind="stable")
        inside = order[(self.submitted_s[order] >= start) & (self.submitted_s[order] < end)]
        if not len(inside):
            last = float(self.submitted_s.max(initial=0.0))
            raise OptschedError(
                f"no job of the trace is submitted in the window; it has {len(self)} jobs, {first:g} to {last:g} s"
            )
        if sample is not None and sample < len(inside):
            inside = inside[np.sort(np.random.default_rng(seed).choice(len(inside), sample, replace=False))]
        kept = self._at(inside[:limit])
        said = [f"Second 0 is second {start:.9g} of the trace{self._date(start)}{why}."] if start else []
        if len(kept) < len(self):
            said.append(f"{len(kept)} of the trace's {len(self)} jobs are kept (window, sample, limit).")
        return replace(
            kept,
            submitted_s=frozen(kept.submitted_s - start),
            origin_s=start,
            begins_s=None if self.begins_s is None else self.begins_s + start,
            assumed=(*self.assumed, *said),
            moments={name: frozen(moment - start) for name, moment in kept.moments.items()},
        )

    def _date(self, second: float) -> str:
        """When a second of the trace's clock is, where that is known."""
        moment = None if self.begins_s is None else self.begins_s + second
        return "" if moment is None or abs(moment) > LARGEST else f", {dated(moment)[:-6].replace('T', ' ')} UTC"

    def _start(self, from_s: float | Literal["busiest"] | None, hours: float | None, first: float) -> tuple[float, str]:
        """The second at which the window begins, and why where that is no matter of course."""
        if from_s is not None and from_s != BUSIEST:
            return from_s, ""
        if from_s == BUSIEST and hours is None:
            raise OptschedError("where the busiest window begins depends on its length: say so in hours (--hours 24)")
        if hours is None or not len(self):
            return first, ""
        times = np.sort(self.submitted_s)
        starts = np.unique(times // 3600 * 3600)
        inside = np.searchsorted(times, starts + hours * 3600) - np.searchsorted(times, starts)
        busiest, there = int(inside.argmax()), f"{hours:g} hours"
        if from_s is None and inside[0] >= DESERTED * inside[busiest]:
            return first, ""
        why = f", where its busiest {there} begin, with {inside[busiest]} jobs"
        return float(starts[busiest]), why + (
            "" if from_s is not None else f"; in the first {there}, from second {first:.9g} on, there are {inside[0]}"
        )

    def _at(self, index: np.ndarray) -> Trace:
        return replace(
            self,
            ids=tuple(self.ids[i] for i in index),
            submitted_s=frozen(self.submitted_s[index]),
            duration_s=frozen(self.duration_s[index]),
            units=frozen(self.units[index]),
            time_s=tuple(self.time_s[i] for i in index) if self.time_s else (),
            moments={name: frozen(moment[index]) for name, moment in self.moments.items()},
            columns={name: column[index] for name, column in self.columns.items()},
        )

    def name(self) -> str:
        """A name for the instance."""
        return f"{self.kind}-{Path(self.files[0]).name.split('.')[0][:100]}-J{len(self)}"

    def meta(self, assumed: Sequence[str] = ()) -> dict[str, Any]:
        """What the instance tells of its origin: no folder, so that equal files give equal instances."""
        said = [*self.assumed, *assumed]
        begins = self.begins_s
        start = {} if begins is None or abs(begins) > LARGEST else {"start": dated(begins)}  # a window may begin anywhere
        origin = {"reader": self.kind, "files": list(dict.fromkeys(self.files))}
        mapped = {"columns": dict(self.mapped)} if self.mapped else {}
        warned = {"warnings": list(self.warnings)} if self.warnings else {}
        return origin | start | mapped | warned | {"assumed": said} | told(self.skipped)


def gathered(
    table: Table,
    kind: str,
    *,
    skip_bad: bool,
    submitted_s: Floats,
    duration_s: Floats,
    units: Floats,
    assumed: Sequence[str],
    ids: Sequence[str] | np.ndarray | None = None,
    without: Sequence[tuple[Bools, str]] = (),
    time_s: Sequence[Times] = (),
    begins_s: float | None = None,
    moments: Mapping[str, Floats] | None = None,
    columns: Mapping[str, np.ndarray] | None = None,
    mapped: Mapping[str, str] | None = None,
) -> Trace:
    """The usable rows of a table as a trace.

    `without` are sound rows that are no job to schedule: a mask, and a sentence with a {} for how many.
    """
    named = [f"{table.row}{line}" for line in table.lines] if ids is None else ids
    good, skipped = table.sound(skip_bad)
    said = list(assumed)
    for mask, sentence in without:
        if count := int((mask & good).sum()):
            said.append(sentence.format(count))
        good = good & ~mask
    full = Trace(
        kind,
        (Path(table.path).name,),
        tuple(map(str, named)),
        submitted_s,
        duration_s,
        units,
        tuple(said),
        skipped,
        time_s=tuple(time_s),
        begins_s=begins_s,
        moments=moments or {},
        columns=columns or {},
        mapped=mapped or {},
    )
    if not good.any():
        raise OptschedError(f"{table.path}: no usable job in {len(table)} rows")
    return full._at(np.flatnonzero(good))


def midnight(stamps_s: Floats) -> float:
    """The midnight (UTC) before the earliest stamp, so that the time of day is kept; both in seconds since 1970."""
    known = stamps_s[np.isfinite(stamps_s)]
    return float(known.min() // 86400 * 86400) if len(known) else 0.0


def dated(seconds: float) -> str:
    """Seconds since 1970 as a date and time of ISO 8601, with its offset from UTC."""
    return f"{np.datetime64(round(seconds), 's')}+00:00"
