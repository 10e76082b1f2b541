"""Policies of deferrable, and what its rolling horizon needs to know: options, windows, what is left of a plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from optsched.heuristics.deferrable import RULES, greedy, rule
from optsched.instances.base import Floats, Ints
from optsched.instances.deferrable import DeferrableInstance, Job
from optsched.problems.deferrable import time_indexed, to_schedule
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.rl.trained import shipped
from optsched.rolling.deferrable.agents import agent_policy
from optsched.rolling.policy import Factory, ParametricFactory, heuristic_policy
from optsched.rolling.priced import BidPricePolicy, BidPricing, PriceUse
from optsched.rolling.slots import whole_slots
from optsched.rolling.slotted import itself
from optsched.schedules.deferrable import DeferrableSchedule, Start

FALLBACK = greedy


def options(snapshot: DeferrableInstance) -> tuple[TimeIndexedProblem, Callable[[Ints], DeferrableSchedule]]:
    """The snapshot's options, and how a choice becomes a schedule."""
    options = time_indexed(snapshot)
    return options, partial(to_schedule, snapshot, options)


def resubmit(job: Job, slot: int) -> dict[str, object]:
    """What changes in a job that is submitted in `slot`."""
    later = slot - job.submitted
    return {"submitted": slot, "earliest": job.earliest + later, "latest": job.latest + later, "waited": 0}


def expecting(snapshot: DeferrableInstance, cores: Floats, duration: Ints) -> DeferrableInstance:
    """With so many cores by slot, shape (1, T), and other durations."""
    found = snapshot.model_copy(update={"capacity": tuple(cores[0].tolist())})
    found.__dict__["columns"] = replace(snapshot.columns, duration=duration)
    return found


def forfeit(_: DeferrableInstance, options: TimeIndexedProblem) -> Floats:
    """All of it: a run that is cut short does no work, and its delay is not charged."""
    return np.maximum(0.0, options.value)


PRICING = BidPricing(
    instance=DeferrableInstance,
    job=Job,
    slotted=itself,
    options=options,
    resubmit=resubmit,
    expecting=expecting,
    forfeit=forfeit,
    most_scenarios=20,
    put_off=0.0,
    learnt=6,
    like_last=3,  # a morning's rush is nothing like the night before it
    averaged_s=0.0,  # no better, and behind when many come at once
    without_history=PriceUse(share=0.5),  # most jobs are worth the same per core and slot: full prices would turn all away
    # nine tenths of the prices for 18,000 jobs in two days, half for 200
    with_history=PriceUse(share=1.0, doubt=3.0, every_s=900.0, iterations=20, most_drawn=10_000),
)
# a dispatch rule looks at the present slot only: it is asked again in the next one
POLICIES: dict[str, Factory[DeferrableInstance, DeferrableSchedule]] = {
    name: heuristic_policy(name, rule(rank, slots=1)) for name, rank in RULES.items()
}
POLICIES["rolling"] = partial(BidPricePolicy, PRICING)
POLICIES |= {name: partial(agent_policy, name) for name in shipped("deferrable")}
PARAMETRIC_POLICIES: dict[str, ParametricFactory[DeferrableInstance, DeferrableSchedule]] = {"agent": agent_policy}


def truncate_window(snapshot: DeferrableInstance, window_s: float) -> DeferrableInstance:
    """The snapshot with starts only within the window."""
    most = whole_slots("window", window_s, snapshot.slot_s)
    inside = (job for job in snapshot.jobs if job.earliest < most)
    jobs = tuple(job.model_copy(update={"latest": min(job.latest, most - 1)}) for job in inside)
    return snapshot.model_copy(update={"jobs": jobs})


def shift_plan(plan: DeferrableSchedule, snapshot: DeferrableInstance, passed_s: float) -> DeferrableSchedule:
    """What is left of a plan made `passed_s` seconds ago."""
    passed, alive = round(passed_s / snapshot.slot_s), {job.id for job in snapshot.jobs}
    left = [Start(job=s.job, start=s.start - passed) for s in plan.starts if s.job in alive and s.start >= passed]
    return DeferrableSchedule(starts=tuple(left))
