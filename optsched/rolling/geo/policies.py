"""Policies of geo, and what its rolling horizon needs to know: options, windows, what is left of a plan."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from optsched.heuristics.geo import greedy
from optsched.instances.base import Floats, Ints
from optsched.instances.geo import GeoInstance, Job
from optsched.problems.geo import time_indexed, to_schedule
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.rl.trained import shipped
from optsched.rolling.geo.agents import agent_policy
from optsched.rolling.policy import Factory, ParametricFactory
from optsched.rolling.priced import BidPricePolicy, BidPricing, PriceUse
from optsched.rolling.slots import whole_slots
from optsched.rolling.slotted import itself
from optsched.schedules.geo import GeoSchedule, Start

FALLBACK = greedy


def options(snapshot: GeoInstance) -> tuple[TimeIndexedProblem, Callable[[Ints], GeoSchedule]]:
    """The snapshot's options, and how a choice becomes a schedule: jobs leave as late as they may, to stay free until then."""
    options, departure = time_indexed(snapshot)
    departure = departure.copy()  # the problem is kept with the snapshot
    jobs = snapshot.columns
    away = np.flatnonzero(departure >= 0)
    job, site = options.job[away], options.place[away]
    way = snapshot.transfer_slots(jobs.source[job], site, jobs.data_gb[job], jobs.model_gb[job])
    departure[away] = options.start[away] - way
    return options, partial(to_schedule, snapshot, options, departure)


def resubmit(_: Job, slot: int) -> dict[str, object]:
    """What changes in a job that is submitted in `slot`."""
    return {"submitted": slot, "bound_for": None, "arrives": 0}


def expecting(snapshot: GeoInstance, gpus: Floats, duration: Ints) -> GeoInstance:
    """With so many GPUs by site and slot, whole ones, and other durations."""
    rows = np.rint(gpus).astype(np.int64).tolist()
    sites = (site.model_copy(update={"gpus": tuple(row)}) for site, row in zip(snapshot.sites, rows, strict=True))
    found = snapshot.model_copy(update={"sites": tuple(sites)})
    found.__dict__ |= {"paths": snapshot.paths, "columns": replace(snapshot.columns, duration=duration)}
    return found


def forfeit(snapshot: GeoInstance, options: TimeIndexedProblem) -> Floats:
    """The revenue: energy, carbon and transfers are paid all the same."""
    work = options.demand[options.job] * options.duration[options.job]
    return np.asarray(work * snapshot.slot_s / 3600 * snapshot.gpu_revenue_usd_per_h)


PRICING = BidPricing(
    instance=GeoInstance,
    job=Job,
    slotted=itself,
    options=options,
    resubmit=resubmit,
    expecting=expecting,
    forfeit=forfeit,
    most_scenarios=6,  # more were no better
    put_off=0.4,
    learnt=24,
    like_last=None,  # jobs wait for the night: of the last three hours is worse
    averaged_s=2 * 3600.0,
    without_history=PriceUse(share=0.95),  # prices of few samples are too sure: where capacity would idle, take the job
    with_history=PriceUse(share=0.97),
)
POLICIES: dict[str, Factory[GeoInstance, GeoSchedule]] = {"rolling": partial(BidPricePolicy, PRICING)}
POLICIES |= {name: partial(agent_policy, name) for name in shipped("geo")}
PARAMETRIC_POLICIES: dict[str, ParametricFactory[GeoInstance, GeoSchedule]] = {"agent": agent_policy}  # agent:weights.npz


def truncate_window(snapshot: GeoInstance, window_s: float) -> GeoInstance:
    """The snapshot with starts only within the window, and what the way of a job's data there and back takes."""
    most = whole_slots("window", window_s, snapshot.slot_s)
    slowest = max((float(path.delay) for path in snapshot.paths.values()), default=0.0)
    jobs = tuple(
        job.model_copy(update={"slack": min(job.slack, most + math.ceil(way * slowest / snapshot.slot_s))})
        for job in snapshot.jobs
        for way in [job.data_gb + 2 * job.model_gb]
    )
    return snapshot.model_copy(update={"jobs": jobs})


def shift_plan(plan: GeoSchedule, snapshot: GeoInstance, passed_s: float) -> GeoSchedule:
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
