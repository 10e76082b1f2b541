"""Processes that search beside this one, each a share of the places, for a second at a time."""

from __future__ import annotations

import numpy as np

from optsched.decomposition.dual import Dual
from optsched.decomposition.pricing import Pricing
from optsched.decomposition.recreate import Recreate
from optsched.decomposition.share import Share, deal
from optsched.instances.base import Ints
from optsched.mates import Mate
from optsched.problems.packing import Packing
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.stop import Clock

LATE_S, LATE = 30.0, 5.0  # seconds, and times what it was given


class Member:
    """What a mate is: ruins and recreations of a share."""

    def __init__(self, program: TimeIndexedProblem, dual: Dual, seed: int) -> None:
        self.packing = Packing(program)
        self.recreate = Recreate(Pricing(program, dual), self.packing, np.random.default_rng(seed))

    def __call__(self, option: Ints, share: Share, hot: float, cold: float, seconds: float) -> Ints:
        """From a choice on, so long, cooling; the options of the share's jobs."""
        self.packing.become(option)
        self.recreate.go_on(share)
        self.recreate.anneal(hot, cold, seconds)
        return np.asarray(self.packing.option[share.jobs])


class Crew:
    """So many mates, perhaps none; one that dies loses what it did since it was asked.

    Parameters
    ----------
    count
        Of mates, beside this process.
    """

    def __init__(self, count: int, program: TimeIndexedProblem, dual: Dual, rng: np.random.Generator) -> None:
        self.rng = rng
        self.mates = [Mate(Member, program, dual, int(rng.integers(2**63))) for _ in range(count)]
        self.shares: list[Share] = []
        self.sent, self.late_s = Clock(), np.inf

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        self.dismiss()

    def dismiss(self) -> None:
        """Nobody is needed any more."""
        for mate in self.mates:
            mate.close()
        self.mates = []

    @property
    def back(self) -> bool:
        """Whether there are mates, and all of them wait; who is far too late does not count any more."""
        busy = [mate for mate in self.mates if not mate.idle]
        if busy and self.sent.elapsed_s() > self.late_s:
            for mate in busy:
                mate.close()
        return bool(self.mates) and not busy

    def bring(self, packing: Packing) -> None:
        """What the mates have done goes into the packing, whose own share it is not."""
        option = packing.option.copy()
        for mate, share in zip(self.mates, self.shares[1:], strict=False):
            if mate.found is not None:
                option[share.jobs] = mate.found
                mate.found = None
        packing.become(option)

    def send(self, packing: Packing, hot: float, cold: float, seconds: float) -> Share:
        """Each mate off with a share of its own, to be cooled from one temperature to another; the share that is left."""
        for mate in self.mates:
            if mate.dead:
                mate.close()
        self.mates = [mate for mate in self.mates if not mate.dead]
        self.shares = deal(packing, len(self.mates) + 1, self.rng)
        for mate, share in zip(self.mates, self.shares[1:], strict=True):
            mate.ask(packing.option.copy(), share, hot, cold, seconds)
        self.sent, self.late_s = Clock(), LATE_S + LATE * seconds
        return self.shares[0]
