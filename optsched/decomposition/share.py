"""Who may change what: a part of the places, and the jobs that run there or nowhere, so that several search side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from optsched.instances.base import Bools
from optsched.problems.packing import NONE, Packing


@dataclass(frozen=True)
class Share:
    """Of a packing what one of several may change; no other has any of it.

    Attributes
    ----------
    places
        In order. jobs : shape (J,), those that run at them or, drawn, nowhere.
    """

    places: tuple[int, ...]
    jobs: Bools

    @classmethod
    def whole(cls, packing: Packing) -> Share:
        """Everything."""
        return cls(tuple(range(len(packing.residual_capacity))), np.ones(len(packing.option), dtype=bool))


def deal(packing: Packing, hands: int, rng: np.random.Generator) -> list[Share]:
    """As many shares of about as many places each, drawn; a job that is left out goes to one of them by lot."""
    places = len(packing.residual_capacity)
    hand = rng.permutation(np.arange(places) % hands)
    runs = packing.option != NONE
    holder = np.where(runs, hand[packing.program.place[packing.option]], rng.integers(hands, size=len(runs)))
    return [Share(tuple(np.flatnonzero(hand == one).tolist()), holder == one) for one in range(hands)]
