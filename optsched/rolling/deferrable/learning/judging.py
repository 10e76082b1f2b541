"""What weights earn on cases, and its share of the most that is possible."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from optsched.instances.deferrable import DeferrableInstance
from optsched.registry import family_of
from optsched.rl.deferrable.acting import Act
from optsched.rl.deferrable.network import Arrays
from optsched.rolling.deferrable.play import Play


def bounds_of(cases: Sequence[DeferrableInstance]) -> list[float]:
    """Of each case, what nobody earns more than."""
    found = []
    for case in cases:
        bound = family_of(case).clairvoyant(case)
        assert bound is not None, "the family has a bound"
        found.append(bound)
    return found


def earns(act: Act, arrays: Arrays, case: DeferrableInstance) -> float:
    """What weights earn on a case, without exploration."""
    play, earned = Play(case), 0.0
    while play.seen is not None:
        earned += play.start(act(arrays, play.seen, play.past))
    return earned


def mean_share(act: Act, arrays: Arrays, given: Sequence[DeferrableInstance], bounds: Sequence[float]) -> float:
    """The mean share of their clairvoyant bounds that weights earn on cases.

    Raises
    ------
    AssertionError : one beats its bound.
    """
    shares = []
    for case, bound in zip(given, bounds, strict=True):
        earned = earns(act, arrays, case)
        assert earned <= bound + 1e-6 * abs(bound), "a policy beats the bound"
        shares.append(earned / bound if bound > 0 else 0.0)
    return float(np.mean(shares))
