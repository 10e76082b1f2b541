"""Backends that solve a Pyomo model: Pyomo model -> linear form, once -> backend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from optsched.errors import BackendUnavailable, OptschedError, meant
from optsched.registry import added, guarded, is_reference, made
from optsched.solvers.base import Backend, Capabilities, SolverResult, SolverSettings
from optsched.solvers.cp_sat import CpSat
from optsched.solvers.foreign import PARTS, ForeignBackend
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
    foreign = added("backends", BACKENDS)
    found = BACKENDS.get(name) or _foreign(name, foreign)
    reason = found.unavailable()
    if reason:
        raise BackendUnavailable(f"backend {name} cannot be used: {reason}")
    return found


def _foreign(name: str, foreign: Mapping[str, str]) -> Backend:
    """A backend that a plug-in adds, or ``module:object``; a class is made without arguments."""
    typed = is_reference(name)
    reference = name if typed else foreign.get(name)
    if reference is None:
        raise OptschedError(f"no backend {name!r}{meant(name, [*BACKENDS, *foreign])}")
    found = made(reference, typed=typed)
    with guarded(reference):
        missing = [part for part in PARTS if not hasattr(found, part)]
    if missing:
        raise OptschedError(f"{reference} is no backend: it lacks {', '.join(missing)}; see optsched.solvers.Backend")
    return ForeignBackend(reference, cast(Backend, found))
