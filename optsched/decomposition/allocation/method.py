"""The decomposition of allocation as a method: prices of slots, the core that they leave open, then the other reading whole."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from optsched.decomposition.allocation.slot_prices import SlotPrices
from optsched.decomposition.moving import Moving
from optsched.exact import Exact
from optsched.heuristics.allocation.local_search import local_search
from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Bools, Ints
from optsched.models.allocation.aggregated import Aggregated
from optsched.models.allocation.core import SlotCore
from optsched.monitor import Monitor, run_with_deadline
from optsched.problems.allocation.patterns import patterns
from optsched.problems.allocation.slots import Cell, SlotProgram
from optsched.referee import check, evaluate
from optsched.result import Proof, relative_gap
from optsched.scaffold import BaseMethod, Call, Found
from optsched.schedules.allocation import AllocationSchedule
from optsched.schedules.base import PROVEN
from optsched.solvers import SolverSettings, backend, linear_form
from optsched.starts import best_start
from optsched.stop import Spare, Stop

GAP = 1e-6
EASY = 20_000  # ways of the jobs, up to which no prices are needed
WHOLE = 150_000  # up to which the reading is solved as a whole
CORES = (1_000, 4_000, 16_000, 64_000)  # ways beside one of each job, until they leave no more than ENOUGH
ENOUGH = 1e-5  # between the core and the bound, relative
NODES = 200  # of a core's branch and bound
CELLS = 2_000  # patterns up to which all are in the core
LEAST_S = 0.1  # for a core
PRICE_SHARE, MOVING_SHARE = 0.4, 0.6  # of a time limit, for prices, until there has been a core; while the bound still moves
SEARCH_SHARE, LOOSE = 0.3, 1e-2  # of what is left, for a local search, where the gap is more than that
CORE_SHARE = 0.5  # of what is left, for a core


@dataclass(frozen=True)
class AllocationDecomposition(BaseMethod[AllocationInstance]):
    """Lagrangian or relaxed bound, and a schedule found with it, at scale.

    Every node pays for its cheapest job, not its first-ending one (erratum A1), which is never more: what bounds that reading
    bounds both, and its schedules are schedules of both. Many jobs meet many nodes in a few dozen kinds of slots, whose prices
    leave a small core to be decided; then the reading is solved as a whole, where its model is not too large.
    """

    name: ClassVar[str] = "decomposition"
    ends_itself: ClassVar[bool] = True

    def search(self, call: Call[AllocationInstance]) -> Found:
        """Prices and core, where jobs are many; the whole reading from there.

        Raises
        ------
        OptschedError
            The start breaks a rule.
        """
        instance, monitor = call.instance, call.monitor()
        given = best_start(instance, call.given, call.until)
        assert isinstance(given, AllocationSchedule)
        run = _Slots(instance, given, call.within, monitor)
        relaxed = instance.model_copy(update={"first_ending": "cheapest"})
        whole = len(run.program.job) <= WHOLE and Aggregated.refuses(relaxed) is None
        run.patient = not whole
        if not whole or len(run.program.job) > EASY or run.program.patterns > CELLS:
            run_with_deadline(run, monitor, call.until)
        if whole and monitor.stopping is None and not run.closed():
            return self._whole(call, relaxed, run)
        ended = monitor.stopping or ("gap_limit" if run.closed() else run.ended or "time_limit")
        return run.found(ended, {"relaxed": "slots, cheapest"})

    @staticmethod
    def _whole(call: Call[AllocationInstance], relaxed: AllocationInstance, run: _Slots) -> Found:
        inner = replace(call.stop, seconds=call.left(), gap=GAP if call.stop.gap is None else call.stop.gap)
        found = Exact()(relaxed, stop=inner, seed=call.seed, start=run.schedule, progress=call.progress)
        assert isinstance(found.schedule, AllocationSchedule)
        run.take(found.schedule)
        if found.bound is not None:
            run.learn(found.bound, found.proof)
        ended = found.termination
        if ended in ("optimal", "gap_limit") and not run.closed():
            ended = "completed"  # the relaxed reading is solved, what is left is between the readings
        timings = {k: v for k, v in found.timings_s.model_dump().items() if k != "total"}
        return replace(run.found(ended, {"relaxed": "aggregated, cheapest"}), timings=timings)


class _Slots:
    """One instance under prices of slots; what it has found is always there.

    Attributes
    ----------
    schedule, value : the best so far. prices : of slots, once there are any. ended : how, once it has done all that it can.
    patient : whether prices go on after the first cores, as nothing follows.
    """

    def __init__(self, instance: AllocationInstance, given: AllocationSchedule, stop: Stop, monitor: Monitor) -> None:
        self.instance, self.stop, self.monitor = instance, stop, monitor
        self.program = SlotProgram.of(instance)
        self.schedule, self.value = given, evaluate(instance, given).objective
        monitor.incumbent(self.value)
        self.prices: SlotPrices | None = None
        self.spare = Spare(monitor.clock, stop.seconds, lambda: monitor.stopping is not None)
        self._other: tuple[float, Proof | None] = -math.inf, None
        self.ended: str | None = None
        self.patient = False

    def __call__(self) -> None:
        """Prices, then the core that they leave open, then a larger one; under a limit prices go on after the first cores."""
        self.prices = prices = SlotPrices(self.program)
        early = self._early()
        prices.raise_all(self.value, self.monitor, lambda: early() and self._goes_on())
        cut = not prices.exact and not early()
        self._search()
        if self._cores(prices) and cut and self.patient:
            prices.raise_further(max(0.0, self.value - prices.best.bound), self.monitor, self._goes_on)
            self._cores(prices)
        if self._goes_on():
            self.ended = "completed" if prices.exact else "iteration_limit"

    def _early(self) -> Callable[[], bool]:
        """Whether prices are worth their time before there has been a core, asked again and again."""
        clock, limit = self.monitor.clock, self.stop.seconds
        if limit is None:
            return lambda: True
        moving = Moving(clock, limit)

        def early() -> bool:
            bound = self.bound()
            return bound is None or clock.elapsed_s() < (MOVING_SHARE if moving(bound) else PRICE_SHARE) * limit

        return early

    def _goes_on(self) -> bool:
        return self.spare() and not self.closed()

    def _search(self) -> None:
        """A local search, where the best schedule is far from the bound, and somebody's time is limited."""
        gap = relative_gap(self.value, self.bound())
        if self.stop.seconds is not None and gap is not None and gap > LOOSE and self._goes_on():
            clock = self.monitor.clock
            until = clock.elapsed_s() + SEARCH_SHARE * self.spare.left_s()
            self.take(local_search(self.instance, self.schedule, spare=Spare(clock, until, lambda: not self.spare())))

    def _cores(self, prices: SlotPrices) -> bool:
        """Larger and larger ones, until one leaves next to nothing; whether there is something left, and time for it."""
        cells = self._cells(prices)
        left: float | None = 0.0
        for more in CORES:
            if not self._goes_on():
                return False
            kept = prices.core(more)
            known = None
            if left is None or not prices.exact:  # there may be no schedule of these ways: the best one so far is
                known = self.program.of_schedule(self.schedule)
                kept[known[0]] = True
                cells = list(dict.fromkeys([*cells, *known[1]]))
            left, ended = self._decide(prices, kept, cells, known)
            if ended == "time_limit" or (left is not None and left <= max(ENOUGH, self.stop.gap or 0.0)):
                break  # a larger one has less time still
        return self._goes_on()

    def _cells(self, prices: SlotPrices) -> list[Cell]:
        """All cells of the nodes where those are few, else those that were worth most under some prices."""
        if self.program.patterns > CELLS:
            return list(prices.cells)
        return [
            (k, first, pattern)
            for k, (c, of_class) in enumerate(zip(self.instance.node_classes, self.program.sizes, strict=True))
            for pattern in patterns(c.gpus, of_class)
            for first, count in enumerate(pattern)
            if count
        ]

    def _decide(
        self, prices: SlotPrices, kept: Bools, cells: list[Cell], known: tuple[Ints, list[Cell]] | None
    ) -> tuple[float | None, str]:
        """Solve a core, from what is known; how far it is from the bound, relative, in its own reading, and how it ended."""
        core = SlotCore(self.program, kept, cells)
        if known is not None:
            core.begin(*known)
        form = linear_form(core).scaled(self.value)
        left = None if self.stop.seconds is None else max(LEAST_S, CORE_SHARE * self.spare.left_s())
        gap = (GAP if self.stop.gap is None else self.stop.gap) / 2
        task = SolverSettings(seconds=left, gap=gap, threads=1, start=known is not None, options={"mip_max_nodes": NODES})
        outcome = backend("highs").solve(core, form, task, self.monitor.of_part(1))
        if outcome.x is None or self.monitor.left_behind:  # nobody waits any more, and what has been found is being judged
            return None, outcome.termination
        form.store(outcome.x)
        found = self.program.schedule(*core.chosen())
        if not check(self.instance, found):
            self.take(found)
        return relative_gap(form.value(outcome.x) / form.scale, prices.best.bound), outcome.termination

    def take(self, other: AllocationSchedule) -> None:
        """The one that the referee prefers."""
        value = evaluate(self.instance, other).objective
        if value < self.value:
            self.schedule, self.value = other, value
            self.monitor.incumbent(value)

    def learn(self, bound: float, proof: Proof | None) -> None:
        """What the other reading as a whole has proven; its multipliers are of another instance, and not told."""
        self._other = bound, None if proof is None else proof.model_copy(update={"duals": None})
        self.monitor.raised(bound)

    def bound(self) -> float | None:
        """The best so far."""
        best = max(self._other[0], -math.inf if self.prices is None else self.prices.best.bound)
        return None if best == -math.inf else best

    def _proof(self, bound: float | None) -> Proof | None:
        """How it was proven."""
        if self.prices is None or bound != self.prices.best.bound:
            return self._other[1]
        return Proof(kind="duals", formulation=SlotCore.name, duals=tuple(self.prices.best.prices.tolist()))

    def closed(self) -> bool:
        """Whether what is left is no more than was asked for."""
        gap = relative_gap(self.value, self.bound())
        return gap is not None and gap <= (self.stop.gap or PROVEN)

    def found(self, ended: str, options: dict[str, object]) -> Found:
        """What there is to tell."""
        bound = self.bound()
        return Found(
            self.schedule,
            ended,
            bound=bound,
            proof=self._proof(bound),
            options=options,
            packages=("pyomo", "highspy"),
            monitor=self.monitor,
            message=None if bound is None else "bound that holds whichever job of a node ends first",
        )
