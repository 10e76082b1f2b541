"""vcc while time passes: a cap every slot, and the queue under it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from optsched.errors import OptschedError
from optsched.instances.base import Floats, Ints
from optsched.instances.vcc import Job, VccInstance
from optsched.rolling.disturbances import Disturbances
from optsched.rolling.estimates import corrected, in_slots, multiples
from optsched.rolling.forecast import Forecast, noise_seed, perfect
from optsched.rolling.simulator import SNAPSHOT, Told
from optsched.rolling.slots import ROUNDING
from optsched.rolling.vcc.beliefs import believed_carbon
from optsched.rolling.vcc.queue import queue
from optsched.schedules.base import Violation
from optsched.schedules.vcc import VccSchedule, cap_violations

BELIEVED_DIGITS = 6


class VccSimulator:
    """The truth of a replay: every slot it is time to set the cap; of a decision only its first cap counts.

    A snapshot holds the waiting jobs, the load of what runs, what is believed of carbon and inflexible load, and what the day
    has asked for and been given so far.
    """

    stalled: ClassVar[bool] = False

    def __init__(self, truth: VccInstance, period_s: float | None = None, forecast: Forecast = perfect, seed: int = 0) -> None:
        if period_s is not None and abs(period_s / truth.slot_s - 1) > ROUNDING:
            raise OptschedError(f"vcc sets a cap every slot: the period is {truth.slot_s:g} s, got {period_s:g}")
        self.truth, self.forecast, self.seed = truth, forecast, seed
        self.queue = queue(truth)
        self.multiple = multiples(truth, truth.jobs, seed)
        self.index = {job.id: j for j, job in enumerate(truth.jobs)} if self.multiple is not None else {}
        self.expected = in_slots(np.array([job.duration for job in truth.jobs], dtype=np.int64), self.multiple)
        self.disturbances = Disturbances(truth.outages, {}, (1, truth.horizon))
        self.digits = max(BELIEVED_DIGITS, truth.units.grid.digits)  # a belief needs no finer grid than the truth
        self.event = "slot"
        self.day_starts = np.searchsorted(truth.day, truth.day)

    @property
    def now_s(self) -> float:
        """The present in seconds."""
        return self.queue.now * self.truth.slot_s

    @property
    def unfinished(self) -> int:
        """Slots still to come: each is a decision."""
        return self.truth.horizon - self.queue.now

    def due(self) -> bool:
        """Every slot of the horizon."""
        return not self.queue.ended

    def snapshot(self) -> VccInstance | None:
        """What may be known now."""
        now, truth = self.queue.now, self.truth
        if self.queue.ended:
            return None
        noise = noise_seed(self.seed, truth, "inflexible")
        inflexible = self.forecast(truth.inflexible[None, :], now, truth.day_slots, noise)[0]
        share, _ = self.disturbances.believed(now)
        inflexible = inflexible + (1.0 - share[0]) * truth.capacity_ncu  # what is lost is as if taken
        if self.multiple is None:
            running, fresh = self.queue.runs_on(), truth.fresh_ncu_h
        else:
            running, duration = self._believed()
            fresh = truth.fresh(duration)
        return truth.model_copy(
            update={
                "name": SNAPSHOT,
                "meta": {},
                "now": truth.now + now,
                "carbon_kg_per_kwh": tuple(believed_carbon(truth, now, self.forecast, self.seed).tolist()),
                "carbon_forecast": None,
                "carbon_before": float(truth.carbon[now - 1]) if now else truth.carbon_before,
                "inflexible_ncu": tuple(np.round(np.maximum(0.0, inflexible), self.digits).tolist()),
                "running_ncu": tuple(running.tolist()),
                "allotted_ncu_h": self.queue.allotted,
                "asked_ncu_h": self._asked_before(fresh),
                "events": None,
                "jobs": tuple(self._waiting(*entry) for entry in self.queue.queued()),
            }
        )

    def _waiting(self, index: int, left: int, evicted: bool) -> Job:
        job = self.truth.jobs[int(self.truth.queue[index])]
        waited = self.queue.now - job.submitted + job.waited
        if self.multiple is not None:
            done = job.duration - left
            left = int(corrected(self.expected[self.truth.queue[index]], done)) - done
        return Job.model_construct(id=job.id, submitted=0, duration=left, ncu=job.ncu, waited=waited, evicted=evicted)

    def _asked_before(self, fresh: Floats) -> float:
        """NCU-hours that earlier slots of the day have asked for, where each job adds so many."""
        truth, now = self.truth, self.queue.now
        first, last = np.searchsorted(truth.columns.submitted, [self.day_starts[now], now])
        return float(fresh[first:last].sum()) + (truth.asked_ncu_h if truth.day[now] == 0 else 0.0)

    def _believed(self) -> tuple[Floats, Ints]:
        """What is known of durations now.

        Returns
        -------
        Load of what runs in the slots to come, shape (T - now,), as far as its end is known, and slots of each job in the order
        of the queue: as told, longer where it has run for longer, and those that it took where it has ended.
        """
        truth, now = self.truth, self.queue.now
        shown, known = truth.running[now:].copy(), self.expected.copy()
        done = np.zeros(len(truth.jobs), dtype=np.int64)
        for piece in self.queue.pieces():
            j = self.index[piece.job]
            whole, before = truth.jobs[j].duration, int(done[j])
            done[j] = before + min((now if piece.until is None else piece.until) - piece.start, whole - before)
            known[j] = whole if done[j] == whole else corrected(self.expected[j], done[j])
            if piece.until is None and done[j] < whole:
                shown[: known[j] - done[j]] += truth.jobs[j].ncu
        return np.asarray(np.round(shown, self.digits)), known[truth.queue]

    def refuses(self, snapshot: VccInstance, decision: VccSchedule) -> list[Violation]:
        """Caps that are no fractions, or none at all."""
        if not decision.cap:
            return [Violation("no cap for the present slot")]
        return cap_violations(decision.cap)

    def present(self, decision: VccSchedule) -> VccSchedule:
        """Its first cap."""
        return VccSchedule.model_construct(cap=(float(decision.cap[0]),), starts=())

    def apply(self, decision: VccSchedule) -> list[Told]:
        """Carry the first cap out."""
        now, before, begun, come = self.queue.now, self.queue.waiting, self.queue.starts, self.truth.arrived
        self.queue.step(decision.cap[0])
        came = 0 if self.queue.ended else int(come[now + 1] - come[now])
        started = self.queue.starts - begun
        evicted = {"evicted": self.queue.waiting + started - before - came} if self.truth.preempt else {}
        return [{"cap": decision.cap[0], "started": started, **evicted}]

    def history(self) -> VccSchedule:
        """The caps so far, 1 to come, and what they have started."""
        return self.queue.history()

    def figures(self) -> dict[str, float]:
        """Jobs started and not, and the mean cap."""
        run = len({piece.job for piece in self.queue.pieces()})
        return {
            "jobs_run": run,
            "jobs_dropped": len(self.truth.jobs) - run,
            "mean_cap": float(np.mean(self.queue.cap or [0.0])),
        }
