"""geo: dispatch rules of the paper (S0, S1, S2), the job's own best option on arrival, and a greedy over all jobs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from optsched.heuristics.parts import Part, how_many, schedule, share
from optsched.heuristics.serial_sgs import EVERY, density, place
from optsched.instances.base import Floats, Ints
from optsched.instances.geo import GeoInstance
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.schedules.geo import GeoSchedule, Start
from optsched.stop import Spare

Score = Callable[[GeoInstance, TimeIndexedProblem], Floats]
"""How much each option is liked, shape (n,); minus infinity refuses it."""
SOON = 15  # slots of slack that are looked at in haste: a third of the time, for some per cent of the utility
HELD = 20_000_000  # options that are held at once, 45 bytes each
HASTE = 2.0  # what making all options and placing all jobs takes, in times of making the options


def greedy(instance: GeoInstance, seed: int = 0, *, spare: Spare | None = None) -> GeoSchedule:
    """Jobs by utility a GPU-slot, each at the site and start that earn most among those that still fit.

    Where there is no time to look at all options of all jobs first, jobs are placed a part at a time, and soon; where there
    are too many to be held at once, a part at a time.
    """
    jobs, count = len(instance.columns.submitted), how_many(instance)
    share(instance)  # before the first part, whose seconds tell how long all of them will take
    before = np.inf if spare is None else spare.left_s()
    waiting: list[Part] = []
    placed: list[tuple[int, Start]] = []
    hurried = at_once = False
    worth, free = np.full(jobs, -np.inf), instance.capacity.astype(float)
    for c in range(count):
        part = Part(instance, np.arange(c, jobs, count), free, SOON if hurried else None)  # every so many-th: like the whole
        waiting.append(part)
        at_once |= count * len(part.options) > HELD
        if spare is not None and not hurried:
            left = spare.left_s()
            each = (before - left) / (c + 1) if left < np.inf else 0.0
            hurried = each * ((1.0 if at_once else HASTE) * count - c - 1) > left
            spare.cut |= hurried
        at_once |= hurried
        worth[part.rows] = density(part.options)
        if at_once:
            for other in waiting:
                place(other.packing, np.argsort(-worth[other.rows], kind="stable").tolist(), None, spare)
                placed += other.started()
            waiting = []
        if spare is not None and not spare():
            break
    if not at_once:
        order = np.argsort(-worth, kind="stable")
        for i, job in enumerate(order[worth[order] > -np.inf].tolist()):
            if spare is not None and i and i % EVERY == 0 and not spare():
                break
            waiting[job % count].packing.insert_best(job // count)
    return schedule(placed + [start for part in waiting for start in part.started()])


def dispatch(score: Score, instance: GeoInstance, seed: int = 0, *, spare: Spare | None = None) -> GeoSchedule:
    """Jobs as they are submitted, each at the option that it likes best among those that still fit."""
    placed: list[tuple[int, Start]] = []
    free = instance.capacity.astype(float)
    for rows in np.array_split(np.argsort(instance.columns.submitted, kind="stable"), max(1, how_many(instance))):
        part = Part(instance, rows, free)
        place(part.packing, range(len(part.rows)), score(part.instance, part.options), spare)
        placed += part.started()
        if spare is not None and not spare():
            break
    return schedule(placed)


def in_order_of_arrival(score: Score) -> Callable[..., GeoSchedule]:
    """A dispatch rule as a heuristic."""
    made = partial(dispatch, score)
    made.__doc__ = score.__doc__
    return made


def _delay(instance: GeoInstance, options: TimeIndexedProblem) -> Ints:
    return options.start - instance.columns.submitted[options.job]


def _at_home(instance: GeoInstance, options: TimeIndexedProblem) -> np.ndarray:
    return np.asarray(options.place == instance.columns.source[options.job])


def local(instance: GeoInstance, options: TimeIndexedProblem) -> Floats:
    """S0, local first come, first served: at its source or where it already went, as soon as it fits."""
    may = _at_home(instance, options) | (instance.columns.bound_for[options.job] >= 0)
    return np.where(may, -_delay(instance, options).astype(float), -np.inf)


def _at_once_or_where_least(instance: GeoInstance, options: TimeIndexedProblem, signal: Floats) -> Floats:
    """Now at the source; else away by the signal when it is submitted, as soon as it fits; else later at the source."""
    late, sites = _delay(instance, options) / (instance.horizon + 1), len(instance.sites)
    pue = np.array([[site.pue] for site in instance.sites])
    submitted = np.minimum(instance.columns.submitted, instance.horizon - 1)
    rank = (signal[:, submitted] * pue).argsort(axis=0).argsort(axis=0)
    away = 2 - (rank[options.place, options.job] + late) / sites
    home = _at_home(instance, options)
    return np.where(home, np.where(late == 0, 3.0, -late), away)


def price_greedy(instance: GeoInstance, options: TimeIndexedProblem) -> Floats:
    """S1: at once at its source, else to the site with the lowest price of energy that has room, else later at its source."""
    return _at_once_or_where_least(instance, options, instance.price)


def carbon_greedy(instance: GeoInstance, options: TimeIndexedProblem) -> Floats:
    """S2: at once at its source, else to the site with the cleanest energy that has room, else later at its source."""
    return _at_once_or_where_least(instance, options, instance.carbon)


def best(instance: GeoInstance, options: TimeIndexedProblem) -> Floats:
    """On arrival every job takes the site and start of most utility among those that still fit."""
    return options.value


HEURISTICS = {
    "greedy": greedy,
    "local-fcfs": in_order_of_arrival(local),
    "price-greedy": in_order_of_arrival(price_greedy),
    "carbon-greedy": in_order_of_arrival(carbon_greedy),
    "best-on-arrival": in_order_of_arrival(best),
}
