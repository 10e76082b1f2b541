"""vcc, as a fluid: classes of jobs alike in submission and duration start bit by bit, in FIFO order between submissions.

A relaxation: its optimum is a bound, and its cumulative starts are a staircase to round. Solved as a linear program it
proves less than the path of decomposition/vcc, which knows each job, but it needs nothing but an LP solver.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pyomo.core as pyo

from optsched.instances.base import Floats, Ints
from optsched.instances.vcc import VccInstance
from optsched.models.base import Expression, Model
from optsched.models.vcc.waiting import waiting
from optsched.problems.vcc import Staircase, round_down_to_feasible
from optsched.schedules.vcc import VccSchedule

MOST = 60_000  # classes by slot
LITTLE = 1e-6  # of the capacity: where no more is left a cap is bounded by nothing, since solvers drop what is so small


class Fluid(Model[VccInstance, VccSchedule]):
    """``begun[c, t]``: share of class c that has been started by the end of slot t.

    A cap is in NCU: at most the capacity C; at most the load with the largest job that may be at the head, times C over what
    the inflexible load leaves, unless the queue is empty.
    """

    name: ClassVar[str] = "fluid"

    @cached_property
    def classes(self) -> tuple[Ints, Ints]:
        """Distinct (submitted, duration, due), shape (C, 3), and the class of each job of the queue."""
        return _classes(self.instance)

    @classmethod
    def refuses(cls, instance: VccInstance) -> str | None:
        """Evictions, and what is too large to build."""
        if instance.preempt:
            return "preempt is true, and evictions are beyond it"
        size = int((instance.horizon - _classes(instance)[0][:, 0]).sum())
        return (
            f"{size:,} classes by slot, at most {MOST:,} are built; the decomposition takes any size" if size > MOST else None
        )

    def build(self) -> None:
        """Rows by class, batch and slot."""
        instance, m = self.instance, self.pyomo
        slots, size, h = instance.horizon, instance.capacity_ncu, instance.slot_h
        keys, index = self.classes
        ncu = np.bincount(index, instance.columns.ncu, minlength=len(keys)).tolist()
        submitted, duration, _ = (column.tolist() for column in keys.T)
        pairs = [(c, t) for c in range(len(keys)) for t in range(submitted[c], slots)]
        m.begun = pyo.Var(pairs, bounds=(0, 1))
        m.least = pyo.Var(range(slots), range(slots), bounds=(0, 1))  # of a batch (by submission) and slot
        m.cap = pyo.Var(range(slots), bounds=(0, size))
        m.empty = pyo.Var(range(slots), bounds=(0, 1))
        most = np.maximum(0.0, instance.demanded).tolist()
        m.short = pyo.Var(range(len(most)), bounds=lambda _, d: (0, most[d]))
        m.rows = pyo.ConstraintList()
        m.room = pyo.Constraint(range(slots))

        def begun(c: int, t: int) -> Expression:
            return 0 if t < submitted[c] else m.begun[c, t]

        batches = sorted(set(submitted))
        before = {b: a for a, b in pairwise(batches)}
        members = {b: [c for c in range(len(keys)) if submitted[c] == b] for b in batches}
        for c, t in pairs:
            if t > submitted[c]:
                m.rows.add(m.begun[c, t] >= m.begun[c, t - 1])
            m.rows.add(m.least[submitted[c], t] <= m.begun[c, t])
            if submitted[c] in before:
                m.rows.add(m.begun[c, t] <= m.least[before[submitted[c]], t])
        left = size - instance.inflexible
        room = np.maximum.accumulate(np.maximum(0.0, left - instance.running)).tolist()
        heads = np.maximum.accumulate(self._largest()).tolist()
        running = instance.running.tolist()
        carbon = (instance.carbon_price * h * instance.carbon).tolist()
        idle = instance.idle_kw + instance.kw_per_ncu * (instance.inflexible + instance.running)
        cost: Expression = float(np.dot(carbon, idle))
        for t in range(slots):
            here = [c for b in batches if b <= t for c in members[b]]
            load: Expression = sum(ncu[c] * (begun(c, t) - begun(c, t - duration[c])) for c in here)
            if here:
                m.room[t] = load <= room[t]
                m.rows.add(m.empty[t] <= m.least[max(b for b in batches if b <= t), t])
            if (share := float(left[t]) / size) > LITTLE:
                m.rows.add(share * m.cap[t] <= load + running[t] + heads[t] * (1 - m.empty[t]) + float(left[t]) * m.empty[t])
            cost += carbon[t] * instance.kw_per_ncu * load
        for d in range(len(instance.asked)):
            mine = np.flatnonzero(instance.day == d).tolist()
            m.rows.add(m.short[d] + h * sum(m.cap[t] for t in mine) >= float(instance.demanded[d]))
        cost += instance.daily_penalty_per_ncu_h * sum(m.short[d] for d in range(len(instance.asked)))
        m.objective = pyo.Objective(expr=cost + self._waiting(keys, ncu))

    def _waiting(self, keys: Ints, ncu: list[float]) -> Expression:
        """What is not done, a cost of not having begun, and delay, one of beginning late."""
        instance, m = self.instance, self.pyomo
        submitted, duration, due = keys.T.tolist()
        waits, delays, constant = waiting(instance, zip(ncu, duration, submitted, due, strict=True))
        m.waits, m.delays = (
            pyo.Var([key for key, price in priced.items() if price], bounds=(0, 1)) for priced in (waits, delays)
        )
        for key, variable in m.waits.items():
            m.rows.add(m.begun[key] + variable >= 1)
        for (c, t), variable in m.delays.items():
            m.rows.add(m.begun[c, t] - (m.begun[c, t - 1] if t > submitted[c] else 0) <= variable)
        paid = [price[key] * variable for price, own in ((waits, m.waits), (delays, m.delays)) for key, variable in own.items()]
        return instance.slot_h * (sum(paid) + constant)

    def _largest(self) -> Floats:
        largest = np.zeros(self.instance.horizon)
        np.maximum.at(largest, self.instance.columns.submitted, self.instance.columns.ncu)
        return largest

    def encode(self, schedule: VccSchedule) -> None:
        """A relaxation is started from nothing."""
        for variable in self.pyomo.component_data_objects(pyo.Var):
            variable.set_value(0, skip_validation=True)

    def staircase(self) -> Staircase:
        """The variables' cumulative starts, rounded to jobs and to what fits."""
        _, index = self.classes
        jobs = np.bincount(index)
        wanted = np.zeros(self.instance.horizon)
        for (c, t), variable in self.pyomo.begun.items():
            wanted[t] += jobs[c] * (variable.value or 0.0)
        return round_down_to_feasible(self.instance, wanted)

    def decode(self) -> VccSchedule:
        """The schedule of the rounded staircase; dearer than the relaxation, as a rule."""
        return self.staircase().schedule()


def _classes(instance: VccInstance) -> tuple[Ints, Ints]:
    """See `Fluid.classes`."""
    keys = np.stack([instance.columns.submitted, instance.columns.duration, instance.due], axis=1)
    found, index = np.unique(keys, axis=0, return_inverse=True)
    return found, index.reshape(-1)
