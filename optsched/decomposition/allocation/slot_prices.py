"""What slots of nodes are worth: the dual of the reading in which any job of a node may stand as its first.

With slots priced, every job takes its cheapest way and every class of nodes the cell that is worth most, a knapsack of sizes
however many patterns there are. Any prices prove a bound. A proximal bundle brings them near; a linear program over the ways
and cells that come into question makes them exact: it grows by those that its prices show to be missing (column generation),
with prices held in a box around the best so far.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import fsum

import numpy as np

from optsched.decomposition.bundle import Bundle
from optsched.errors import OptschedError
from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Bools, Floats, Ints
from optsched.models.allocation.core import SlotCore
from optsched.monitor import Monitor
from optsched.problems.allocation.slots import Cell, SlotProgram
from optsched.problems.ranks import begins
from optsched.solvers import linear_form
from optsched.solvers.duals import HALF_ULP, ROUNDINGS
from optsched.solvers.highs import relaxation

SAMPLE, FEWER = 3_000, 4  # jobs that are taken as they are; of more, samples that are so much smaller come first
NEAR = 60  # evaluations of the bundle
ROUNDS, CLOSE = 100, 1e-7  # of the linear program, and between it and the bound, relative
OPEN, SHARE = 2_000, 4  # ways beside the cheapest of each job at first, or so many jobs for one of them
REACH = (0.001, 0.2)  # of the box, as a share of the prices, by what the bundle still promises
WIDER, SHORTER = 4.0, 0.7  # the box where it binds, and where the program promised too much
PATIENCE = 12  # rounds in a row that promise nothing, though the box binds
STEPS = (1.0, 0.3, 0.1)  # of the way to what the program proposes, until it is not far off
NONE = 1e-9  # of a way
INSIDE = 0.999  # of the way to the box's edge
DEAREST = 1e100  # that is believed of a file: sums of dearer ones are no numbers any more
HALVINGS, NARROWER = 30, 8  # of a price a GPU, alike for slots of all sizes, and steps between two of them
TINY = 1e-3  # of the objective: what there is to gain, at least


@dataclass(frozen=True)
class Priced:
    """What prices say.

    Attributes
    ----------
    prices : shape (2 K + 1,). bound : with every rounding charged. slope : of the shared rows.
    least : what each job pays. way : by which, shape (jobs,). cells : worth most, of each class.
    """

    prices: Floats
    bound: float
    slope: Floats
    least: Floats
    way: Ints
    cells: list[Cell]


def paid(program: SlotProgram, prices: Floats) -> Floats:
    """What each way costs with its slot, shape (W,)."""
    kinds = program.kinds
    slots = np.append(prices[: 2 * kinds], 0.0)
    slots[kinds : 2 * kinds] -= prices[2 * kinds]
    costs: Floats = program.cost + slots[program.kind]
    return costs


def priced(program: SlotProgram, prices: Floats) -> Priced:
    """Jobs and nodes apart, under prices of slots beside a first (K), of firsts (K), and of a node in use (1)."""
    p, kinds, count = program, program.kinds, len(program.listed)
    pays = paid(p, prices)
    ways = np.minimum(pays[:count], pays[count : p.waiting])
    own = begins(p.job[:count])
    least = np.minimum(np.minimum.reduceat(ways, own) if count else np.zeros(0), pays[p.waiting :])
    hits = np.flatnonzero(pays == least[p.job])
    way = np.zeros(len(p.jobs), dtype=np.int64)
    way[p.job[hits[::-1]]] = hits[::-1]  # the first of several
    slope = np.bincount(p.kind[way], minlength=2 * kinds + 1).astype(float)
    slope[2 * kinds] = 0.0 if p.wanted is None else p.wanted - slope[kinds : 2 * kinds].sum()
    worth, cells = [], []
    for k, of_class in enumerate(p.sizes):
        if of_class:
            value, cell = _dearest(p, k, prices)
            cells.append(cell)
            if value > 0:
                nodes = float(p.nodes[k])
                worth.append(nodes * value)
                slope[kinds + int(p.begin[k]) + cell[1]] -= nodes
                for kind, offered in p.offers(cell):
                    slope[kind] -= nodes * offered
    parts = [*least.tolist(), *(-w for w in worth), (p.wanted or 0.0) * float(prices[2 * kinds]), p.offset]
    widest = max((c.gpus for c in p.instance.node_classes), default=0)
    most = float(np.abs(prices).max(initial=0.0)) * (len(p.jobs) + float(p.nodes.sum()) * (widest + 1) + (p.wanted or 0.0))
    margin = ROUNDINGS * HALF_ULP * (fsum(map(abs, parts)) + 4 * most)
    return Priced(prices, fsum(parts) - margin, slope, least, way, cells)


def _dearest(p: SlotProgram, k: int, prices: Floats) -> tuple[float, Cell]:
    """What a node of class k is worth at most, and by which cell: a knapsack of what the first job leaves."""
    gpus, sizes, begin = p.instance.node_classes[k].gpus, np.array(p.sizes[k]), int(p.begin[k])
    price = prices[begin : begin + len(sizes)]
    worth, taken = np.zeros(gpus + 1), np.full(gpus + 1, -1)
    for room in range(1, gpus + 1):
        worth[room] = worth[room - 1]
        value = worth[room - sizes[sizes <= room]] + price[sizes <= room]
        if len(value) and value.max() > worth[room]:
            taken[room] = int(value.argmax())  # sizes ascend
            worth[room] = value[taken[room]]
    leads = prices[p.kinds + begin : p.kinds + begin + len(sizes)] + worth[gpus - sizes]
    first = int(leads.argmax())
    pattern, room = [0] * len(sizes), gpus - int(sizes[first])
    pattern[first] = 1
    while room:
        if taken[room] < 0:
            room -= 1
        else:
            pattern[taken[room]] += 1
            room -= int(sizes[taken[room]])
    return float(leads[first]), (k, first, tuple(pattern))


def proven(instance: AllocationInstance, prices: tuple[float, ...]) -> float | None:
    """What prices from a file prove of an instance; None where they are not of it."""
    program = SlotProgram.of(instance)
    fits = len(prices) == 2 * program.kinds + 1 and all(abs(price) <= DEAREST for price in prices)  # nor is NaN
    if not fits or (program.wanted is None and prices[-1] != 0.0):
        return None
    return priced(program, np.array(prices)).bound


class SlotPrices:
    """The best prices, and what came into question on the way to them.

    Parameters
    ----------
    program : of which. prices : to begin with.

    Attributes
    ----------
    best : with the highest bound. cells : that were worth most at some time. kept : ways that came into question, shape (W,).
    mixed : those that a linear program over them takes, one a job and hardly more, or None. exact : whether none prove more.
    """

    def __init__(self, program: SlotProgram, prices: Floats | None = None) -> None:
        self.program = program
        self.best = priced(program, np.zeros(2 * program.kinds + 1) if prices is None else prices)
        self.cells: dict[Cell, None] = dict.fromkeys(self.best.cells)
        self.kept = np.zeros(len(program.job), dtype=bool)
        self.mixed: Ints | None = None
        self.exact = False
        low, high = (np.full(2 * program.kinds + 1, end) for end in (-np.inf, np.inf))
        low[: program.kinds] = 0.0
        if program.wanted is None:
            low[-1] = high[-1] = 0.0
        self.limits = low, high

    def raise_all(self, objective: float, monitor: Monitor, goes_on: Callable[[], bool]) -> None:
        """Raise the bound as far as it goes.

        Parameters
        ----------
        objective : of a schedule. monitor : is told. goes_on : whether there is time left.
        """
        jobs = len(self.program.jobs)
        order = np.random.default_rng(0).permutation(jobs)
        hope = max(objective - self.best.bound, TINY * abs(objective))
        self._by_size(hope, monitor)
        for some in [jobs // FEWER**power for power in range(20, 0, -1) if jobs // FEWER**power * FEWER > SAMPLE]:
            part = SlotPrices(self.program.sampled(np.sort(order[:some])), self.best.prices)
            part._raise(hope * some / jobs, monitor.of_part(1), goes_on)
            self.cells.update(part.cells)
            self._look(part.best.prices, monitor)
            hope = TINY * abs(objective)
        self.raise_further(hope, monitor, goes_on)

    def raise_further(self, hope: float, monitor: Monitor, goes_on: Callable[[], bool]) -> None:
        """Raise the bound from where it is; `hope` is what there may be to gain."""
        self.mixed = None
        self._raise(hope, monitor, goes_on)
        if self.mixed is None and goes_on():
            self._mixes(monitor)

    def _by_size(self, hope: float, monitor: Monitor) -> None:
        """The best price a GPU, the same for slots of all sizes: a fair beginning where nodes are wide."""
        p = self.program
        size = np.concatenate([np.array(sizes, dtype=float) for sizes in p.sizes] or [np.zeros(0)])
        size = np.append(np.tile(size, 2), 0.0)
        tried = [hope / max(1, len(p.jobs)) * 2.0**-power for power in range(HALVINGS)]
        value = {price: self._look(price * size, monitor).bound for price in tried}
        step = 2.0
        for _ in range(NARROWER):  # the bound is concave along them
            step, best = step**0.5, max(value, key=lambda price: value[price])
            for price in (best / step, best * step):
                value[price] = self._look(price * size, monitor).bound

    def _raise(self, hope: float, monitor: Monitor, goes_on: Callable[[], bool]) -> None:
        bundle = Bundle(self.best.prices, self.limits, self.best.bound, self.best.slope, hope)
        for _ in range(NEAR):
            if not goes_on():
                return
            point = bundle.propose()
            if bundle.promised <= CLOSE * abs(self.best.bound):
                break
            found = self._look(point, monitor)
            bundle.learn(point, found.bound, found.slope)
        promised = max(0.0, bundle.promised) / max(abs(self.best.bound), 1e-9)
        self._exactly(float(np.clip(promised**0.5, *REACH)), monitor, goes_on)

    def _look(self, prices: Floats, monitor: Monitor) -> Priced:
        found = priced(self.program, prices)
        self.cells.update(dict.fromkeys(found.cells))
        if found.bound > self.best.bound:
            self.best = found
            monitor.raised(found.bound)
        return found

    def _exactly(self, share: float, monitor: Monitor, goes_on: Callable[[], bool]) -> None:
        """By linear programs, with prices at most so far from the best, as a share of them."""
        self.kept |= self._near(max(OPEN, len(self.program.jobs) // SHARE))
        size = np.abs(self.best.prices)
        reach = share * np.maximum(size, float(size.mean()) or 1.0)
        silent = 0
        for _ in range(ROUNDS):
            if not goes_on():
                return
            center, before = self.best.prices, self.best.bound
            box = np.maximum(center - reach, self.limits[0]), np.minimum(center + reach, self.limits[1])
            core = SlotCore(self.program, self.kept, list(self.cells), box)
            form = linear_form(core).scaled(before)
            try:
                value, _, multipliers = relaxation(form, monitor)
            except OptschedError:
                return
            point = np.clip(core.prices(multipliers / form.scale), *self.limits)
            edge = (np.abs(point - center) >= INSIDE * reach) & (point > self.limits[0]) & (point < self.limits[1])
            looks = self._towards(point, value, monitor)
            silent = silent + 1 if value - self.best.bound <= CLOSE * abs(value) else 0
            if silent and (not edge.any() or self._mixes(monitor)):
                self.exact = True
                return
            if silent == PATIENCE:
                return
            if silent or (len(looks) == 1 and self.best.bound > before):
                reach[edge] *= WIDER
            elif len(looks) > 1:
                reach *= SHORTER
            news = [look for look in reversed(looks) if not self.kept[look.way].all()]
            self.kept[(news[0] if news else looks[0]).way] = True

    def _towards(self, point: Floats, value: float, monitor: Monitor) -> list[Priced]:
        """What is at the point and, while that is as much worse as it was to be better, what is nearer to the best prices."""
        best, found = self.best, []
        for step in STEPS:
            found.append(self._look(best.prices + step * (point - best.prices), monitor))
            if found[-1].bound >= 2 * best.bound - value:
                break
        return found

    def _mixes(self, monitor: Monitor) -> bool:
        """Whether the ways and cells mix to what is as cheap as the bound, whatever the box says."""
        core = SlotCore(self.program, self.kept, list(self.cells))
        form = linear_form(core).scaled(self.best.bound)
        try:
            value, share, _ = relaxation(form, monitor)
        except OptschedError:  # no mixture keeps all rows
            return False
        self.mixed = np.concatenate([core.fixed, core.ways[share[: len(core.ways)] > NONE]])
        return value - self.best.bound <= CLOSE * abs(value)

    def core(self, more: int) -> Bools:
        """The ways that are mixed, hardly more than one a job, and so many others that are nearly as cheap."""
        kept = self._near(more)
        if self.mixed is not None:
            kept[self.best.way] = False
            kept[self.mixed] = True
        return kept

    def _near(self, more: int) -> Bools:
        """The cheapest way of each job, and so many others that are nearly as cheap."""
        p = self.program
        regret = paid(p, self.best.prices) - self.best.least[p.job]
        regret[self.best.way] = np.inf
        kept = np.zeros(len(p.job), dtype=bool)
        kept[np.argpartition(regret, min(more, len(regret) - 1))[:more]] = True
        kept[self.best.way] = True
        return kept
