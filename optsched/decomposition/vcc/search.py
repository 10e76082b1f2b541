"""Prices and staircases for each other: the bound is raised, every staircase on the way is tried, days are branched on."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field, replace
from itertools import count

import numpy as np

from optsched.decomposition.bundle import Bundle
from optsched.decomposition.vcc.fits import Window
from optsched.decomposition.vcc.incumbent import Beside, Incumbent
from optsched.decomposition.vcc.memory import MemoryRelaxation
from optsched.decomposition.vcc.relaxation import Branch, Evaluated, Prices, StaircaseRelaxation
from optsched.instances.base import Floats
from optsched.instances.vcc import VccInstance
from optsched.mates import Mate, mates_worth
from optsched.monitor import Monitor
from optsched.problems.vcc import Staircase
from optsched.stop import Stop

CLOSED = 5e-7  # relative gap that counts as none
AT_ROOT, AT_NODE = 30, 10  # evaluations
TURN = 15  # evaluations between beams,
BEAMS = (1, 1, 3)  # of which there are so many by slots remembered, as evaluations take longer
SETTLED = 1e-5  # of the cost: a rise of the bound that is not worth waiting for
FOLLOWED = (1e-3, 1e-4)  # the same where more slots can be remembered than none, and than one
PATIENCE = 8  # evaluations without a better bound
TRIALS = 3  # rounds of guessing what a day's caps add up to
NARROW = 0.995  # how much narrower a window must promise to be
ENDS_S = 1.0  # before the end: when a mate's last beams end

Priced = StaircaseRelaxation | MemoryRelaxation


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
    incumbent : the best staircase. bound : proven of every schedule. evaluations : of the relaxation.
    """

    def __init__(self, instance: VccInstance, monitor: Monitor, stop: Stop, start: Staircase, threads: int = 0) -> None:
        self.threads = threads
        self.instance, self.monitor, self.stop = instance, monitor, stop
        self.bound = -np.inf
        self.evaluations = 0
        self.at = np.inf  # the cost below which the window holds everything
        self.incumbent = Incumbent(start, lambda: self._ended() is not None, monitor.incumbent)
        self.mate: Mate | None = None
        self.window: Window | None = None  # of all that is worth looking at
        self.sent: Window | None = None  # what the mate knows of it

    def __call__(self) -> str:
        """Search until a limit; the termination word."""
        try:
            word = self._search()
            self._confer(None)
            return word
        finally:
            if self.mate is not None:
                self.mate.close()

    def _search(self) -> str:
        relaxed = StaircaseRelaxation(self.instance, fits=True)
        penalty = self.instance.daily_penalty_per_ncu_h
        prices = Prices(np.zeros(self.instance.horizon), np.full(relaxed.days, 1e-3 * penalty))
        self._guess(relaxed, prices, relaxed.whole)
        relaxed = self._narrowed(relaxed)
        if relaxed.tight.any() and mates_worth(self.stop, self.monitor.clock, self.threads):
            self.mate = Mate(Beside, self.instance, self.incumbent.best.started)
        root = self._days(relaxed, Node(-np.inf, 0, relaxed.whole, prices), AT_NODE if relaxed.tight.any() else AT_ROOT)
        self._proven(root.bound)
        self._guess(relaxed, root.prices, relaxed.whole)
        for slots in range(len(FOLLOWED) + 1):
            relaxed, root = self._settled(relaxed, root, slots)
        number = count(1)
        nodes = [root]
        while (word := self._ended()) is None:
            relaxed = self._narrowed(relaxed)
            node = heapq.heappop(nodes)
            split = self._split(relaxed, node)
            if split is None:  # nothing left to branch on
                heapq.heappush(nodes, self._load(relaxed, self._days(relaxed, node, AT_ROOT), AT_ROOT))
                if nodes[0].bound <= node.bound + CLOSED * abs(node.bound) and not self.incumbent.beam(
                    relaxed, node.prices.load
                ):
                    return "iteration_limit"
            else:
                for branch in split:
                    child = Node(node.bound, next(number), branch, node.prices)
                    self._guess(relaxed, child.prices, branch, 2)
                    child = self._days(relaxed, child, AT_NODE)
                    heapq.heappush(nodes, self._load(relaxed, child, AT_NODE))
                if self.mate is None:
                    self.incumbent.beam(relaxed, node.prices.load)
            self._proven(min(nodes[0].bound, self.incumbent.cost))
        return word

    def _settled(self, relaxed: StaircaseRelaxation, root: Node, slots: int) -> tuple[StaircaseRelaxation, Node]:
        """Prices of the load and of the days together, with so many slots remembered, and beams under them, in turn."""
        bundle: Bundle | None = None
        priced: Priced = relaxed
        prices, best, settled = root.prices, root, SETTLED
        rest, left = 0, 0  # beams rest for 1, 3, 7, ... turns while they bring less than prices do; how many are left
        while relaxed.tight.any() and self._ended() is None:
            narrowed = self._narrowed(relaxed)
            if bundle is None or narrowed is not relaxed:
                relaxed = priced = narrowed
                if slots:
                    priced = memory = MemoryRelaxation(relaxed, slots)
                    if not memory.small:
                        break
                followed = slots < len(FOLLOWED) and MemoryRelaxation(relaxed, slots + 1).small
                settled = FOLLOWED[slots] if followed else SETTLED
                best = self._at(priced, root, prices)
                if not np.isfinite(best.bound):  # nothing is better than the incumbent
                    return relaxed, best
                fresh = self._bundle(priced, best)
                if bundle is not None:  # its reach has been learnt
                    fresh.reach = bundle.reach
                bundle = fresh
            proven = best.bound
            best = self._follow(priced, best, bundle, TURN)
            prices, cost = best.prices, self.incumbent.cost
            if left:
                left -= 1
            elif self.mate is None:
                for _ in range(BEAMS[slots]):
                    self.incumbent.beam(relaxed, prices.load)
                rest = 0 if cost - self.incumbent.cost >= best.bound - proven else 2 * rest + 1
                left = rest
            if bundle.promised <= settled * abs(self.incumbent.cost):
                break
        if slots:  # what is remembered knows nothing to branch on
            return relaxed, replace(root, bound=max(root.bound, best.bound))
        return relaxed, best

    def _confer(self, load: Floats | None) -> None:
        """What the mate has found, and off it goes again with the best prices so far, if there are any to come."""
        if self.mate is None or self.window is None or not self.mate.idle:
            return
        if self.mate.dead:  # beams are this process's again
            self.mate.close()
            self.mate = None
            return
        if self.mate.found is not None:
            self.incumbent.offer(Staircase(self.instance, self.mate.found))
            self.mate.found = None
        assert self.stop.seconds is not None
        seconds = self.stop.seconds - self.monitor.clock.elapsed_s() - ENDS_S
        if load is None or seconds <= 0:
            return
        window = None if self.window is self.sent else self.window
        self.mate.ask(self.incumbent.best.started, window, load, seconds)
        self.sent = self.window

    def _proven(self, bound: float) -> None:
        if bound > self.bound:
            self.bound = bound
            self.monitor.bounded(bound)

    def _ended(self) -> str | None:
        if self.monitor.stopping:
            return self.monitor.stopping
        gap = (self.incumbent.cost - self.bound) / max(abs(self.incumbent.cost), 1e-9)
        if gap <= CLOSED:
            return "optimal"
        return self.stop.reason(self.monitor.clock.elapsed_s(), gap, self.evaluations)

    def _guess(self, relaxed: StaircaseRelaxation, prices: Prices, branch: Branch, trials: int = TRIALS) -> None:
        """Staircases that expect of a day's caps what those of the last one came to."""
        sums = relaxed.range[0][:, 0]
        for _ in range(trials):
            if self._ended() is not None:
                return
            path = relaxed.with_daily(prices.load, relaxed.lacking(sums), branch)
            sums = self.incumbent.attempt(path.started.astype(float)).filled

    def _narrowed(self, relaxed: StaircaseRelaxation) -> StaircaseRelaxation:
        """The relaxation without what cannot be better than the incumbent."""
        if self.incumbent.cost >= NARROW * self.at:
            return relaxed
        self.at = self.incumbent.cost
        self.window = relaxed.paths.window_below(self.incumbent.cost)
        return StaircaseRelaxation(self.instance, self.window, fits=True)

    def _at(self, relaxed: Priced, node: Node, prices: Prices) -> Node:
        """The node with what other prices prove, which may be less."""
        found = relaxed(prices, node.branch)
        self.evaluations += 1
        self.incumbent.attempt(found.path.started.astype(float))
        self._confer(node.prices.load)
        if node.number == 0:
            self._proven(min(found.bound, self.incumbent.cost))
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
            if best.bound >= self.incumbent.cost or worse > PATIENCE:
                break
            turned = np.sign(found.evaluated.lack)
            factor = np.where(turned * sign < 0, factor**0.6, factor)
            sign = np.where(turned != 0, turned, sign)
            prices = Prices(prices.load, np.clip(prices.daily * factor**turned, 1e-7 * penalty, penalty), prices.spare)
        return best

    def _load(self, relaxed: StaircaseRelaxation, node: Node, most: int) -> Node:
        """The prices of a node raised by a bundle of their own."""
        if not relaxed.tight.any() or self._ended() is not None or node.bound >= self.incumbent.cost:
            return node
        at = self._at(relaxed, node, node.prices)
        if not np.isfinite(at.bound):
            return at
        return _higher(node, self._follow(relaxed, at, self._bundle(relaxed, at), most))

    def _bundle(self, relaxed: Priced, node: Node) -> Bundle:
        assert node.evaluated is not None
        penalty = self.instance.daily_penalty_per_ncu_h
        slots, tight = self.instance.horizon, int(relaxed.tight.sum())
        least = np.concatenate([np.zeros(tight), np.full(relaxed.days, 1e-7 * penalty), np.zeros(slots)])
        most = np.concatenate([np.full(tight, np.inf), np.full(relaxed.days + slots, penalty)])
        point, slope = _joined(relaxed, node)
        hope = max(self.incumbent.cost - node.evaluated.bound, 1e-3 * abs(self.incumbent.cost))
        return Bundle(np.clip(point, least, most), (least, most), node.evaluated.bound, slope, hope)

    def _follow(self, relaxed: Priced, node: Node, bundle: Bundle, most: int) -> Node:
        """So many evaluations where the bundle proposes them; the best node."""
        for _ in range(most):
            if self._ended() is not None or node.bound >= self.incumbent.cost:
                break
            point = bundle.propose()
            if bundle.promised <= SETTLED * abs(self.incumbent.cost):
                break
            tight = np.flatnonzero(relaxed.tight)
            load = np.zeros(self.instance.horizon)
            load[tight], daily, spare = np.split(point, [len(tight), len(tight) + relaxed.days])
            found = self._at(relaxed, node, Prices(load, daily, spare))
            if not np.isfinite(found.bound):
                return found
            bundle.learn(point, found.bound, _joined(relaxed, found)[1])
            node = _higher(node, found)
        return node

    def _split(self, relaxed: StaircaseRelaxation, node: Node) -> tuple[Branch, Branch] | None:
        """The day whose priced penalty is furthest from its real one, in two."""
        assert node.evaluated is not None
        loss = node.prices.daily * np.abs(node.evaluated.lack)
        loss[node.branch.least >= node.branch.most] = 0.0
        day = int(np.argmax(loss))
        if loss[day] <= CLOSED * max(1.0, abs(self.incumbent.cost)):
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


def _joined(relaxed: Priced, node: Node) -> tuple[Floats, Floats]:
    """A node's prices, and the bound's slope there: load where it can bind, days, what is spare."""
    prices, found = node.prices, node.evaluated
    assert found is not None
    spare = np.zeros(len(prices.load)) if prices.spare is None else prices.spare
    point = np.concatenate([prices.load[relaxed.tight], prices.daily, spare])
    return point, np.concatenate([found.overload[relaxed.tight], found.lack, found.beyond])
