"""Processes that search beside this one, each a share of the places, for seconds at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from threading import Timer

import numpy as np

from optsched.decomposition.dual import Dual
from optsched.decomposition.lns import windows
from optsched.decomposition.pricing import Pricing
from optsched.decomposition.recreate import PLACES, Recreate
from optsched.decomposition.share import Share, deal
from optsched.instances.base import Ints
from optsched.mates import Mate
from optsched.monitor import Monitor
from optsched.problems.packing import Packing
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.stop import Clock

LATE_S, LATE = 30.0, 5.0  # seconds, and times what it was given
WINDOW_SHARE = 0.7  # of a leg, for one window, at most


class Member:
    """What a mate is: ruins and recreations of a share, and windows when it is time for them."""

    def __init__(self, program: TimeIndexedProblem, dual: Dual, seed: int) -> None:
        self.packing, pricing, rng = Packing(program), Pricing(program, dual), np.random.default_rng(seed)
        self.recreate, self.window = Recreate(pricing, self.packing, rng), windows(pricing, rng)

    def __call__(self, option: Ints, share: Share, leg: Leg) -> Ints:
        """From a choice on; the options of the share's jobs."""
        recreate, clock = self.recreate, Clock()
        monitor = Monitor(clock, -1)
        timer = Timer(leg.seconds, monitor.stop, ("time_limit",))
        timer.daemon = True
        timer.start()
        self.packing.become(option)
        recreate.go_on(share)
        while (done := clock.elapsed_s() / leg.seconds) < 1.0:
            for slot in recreate.slots(self.window.between if leg.late else PLACES):
                recreate.turn(slot, leg.hot * (leg.cold / leg.hot) ** done)
            if leg.late and clock.elapsed_s() < leg.seconds:
                (slot,) = recreate.slots(1)
                self.window(self.packing, slot, monitor, share, WINDOW_SHARE * leg.seconds)
                recreate.look()
        timer.cancel()
        return np.asarray(self.packing.option[share.jobs])


@dataclass(frozen=True)
class Leg:
    """So many seconds of search, from one temperature to another; whether it is late enough for windows."""

    hot: float
    cold: float
    seconds: float
    late: bool


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
        for share, found in self._found():
            option[share.jobs] = found
        packing.become(option)

    def choices(self) -> list[Ints]:
        """What mates have made of the whole: the option of each job, by mate."""
        return [found for _, found in self._found()]

    def forget(self) -> None:
        """What they do now is of no use any more."""
        self.shares = []

    def send(self, packing: Packing, leg: Leg) -> Share:
        """Each mate off for a leg with a share of its own; the share that is left."""
        self._bury()
        self._send(packing, leg, deal(packing, len(self.mates) + 1, self.rng))
        return self.shares[0]

    def send_all(self, packing: Packing, leg: Leg) -> None:
        """Each mate off for a leg with everything."""
        self._bury()
        self._send(packing, leg, [Share.whole(packing)] * (len(self.mates) + 1))

    def _send(self, packing: Packing, leg: Leg, shares: list[Share]) -> None:
        self.shares = shares
        for mate, share in zip(self.mates, shares[1:], strict=True):
            mate.ask(packing.option.copy(), share, leg)
        self.sent, self.late_s = Clock(), LATE_S + LATE * leg.seconds

    def _bury(self) -> None:
        for mate in self.mates:
            if mate.dead:
                mate.close()
        self.mates = [mate for mate in self.mates if not mate.dead]

    def _found(self) -> Iterator[tuple[Share, Ints]]:
        """What mates have done, each within its share; once."""
        for mate, share in zip(self.mates, self.shares[1:], strict=False):
            if mate.found is not None:
                yield share, mate.found
                mate.found = None
