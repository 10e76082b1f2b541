"""vcc, job by job: which jobs have been started by the end of each slot, in FIFO order, under the best cap for it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyomo.core as pyo

from optsched.instances.base import Ints
from optsched.instances.vcc import VccInstance
from optsched.models.base import Expression, Model
from optsched.models.vcc.waiting import waiting
from optsched.problems.vcc import Staircase, from_schedule, round_down_to_feasible
from optsched.schedules.vcc import VccSchedule

NEAR = 1e-5  # of the capacity: a sum that close to a limit is left to `refine`, since solvers see no such difference
MAGNIFIED = 1e3  # the rows of the data centre's limit, since solvers take a violation of 1e-6 for none


class FifoStarts(Model[VccInstance, VccSchedule]):
    """Binaries ``begun[i, t]``: job i of the queue has been started by the end of slot t; for small instances.

    NCU are in shares of the capacity. A cap lets the head in unless the load with it exceeds the cap or the data centre, so it
    is at most the load with the head, or anything where the queue is empty or the data centre full.

    The rows that say what fits into the data centre let pass what is nearly right; `refine` decides it in whole units and
    forbids just those jobs together, so that no tolerance has a say.
    """

    name: ClassVar[str] = "starts"
    prunes: ClassVar[bool] = True

    @classmethod
    def whole(cls, instance: VccInstance) -> Model[VccInstance, VccSchedule]:
        """Columns of waiting that costs nothing are kept."""
        made: Model[VccInstance, VccSchedule] = type(f"Whole{cls.__name__}", (cls,), {"prunes": False})(instance)
        return made

    @classmethod
    def refuses(cls, instance: VccInstance) -> str | None:
        """Evictions are not in the model."""
        return "preempt is true, and evictions are beyond it" if instance.preempt else None

    def build(self) -> None:
        """Rows slot by slot."""
        instance, m = self.instance, self.pyomo
        jobs, slots, unit, h = instance.columns, instance.horizon, instance.capacity_ncu, instance.slot_h
        ncu, duration, submitted = (jobs.ncu / unit).tolist(), jobs.duration.tolist(), jobs.submitted.tolist()
        many, total, came = len(ncu), sum(ncu), instance.arrived.tolist()
        pairs = [(i, t) for i in range(many) for t in range(submitted[i], slots)]
        m.begun = pyo.Var(pairs, domain=pyo.Binary)
        m.starts = pyo.Var(range(slots), domain=pyo.Binary)  # something starts
        m.full = pyo.Var(range(slots), domain=pyo.Binary)  # the head does not fit into the data centre
        m.cap = pyo.Var(range(slots), bounds=(0, 1))
        days = range(len(instance.asked))
        m.short = pyo.Var(days, bounds=lambda _, d: (0.0, instance.daily_fraction * float(instance.asked[d]) / unit))
        begun, m.rows = self._begun, pyo.ConstraintList()
        carbon = (instance.carbon_price * h * instance.carbon).tolist()
        running, inflexible = (instance.running / unit).tolist(), (instance.inflexible / unit).tolist()
        whole_room = instance.units.room.tolist()
        cost: Expression = 0.0
        for t in range(slots):
            room = 1.0 - inflexible[t]
            load: Expression = sum(ncu[i] * (begun(i, t) - begun(i, t - duration[i])) for i in range(came[t])) + running[t]
            head: Expression = sum(ncu[i] * ((begun(i - 1, t) if i else 1) - begun(i, t)) for i in range(came[t]))
            empty = begun(came[t] - 1, t) if came[t] else 1
            for i in range(came[t]):
                self._row(begun(i, t) - begun(i, t - 1), 0, None)
                self._row(begun(i, t) - begun(i, t - 1) - m.starts[t], None, 0)
                if i:
                    self._row(begun(i - 1, t) - begun(i, t), 0, None)
            most = total + running[t]
            self._row(MAGNIFIED * (load + max(0.0, most - room) * m.starts[t]), None, MAGNIFIED * (max(room, most) + NEAR))
            if whole_room[t] < 0:
                m.starts[t].fix(0)
            self._row(load + most * m.starts[t] - m.cap[t], None, most)
            self._row(m.cap[t] - load - head - empty - m.full[t], None, 0)
            if room > NEAR:
                self._row(MAGNIFIED * (load + head - (room - NEAR) * m.full[t]), 0, None)
            power = instance.idle_kw + instance.kw_per_ncu * unit * (inflexible[t] + load)
            cost += carbon[t] * power
        for d in days:
            mine = np.flatnonzero(instance.day == d).tolist()
            self._row(m.short[d] + h * sum(m.cap[t] for t in mine), float(instance.demanded[d]) / unit, None)
        cost += self._waiting()
        cost += instance.daily_penalty_per_ncu_h * unit * sum(m.short[d] for d in days)
        m.objective = pyo.Objective(expr=cost)

    def _waiting(self) -> Expression:
        """What is not done, a cost of not having begun, and delay, one of beginning late."""
        instance, m, jobs = self.instance, self.pyomo, self.instance.columns
        of = (column.tolist() for column in (jobs.ncu, jobs.duration, jobs.submitted, instance.due))
        waits, delays, constant = waiting(instance, zip(*of, strict=True))
        m.waits, m.delays = (
            pyo.Var([key for key, price in priced.items() if price or not self.prunes], bounds=(0, 1))
            for priced in (waits, delays)
        )
        self.implied_integers += [*m.waits.values(), *m.delays.values()]
        for key, variable in m.waits.items():
            self._row(m.begun[key] + variable, 1, 1)
        for (i, t), variable in m.delays.items():
            self._row(m.begun[i, t] - self._begun(i, t - 1) - variable, 0, 0)
        paid = [price[key] * variable for price, own in ((waits, m.waits), (delays, m.delays)) for key, variable in own.items()]
        return instance.slot_h * (sum(paid) + constant)

    def _row(self, expression: Expression, low: float | None, high: float | None) -> None:
        if not isinstance(expression, (int, float)):
            self.pyomo.rows.add((low, expression, high))

    def encode(self, schedule: VccSchedule) -> None:
        """The schedule's starts under the highest cap for them."""
        instance, m = self.instance, self.pyomo
        stairs = from_schedule(instance, schedule)
        size = instance.units.capacity
        for (i, t), variable in m.begun.items():
            variable.set_value(int(stairs.started[t] > i), skip_validation=True)
        for (i, t), variable in m.waits.items():
            variable.set_value(int(stairs.started[t] <= i), skip_validation=True)
        starts = set(enumerate(stairs.start.tolist()))
        for key, variable in m.delays.items():
            variable.set_value(int(key in starts), skip_validation=True)
        free = stairs.empty | stairs.blocked
        cap = np.where(free, 1.0, np.asarray(stairs.wanted / size, dtype=float))
        begins = np.diff(stairs.started, prepend=0) > 0
        for t in range(instance.horizon):
            m.starts[t].set_value(int(begins[t]), skip_validation=True)
            m.full[t].set_value(int(stairs.blocked[t]), skip_validation=True)
            m.cap[t].set_value(float(cap[t]), skip_validation=True)
        unit = instance.capacity_ncu
        allotted = np.bincount(instance.day, cap * unit * instance.slot_h, minlength=len(instance.asked))
        allotted[0] += instance.allotted_ncu_h
        for d, short in enumerate(np.maximum(0.0, instance.daily_fraction * instance.asked - allotted).tolist()):
            m.short[d].set_value(short / unit, skip_validation=True)

    def _started(self) -> Ints:
        started = np.zeros(self.instance.horizon, dtype=np.int64)
        for (_, t), variable in self.pyomo.begun.items():
            started[t] += (variable.value or 0) > 0.5
        return started

    def decode(self) -> VccSchedule:
        """Starts, and the highest cap for them."""
        return round_down_to_feasible(self.instance, self._started().astype(float)).schedule()

    def refine(self) -> int:
        """Jobs that do not fit together where something starts, and heads that do fit where they are said not to."""
        stairs, m, units = Staircase(self.instance, self._started()), self.pyomo, self.instance.units
        ncu, room, before = units.ncu.tolist(), (units.room - units.running).tolist(), len(m.rows)
        begins, duration = np.diff(stairs.started, prepend=0) > 0, self.instance.columns.duration
        for t, (k, came) in enumerate(zip(stairs.started.tolist(), self.instance.arrived.tolist(), strict=True)):
            running = [i for i in range(k) if stairs.start[i] + duration[i] > t]
            load = sum(ncu[i] for i in running)
            if begins[t] and load > room[t]:
                for i in sorted(running, key=lambda i: ncu[i]):  # fewer jobs that are too many say more
                    if load - ncu[i] > room[t]:
                        running.remove(i)
                        load -= ncu[i]
                self._row(sum(self._runs(i, t) for i in running) + m.starts[t], None, len(running))
            elif k < came and (m.full[t].value or 0) > 0.5 and load + ncu[k] <= room[t]:
                for i in range(came):  # as many others may run, and the head still fits
                    if i not in running and i != k and load + ncu[i] + ncu[k] <= room[t]:
                        running.append(i)
                        load += ncu[i]
                others = sum(self._runs(i, t) for i in range(came) if i not in running and i != k)
                head = (self._begun(k - 1, t) if k else 1) - self._begun(k, t)
                self._row(m.full[t] + head - others, None, 1)
        return len(m.rows) - before

    def _begun(self, i: int, t: int) -> Expression:
        return 0 if t < self.instance.columns.submitted[i] else self.pyomo.begun[i, t]

    def _runs(self, i: int, t: int) -> Expression:
        return self._begun(i, t) - self._begun(i, t - int(self.instance.columns.duration[i]))
