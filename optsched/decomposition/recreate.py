"""Ruin and recreate (Schrimpf et al., Journal of Computational Physics 159, 2000): some jobs out, and back in another order."""

from __future__ import annotations

import math

import numpy as np

from optsched.decomposition.pricing import Pricing
from optsched.instances.base import Floats, Ints
from optsched.problems.packing import NONE, Packing

MOST_OUT, MOST_IN = 16, 10


class Recreate:
    """Ruins near a slot, recreated; a worse choice is kept at times, as a temperature says."""

    def __init__(self, pricing: Pricing, packing: Packing, rng: np.random.Generator) -> None:
        self.pricing, self.packing, self.rng = pricing, packing, rng
        p = pricing.program
        self.size = p.demand * p.duration
        self.liked = np.where(np.isfinite(pricing.density), pricing.density * self.size, 0.0)

    def around(self, slot: int, tries: int, temperature: float) -> None:
        """So many ruins of jobs that may run in a slot."""
        local = np.flatnonzero((self.pricing.first <= slot) & (slot < self.pricing.last))
        for _ in range(tries if len(local) else 0):
            self._once(local, slot, temperature)

    def _once(self, local: Ints, slot: int, temperature: float) -> None:
        p, packing, rng = self.pricing.program, self.packing, self.rng
        option = packing.option[local]
        runs = option != NONE
        start = np.where(runs, p.start[option], -1)
        here = np.flatnonzero(runs & (start <= slot) & (slot < start + p.duration[local]))
        if len(here) and rng.random() < 0.5:
            place = p.place[option[here]]
            here = here[place == place[rng.integers(len(here))]]
        if len(here):
            here = rng.choice(here, min(len(here), int(rng.integers(2, MOST_OUT))), replace=False)
        waiting = np.flatnonzero(~runs)
        if len(waiting) > MOST_IN:
            waiting = rng.choice(waiting, MOST_IN, replace=False)
        before = packing.value
        old = [(job, int(packing.option[job])) for job in local[here].tolist()]
        for job, _ in old:
            packing.remove(job)
        jobs = local[np.concatenate([here, waiting])]
        priced = rng.random() < 0.7
        score = self.pricing.reduced
        order = jobs[np.argsort(self._rank(jobs))].tolist()
        new = [job for job in order if packing.insert_best(job, score[packing.options(job)] if priced else None)]
        if packing.value >= before + temperature * math.log(1.0 - rng.random()):
            return
        for job in new:
            packing.remove(job)
        for _, was in old:
            packing.insert(was, 0.0)
        packing.value = before

    def _rank(self, jobs: Ints) -> Floats:
        rule = self.rng.random()
        if rule < 0.2:
            return self.rng.random(len(jobs))
        if rule < 0.4:
            return -self.size[jobs]
        noise = self.rng.uniform(0.7, 1.3, len(jobs))
        return -noise * (self.pricing.density[jobs] if rule < 0.8 else self.liked[jobs])
