"""A run of a sweep: which instance, under which method or policy, how; and the row that it becomes."""

from __future__ import annotations

import hashlib
import json
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from optsched.errors import OptschedError

if TYPE_CHECKING:
    from optsched.instances.base import Instance

Build = Callable[[str], "Instance"]
"""An instance from its recipe; a function of a module, so that every worker can load it."""
Kind = Literal["offline", "online", "bound"]
Told = dict[str, Any]
"""A row as JSON."""


@dataclass(frozen=True)
class Identity:
    """What an instance is, without the instance."""

    recipe: str
    sha256: str
    name: str
    problem: str
    jobs: int


@dataclass(frozen=True)
class Trial:
    """A task of a sweep.

    Attributes
    ----------
    recipe, sha256
        Of the instance.
    kind
        A method (``offline``), a policy (``online``), or the bound that policies are held against.
    name
        Of the method or policy.
    options
        Of a method its options; of a policy what `optsched.replay` takes.
    seed
        Of both.
    time_limit_s
        Of a method.
    """

    recipe: str
    sha256: str
    kind: Kind
    name: str
    options: Mapping[str, object] = field(default_factory=dict)
    seed: int = 0
    time_limit_s: float | None = None

    @cached_property
    def key(self) -> str:
        """Hash of instance, method, options and version (of one's own code: its file): the same question, the same row."""
        told = {name: value for name, value in asdict(self).items() if name != "recipe"}
        told |= {"version": own_version(), "code": code_of(self.name)}
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


@cache
def own_version() -> str:
    """Of this package."""
    return version("optsched")


@cache
def code_of(name: str) -> str | None:
    """Of ``module:object``, or of a ``name:file.npz``, the hash of its file; None for what comes along."""
    head, colon, tail = name.partition(":")
    if not colon:
        return None
    for candidate in (Path(tail), Path(head.replace(".", "/") + ".py")):
        if candidate.is_file():
            return hashlib.sha256(candidate.read_bytes()).hexdigest()
    try:
        found = find_spec(head)
    except (ImportError, ValueError):
        return None
    origin = None if found is None else found.origin
    return hashlib.sha256(Path(origin).read_bytes()).hexdigest() if origin and Path(origin).is_file() else None


def identify(build: Build, recipe: str) -> Identity:
    """Make an instance, and tell what it is.

    Raises
    ------
    OptschedError : the recipe makes none.
    """
    made = build(recipe)
    return Identity(recipe, made.sha256, made.name, made.problem, made.job_count)


def run(build: Build, trial: Trial) -> Told:
    """Carry a trial out; whatever goes wrong with it becomes its row."""
    began = time.perf_counter()
    told: Told = {"host": platform.node()}
    try:
        instance = build(trial.recipe)
        if instance.sha256 != trial.sha256:
            raise OptschedError("its instance has changed since the sweep began: the recipe makes another one now")
        told |= {"status": "done"} | _figures(instance, trial)
    except OptschedError as error:
        told |= {"status": "failed", "message": str(error)}
    except Exception as error:  # somebody else's heuristic: one row, not the end of the sweep
        told |= {"status": "failed", "message": f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"}
    return told | {"wall_s": time.perf_counter() - began}


def _figures(instance: Instance, trial: Trial) -> Told:
    from optsched.analysis.bounds import has_proxy, quick_bound
    from optsched.analysis.gaps import failed, policy_of, row

    common: Told = {"sense": instance.sense, "unit": instance.unit, "problem": instance.problem}
    if trial.kind == "bound":
        found = quick_bound(instance, seconds=0)
        judged = "realised" if has_proxy(instance) else None
        return common | {"bound": None if found is None else found.value, "objective_kind": judged}
    result = _solved(instance, trial) if trial.kind == "offline" else _replayed(instance, trial)
    if result.termination == "interrupted":
        raise KeyboardInterrupt
    name = trial.name if trial.kind == "offline" else policy_of(result)
    bounds = {} if result.bound is None else {result.objective_kind: result.bound}
    told = common | row(instance, trial.kind, name, result, bounds)
    lost = failed(result)  # a rule has decided in its place
    told |= {"components": {} if lost else dict(result.components), "incumbents": result.incumbents}
    told = {word: value for word, value in told.items() if word not in result.components}
    return told | ({"status": "failed"} if lost else {})


def _solved(instance: Instance, trial: Trial) -> Any:
    from optsched.methods import method
    from optsched.stop import Stop

    made = method(trial.name, instance.problem, options=dict(trial.options))
    return made(instance, stop=Stop(seconds=trial.time_limit_s), seed=trial.seed)


def _replayed(instance: Instance, trial: Trial) -> Any:
    import optsched

    return optsched.replay(instance, trial.name, seed=trial.seed, on_failure="fallback", **trial.options)  # type: ignore[arg-type]
