"""Who may change what: a part of the places, and the jobs that run there or nowhere, so that several search side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from optsched.instances.base import Bools
from optsched.problems.packing import NONE, Packing
from optsched.problems.time_indexed import TimeIndexedProblem

LEAST = 4.0  # a part of the time, in mean windows of the jobs: who is in two parts is nobody's


@dataclass(frozen=True)
class Share:
    """Of a packing what one of several may change; no other has any of it.

    Attributes
    ----------
    places
        In order. jobs : shape (J,), those that run at them or, drawn, nowhere.
    slots
        Where these run: the first, and the one after the last.
    """

    places: tuple[int, ...]
    jobs: Bools
    slots: tuple[int, int]

    @classmethod
    def whole(cls, packing: Packing) -> Share:
        """Everything."""
        places, slots = packing.residual_capacity.shape
        return cls(tuple(range(places)), np.ones(len(packing.option), dtype=bool), (0, slots))


def most(program: TimeIndexedProblem) -> int:
    """How many shares are worth dealing."""
    places, slots = program.capacity.shape
    first, last = program.spans
    mean = float(np.maximum(0, last - first).mean()) if len(first) else 0.0
    return max(places, int(slots / (LEAST * mean))) if mean > 0 else 1


def deal(packing: Packing, hands: int, rng: np.random.Generator) -> list[Share]:
    """As many shares of about as many places each, drawn; a job that is left out goes to one of them by lot.

    Where there are fewer places, each has a part of the time, drawn, and the jobs that may run in no other part; if that would
    leave most jobs to nobody, the first has everything.
    """
    places, slots = packing.residual_capacity.shape
    if places < hands:
        first, last = packing.program.spans
        some = last > first
        inner = (np.arange(1, hands) + rng.uniform(-0.5, 0.5, hands - 1)) / hands
        cuts = np.quantile((first + last)[some] // 2, inner, method="lower") if some.any() else np.zeros(hands - 1)
        rank = np.arange(hands - 1)  # no part is empty
        cuts = np.maximum.accumulate(np.clip(cuts.astype(np.int64), 1, slots - hands + 1) - rank) + rank
        whole = Share.whole(packing)
        parts = [(some & (first >= a) & (last <= b), (a, b)) for a, b in pairwise([0, *cuts.tolist(), slots])]
        if 2 * sum(int(jobs.sum()) for jobs, _ in parts) < int(some.sum()):
            return [whole] + [replace(whole, jobs=np.zeros_like(some))] * (hands - 1)
        return [replace(whole, jobs=jobs, slots=edges) for jobs, edges in parts]
    hand = rng.permutation(np.arange(places) % hands)
    runs = packing.option != NONE
    holder = np.where(runs, hand[packing.program.place[packing.option]], rng.integers(hands, size=len(runs)))
    return [Share(tuple(np.flatnonzero(hand == one).tolist()), holder == one, (0, slots)) for one in range(hands)]
