"""deferrable in Python: start slots of jobs with a window, under a soft capacity (OSDEC, Dong et al., section 3).

Examples
--------
>>> from optsched import deferrable
>>> m = deferrable.Model("a day", slot_s=3600, capacity=[4, 4, 2], delay_penalty=0.1, overload_penalty=5)
>>> first = m.add_job(cores=4, duration=1, earliest=0, latest=1)
>>> second = m.add_job(cores=4, duration=1, earliest=0, latest=1)
>>> result = m.solve(time_limit=20)
>>> round(result.objective, 6), sorted(start.start for start in result.best.starts)
(7.9, [0, 1])
"""

from __future__ import annotations

from optsched.building import Builder, Numbers
from optsched.instances.deferrable import DeferrableInstance as Instance
from optsched.instances.deferrable import Job
from optsched.schedules.deferrable import DeferrableSchedule as Schedule
from optsched.schedules.deferrable import Start

__all__ = ["Instance", "Job", "Model", "Schedule", "Start"]


class Model(Builder[Instance, Schedule]):
    """Build an instance: add jobs; then `instance` or `solve`.

    Parameters
    ----------
    name
        For people.
    slot_s
        Seconds of a slot.
    capacity
        Cores, a value a slot; their number is the horizon.
    delay_penalty
        Per slot by which a job starts after its earliest one, in core-slots.
    overload_penalty
        Per core above the capacity and slot, in core-slots.

    Raises
    ------
    InputError
        In `instance`: one line with the place, what is wrong and what would be right.
    """

    def __init__(self, name: str, *, slot_s: float, capacity: Numbers, delay_penalty: float, overload_penalty: float) -> None:
        super().__init__(
            Instance,
            name,
            slot_s=slot_s,
            capacity=capacity,
            delay_penalty=delay_penalty,
            overload_penalty=overload_penalty,
            jobs=[],
        )

    def add_job(
        self, *, cores: float, duration: int, earliest: int, latest: int, submitted: int | None = None, id: str | None = None
    ) -> Job:
        """Add a job.

        Parameters
        ----------
        cores
            How many it takes.
        duration
            Slots for which it runs.
        earliest, latest
            The slots between which it starts, both included, or not at all.
        submitted
            The slot from which on it is known; `earliest` where None.
        id
            By default ``job`` and its number.

        Raises
        ------
        InputError
            One line with the argument, what is wrong and what would be right.
        """
        window = {"earliest": earliest, "latest": latest, "submitted": earliest if submitted is None else submitted}
        return self._add("jobs", Job, "add_job", {"id": id, "cores": cores, "duration": duration, **window})
