"""Ruin and recreate (Schrimpf et al., Journal of Computational Physics 159, 2000): some jobs out, and back in another order.

A ruin takes jobs that run in a slot of one place, and a few that do not and may: those whose best priced option is far better
than what they have. Recreated, a job goes to its best priced start, to its most valuable one, or flush with what stands
already: where capacity is hard, holes that are left between jobs are what is lost.
"""

from __future__ import annotations

import math

import numpy as np

from optsched.decomposition.pricing import Pricing
from optsched.instances.base import Bools, Floats, Ints
from optsched.problems.packing import NONE, Packing

MOST_OUT, MOST_IN = 6, 5
FLUSH, VALUE = 0.5, 0.15  # of the recreations: flush, and by value alone
NOWHERE = -1


class Recreate:
    """Ruins near a slot, recreated; a worse choice is kept at times, as a temperature says."""

    def __init__(self, pricing: Pricing, packing: Packing, rng: np.random.Generator) -> None:
        self.pricing, self.packing, self.rng = pricing, packing, rng
        p = pricing.program
        self.size = p.demand * p.duration
        self.liked = np.where(np.isfinite(pricing.density), pricing.density * self.size, 0.0)
        follows = (p.job[1:] == p.job[:-1]) & (p.place[1:] == p.place[:-1]) & (p.start[1:] == p.start[:-1] + 1)
        self.follows = np.append(False, follows)  # the option before is the start before
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
        for _ in range(tries if len(local) else 0):
            self._once(local, slot, temperature)

    def _once(self, local: Ints, slot: int, temperature: float) -> None:
        packing, rng = self.packing, self.rng
        jobs = self._ruined(local, slot, int(rng.integers(len(packing.residual_capacity))))
        before = packing.value
        old = [
            (job, option) for job, option in zip(jobs.tolist(), packing.option[jobs].tolist(), strict=True) if option != NONE
        ]
        for job, _ in old:
            packing.remove(job)
        drawn = rng.random()
        insert = self._flush if drawn < FLUSH else self._valued if drawn < FLUSH + VALUE else self._priced
        new = [job for job in jobs[np.argsort(self._rank(jobs))].tolist() if insert(job)]
        if packing.value >= before + temperature * math.log(1.0 - rng.random()):
            for job in jobs.tolist():
                self._note(job)
            return
        for job in new:
            packing.remove(job)
        for _, was in old:
            packing.insert(was, 0.0)
        packing.value = before

    def _ruined(self, local: Ints, slot: int, place: int) -> Ints:
        """Some that run in that slot there, and of the others some, drawn by what they lose."""
        rng, at = self.rng, self.place[local]
        here: Ints = local[(at == place) & (self.begin[local] <= slot) & (slot < self.end[local])]
        out, wanted = int(rng.integers(1, MOST_OUT + 1)), int(rng.integers(MOST_IN + 1))
        if len(here) > out:
            here = rng.choice(here, out, replace=False)
        regret = np.where(at == place, 0.0, self.regret[local])
        if wanted and (total := float(regret.sum())) > 0:
            there = local[np.searchsorted(np.cumsum(regret), rng.random(wanted) * total, side="right").clip(max=len(local) - 1)]
            here = np.unique(np.concatenate([here, there]))
        return here

    def _note(self, job: int) -> None:
        """Where the job is now."""
        p, option = self.pricing.program, int(self.packing.option[job])
        if option == NONE:
            self.place[job], self.end[job], self.regret[job] = NOWHERE, 0, self.pricing.earns[job]
            return
        self.place[job], self.begin[job] = p.place[option], p.start[option]
        self.end[job] = p.start[option] + p.duration[job]
        self.regret[job] = self.pricing.earns[job] - self.pricing.reduced[option]

    def _priced(self, job: int) -> bool:
        return self.packing.insert_best(job, self.pricing.reduced[self.packing.options(job)])

    def _valued(self, job: int) -> bool:
        return self.packing.insert_best(job)

    def _flush(self, job: int) -> bool:
        """At the best priced of the starts from which it could not begin one slot earlier, or later, as things stand."""
        some = self.packing.options(job)
        return self.packing.insert_best(job, self.pricing.reduced[some], lambda fits: _ends(fits, self.follows[some]))

    def _rank(self, jobs: Ints) -> Floats:
        rule = self.rng.random()
        if rule < 0.2:
            return self.rng.random(len(jobs))
        if rule < 0.5:
            return -self.size[jobs]
        noise = self.rng.uniform(0.7, 1.3, len(jobs))
        return -noise * (self.pricing.density[jobs] if rule < 0.75 else self.liked[jobs])


def _ends(fits: Bools, follows: Bools) -> Bools:
    """Of each run of starts that fit, the first and the last."""
    first, last = fits.copy(), fits.copy()
    joined = fits[1:] & fits[:-1] & follows[1:]
    first[1:] &= ~joined
    last[:-1] &= ~joined
    return first | last
