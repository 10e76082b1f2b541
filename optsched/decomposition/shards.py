"""Very large programs, of which never more than a part is listed: jobs in shards, each listed, priced and forgotten.

With its capacity priced a program splits by job (`dual`), so that shards of jobs are priced apart, in any order, by threads or
by the workers of a cluster; what they say is added up in the order of the jobs, so that digits do not depend on who has worked.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from math import fsum
from typing import NamedTuple, TypeVar

import numpy as np

from optsched.decomposition.dual import LagrangianSubproblem, margin
from optsched.decomposition.passes import thinned
from optsched.decomposition.shadow_prices import ShadowPrices, as_given
from optsched.instances.base import Bools, Floats, Instance, Ints
from optsched.instances.events import Named
from optsched.problems.ranks import Groups, least, rank
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.problems.view import TimeIndexedView
from optsched.registry import family_of
from optsched.schedules.base import Schedule
from optsched.workers import hired

T = TypeVar("T")

OPTIONS = 1_000_000  # of a shard, about
AHEAD = 4  # shards handed out for each worker: no more lie about
KEPT, PLACES = 12, 16  # options a job that a pass keeps, and places of which it keeps the best one


class Listed(NamedTuple):
    """Options as columns, by job, place and start; jobs count from the first of the instance."""

    job: Ints
    place: Ints
    start: Ints
    value: Floats

    @classmethod
    def of(cls, program: TimeIndexedProblem, keep: Bools, first: int) -> Listed:
        """Some options of a shard, of whose jobs `first` is the number of the first."""
        return cls(program.job[keep] + first, program.place[keep], program.start[keep], program.value[keep])


@dataclass(frozen=True)
class Shard:
    """What a pass finds in a shard.

    Attributes
    ----------
    earned : by its jobs under the prices. largest : of the options' values. demand, duration : of its jobs.
    kept : the options that come nearest to being best, and some others (`_nearest`). selected : (job, place, start)
        of what its jobs were scheduled at, which are kept too, shape (k, 3).
    """

    earned: float
    largest: float
    demand: Floats
    duration: Ints
    kept: Listed
    selected: Ints


class Thinned(NamedTuple):
    """Some options of a shard, and its jobs."""

    kept: Listed
    demand: Floats
    duration: Ints


@dataclass(frozen=True)
class Pass:
    """What prices prove, and what they make worth listing; of all jobs otherwise as in `Shard`."""

    bound: float
    demand: Floats
    duration: Ints
    kept: Listed
    selected: Ints


def part(instance: Instance, first: int, last: int) -> Instance:
    """The instance with the jobs from `first` to before `last`; a network is not worked out anew."""
    some = instance.model_copy(update={"jobs": instance.jobs[first:last]})  # type: ignore[attr-defined]
    if "paths" in instance.__dict__:
        some.__dict__["paths"] = instance.__dict__["paths"]
    return some


def listed(instance: Instance) -> TimeIndexedView[Schedule]:
    """All options of an instance."""
    view = family_of(instance).time_indexed(instance)
    assert view is not None
    return view


def price(some: Instance, first: int, prices: Floats, scheduled: Schedule, more: int = 0) -> Shard:
    """Price the jobs of a shard, of which `first` is the number of the first; `scheduled` says where they are.

    Kept are the options that come nearest to being best, and `more` a job of those that are least behind their jobs' best.
    """
    view = listed(some)
    program = view.problem
    subproblem = LagrangianSubproblem(program)
    reduced = subproblem.reduced_values(prices)
    top = subproblem.groups.best_rows(reduced)
    rows = np.array(list(view.selected(scheduled)), dtype=np.int64).reshape(-1, 3)
    keep = _nearest(program, subproblem.groups, reduced)
    if more:
        keep[_least_behind(program, subproblem.groups, reduced, more * len(program.demand))] = True
    keep[program.find(rows)] = True
    largest = float(program.value.max(initial=0.0))
    earned = float(reduced[top[reduced[top] > 0]].sum())
    kept = Listed.of(program, keep, first)
    return Shard(earned, largest, program.demand, program.duration, kept, rows + np.array([first, 0, 0]))


def thin(some: Instance, first: int, step: int) -> Thinned:
    """Every so many-th option of a shard's jobs, of which `first` is the number of the first."""
    program = listed(some).problem
    keep = thinned(program, step)
    return Thinned(Listed.of(program, keep, first), program.demand, program.duration)


def _least_behind(program: TimeIndexedProblem, by_job: Groups, reduced: Floats, many: int) -> Ints:
    """So many options of some value that are least behind their jobs' best, by that value; all jobs' together."""
    behind, valued = by_job.best(reduced)[by_job.of] - reduced, np.flatnonzero(program.value > 0)
    return valued[least(behind[valued] / program.value[valued], many)]


def _nearest(program: TimeIndexedProblem, by_job: Groups, reduced: Floats) -> Bools:
    """The options of each job whose reduced values are largest, the best of its best places, and its most valuable one."""
    keep = np.zeros(len(program), dtype=bool)
    job = program.job
    keep[by_job.best_rows(program.value)] = True
    best = Groups(job * len(program.capacity) + program.place).best_rows(reduced)  # start of each job at each place
    best = best[np.lexsort((-reduced[best], job[best]))]
    keep[best[rank(job[best]) < PLACES]] = True
    left = reduced.copy()
    for _ in range(KEPT):
        best = by_job.best_rows(left)
        keep[best] = True
        left[best] = -np.inf
    return keep


class Shards:
    """An instance by shards.

    Parameters
    ----------
    options : how many there are, about.
    scheduled : where its jobs are; these options are kept.
    pool, workers : who prices the shards, and how many they are.

    Attributes
    ----------
    view, empty : the instance without jobs, and that as a program: its capacity, overload price and constant.
    """

    def __init__(self, instance: Instance, options: int, scheduled: Schedule, pool: Executor, workers: int) -> None:
        self.instance, self.pool, self.ahead = instance, pool, AHEAD * workers
        self.jobs: tuple[Named, ...] = instance.jobs  # type: ignore[attr-defined]
        size = max(1, round(len(self.jobs) * OPTIONS / max(1, options)))
        self.bounds = [(a, min(a + size, len(self.jobs))) for a in range(0, len(self.jobs), size)]
        getattr(instance, "paths", None)  # worked out once, and then with every shard
        self.view = listed(part(instance, 0, 0))
        self.empty, self.places = self.view.problem, self.view.places
        self.field = next(iter(type(scheduled).model_fields))
        shard_of = {job.id: i for i, (a, b) in enumerate(self.bounds) for job in self.jobs[a:b]}
        entries: list[list[object]] = [[] for _ in self.bounds]
        for entry in getattr(scheduled, self.field):
            entries[shard_of[entry.job]].append(entry)
        self.scheduled = [scheduled.model_copy(update={self.field: tuple(mine)}) for mine in entries]

    def __call__(self, prices: Floats, over: Callable[[], bool], more: int = 0) -> Pass | None:
        """One pass over all jobs, which keeps so many `more` options a job; None where it was over before."""
        tasks = (
            (part(self.instance, a, b), a, prices, scheduled, more)
            for (a, b), scheduled in zip(self.bounds, self.scheduled, strict=True)
        )
        found = list(self._map(price, tasks, over))
        if len(found) < len(self.bounds):
            return None
        earned, largest = fsum(shard.earned for shard in found), max(shard.largest for shard in found)
        demand = np.concatenate([shard.demand for shard in found])
        whole = replace(self.empty, demand=demand)
        rent = float(whole.rent(prices).sum())
        return Pass(
            self.empty.constant + earned + rent + margin(whole, prices, largest),
            demand,
            np.concatenate([shard.duration for shard in found]),
            joined(shard.kept for shard in found),
            np.concatenate([shard.selected for shard in found]),
        )

    def _map(self, work: Callable[..., T], tasks: Iterable[tuple[object, ...]], over: Callable[[], bool]) -> Iterator[T]:
        """What becomes of the tasks, in their order, of which only a few are under way at a time; fewer where it is over."""
        waiting: deque[Future[T]] = deque()
        for task in tasks:
            if over():
                break
            waiting.append(self.pool.submit(work, *task))
            if len(waiting) >= self.ahead:
                yield waiting.popleft().result()
        while waiting:
            future = waiting.popleft()
            if over():
                future.cancel()
            else:
                yield future.result()

    def thinned(self, step: int, over: Callable[[], bool]) -> TimeIndexedProblem | None:
        """Every so many-th option of each job and place; None where it was over before."""
        tasks = ((part(self.instance, a, b), a, step) for a, b in self.bounds)
        found = list(self._map(thin, tasks, over))
        if len(found) < len(self.bounds):
            return None
        demand, duration = (np.concatenate([getattr(some, name) for some in found]) for name in ("demand", "duration"))
        return replace(self.empty, **joined(some.kept for some in found)._asdict(), demand=demand, duration=duration)

    def pooled(self, kept: Listed, found: Pass) -> TimeIndexedProblem:
        """A program of some options of all jobs."""
        return replace(self.empty, **kept._asdict(), demand=found.demand, duration=found.duration)

    def schedule(self, chosen: Listed) -> Schedule:
        """The schedule of chosen options, a shard after the other."""
        rows, entries = np.column_stack(chosen[:3]), []
        for a, b in self.bounds:
            mine = rows[(rows[:, 0] >= a) & (rows[:, 0] < b)]
            if len(mine):
                made = family_of(self.instance).chosen(part(self.instance, a, b), (mine - [a, 0, 0]).tolist())
                entries += getattr(made, self.field)
        return self.scheduled[0].model_copy(update={self.field: tuple(entries)})


def proven_at(instance: Instance, options: int, prices: ShadowPrices) -> float | None:
    """The bound that prices prove, by one pass over all options, of which there are about so many; None if they do not fit."""
    empty = family_of(instance).empty(instance)
    assert empty is not None
    with hired(0, None) as (pool, workers):
        shards = Shards(instance, options, empty, pool, workers)
        array = as_given(shards.view, prices)
        if array is None:
            return None
        most = shards.empty.overload_price
        found = shards(array if most is None else np.minimum(array, most), lambda: False)
    return None if found is None else found.bound


def joined(some: Iterable[Listed]) -> Listed:
    """Options of shards in the order of their jobs."""
    return Listed(*(np.concatenate(column) for column in zip(*some, strict=True)))


def merged(one: Listed, other: Listed) -> Listed:
    """The options of both, each once."""
    job, place, start, value = (np.concatenate(pair) for pair in zip(one, other, strict=True))
    order = np.lexsort((start, place, job))
    job, place, start, value = (column[order] for column in (job, place, start, value))
    new = np.append(True, (np.diff(job) != 0) | (np.diff(place) != 0) | (np.diff(start) != 0))[: len(job)]
    return Listed(job[new], place[new], start[new], value[new])
