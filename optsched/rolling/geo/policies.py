"""Policies of geo, and what its rolling horizon needs to know: options, windows, what is left of a plan."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from optsched.instances.base import Ints
from optsched.instances.geo import GeoInstance, Job
from optsched.models.geo import program, to_schedule
from optsched.models.time_indexed import Program
from optsched.rolling.policy import Factory
from optsched.rolling.priced import PricedHorizon
from optsched.schedules.geo import GeoSchedule, Start

POLICIES: dict[str, Factory] = {"rolling": partial(PricedHorizon, "geo")}


def listed(snapshot: GeoInstance) -> tuple[Program, Callable[[Ints], GeoSchedule]]:
    """The snapshot's options, and how a choice becomes a schedule: jobs leave as late as they may, to stay free until then."""
    options, departure = program(snapshot)
    jobs = snapshot.columns
    away = np.flatnonzero(departure >= 0)
    delay: dict[tuple[int, int], int] = {}
    for j, n in set(zip(options.job[away].tolist(), options.place[away].tolist(), strict=True)):
        size = float(jobs.data_gb[j] + jobs.model_gb[j])
        delay[j, n] = snapshot.paths[int(jobs.source[j]), n].delay_slots(size, snapshot.slot_s)
    pairs = zip(options.job[away].tolist(), options.place[away].tolist(), strict=True)
    departure[away] = options.start[away] - np.array([delay[p] for p in pairs], dtype=np.int64)
    return options, partial(to_schedule, snapshot, options, departure)


def at(job: Job, slot: int) -> Job:
    """The job as if submitted in `slot`."""
    return job.model_copy(update={"submitted": slot})


def cut(snapshot: Any, window_s: float | None) -> Any:
    """The snapshot with starts only within the window."""
    if snapshot is None or window_s is None:
        return snapshot
    most = max(1, round(window_s / snapshot.slot_s))
    jobs = tuple(job.model_copy(update={"slack": min(job.slack, most)}) for job in snapshot.jobs)
    return snapshot.model_copy(update={"jobs": jobs})


def carry_over(plan: GeoSchedule, snapshot: GeoInstance, passed_s: float) -> GeoSchedule:
    """What is left of a plan made `passed_s` seconds ago."""
    passed, alive = round(passed_s / snapshot.slot_s), {job.id: job for job in snapshot.jobs}
    left = []
    for start in plan.starts:
        job, begin = alive.get(start.job), start.start - passed
        if job is None or begin < 0:
            continue
        departure = None if start.departure is None or job.bound_for is not None else start.departure - passed
        if departure is None or departure >= 0:
            left.append(Start(job=start.job, site=start.site, start=begin, departure=departure))
    return GeoSchedule(starts=tuple(left))
