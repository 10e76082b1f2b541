"""Prices and staircases for each other: the bound is raised, every staircase on the way is tried, days are branched on."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field, replace
from itertools import count

import numpy as np

from optsched.decomposition.vcc.relaxation import Branch, Evaluated, Prices, StaircaseRelaxation
from optsched.instances.base import Floats
from optsched.instances.vcc import VccInstance
from optsched.monitor import Monitor
from optsched.problems.vcc import Staircase, round_down_to_feasible
from optsched.stop import Stop

CLOSED = 5e-7  # relative gap that counts as none
AT_ROOT, AT_NODE = 30, 10  # evaluations
LOAD_ROUNDS = 6  # prices of the load and of the days in turn
PATIENCE = 8  # evaluations without a better bound
TRIALS = 6  # rounds of guessing what a day's caps add up to
NARROW = 0.995  # how much narrower a window must promise to be


@dataclass(order=True)
class Node:
    """A part of all schedules with its bound."""

    bound: float
    number: int
    branch: Branch = field(compare=False)
    prices: Prices = field(compare=False)
    evaluated: Evaluated | None = field(compare=False, default=None)


class StaircaseSearch:
    """An instance on the way to a certified schedule.

    Attributes
    ----------
    best : the incumbent. bound : proven of every schedule. evaluations : of the relaxation.
    """

    def __init__(self, instance: VccInstance, monitor: Monitor, stop: Stop, start: Staircase) -> None:
        self.instance, self.monitor, self.stop = instance, monitor, stop
        self.best, self.cost = start, start.cost()
        self.bound = -np.inf
        self.evaluations = 0
        self.at = np.inf  # the cost below which the window holds everything
        monitor.incumbent(self.cost)

    def __call__(self) -> str:
        """Search until a limit; the termination word."""
        relaxed = StaircaseRelaxation(self.instance)
        penalty = self.instance.daily_penalty_per_ncu_h
        prices = Prices(np.zeros(self.instance.horizon), np.full(relaxed.days, 1e-3 * penalty))
        self._guess(relaxed, prices, relaxed.whole)
        relaxed = self._narrowed(relaxed)
        root = self._raise(relaxed, Node(-np.inf, 0, relaxed.whole, prices), AT_ROOT)
        self._proven(root.bound)
        self._guess(relaxed, root.prices, relaxed.whole)
        number = count(1)
        nodes = [root]
        while (word := self._ended()) is None:
            relaxed = self._narrowed(relaxed)
            node = heapq.heappop(nodes)
            split = self._split(relaxed, node)
            if split is None:  # nothing left to branch on: prices of the load are what can still get better
                heapq.heappush(nodes, self._raise(relaxed, node, AT_ROOT))
                if nodes[0].bound <= node.bound + CLOSED * abs(node.bound):
                    return "iteration_limit"
            else:
                for branch in split:
                    child = Node(node.bound, next(number), branch, node.prices)
                    self._guess(relaxed, child.prices, branch, 2)
                    heapq.heappush(nodes, self._raise(relaxed, child, AT_NODE))
            self._proven(min(nodes[0].bound, self.cost))
        return word

    def _proven(self, bound: float) -> None:
        if bound > self.bound:
            self.bound = bound
            self.monitor.bounded(bound)

    def _ended(self) -> str | None:
        if self.monitor.stopping:
            return self.monitor.stopping
        gap = (self.cost - self.bound) / max(abs(self.cost), 1e-9)
        if gap <= CLOSED:
            return "optimal"
        return self.stop.reason(self.monitor.clock.elapsed_s(), gap, self.evaluations)

    def _try(self, wanted: Floats) -> Staircase:
        stairs = round_down_to_feasible(self.instance, wanted)
        cost = stairs.cost()
        if cost < self.cost:
            self.best, self.cost = stairs, cost
            self.monitor.incumbent(cost)
        return stairs

    def _guess(self, relaxed: StaircaseRelaxation, prices: Prices, branch: Branch, trials: int = TRIALS) -> None:
        """Staircases that expect of a day's caps what those of the last one came to."""
        sums = relaxed.range[0][:, 0]
        for _ in range(trials):
            if self._ended() is not None:
                return
            path = relaxed.with_daily(prices.load, relaxed.lacking(sums), branch)
            sums = self._try(path.started.astype(float)).filled

    def _narrowed(self, relaxed: StaircaseRelaxation) -> StaircaseRelaxation:
        """The relaxation without what cannot be better than the incumbent."""
        if self.cost >= NARROW * self.at:
            return relaxed
        self.at = self.cost
        window = relaxed.paths.window_below(self.cost)
        return StaircaseRelaxation(self.instance, window)

    def _raise(self, relaxed: StaircaseRelaxation, node: Node, most: int) -> Node:
        """Better prices for a node: those of the load by a smoothed supergradient, those of the days by its signs, in turn."""
        best = self._days(relaxed, node, most)
        for _ in range(LOAD_ROUNDS if relaxed.tight.any() else 0):
            before = best.bound
            best = self._days(relaxed, self._load(relaxed, best, 2 * most), most // 3)
            if best.bound >= self.cost or self._ended() or best.bound - before < 1e-4 * abs(self.cost):
                break
            self._guess(relaxed, best.prices, node.branch, 2)
        return best

    def _at(self, relaxed: StaircaseRelaxation, node: Node, prices: Prices) -> Node:
        """The node under other prices; what it has proven stays proven."""
        found = relaxed(prices, node.branch)
        self.evaluations += 1
        self._try(found.path.started.astype(float))
        if node.number == 0:
            self._proven(min(found.bound, self.cost))
        return Node(found.bound, node.number, node.branch, prices, found)

    def _days(self, relaxed: StaircaseRelaxation, node: Node, most: int) -> Node:
        """Each day's price up while its caps lack something and down while they do not, by ever smaller factors."""
        penalty = self.instance.daily_penalty_per_ncu_h
        factor, sign = np.full(relaxed.days, 3.0), np.zeros(relaxed.days)
        best, prices, worse = node, node.prices, 0
        for _ in range(max(1, most if penalty else 1)):
            if best.evaluated is not None and self._ended() is not None:
                break
            found = self._at(relaxed, node, prices)
            assert found.evaluated is not None
            worse = 0 if found.bound > best.bound + 1e-6 * abs(best.bound) else worse + 1
            best = _higher(best, found)
            if best.bound >= self.cost or worse > PATIENCE:
                break
            turned = np.sign(found.evaluated.lack)
            factor = np.where(turned * sign < 0, factor**0.6, factor)
            sign = np.where(turned != 0, turned, sign)
            prices = Prices(prices.load, np.clip(prices.daily * factor**turned, 1e-7 * penalty, penalty))
        return best

    def _load(self, relaxed: StaircaseRelaxation, node: Node, most: int) -> Node:
        """The volume algorithm on the prices of the load."""
        assert node.evaluated is not None
        best, mean, worse, step = node, node.evaluated.overload, 0, 0.5
        for _ in range(most):
            if self._ended() is not None or best.bound >= self.cost:
                break
            away = np.where((best.prices.load <= 0) & (mean < 0), 0.0, mean)
            norm = float(away @ away)
            if norm <= 1e-12:
                break
            reach = step * max(self.cost - best.bound, 1e-4 * abs(self.cost)) / norm
            found = self._at(relaxed, node, Prices(np.maximum(0.0, best.prices.load + reach * away), best.prices.daily))
            assert found.evaluated is not None
            mean = 0.8 * mean + 0.2 * found.evaluated.overload
            if found.bound > best.bound:
                step, worse = min(2.0, 1.2 * step), 0
            else:
                worse += 1
                step *= 0.7 if worse % 3 == 0 else 1.0
            best = _higher(best, found)
        return best

    def _split(self, relaxed: StaircaseRelaxation, node: Node) -> tuple[Branch, Branch] | None:
        """The day whose priced penalty is furthest from its real one, in two."""
        assert node.evaluated is not None
        loss = node.prices.daily * np.abs(node.evaluated.lack)
        loss[node.branch.least >= node.branch.most] = 0.0
        day = int(np.argmax(loss))
        if loss[day] <= CLOSED * max(1.0, abs(self.cost)):
            return None
        e = int(node.evaluated.path.empties[day])
        at = e if node.evaluated.lack[day] < 0 else e + 1
        at = min(max(at, int(node.branch.least[day]) + 1), int(node.branch.most[day]))
        return node.branch.split(day, at)


def _higher(best: Node, found: Node) -> Node:
    """The node with the better bound, which both have."""
    if best.evaluated is None:
        return replace(found, bound=max(best.bound, found.bound))
    return found if found.bound > best.bound else best
