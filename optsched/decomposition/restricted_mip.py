"""The exact core: a time-indexed program through a formulation of models/ and a backend of solvers/."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from optsched.heuristics.serial_sgs import fitting
from optsched.instances.base import Floats, Ints
from optsched.monitor import Monitor
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.stop import Clock

Formulation = Literal["state", "cover"]
MOST_NODES = 2**31 - 1  # HiGHS counts them in 32 bits
PIVOTS = 2  # of the simplex method, a row
SMALL = 400  # columns: presolved, HiGHS has learned 238,000 conflicts on 125 of them in a dive, in 40 s; as they are, 0.1 s


@dataclass(frozen=True)
class Optimum:
    """A choice (indices of options) and what no choice exceeds, or None where the solver has not said."""

    chosen: Ints
    bound: float | None


def solve_restricted_mip(
    program: TimeIndexedProblem,
    start: Ints,
    gap: float,
    nodes: int,
    outer: Monitor | None = None,
    formulation: Formulation = "state",
    seconds: float | None = None,
) -> Optimum:
    """A choice within `gap` of the best, or the best after `nodes` nodes; at least as good as `start`.

    Limited by nodes, and not by the clock unless somebody says so: the same program has the same choice on every machine.

    Parameters
    ----------
    outer : of the run that this is part of; when that is stopped, so is this.
    formulation : how capacity is written.
    seconds : for HiGHS, at most: a root alone may take minutes.
    """
    if not (program.value > 0).any():
        return Optimum(start, None)
    from optsched.models.restricted import FORMULATIONS, Choice
    from optsched.solvers import SolverSettings, backend, linear_form

    model = FORMULATIONS[formulation](program)
    model.encode(Choice(options=tuple(start.tolist())))
    form = linear_form(model).scaled(program.objective(start))
    monitor = Monitor(Clock(), form.sign) if outer is None else outer.of_part(form.sign)
    options: dict[str, object] = {"mip_max_nodes": min(nodes, MOST_NODES)}
    if len(form.columns) <= SMALL:
        options["presolve"] = "off"
    task = SolverSettings(seconds=seconds, gap=gap, threads=1, seed=0, start=True, options=options)
    outcome = backend("highs").solve(model, form, task, monitor)
    bound = None if outcome.bound is None else (form.overlooked - outcome.bound) / form.scale
    if outcome.x is None:
        return Optimum(start, bound)
    form.store(outcome.x)
    found = fitting(program, np.array(model.decode().options, dtype=np.int64))
    return Optimum(found if program.objective(found) > program.objective(start) else start, bound)


def relax(program: TimeIndexedProblem, outer: Monitor, seconds: float | None = None) -> Floats:
    """The linear relaxation: how much of each option is chosen, shape (n,), from a vertex.

    Parameters
    ----------
    seconds : for HiGHS, at most; building the model is not in them.

    Raises
    ------
    OptschedError : HiGHS finds no optimum, needs more than `PIVOTS` a row (at that pace it would take minutes), or more time.
    """
    from optsched.models.restricted import StateMip
    from optsched.solvers import linear_form
    from optsched.solvers.highs import relaxation

    model = StateMip(program)
    share = np.zeros(len(program))
    form = linear_form(model)
    share[model.kept] = relaxation(form, outer, PIVOTS * form.matrix.shape[0], seconds)[1][: len(model.kept)]
    return share
