"""allocation where firsts by packing pattern are too many: the other reading of the first-ending job is the bound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from optsched.exact import Exact
from optsched.instances.allocation import AllocationInstance
from optsched.referee import evaluate
from optsched.result import relative_gap
from optsched.scaffold import BaseMethod, Call, Found
from optsched.starts import best_start, better

GAP = 1e-6


@dataclass(frozen=True)
class CheapestReadingRelaxation(BaseMethod[AllocationInstance]):
    """Lagrangian or relaxed bound, and a schedule found with it, at scale.

    Every node pays for its cheapest job, not its first-ending one (erratum A1), which is never more: so the optimum of that
    reading, whose model is smaller by the number of patterns, bounds both, and its schedule is one of both.
    """

    name: ClassVar[str] = "decomposition"
    ends_itself: ClassVar[bool] = True

    def search(self, call: Call[AllocationInstance]) -> Found:
        """Solve the cheapest reading; judge its schedule by the instance's own.

        Raises
        ------
        OptschedError
            The start breaks a rule, or there are more patterns than can be listed.
        """
        instance, gap = call.instance, call.stop.gap
        given = best_start(instance, call.given, call.until)
        relaxed = instance.model_copy(update={"first_ending": "cheapest"})
        inner = replace(call.stop, seconds=call.left(), gap=GAP if gap is None else gap)
        found = Exact()(relaxed, stop=inner, seed=call.seed, start=given, progress=call.progress)
        assert found.schedule is not None
        schedule = better(instance, found.schedule, given)
        value = evaluate(instance, schedule).objective
        reached, ended = relative_gap(value, found.bound), found.termination
        if ended in ("optimal", "gap_limit") and (reached is None or reached > (gap or 0.0)):
            ended = "completed"  # the relaxed reading is solved, what is left is between the readings
        monitor = call.monitor()
        monitor.incumbent(value)
        if found.bound is not None:
            monitor.raised(found.bound)
        return Found(
            schedule,
            ended,
            bound=found.bound,
            proof=None if found.proof is None else found.proof.model_copy(update={"duals": None}),  # of the relaxed reading
            options={"relaxed": "aggregated, cheapest"},
            packages=("pyomo", "highspy"),
            timings={k: v for k, v in found.timings_s.model_dump().items() if k != "total"},
            monitor=monitor,
            message="bound that holds whichever job of a node ends first",
        )
