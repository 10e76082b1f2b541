"""vcc in Python: an hourly cap on flexible load, behind which a queue waits (SustainGym's DatacenterEnv, corrected).

Examples
--------
>>> from optsched import vcc
>>> carbon = [0.5, 0.1, 0.2]
>>> m = vcc.Model("a night", capacity_ncu=2, carbon_kg_per_kwh=carbon, inflexible_ncu=[0] * 3, unfinished_penalty_per_ncu_h=1)
>>> job = m.add_job(ncu=1, duration=1)
>>> result = m.solve(time_limit=20)
>>> round(result.objective, 6), result.best.starts[0].start
(0.1, 1)
"""

from __future__ import annotations

from collections.abc import Sequence

from optsched.building import Builder, Numbers
from optsched.instances.vcc import Job
from optsched.instances.vcc import VccInstance as Instance
from optsched.schedules.vcc import Start
from optsched.schedules.vcc import VccSchedule as Schedule

__all__ = ["Instance", "Job", "Model", "Schedule", "Start"]


class Model(Builder[Instance, Schedule]):
    """Build an instance: add jobs to the queue; then `instance` or `solve`.

    Parameters
    ----------
    name
        For people.
    capacity_ncu
        Of the data centre, in normalised compute units (NCU).
    carbon_kg_per_kwh
        A value a slot; their number is the horizon.
    inflexible_ncu
        Load that runs always, under no cap, a value a slot.
    slot_s
        Seconds of a slot.
    idle_kw, kw_per_ncu
        Power without load, and of each NCU in use.
    carbon_price
        Of a kg of CO2; 1 makes the objective kg.
    delay_limit_slots
        Slots for which a job may wait without a charge.
    delay_penalty_per_ncu_h
        Per NCU and hour beyond that.
    daily_fraction
        Of the work submitted in a day, which its caps should add up to.
    daily_penalty_per_ncu_h
        Per NCU-hour that they lack.
    unfinished_penalty_per_ncu_h
        Per NCU-hour that is not run by the end.
    carbon_forecast
        Row t: what is forecast in slot t for the slots t, t + 1, ...
    preempt
        Whether load above a cap is evicted.

    Raises
    ------
    InputError
        In `instance`: one line with the place, what is wrong and what would be right.
    """

    def __init__(
        self,
        name: str,
        *,
        capacity_ncu: float,
        carbon_kg_per_kwh: Numbers,
        inflexible_ncu: Numbers,
        slot_s: float = 3600.0,
        idle_kw: float = 0.0,
        kw_per_ncu: float = 1.0,
        carbon_price: float = 1.0,
        delay_limit_slots: int = 24,
        delay_penalty_per_ncu_h: float = 0.0,
        daily_fraction: float = 0.97,
        daily_penalty_per_ncu_h: float = 0.0,
        unfinished_penalty_per_ncu_h: float = 0.0,
        carbon_forecast: Sequence[Numbers] | None = None,
        preempt: bool = False,
    ) -> None:
        super().__init__(
            Instance,
            name,
            capacity_ncu=capacity_ncu,
            carbon_kg_per_kwh=carbon_kg_per_kwh,
            inflexible_ncu=inflexible_ncu,
            slot_s=slot_s,
            idle_kw=idle_kw,
            kw_per_ncu=kw_per_ncu,
            carbon_price=carbon_price,
            delay_limit_slots=delay_limit_slots,
            delay_penalty_per_ncu_h=delay_penalty_per_ncu_h,
            daily_fraction=daily_fraction,
            daily_penalty_per_ncu_h=daily_penalty_per_ncu_h,
            unfinished_penalty_per_ncu_h=unfinished_penalty_per_ncu_h,
            carbon_forecast=carbon_forecast,
            preempt=preempt,
            jobs=[],
        )

    def add_job(self, *, ncu: float, duration: int, submitted: int = 0, id: str | None = None) -> Job:
        """Add a flexible job to the queue, which is in the order of submission, then of adding.

        Parameters
        ----------
        ncu
            How many units it takes.
        duration
            Slots for which it runs.
        submitted
            The slot in which it joins the queue.
        id
            By default ``job`` and its number.

        Raises
        ------
        InputError
            One line with the argument, what is wrong and what would be right.
        """
        return self._add("jobs", Job, "add_job", {"id": id, "ncu": ncu, "duration": duration, "submitted": submitted})
