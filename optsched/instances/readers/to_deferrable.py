"""A trace as a deferrable instance: slots, windows, and the capacity that other work leaves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from optsched.errors import InputError, OptschedError, expect
from optsched.instances.base import Floats
from optsched.instances.deferrable import DeferrableInstance, Job
from optsched.instances.readers.own_fields import JOB, Field, Kind
from optsched.instances.readers.table import read_csv
from optsched.instances.readers.trace import Trace

FIELDS = {
    **JOB,
    "cores": Field(Kind.POSITIVE, "cores that it takes; 1 if not mapped"),
    "earliest": Field(Kind.MOMENT, "earliest start; the submission if not mapped"),
    "requested": Field(Kind.SPAN, "how long its user said it would take, for --estimates user"),
    "latest": Field(Kind.MOMENT, "latest start; by due, or by --slack, if not mapped"),
    "due": Field(Kind.MOMENT, "latest end"),
}
MOST_SLOTS = 10**6
MOST_NAMED = 5  # jobs, where several are told


def to_deferrable(
    trace: Trace,
    *,
    slot_s: float = 300.0,
    hours: float | None = None,
    slack: float = 1.0,
    capacity: float | None = None,
    busy: str | Path | None = None,
    load: float = 1.0,
    truncate: bool = False,
) -> DeferrableInstance:
    """The trace's jobs over `hours` (by default until the last window ends).

    Parameters
    ----------
    slack : latest - earliest start, in durations.
    capacity : constant cores. busy : CSV of timestamp (s) and cpu_usage (1/100 core); capacity is its peak less what is busy,
        scaled to `load`. Without either, a constant: the jobs' mean load over `load`.
    truncate : cut what runs past the horizon instead of leaving it out.
    """
    expect(1e-3, 1e8, slot_s=slot_s)
    expect(0, 1e6, slack=slack)
    expect(1e-6, 1e6, load=load)
    expect(0, 1e9, capacity=capacity)
    if capacity is not None and busy is not None:
        raise OptschedError("capacity is either a constant or what a busy cluster leaves, not both")
    # a job is known in the first slot that begins after its submission
    earliest = np.ceil(trace.submitted_s / slot_s - 1e-9)
    duration = np.maximum(1, np.ceil(trace.duration_s / slot_s - 1e-9))
    submitted = earliest
    if "earliest" in trace.moments:
        earliest = np.maximum(submitted, np.ceil(trace.moments["earliest"] / slot_s - 1e-9))
    room, told = _room(trace, slot_s, earliest, duration, slack)
    horizon = int(np.ceil(hours * 3600 / slot_s - 1e-9) if hours is not None else (earliest + duration + room).max())
    if horizon > MOST_SLOTS:
        last = int(np.argmax(earliest + duration + room))
        far = f"job {trace.ids[last]!r} of {trace.duration_s[last]:g} s may be run until then" if hours is None else "that many"
        raise OptschedError(f"{horizon} slots of {slot_s:g} s ({far}): take fewer hours or longer slots")
    longer = 0
    if truncate:
        cut = np.minimum(duration, np.maximum(horizon - earliest, 0))
        longer, duration = int(((cut > 0) & (cut < duration)).sum()), np.where(cut > 0, cut, duration)
    fits = earliest + duration <= horizon
    if not fits.any():
        raise OptschedError(f"no job can end within {horizon} slots of {slot_s:g} s")
    room = np.minimum(room, horizon)  # nothing starts later anyway
    kept = trace.where(fits, "{} jobs that could not end within the horizon are left out.")
    earliest, duration, room, submitted = earliest[fits], duration[fits], room[fits], submitted[fits]
    work = float(kept.units @ duration)
    assumed = [
        f"Slots are {slot_s:g} s: durations are rounded up to slots, submissions up to the next slot's beginning.",
        *told,
    ]
    if longer:
        assumed.append(f"{longer} jobs that would run past the horizon are cut off there.")
    if capacity is not None:
        left = np.full(horizon, float(capacity))
    elif busy is None:
        left = np.full(horizon, np.ceil(max(work / horizon / load, float(kept.units.max()))))
        assumed.append(f"Capacity is constant: the jobs' mean load over {load:g}, rounded up, and at least the widest job.")
    else:
        left = _left(busy, horizon, slot_s, kept.origin_s)
        kept = replace(kept, files=(*kept.files, Path(busy).name))
        if not left.sum() > 0:
            raise InputError(busy, "cpu_usage", "leaves no capacity in the window")
        left = np.round(left * (work / load / left.sum()), 3)
        assumed.append(
            f"Capacity is what {Path(busy).name} leaves below its peak, scaled so that the jobs ask for {load:g} of it."
        )
    slots = (column.astype(int) for column in (duration, earliest, earliest + room, submitted))
    columns = (kept.units, *slots)
    return DeferrableInstance(
        name=f"{kept.name()}-T{horizon}",
        meta=kept.meta(assumed),
        slot_s=slot_s,
        capacity=tuple(left.tolist()),
        delay_penalty=2.0,
        overload_penalty=10.0,
        jobs=tuple(
            Job(id=i, cores=round(c, 6), duration=d, earliest=e, latest=late, submitted=s, estimate=asked)
            for i, asked, c, d, e, late, s in zip(
                kept.ids, kept.estimates, *(column.tolist() for column in columns), strict=True
            )
        ),
    )


def _room(trace: Trace, slot_s: float, earliest: Floats, duration: Floats, slack: float) -> tuple[Floats, list[str]]:
    """Latest - earliest start in slots, by the trace's own windows or by `slack`, and what that assumes."""
    known = "and is not known earlier (lead 0)."
    if not trace.moments.keys() & {"latest", "due"}:
        room: Floats = np.floor(slack * duration + 1e-9)
        return room, [f"A job may start up to {slack:g} times its duration after its submission, {known}"]
    if "latest" in trace.moments:
        latest = np.floor(trace.moments["latest"] / slot_s + 1e-9)
    else:
        latest = np.floor(trace.moments["due"] / slot_s + 1e-9) - duration
    late = np.flatnonzero(latest < earliest).tolist()
    told = ["A job is known from its submission on." if "earliest" in trace.moments else f"A job may start at once, {known}"]
    if late:
        some = ", ".join([trace.ids[j] for j in late[:MOST_NAMED]] + (["..."] if len(late) > MOST_NAMED else []))
        bound = "start by their latest slot" if "latest" in trace.moments else "end by when they are due"
        told.append(f"Jobs that cannot {bound} ({len(late)}: {some}) may start in their earliest slot only, and are late.")
    return np.maximum(latest - earliest, 0.0), told


def _left(path: str | Path, horizon: int, slot_s: float, origin_s: float) -> Floats:
    """Peak less busy cores, the mean over each slot; a sample holds until the next."""
    table = read_csv(path)
    at, used = table.number("timestamp"), table.number("cpu_usage", least=0)
    table.sound(skip_bad=False)
    if len(at) < 2 or np.any(np.diff(at) <= 0):
        raise InputError(path, "timestamp", "expected at least two samples, in order of time")
    held = np.append(at, at[-1] + at[-1] - at[-2])
    bounds = origin_s + slot_s * np.arange(horizon + 1)
    if bounds[0] < held[0] or bounds[-1] > held[-1]:
        raise InputError(
            path,
            "timestamp",
            f"covers {held[0]:g} to {held[-1]:g} s, the instance needs {bounds[0]:g} to {bounds[-1]:g} s: take fewer hours",
        )
    total = np.concatenate([[0.0], np.cumsum((used.max() - used) / 100 * np.diff(held))])
    left: Floats = np.diff(np.interp(bounds, held, total)) / slot_s
    return left
