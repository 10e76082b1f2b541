"""What can be asked for by name: methods, policies, backends; those of installed plug-ins among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optsched.errors import OptschedError
from optsched.instances.base import Instance
from optsched.registry import added, families, named, skipping

if TYPE_CHECKING:
    from optsched.methods import MethodInfo


def methods(problem: str | Instance | None = None) -> list[MethodInfo]:
    """What `solve` takes as ``method``.

    Parameters
    ----------
    problem
        A family's name, or an instance of it; every family's where None.

    Returns
    -------
    list of MethodInfo
        Each with ``name``, ``families``, ``proves_bound`` and ``summary``.

    Raises
    ------
    OptschedError
        There is no such family.
    """
    from optsched.methods import catalogue  # here: it loads what the methods need

    wanted = None if problem is None else _family(problem)
    return [info for info in catalogue() if wanted is None or wanted in info.families]


def policies(problem: str | Instance) -> list[str]:
    """What `replay` takes as ``policy``; ``module:object`` is one too.

    Parameters
    ----------
    problem
        A family's name, or an instance of it.

    Raises
    ------
    OptschedError
        There is no such family, or it has no replay.
    """
    from optsched.rolling.online import online_of
    from optsched.rolling.policy import policies as known

    family = _family(problem)
    own = known(family)
    foreign = added("policies", (*own, *online_of(family).parametric_policies))
    found = [*own]
    for name, deciding in _added_methods(family).items():
        found += [f"rolling:{name}"] if name in foreign or not deciding else [name, f"rolling:{name}"]
    for name, reference in foreign.items():
        with skipping(f"policy {name!r}"):
            named(reference)
            found.append(name)
    return found


def backends() -> dict[str, str | None]:
    """What `solve` takes as ``backend``: by name, None where it can be used here, and else why not."""
    from optsched.solvers import BACKENDS, backend

    found: dict[str, str | None] = {name: known.unavailable() for name, known in BACKENDS.items()}
    for name in added("backends", BACKENDS):
        try:
            backend(name)
            found[name] = None
        except OptschedError as error:
            found[name] = str(error)
    return found


def _added_methods(family: str) -> dict[str, bool]:
    """Plug-ins' methods of a family that can be used, and whether each is a heuristic, which decides in a replay as it is."""
    from optsched.heuristic_method import HeuristicMethod
    from optsched.methods import catalogue, method

    found = {}
    for name in added("methods") and [info.name for info in catalogue() if family in info.families]:
        if name in added("methods"):
            with skipping(f"method {name!r}"):
                found[name] = isinstance(method(name, family), HeuristicMethod)
    return found


def _family(problem: str | Instance) -> str:
    name = problem.problem if isinstance(problem, Instance) else problem
    if name not in families():
        raise OptschedError(f"there is no family {name!r}, there are: {', '.join(families())}")
    return name
