"""Backends that solve a Pyomo model: Pyomo model -> linear form, once -> backend."""

from __future__ import annotations

from typing import cast

from optsched.errors import BackendUnavailable, OptschedError, meant
from optsched.registry import added, is_reference, named
from optsched.solvers.base import Backend, Capabilities, SolverResult, SolverSettings
from optsched.solvers.cp_sat import CpSat
from optsched.solvers.highs import Highs
from optsched.solvers.linear_form import LinearForm, linear_form
from optsched.solvers.pdlp import Pdlp
from optsched.solvers.scip import Scip

__all__ = [
    "BACKENDS",
    "Backend",
    "Capabilities",
    "LinearForm",
    "SolverResult",
    "SolverSettings",
    "backend",
    "linear_form",
]

BACKENDS: dict[str, Backend] = {b.name: b for b in (Highs(), CpSat(), Scip(), Pdlp())}


def backend(name: str) -> Backend:
    """The backend of that name.

    Raises
    ------
    OptschedError : no such backend. BackendUnavailable : it cannot be used here; says why.
    """
    found = BACKENDS.get(name) or _foreign(name)
    reason = found.unavailable()
    if reason:
        raise BackendUnavailable(f"backend {name} cannot be used: {reason}")
    return found


def _foreign(name: str) -> Backend:
    """A backend that a plug-in adds, or ``module:object``; a class is made without arguments."""
    reference = name if is_reference(name) else added("backends").get(name)
    if reference is None:
        raise OptschedError(f"no backend {name!r}{meant(name, [*BACKENDS, *added('backends')])}")
    found = named(reference)
    made = found() if isinstance(found, type) else found
    missing = [part for part in ("name", "capabilities", "packages", "unavailable", "solve") if not hasattr(made, part)]
    if missing:
        raise OptschedError(f"{reference} is no backend: it lacks {', '.join(missing)}; see optsched.solvers.Backend")
    return cast(Backend, made)
