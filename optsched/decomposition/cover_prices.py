"""Prices of capacity and of covers as they stand in a file, and the bound that anybody can work out from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from optsched.certificate import PricedCover, PricedCovers
from optsched.decomposition.covers import Covers, cover, suit, together
from optsched.decomposition.dual import Dual, bound_with
from optsched.decomposition.shadow_prices import as_given, by_place
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.problems.view import TimeIndexedView
from optsched.schedules.base import Schedule


def as_written(view: TimeIndexedView[Schedule], jobs: tuple[str, ...], dual: Dual) -> PricedCovers:
    """By names of places and jobs."""
    covers = dual.covers
    assert covers is not None
    own = np.split(covers.jobs, np.cumsum(covers.size)[:-1])
    rows = zip(covers.place.tolist(), covers.slot.tolist(), own, covers.price.tolist(), strict=True)
    return PricedCovers(
        capacity=by_place(view, dual.prices),
        covers=tuple(
            PricedCover(place=view.places[place], slot=slot, jobs=tuple(jobs[job] for job in members.tolist()), price=price)
            for place, slot, members, price in rows
        ),
    )


def proven_by_covers(view: TimeIndexedView[Schedule], jobs: tuple[str, ...], given: PricedCovers) -> float | None:
    """The bound that they prove, by one evaluation of the dual; None if they do not fit."""
    prices, covers = as_given(view, given.capacity), _read(view, jobs, given)
    if prices is None or covers is None:
        return None
    return bound_with(view.problem, prices, covers)


def _read(view: TimeIndexedView[Schedule], jobs: tuple[str, ...], given: PricedCovers) -> Covers | None:
    """The inequalities; None where there is no such place, slot or job, or jobs fit beside each other."""
    program: TimeIndexedProblem = view.problem
    place = {name: k for k, name in enumerate(view.places)}
    number = {name: k for k, name in enumerate(jobs)}
    found = list[Covers]()
    if not suit(program) or len(jobs) != len(program.demand):
        return None
    for row in given.covers:
        if row.place not in place or row.slot >= program.capacity.shape[1] or not set(row.jobs) <= number.keys():
            return None
        members = np.array(sorted({number[name] for name in row.jobs}), dtype=np.int64)
        made = cover(program, place[row.place], row.slot, members)
        if made is None:
            return None
        found.append(replace(made, price=np.array([row.price])))
    return together(found) if found else None
