"""Backends that solve a Pyomo model: Pyomo model -> linear form, once -> backend."""

from __future__ import annotations

from optsched.errors import BackendUnavailable, OptschedError
from optsched.solvers.base import Backend, Capabilities, Outcome, Task
from optsched.solvers.cp_sat import CpSat
from optsched.solvers.highs import Highs
from optsched.solvers.linear_form import LinearForm, linear_form
from optsched.solvers.monitor import Monitor, Progress, watched
from optsched.solvers.pdlp import Pdlp
from optsched.solvers.scip import Scip

__all__ = [
    "BACKENDS",
    "Backend",
    "Capabilities",
    "LinearForm",
    "Monitor",
    "Outcome",
    "Progress",
    "Task",
    "backend",
    "linear_form",
    "watched",
]

BACKENDS: dict[str, Backend] = {b.name: b for b in (Highs(), CpSat(), Scip(), Pdlp())}


def backend(name: str) -> Backend:
    """The backend of that name.

    Raises
    ------
    OptschedError : no such backend. BackendUnavailable : it cannot be used here; says why.
    """
    if name not in BACKENDS:
        raise OptschedError(f"no backend {name!r}, there are: {', '.join(BACKENDS)}")
    reason = BACKENDS[name].unavailable()
    if reason:
        raise BackendUnavailable(f"backend {name} cannot be used: {reason}")
    return BACKENDS[name]
