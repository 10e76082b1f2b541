"""Two axes of a front: terms of the objective by name, or sums of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum

from optsched.errors import OptschedError, meant
from optsched.instances.base import Instance
from optsched.problems.terms.base import PricedTerms, Term
from optsched.registry import families, family, family_of
from optsched.schedules.base import Schedule

Pair = tuple[float, float]
"""A value on each axis."""


@dataclass(frozen=True)
class Axis:
    """One of two that are traded.

    Attributes
    ----------
    name
        As it was asked for.
    says
        What it is.
    unit
        Of its values.
    weights
        What a unit of each term adds; those of terms that are earned are subtracted.
    earned
        Whether more is better. Within a search everything is a cost, so that this is a matter of what is shown.
    """

    name: str
    says: str
    unit: str
    weights: Mapping[str, float]
    earned: bool

    @property
    def sign(self) -> int:
        """1, or -1 where more is better: from a cost to what is shown, and back."""
        return -1 if self.earned else 1

    @property
    def label(self) -> str:
        """For a picture or a table."""
        return f"{self.name} ({self.unit}, {'more' if self.earned else 'less'} is better)"


@dataclass(frozen=True)
class Traded:
    """An instance and the two axes on which its schedules are judged."""

    instance: Instance
    priced: PricedTerms[Instance, Schedule]
    axes: tuple[Axis, Axis]
    terms: Mapping[str, Term]

    def costs(self, schedule: Schedule) -> Pair:
        """What a schedule costs on both axes, by the referee on the instance itself; earnings are negative."""
        values = self.priced.values(self.instance, schedule)
        first, second = (
            fsum((-1 if self.terms[t].earned else 1) * w * values[t] for t, w in axis.weights.items()) for axis in self.axes
        )
        return first, second

    def shown(self, costs: Iterable[float]) -> Pair:
        """Costs as they are shown."""
        first, second = (axis.sign * cost for axis, cost in zip(self.axes, costs, strict=True))
        return first + 0.0, second + 0.0  # no negative zeros

    def weights(self, pair: Pair) -> dict[str, float]:
        """What the weights of the axes are for the terms."""
        found = dict.fromkeys(self.terms, 0.0)
        for axis, weight in zip(self.axes, pair, strict=True):
            for term, own in axis.weights.items():
                found[term] += weight * own
        return found

    @property
    def own(self) -> Pair | None:
        """The weights of the axes with which the instance's own objective counts them; None where it counts one for nothing."""
        first, second = (self.terms[next(iter(axis.weights))].price if len(axis.weights) == 1 else 1.0 for axis in self.axes)
        return (first, second) if first > 0 and second > 0 else None

    @property
    def left_out(self) -> list[str]:
        """Terms on neither axis, though the objective counts them."""
        on = {term for axis in self.axes for term in axis.weights}
        return [name for name, term in self.terms.items() if name not in on and term.price > 0]


def read_axes(instance: Instance, asked: str | Iterable[str] | None) -> Traded:
    """The axes that are asked for, or the family's own two.

    Parameters
    ----------
    instance
        What is given.
    asked
        Two names joined by a comma, or two names; each of a term or a group, or several joined by ``+``.

    Raises
    ------
    OptschedError
        The family's objective has no terms to trade, or there are no two such axes; says which there are.
    """
    priced = family_of(instance).priced_terms()
    if priced is None:
        able = ", ".join(name for name in families() if family(name).priced_terms() is not None)
        raise OptschedError(f"{instance.problem} says nothing of the terms of its objective: fronts are of {able}")
    terms, groups = priced.terms(instance), priced.groups()
    given = priced.axes if asked is None else asked.split(",") if isinstance(asked, str) else list(asked)
    names = [str(name).strip() for name in given]
    there = ", ".join([*terms, *groups])
    if len(names) != 2 or not all(names):
        raise OptschedError(f"a front has two axes, as in {','.join(priced.axes)}; {instance.problem} has {there}")
    made = [_axis(instance, name, terms, priced) for name in names]
    first, second = made
    if set(first.weights) == set(second.weights):
        raise OptschedError(f"both axes are {first.name}; {instance.problem} has {there}")
    return Traded(instance, priced, (first, second), terms)


def _axis(instance: Instance, name: str, terms: Mapping[str, Term], priced: PricedTerms[Instance, Schedule]) -> Axis:
    groups = priced.groups()
    parts = list(dict.fromkeys(part.strip() for part in name.split("+")))
    for part in parts:
        if part not in terms and part not in groups:
            known, near = ", ".join([*terms, *groups]), meant(part, [*terms, *groups])
            hint = f"{near} it has: {known}" if near.endswith("?") else f", it has: {known}"
            raise OptschedError(f"{instance.problem} has no axis {part!r}{hint}")
    members = list(dict.fromkeys(t for part in parts for t in (groups[part].terms if part in groups else (part,))))
    if len(members) == 1:
        (only,) = members
        return Axis(name, terms[only].says, terms[only].unit, {only: 1.0}, terms[only].earned)
    earned = any(terms[part].earned for part in parts if part in terms)
    says = groups[name].says if name in groups else _sum(members, terms, earned)
    if all(terms[t].price == 0 for t in members):
        raise OptschedError(f"axis {name!r}: this instance puts no price on any of its terms, name one of them alone")
    return Axis(name, says, instance.unit, {t: terms[t].price for t in members}, earned)


def _sum(members: list[str], terms: Mapping[str, Term], earned: bool) -> str:
    """Such as "work - delay"."""
    ordered = sorted(members, key=lambda t: terms[t].earned != earned)
    words = [f"{'+' if terms[t].earned == earned else '-'} {t}" for t in ordered]
    return " ".join(words).removeprefix("+ ")
