"""What every exact formulation offers."""

from __future__ import annotations

import gc
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar, Generic, TypeAlias

import pyomo.core as pyo
from pyomo.core.base.var import VarData

from optsched.errors import OptschedError, meant
from optsched.instances.base import I, Instance
from optsched.registry import family, family_of
from optsched.schedules.base import S, Schedule

Expression: TypeAlias = pyo.NumericValue | float
"""What Pyomo adds up: variables, expressions and numbers. It ships no types, so that to a type checker all of it is Any."""


class PyomoModel(ABC):
    """A model as backends see it.

    Attributes
    ----------
    name : of the formulation, as in ``--formulation``. linear : whether a MILP backend can solve it.
    instance : of which it is the model.
    pyomo : the concrete model. implied_integers : continuous variables that are integer in some optimum,
        so that an all-integer backend may treat them as integers. scale : of the Pyomo objective against the real one.
    """

    name: ClassVar[str]
    linear: ClassVar[bool] = True
    scale: float = 1.0
    instance: Instance
    pyomo: pyo.ConcreteModel
    implied_integers: list[VarData]


class Model(PyomoModel, Generic[I, S]):
    """An instance as a Pyomo model."""

    instance: I

    def __init__(self, instance: I) -> None:
        self.instance = instance
        self.pyomo = pyo.ConcreteModel(name=f"{instance.name}:{self.name}")
        self.implied_integers = []
        with paused_gc():
            self.build()

    @classmethod
    def of(cls, instance: I) -> Model[I, S]:
        """Build the formulation of an instance."""
        return cls(instance)

    @classmethod
    def magnified(cls, instance: I) -> Model[I, S]:
        """The same in units that suit a solver's absolute tolerances, where the formulation has such; `scale` tells them."""
        return cls.of(instance)

    @classmethod
    def whole(cls, instance: I) -> Model[I, S]:
        """The same with every option in it, also those that no best schedule takes: for other objectives over its columns."""
        return cls.of(instance)

    @classmethod
    def refuses(cls, instance: I) -> str | None:
        """Why the formulation does not suit an instance, or None."""
        return None

    @classmethod
    def suits(cls, instance: I) -> bool:
        """Whether to take it where none is named, if it comes first; one that does not, solves it too."""
        return True

    @abstractmethod
    def build(self) -> None:
        """Fill `self.pyomo`."""

    @abstractmethod
    def encode(self, schedule: S) -> None:
        """Set the value of every variable so that the model stands for `schedule`."""

    @abstractmethod
    def decode(self) -> S:
        """The schedule that the variables' values stand for."""

    def refine(self) -> int:
        """Add the rows that the variables' values break and no solver's tolerance could have told; how many.

        A formulation that leaves near fits to such rows is a relaxation without them, so that its bounds hold meanwhile.
        """
        return 0


@contextmanager
def paused_gc() -> Iterator[None]:
    """Building allocates millions of objects and frees none: the collector would walk them again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def formulations(name: str) -> Mapping[str, type[Model[Instance, Schedule]]]:
    """The formulations of a family by name, the recommended one first."""
    return family(name).formulations()


def choose(instance: Instance, name: str | None) -> type[Model[Instance, Schedule]]:
    """The formulation called `name`, or the first that suits the instance.

    Raises
    ------
    OptschedError : no such formulation, or it does not suit the instance; says why and what there is.
    """
    known = family_of(instance).formulations()
    if name is not None and name not in known:
        raise OptschedError(f"{instance.problem} has no formulation {name!r}{meant(name, known, 'it has')}")
    able, reasons = [], []
    for candidate in [known[name]] if name else known.values():
        reason = candidate.refuses(instance)
        if reason is None and (name or candidate.suits(instance)):
            return candidate
        if reason is None:
            able.append(candidate)
        else:
            reasons.append(f"{candidate.name}: {reason}")
    if able:
        return able[-1]
    raise OptschedError(f"no formulation suits this instance; {'; '.join(reasons)}")
