"""The least on one axis under a limit on the other (the epsilon-constraint of Haimes et al.), on the exact model.

An objective is linear in the prices, and prices change no schedule: so the models of one instance at two prices have the same
columns, and the costs of both axes over these columns follow from the two objectives.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np

from optsched.analysis.pareto.axes import Pair, Traded
from optsched.analysis.pareto.provers import Answer
from optsched.errors import CertificateError
from optsched.instances.base import Floats, Instance
from optsched.models import Model, choose
from optsched.monitor import Monitor, run_with_deadline
from optsched.referee import check
from optsched.schedules.base import Schedule
from optsched.solvers import LinearForm, SolverResult, SolverSettings, backend, linear_form
from optsched.solvers.csr import CsrMatrix
from optsched.solvers.cutoff import cut_off
from optsched.stop import Clock

CANCELLED = 1e-15  # of the two prices' costs: a difference that small is none
AGREED = 1e-7  # of a cost's magnitude: the columns and the referee say the same
WIDE = 1e3  # what the front's extent is in the units of the row of a limit, held to 1e-6 by solvers
LOOSE = 1e-9  # of the front's extent, by which that row is looser than the limit
ROUNDS = 100
SHARP = {"mip_feasibility_tolerance": 1e-9, "primal_feasibility_tolerance": 1e-9}  # or a millionth of a job gets round a limit


class EpsilonConstraint:
    """The costs of both axes over the columns of one exact model.

    Attributes
    ----------
    unit : extent of the front on both axes, for tolerances.
    """

    def __init__(self, traded: Traded, unit: Pair, seed: int = 0) -> None:
        self.traded, self.unit, self.seed = traded, unit, seed
        low = self._at((1 / unit[0], 1 / unit[1]))
        high = self._at((1 / unit[0], 2 / unit[1]))
        self.model, self.form, plain, offset = low
        _, other, more, more_offset = high
        if [c.name for c in self.form.columns] != [c.name for c in other.columns] or self.form.matrix.shape[0] != len(
            other.row_lower
        ):
            raise CertificateError("two prices of one instance have different columns")
        noise = CANCELLED * (np.abs(plain) + np.abs(more))
        second = np.where(np.abs(more - plain) <= noise, 0.0, more - plain)
        first = np.where(np.abs(2 * plain - more) <= 2 * noise, 0.0, 2 * plain - more)
        self.costs = (unit[0] * first, unit[1] * second)
        self.offsets = (unit[0] * (2 * offset - more_offset), unit[1] * (more_offset - offset))
        self.solver = backend("highs")

    def _at(self, weights: Pair) -> tuple[Model[Instance, Schedule], LinearForm, Floats, float]:
        """Model, form, costs and offset at some prices."""
        made = self.traded.priced.weighted(self.traded.instance, self.traded.weights(weights))
        if made.slack:
            raise CertificateError("a term without weight is not left out entirely")
        model = choose(made.instance, None).whole(made.instance)
        form = linear_form(model)
        return model, form, made.factor * form.cost / form.scale, made.factor * form.offset / form.scale

    def agrees(self, schedule: Schedule) -> bool:
        """Whether the columns say of a schedule what the referee says of it."""
        self.model.encode(schedule)
        x = self.form.start()
        if x is None or self.form.violation(x) > AGREED:
            return False
        judged = self.traded.costs(self.model.decode())
        for cost, offset, true, other, unit in zip(
            self.costs, self.offsets, judged, self.traded.costs(schedule), self.unit, strict=True
        ):
            said = float(cost @ x) + offset
            margin = AGREED * (unit + abs(true))
            if not min(true, other) - margin <= said <= max(true, other) + margin:
                return False
        return True

    def __call__(self, axis: int, limit: float, start: Schedule, seconds: float | None) -> Answer:
        """The least cost on `axis` of all schedules that cost at most `limit` on the other one.

        Parameters
        ----------
        start
            A schedule within the limit.
        limit
            Infinite for none.
        seconds
            None for no limit.
        """
        monitor = Monitor(Clock(), 1)
        best = start
        for _ in range(ROUNDS):
            left = None if seconds is None else seconds - monitor.clock.elapsed_s()
            if left is not None and left <= 0:
                break
            form = self._prepared(axis, limit, best, monitor)
            outcome = self._solved(form, left, monitor, seconds)
            if outcome.termination == "infeasible":
                return Answer(best, None, monitor.stopping == "interrupted")
            if outcome.bound is not None:
                monitor.bounded(outcome.bound)
            if outcome.x is None:
                break
            form.store(outcome.x)
            found = self.model.decode()
            if not check(self.traded.instance, found):
                best = self._better(axis, limit, best, found)
            form.store(outcome.x)
            if outcome.termination not in ("optimal", "gap_limit") or not self.model.refine():
                break
            rows = linear_form(self.model)
            self.form = replace(
                self.form, matrix=rows.matrix, row_lower=rows.row_lower, row_upper=rows.row_upper, rows=rows.rows
            )
        return Answer(best, self._settled(axis, best, monitor), monitor.stopping == "interrupted")

    def _better(self, axis: int, limit: float, a: Schedule, b: Schedule) -> Schedule:
        """The cheaper on the axis of those within the limit, or above it by no more than its row allows; `a` is."""
        mine, its = self.traded.costs(a), self.traded.costs(b)
        most = limit + 10 * LOOSE * self.unit[1 - axis]
        return b if its[1 - axis] <= most and its[axis] < mine[axis] else a

    def _settled(self, axis: int, best: Schedule, monitor: Monitor) -> float | None:
        """What is proven, but for what the sums may have lost; None where a schedule refutes it."""
        if monitor.bound is None:
            return None
        cost = self.traded.costs(best)[axis]
        bound = monitor.bound - LOOSE * 1e-2 * self.unit[axis]
        return bound if bound <= cost + LOOSE * (self.unit[axis] + abs(cost)) else None

    def _prepared(self, axis: int, limit: float, best: Schedule, monitor: Monitor) -> LinearForm:
        """The form of this limit, without what the best schedule so far rules out, and started from that one."""
        cost, offset = self.costs[axis], self.offsets[axis]
        form = replace(self.form, cost=cost, offset=offset, sign=1, scale=1.0, blur=0.0)
        if limit < inf:
            form = self._limited(form, 1 - axis, limit)
        self.model.encode(best)
        x = form.start()
        assert x is not None
        value = max(float(cost @ x) + offset, self.traded.costs(best)[axis])
        value += LOOSE * 1e-2 * self.unit[axis]
        form = form.scaled(value)
        form = cut_off(form, value * form.scale).scaled(value)
        monitor.scale, monitor.overlooked = form.scale, form.overlooked
        return form

    def _limited(self, form: LinearForm, axis: int, limit: float) -> LinearForm:
        """The form with the row of a limit."""
        unit, matrix = WIDE / self.unit[axis], form.matrix
        row = self.costs[axis] * unit
        used = np.flatnonzero(row)
        taller = CsrMatrix.stacked([matrix, CsrMatrix(np.array([0, len(used)]), used, row[used], matrix.columns)])
        most = (limit - self.offsets[axis] + LOOSE * self.unit[axis]) * unit
        return replace(
            form,
            matrix=taller,
            row_lower=np.append(form.row_lower, -np.inf),
            row_upper=np.append(form.row_upper, most),
        )

    def _solved(self, form: LinearForm, left: float | None, monitor: Monitor, seconds: float | None) -> SolverResult:
        """What HiGHS says. Where it says optimal and no bound, since nothing was left open, it has to say so twice.

        Without presolve too; the optimum is then the bound, that of the weaker run.
        """
        task = SolverSettings(seconds=left, seed=self.seed, start=True, options=SHARP)
        plain = replace(task, start=False, options={**SHARP, "presolve": "off"})
        outcomes: list[SolverResult] = []

        def work() -> None:
            for settings in (task, plain):
                outcomes.append(self.solver.solve(self.model, form, settings, monitor))
                if outcomes[-1].termination != "optimal" or outcomes[-1].bound is not None:
                    return

        run_with_deadline(work, monitor, seconds)
        if not outcomes:
            return SolverResult(monitor.stopping or "time_limit", monitor.x)
        optima = [found.objective for found in outcomes if found.termination == "optimal" and found.objective is not None]
        if len(optima) == 2 and outcomes[-1].bound is None:
            return replace(outcomes[-1], bound=min(optima))
        return outcomes[-1]
