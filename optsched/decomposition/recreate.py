"""Ruin and recreate (Schrimpf et al., Journal of Computational Physics 159, 2000): some jobs out, and back in another order.

A ruin takes jobs that run in a slot of one place, and a few that do not and may: those whose best priced option is far better
than what they have. Recreated, a job goes to its best priced start, to its most valuable one, or flush with what stands
already: where capacity is hard, holes that are left between jobs are what is lost.
"""

from __future__ import annotations

import math

import numpy as np

from optsched.decomposition.pricing import Pricing
from optsched.decomposition.stretches import Stretches
from optsched.problems.packing import NONE, Packing

MOST_OUT, MOST_IN = 6, 5
FLUSH, VALUE = 0.5, 0.15  # of the recreations: flush, and by value alone
NOWHERE = -1


class Recreate:
    """Ruins near a slot, recreated; a worse choice is kept at times, as a temperature says."""

    def __init__(self, pricing: Pricing, packing: Packing, rng: np.random.Generator) -> None:
        self.pricing, self.rng = pricing, rng
        p = pricing.program
        self.size = p.demand * p.duration
        self.liked = np.where(np.isfinite(pricing.density), pricing.density * self.size, 0.0)
        self.priced, self.valued = Stretches(p, pricing.reduced), Stretches(p)
        self.go_on(packing)

    def go_on(self, packing: Packing) -> None:
        """From another choice."""
        self.packing = packing
        self.look()

    def look(self) -> None:
        """Where everybody is."""
        p, option = self.pricing.program, self.packing.option
        runs = option != NONE
        self.place = np.where(runs, p.place[option], NOWHERE)
        self.begin = np.where(runs, p.start[option], 0)
        self.end = np.where(runs, self.begin + p.duration, 0)
        self.regret = self.pricing.regret(self.packing)

    def around(self, slot: int, tries: int, temperature: float) -> None:
        """So many ruins of jobs that may run in a slot."""
        local = np.flatnonzero((self.pricing.first <= slot) & (slot < self.pricing.last))
        if not len(local):
            return
        rng, regret = self.rng, np.cumsum(self.regret[local])
        places = rng.integers(len(self.packing.residual_capacity), size=tries).tolist()
        outs, ins = rng.integers(1, MOST_OUT + 1, size=tries).tolist(), rng.integers(MOST_IN + 1, size=tries).tolist()
        for place, out, wanted in zip(places, outs, ins, strict=True):
            here = local[(self.place[local] == place) & (self.begin[local] <= slot) & (slot < self.end[local])]
            jobs = {*(here if len(here) <= out else rng.choice(here, out, replace=False)).tolist()}
            if wanted and regret[-1] > 0:
                drawn = np.searchsorted(regret, rng.random(wanted) * regret[-1], side="right")
                jobs.update(local[drawn.clip(max=len(local) - 1)].tolist())
            if self._once(sorted(jobs), temperature):
                regret = np.cumsum(self.regret[local])

    def _once(self, jobs: list[int], temperature: float) -> bool:
        """Those out and in again; whether that is kept."""
        packing, rng = self.packing, self.rng
        before = packing.value
        old = [(job, option) for job in jobs if (option := int(packing.option[job])) != NONE]
        for job, _ in old:
            packing.remove(job)
        drawn = rng.random()
        flush, by = drawn < FLUSH, self.valued if FLUSH <= drawn < FLUSH + VALUE else self.priced
        new = [job for job in self._order(jobs) if by.insert_best(packing, job, flush)]
        if packing.value >= before + temperature * math.log(1.0 - rng.random()):
            for job in jobs:
                self._note(job)
            return True
        for job in new:
            packing.remove(job)
        for _, was in old:
            packing.insert(was, 0.0)
        packing.value = before
        return False

    def _note(self, job: int) -> None:
        """Where the job is now."""
        p, option = self.pricing.program, int(self.packing.option[job])
        if option == NONE:
            self.place[job], self.end[job], self.regret[job] = NOWHERE, 0, self.pricing.earns[job]
            return
        self.place[job], self.begin[job] = p.place[option], p.start[option]
        self.end[job] = p.start[option] + p.duration[job]
        self.regret[job] = self.pricing.earns[job] - self.pricing.reduced[option]

    def _order(self, jobs: list[int]) -> list[int]:
        """In which they come back: by lot, the largest first, or those that earn most, a unit or in all."""
        rule, some = self.rng.random(), np.array(jobs, dtype=np.int64)
        if rule < 0.2:
            rank = self.rng.random(len(some))
        elif rule < 0.5:
            rank = -self.size[some]
        else:
            rank = -self.rng.uniform(0.7, 1.3, len(some)) * (self.pricing.density[some] if rule < 0.75 else self.liked[some])
        found: list[int] = some[np.argsort(rank)].tolist()
        return found
