"""What a family says of the terms of its objective, so that they can be weighed against each other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Generic

from optsched.instances.base import I
from optsched.schedules.base import S

FAINT = 1e-6  # of the largest weight: the weight of a term that should have none, where the family cannot leave it out


@dataclass(frozen=True)
class Term:
    """A term of the objective.

    Attributes
    ----------
    says
        What it is, in a few words.
    unit
        Of its values.
    price
        What the instance's objective counts a unit of it.
    earned
        Whether the objective wants more of it, not less.
    """

    says: str
    unit: str
    price: float = 1.0
    earned: bool = False


@dataclass(frozen=True)
class Group:
    """Terms under one name.

    Attributes
    ----------
    says
        What they are together.
    terms
        Their names.
    """

    says: str
    terms: tuple[str, ...]


@dataclass(frozen=True)
class Weighted(Generic[I]):
    """An instance with the same schedules, whose objective is a weighted sum of the terms.

    Attributes
    ----------
    instance
        With other prices.
    factor
        For every schedule the weighted sum, as a minimisation, is `factor` times that objective (as a minimisation) ...
    slack
        ... or less by no more than this, where a term without weight could not be left out entirely.
    """

    instance: I
    factor: float
    slack: float = 0.0


class PricedTerms(ABC, Generic[I, S]):
    """The terms of a family's objective.

    Attributes
    ----------
    axes
        The two that are traded where nobody says which: names of terms or groups, sums of them joined by ``+``.
    discrete
        Whether schedules are finitely many but for what costs nothing, so that a front is a number of points.
    """

    axes: ClassVar[tuple[str, str]]
    discrete: ClassVar[bool] = True

    @abstractmethod
    def terms(self, instance: I) -> Mapping[str, Term]:
        """The terms by name.

        Parameters
        ----------
        instance
            What is given.
        """

    def groups(self) -> Mapping[str, Group]:
        """Names for several terms at once, which together are a cost; none by default."""
        return {}

    @abstractmethod
    def values(self, instance: I, schedule: S) -> dict[str, float]:
        """Of every term, by the referee, in the term's unit.

        Parameters
        ----------
        instance
            What is given.
        schedule
            What was decided.
        """

    @abstractmethod
    def weighted(self, instance: I, weights: Mapping[str, float]) -> Weighted[I]:
        """An instance of the family in which every term has another price.

        Parameters
        ----------
        instance
            What is given.
        weights
            By term, for a unit of it, not negative and not all zero; of a term that is earned, what it earns.
        """
