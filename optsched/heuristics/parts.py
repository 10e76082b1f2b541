"""geo a part of the jobs at a time: a million options are quicker made in the processor's cache, and one can end early."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from math import ceil
from operator import itemgetter

import numpy as np

from optsched.instances.base import Floats, Ints
from optsched.instances.geo import GeoInstance
from optsched.problems.geo import time_indexed, to_schedule
from optsched.problems.packing import Packing
from optsched.schedules.geo import GeoSchedule, Start

JOBS, OPTIONS = 1000, 500_000  # a part at most, about; so many options take a third of a second


class Part:
    """Some jobs' options, on the capacity that all parts share.

    Attributes
    ----------
    rows : its jobs in the whole instance. instance, options, departure : of these jobs alone.
    packing : what is chosen of them; its `left` is that of every part.
    """

    def __init__(self, whole: GeoInstance, rows: Ints, left: Floats, slack: int | None = None) -> None:
        self.rows = rows
        same = slack is None and len(rows) == len(whole.jobs) and (np.diff(rows) == 1).all()
        self.instance = whole if same else some_jobs(whole, rows, slack)
        self.options, self.departure = time_indexed(self.instance)
        self.packing = Packing(self.options)
        self.packing.residual_capacity = left

    def started(self) -> list[tuple[int, Start]]:
        """What is chosen, each with its job's row in the whole instance."""
        chosen = self.packing.chosen
        starts = to_schedule(self.instance, self.options, self.departure, chosen).starts
        return list(zip(self.rows[self.options.job[chosen]].tolist(), starts, strict=True))


def how_many(instance: GeoInstance) -> int:
    """Parts of an instance: where windows are wide and sites many, a few jobs have as many options as a thousand others."""
    jobs, columns = len(instance.jobs), instance.columns
    places = np.where(columns.bound_for < 0, len(instance.sites), 1)
    options = float((places * (np.minimum(columns.slack, instance.horizon) + 1)).sum())
    return min(jobs, max(-(-jobs // JOBS), ceil(options / OPTIONS)))


def share(instance: GeoInstance) -> dict[str, object]:
    """What does not depend on jobs, worked out once."""
    return {name: getattr(instance, name) for name in ("site_index", "paths", "price", "carbon", "capacity")}


def some_jobs(instance: GeoInstance, rows: Ints, slack: int | None = None) -> GeoInstance:
    """The instance with some of its jobs, and for its options with no more `slack` than that, in slots.

    What does not depend on jobs is shared, not worked out again.
    """
    made = instance.model_copy(update={"jobs": tuple(map(instance.jobs.__getitem__, rows.tolist()))})
    shared, columns = share(instance), instance.columns
    columns = replace(columns, **{field.name: getattr(columns, field.name)[rows] for field in fields(columns)})
    shared["columns"] = columns if slack is None else replace(columns, slack=np.minimum(columns.slack, slack))
    made.__dict__.update(shared)
    return made


def schedule(started: Iterable[tuple[int, Start]]) -> GeoSchedule:
    """Of starts, each with its job's row, in the whole instance's order."""
    return GeoSchedule.model_construct(starts=tuple(start for _, start in sorted(started, key=itemgetter(0))), lost=())
