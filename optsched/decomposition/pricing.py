"""What the prices of capacity say about a choice: which jobs, and which capacity, lose how much of the bound."""

from __future__ import annotations

import numpy as np

from optsched.decomposition.dual import Dual, LagrangianSubproblem
from optsched.instances.base import Bools, Floats, Ints
from optsched.problems.packing import NONE, Packing
from optsched.problems.ranks import least, rank
from optsched.problems.time_indexed import TimeIndexedProblem

CLOSE = 6  # options a job
FRESH = 0.3  # of the iterations: how old that may be
NEAR = 0.1  # of an option's value: what it may be behind the job's best to be in a core


class Pricing:
    """A program under the prices of its capacity.

    Attributes
    ----------
    bound : no choice earns more. reduced : value less what the option pays, shape (n,).
    earns : the job's best, zero if it is better left out, shape (J,).
    density : the job's best a unit of demand and slot, negative too, shape (J,). pool : options of an exact core, shape (n,).
    close : of these the few that are nearest to their job's best, shape (n,).
    worth : value of the job's most valuable option, shape (J,).
    few : whether places hold few jobs at a time.
    first, last : slots in which a job may run, shape (J,); empty for a job without options.
    """

    def __init__(self, program: TimeIndexedProblem, dual: Dual) -> None:
        self.program, self.prices, self.bound, self.few = program, dual.prices, dual.bound, dual.few
        jobs = len(program.demand)
        self.reduced = LagrangianSubproblem(program).reduced_values(dual.prices)
        if dual.covers is not None:
            self.reduced -= dual.covers.paid(program)
        best = np.full(jobs, -np.inf)
        np.maximum.at(best, program.job, self.reduced)
        self.earns = np.maximum(0.0, best)
        self.density = best / (program.demand * program.duration)
        self.close = self._close(best)
        self.pool = self.close | (dual.latest > FRESH * dual.iterations)
        self.worth = np.zeros(jobs)
        np.maximum.at(self.worth, program.job, program.value)
        self.first, self.last = program.spans
        self.some = self.last > self.first

    def order(self) -> Ints:
        """Jobs by what they earn a unit of demand and slot, the best first."""
        return np.argsort(-self.density, kind="stable")

    def nearest(self, most: int) -> Bools:
        """Of the pool, those that are least behind their jobs' best beside what they are worth, shape (n,)."""
        pool = np.flatnonzero(self.pool)
        p, near = self.program, np.zeros(len(self.pool), dtype=bool)
        behind = (self.earns[p.job[pool]] - self.reduced[pool]) / p.value[pool]
        near[pool[least(behind, most)]] = True
        return near

    def regret(self, packing: Packing) -> Floats:
        """By how much a job's best priced option is better than what it has, shape (J,)."""
        return np.asarray(self.earns - np.where(packing.option != NONE, self.reduced[packing.option], 0.0))

    def losses(self, packing: Packing) -> tuple[Floats, Floats]:
        """What is lost by job, shape (J,), and by place and slot, shape (P, T): together the dual value less the choice's.

        A job loses by an option that is not its best, capacity by a load that earns less than the best one at its price.
        """
        program, left = self.program, packing.residual_capacity
        earned = self.prices * (program.capacity - left)
        if program.overload_price is not None:
            earned += program.overload_price * np.minimum(0.0, left)
        idle = np.maximum(0.0, program.rent(self.prices) - earned)
        return self.regret(packing), idle

    def _close(self, best: Floats) -> Bools:
        p = self.program
        behind = best[p.job] - self.reduced
        near = np.flatnonzero((behind <= NEAR * p.value) & (self.reduced > -NEAR * p.value))
        order = near[np.lexsort((behind[near], p.job[near]))]
        close = np.zeros(len(p), dtype=bool)
        close[order[rank(p.job[order]) < CLOSE]] = True
        return close
