"""The exact method: a formulation of models/ through a backend of solvers/, started from a heuristic, judged by the referee."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from optsched.instances.base import Instance
from optsched.scaffold import BaseMethod, Call, Found
from optsched.schedules.base import Schedule
from optsched.starts import best_start
from optsched.workers import read_threads

LOADING_S = 0.5  # of the solvers: nothing is loaded where the start has left no time to use it


@dataclass(frozen=True)
class Exact(BaseMethod[Instance]):
    """Solve to proven optimality, or as far as the limits allow.

    Attributes
    ----------
    backend
        highs, cp-sat, scip or pdlp (a bound only), one that a plug-in adds, or ``module:object``; None picks one that can solve
        the formulation.
    formulation
        Of the family; None picks the recommended one.
    threads
        For the backend.
    options
        The solver's own options by name; misspelt ones are refused.
    elsewhere
        Asked by HiGHS, now and then in a search, for a schedule that has been found elsewhere; it goes on from a better one.
    """

    name: ClassVar[str] = "exact"

    backend: str | None = None
    formulation: str | None = None
    threads: int | None = None
    options: Mapping[str, object] = field(default_factory=dict)
    elsewhere: Callable[[], Schedule | None] | None = field(default=None, repr=False, compare=False)

    def search(self, call: Call[Instance]) -> Found:
        """Build, translate and solve.

        Raises
        ------
        OptschedError
            An unknown backend, formulation or option, or a start that breaks a rule.
        CertificateError
            Solver and referee contradict each other.
        """
        begin = best_start(call.instance, call.given, call.until)  # before the solvers are loaded, which takes half a second
        if (
            call.until is not None
            and call.clock.elapsed_s() > call.until / 2
            and call.until - call.clock.elapsed_s() < LOADING_S
        ):
            return Found(begin, "time_limit", options={"backend": self.backend, "formulation": self.formulation})
        from optsched.models import choose
        from optsched.phases import Phases
        from optsched.solvers import SolverSettings, backend

        formulation = choose(call.instance, self.formulation)
        solver = backend(self.backend or ("highs" if formulation.linear else "scip"))
        solver.refuse_options(self.options)
        if self.threads is not None:
            read_threads(self.threads)
        run = Phases(call.instance, formulation, solver, call.within, call.clock, begin, self.elsewhere)
        how = SolverSettings(gap=call.stop.gap, threads=self.threads, seed=call.seed, start=True, options=self.options)
        outcome = run(how, call.progress)
        return Found(
            run.start,
            outcome.termination,
            bound=run.bound,
            proof=run.proof,
            options={
                "backend": solver.name,
                "formulation": formulation.name,
                "threads": self.threads,
                "solver_options": dict(self.options),
            },
            packages=("pyomo", *solver.packages),
            timings=run.timings,
            monitor=run.monitor,
            message="; ".join(dict.fromkeys([*filter(None, [outcome.message]), *run.told(outcome)])) or None,
        )
