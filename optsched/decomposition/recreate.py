"""Ruin and recreate (Schrimpf et al., Journal of Computational Physics 159, 2000): some jobs out, and back in another order.

A ruin takes jobs that run in a slot of one place, and a few that do not and may: those whose best priced option is far better
than what they have. Recreated, a job goes to its best priced start, to its most valuable one, or flush with what stands
already: where capacity is hard, holes that are left between jobs are what is lost.
"""

from __future__ import annotations

import math
import random

import numpy as np

from optsched.decomposition.ejection import in_the_way
from optsched.decomposition.pricing import Pricing
from optsched.decomposition.share import Share
from optsched.decomposition.stretches import Stretches
from optsched.problems.packing import NONE, Packing

TRIES, PLACES = 40, 10  # ruins at a slot, slots in a row
EJECTIONS, PAID = 6, 2.0  # after them; what they may cost by the prices, in what they and the temperature bring
MOST_OUT, MOST_IN = 6, 5
FLUSH, VALUE = 0.5, 0.15  # of the recreations: flush, and by value alone
NOWHERE = -1
FAR = 0.05  # of the jobs' slots: weight of slots where nothing is lost


class Recreate:
    """Ruins near a slot, recreated; a worse choice is kept at times, as a temperature says."""

    def __init__(self, pricing: Pricing, packing: Packing, rng: np.random.Generator) -> None:
        self.pricing, self.packing, self.rng = pricing, packing, rng
        self.dice = random.Random(int(rng.integers(2**63)))  # ten times as fast as NumPy's, one by one
        p = pricing.program
        size = p.demand * p.duration
        self._size: list[float] = size.tolist()
        self._density: list[float] = pricing.density.tolist()
        self._liked: list[float] = np.where(np.isfinite(pricing.density), pricing.density * size, 0.0).tolist()
        self.priced, self.valued = Stretches(p, pricing.reduced), Stretches(p)
        self.go_on(Share.whole(packing))

    def go_on(self, share: Share) -> None:
        """From what the packing is now, within a share of it."""
        self.share = share
        self._open = [place in share.places for place in range(len(self.packing.residual_capacity))]
        self.look()

    def slots(self, count: int) -> list[int]:
        """So many slots, drawn by what is lost there."""
        pricing, share = self.pricing, self.share
        regret, idle = pricing.losses(self.packing)
        weights = idle[list(share.places)].sum(axis=0)
        has = np.flatnonzero((regret > 0) & share.jobs)
        runs = self.place[has] != NOWHERE
        begin = np.where(runs, self.begin[has], pricing.first[has])
        end = np.where(runs, self.end[has], pricing.last[has])
        change = np.zeros(len(weights) + 1)
        each = regret[has] / (end - begin)
        np.add.at(change, begin, each)
        np.subtract.at(change, end, each)
        weights = np.maximum(0.0, weights + np.cumsum(change)[:-1])
        weights += max(FAR * weights.mean(), 1e-12)
        first, last = share.slots
        weights[:first] = weights[last:] = 0.0
        drawn: list[int] = self.rng.choice(len(weights), count, p=weights / weights.sum()).tolist()
        return drawn

    def look(self) -> None:
        """Where everybody is."""
        p, option = self.pricing.program, self.packing.option
        runs = option != NONE
        self.place = np.where(runs, p.place[option], NOWHERE)
        self.begin = np.where(runs, p.start[option], 0)
        self.end = np.where(runs, self.begin + p.duration, 0)
        self.regret = self.pricing.regret(self.packing)

    def turn(self, slot: int, temperature: float) -> None:
        """Ruins around a slot, and ejections anywhere."""
        self.around(slot, TRIES, temperature)
        self.eject(EJECTIONS, temperature)

    def eject(self, tries: int, temperature: float) -> None:
        """So many jobs, drawn by what they lose, to a start that is better by the prices; who is in the way, elsewhere."""
        packing, p, dice = self.packing, self.pricing.program, self.dice
        total = np.cumsum(np.where(self.share.jobs, self.regret, 0.0))
        if not len(total) or not total[-1] > 0:
            return
        for _ in range(tries):
            job = min(int(np.searchsorted(total, total[-1] * dice.random(), side="right")), len(total) - 1)
            rows = packing.rows(job)
            liked = self.pricing.reduced[rows] >= self.pricing.earns[job] - dice.random() * self.regret[job]
            liked &= (p.value[rows] > 0) & np.isin(p.place[rows], self.share.places)
            better = rows[liked]
            if not len(better) or not self.regret[job] > 0:
                continue
            option, own = int(better[dice.randrange(len(better))]), int(packing.option[job])
            if own == option:
                continue
            runs = (self.place == p.place[option]) & self.share.jobs
            runs[job] = False
            most = PAID * (float(self.regret[job]) + temperature)
            was = packing.value
            if own != NONE:
                packing.remove(job)
            out = in_the_way(self.pricing, packing, option, runs, self.begin, self.end, most, self.rng)
            if own != NONE:
                self._back([own], was)
            if out is not None:
                self._once([job, *out.tolist()], temperature, option)

    def around(self, slot: int, tries: int, temperature: float) -> None:
        """So many ruins of jobs that may run in a slot."""
        local = np.flatnonzero((self.pricing.first <= slot) & (slot < self.pricing.last) & self.share.jobs)
        if not len(local):
            return
        dice, places = self.dice, self.share.places
        loses = self.regret[local]
        total = np.cumsum(loses)
        runs = local[(self.begin[local] <= slot) & (slot < self.end[local])]
        at: dict[int, int] = dict(zip(runs.tolist(), self.place[runs].tolist(), strict=True))  # where who runs in the slot
        there: list[list[int]] = [[] for _ in self._open]
        for job, place in at.items():
            there[place].append(job)
        for _ in range(tries):
            here, out = there[dice.choice(places)], dice.randint(1, MOST_OUT)
            jobs = set(here if len(here) <= out else dice.sample(here, out))
            wanted = dice.randint(0, MOST_IN)
            if wanted and total[-1] > 0:
                drawn = np.searchsorted(total, [total[-1] * dice.random() for _ in range(wanted)], side="right")
                jobs.update(local[np.minimum(drawn, len(local) - 1)].tolist())
            some = sorted(jobs)
            if self._once(some, temperature):
                for job in some:
                    if job in at:
                        there[at.pop(job)].remove(job)
                    if self.begin[job] <= slot < self.end[job]:
                        at[job] = int(self.place[job])
                        there[at[job]].append(job)
                loses[np.searchsorted(local, some)] = self.regret[some]
                total = np.cumsum(loses)

    def _once(self, jobs: list[int], temperature: float, forced: int = NONE) -> bool:
        """Those out and in again, the first one of them at an option if one is given; whether that is kept."""
        packing, dice = self.packing, self.dice
        before = packing.value
        old = [(job, option) for job in jobs if (option := int(packing.option[job])) != NONE]
        for job, _ in old:
            packing.remove(job)
        drawn = dice.random()
        flush, by = drawn < FLUSH, self.valued if FLUSH <= drawn < FLUSH + VALUE else self.priced
        if forced != NONE:
            packing.add(forced)
        new, rest = (jobs[:1], jobs[1:]) if forced != NONE else ([], jobs)
        new += [job for job in self._order(rest) if by.insert_best(packing, job, self._open, flush)]
        if packing.value >= before + temperature * math.log(1.0 - dice.random()):
            for job in jobs:
                self._note(job)
            return True
        for job in new:
            packing.remove(job)
        self._back([was for _, was in old], before)
        return False

    def _back(self, options: list[int], value: float) -> None:
        """What was chosen is chosen again."""
        for option in options:
            self.packing.insert(option, 0.0)
        self.packing.value = value

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
        dice, rule = self.dice, self.dice.random()
        if rule < 0.2:
            return dice.sample(jobs, len(jobs))
        if rule < 0.5:
            return sorted(jobs, key=self._size.__getitem__, reverse=True)
        earns = self._density if rule < 0.75 else self._liked
        return sorted(jobs, key=lambda job: dice.uniform(0.7, 1.3) * earns[job], reverse=True)
