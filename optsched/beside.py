"""A method that goes on in a process beside this one, while another method works here."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass, replace
from typing import TYPE_CHECKING, Any

from optsched.errors import OptschedError
from optsched.interrupts import heard, held
from optsched.mates import Mate, mates_worth
from optsched.result import Result
from optsched.scaffold import Call
from optsched.schedules.base import Schedule
from optsched.stop import Stop

if TYPE_CHECKING:
    from optsched.methods import Method

POLL_S, GRACE_S = 0.02, 0.5  # what has been found is on its way


class Beside:
    """What a mate is: a method, and what it is given."""

    def __init__(self, method: Method[Any], call: tuple[Any, Stop, int, Schedule | Result | None], until: float) -> None:
        self.method, self.call, self.until = method, call, until

    def __call__(self) -> Result | None:
        """Solve until that moment of the machine's clock; Ctrl-C comes from who asks."""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        instance, stop, seed, start = self.call
        try:
            stop = replace(stop, seconds=max(1e-3, self.until - time.monotonic()))
            return self.method(instance, stop=stop, seed=seed, start=start)
        except (OptschedError, KeyboardInterrupt):  # one does without
            return None


class Working:
    """The method at work."""

    def __init__(self, mate: Mate, left: float) -> None:
        self.mate, self.until = mate, time.monotonic() + left

    def result(self, stopped: bool) -> Result | None:
        """What it has found when its time is over, or as soon as it hears that it is to stop; None where that is nothing."""
        with held():
            while not stopped and not self.mate.idle and time.monotonic() < self.until + GRACE_S:
                try:
                    with heard():
                        time.sleep(POLL_S)
                except KeyboardInterrupt:
                    stopped = True
            if stopped:
                self.mate.interrupt()
                until = time.monotonic() + GRACE_S
                while not self.mate.idle and time.monotonic() < until:
                    time.sleep(POLL_S)
        found = self.mate.found
        return found if isinstance(found, Result) else None


@contextmanager
def beside(method: Method[Any] | None, call: Call[Any], start: Schedule | Result | None) -> Iterator[Working | None]:
    """The method at work until the call's time is over, or None where there is no core, or no time, for it."""
    left, worth = call.left(), mates_worth(call.within, call.clock, 0)
    if left is None or not worth or not is_dataclass(method) or not hasattr(method, "threads"):
        yield None
        return
    mate = Mate(Beside, replace(method, threads=worth), (call.instance, call.stop, call.seed, start), time.monotonic() + left)
    mate.ask()
    try:
        yield Working(mate, left)
    finally:
        mate.close()
