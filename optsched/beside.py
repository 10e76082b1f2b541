"""A method that goes on in a process beside this one, while another method works here."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from optsched.errors import OptschedError
from optsched.interrupts import heard, held
from optsched.mates import Mate, mates_worth
from optsched.monitor import GRACE_S
from optsched.result import Result
from optsched.scaffold import Call
from optsched.schedules.base import Schedule
from optsched.stop import Stop, deadline
from optsched.workers import MOST_THREADS

if TYPE_CHECKING:
    from optsched.methods import Method

TWO_LEGS_S, FIRST_LEG = 20.0, 0.15  # time from which on there are two, since a second one begins anew; share of the first
SECOND_LEG_S = 0.5  # left, for a second one
POLL_S, ON_ITS_WAY_S = 0.02, 0.5  # what has been found is judged there, and told here


class Beside:
    """What a mate is: a method, and what it is given."""

    def __init__(self, method: Method[Any], call: tuple[Any, Stop, int]) -> None:
        self.method, self.call = method, call

    def __call__(self, start: Schedule | Result | None, until: float, leg_s: float) -> Result | OptschedError:
        """Solve until a moment of the machine's clock, or for so long; Ctrl-C comes from who asks, and only in here."""
        instance, stop, seed = self.call
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            stop = replace(stop, seconds=max(1e-3, min(until - time.monotonic(), leg_s)))
            return self.method(instance, stop=stop, seed=seed, start=start)
        except OptschedError as error:
            return error
        except KeyboardInterrupt:
            return OptschedError("stopped before anything was found")
        finally:
            signal.signal(signal.SIGINT, before)


class Enough(KeyboardInterrupt):
    """What is being sought has been found beside: as Ctrl-C, for a method that knows nothing of it."""


class Working:
    """The method at work, in two legs where there is time: what the first one finds is worth having early.

    Attributes
    ----------
    stopped : whether somebody has asked for an end while it was waited for.
    first : what the first leg has found, once the second has begun.
    """

    def __init__(self, mate: Mate, start: Schedule | Result | None, left: float, grace: float) -> None:
        self.mate, self.until, self.grace, self.stopped = mate, time.monotonic() + left, grace, False
        self.first: Result | None = None
        self._second_is_due = left >= TWO_LEGS_S
        mate.ask(start, self.until, FIRST_LEG * left if self._second_is_due else math.inf)

    @property
    def found(self) -> Result | None:
        """What has come back last; not before the mate is idle, as it may be asked to go on then."""
        return self.mate.found if self.mate.idle and isinstance(self.mate.found, Result) else self.first

    def go_on(self, start: Result) -> None:
        """The second leg, if the first has come back and not ended by itself."""
        found = self.found
        if found is None or not self._second_is_due or self.stopped:
            return
        self._second_is_due = False
        if found.termination == "time_limit" and self.until - time.monotonic() > SECOND_LEG_S:
            self.first = found
            self.mate.ask(start, self.until, math.inf)

    def stop(self) -> None:
        """Somebody asks for an end: what it has is on its way."""
        if not self.stopped and not self.mate.idle:
            self.mate.interrupt()
            self.until = time.monotonic()
        self.stopped = True

    def result(self, enough: Callable[[], bool]) -> Result | None:
        """What it has found when its time is over, or soon after it was stopped; None where that is nothing.

        Parameters
        ----------
        enough
            Asked a few times a second; may let it go on, and says whether nothing is left to wait for.

        Raises
        ------
        CertificateError
            Method and referee contradict each other there.
        """
        with held():
            while time.monotonic() < self.until + self.grace:
                try:
                    with heard():
                        if enough() or self.mate.idle:
                            break
                        time.sleep(POLL_S)
                except KeyboardInterrupt:
                    self.stop()
        error = self.mate.found
        if isinstance(error, OptschedError) and type(error) is not OptschedError:
            raise error
        return self.found


@contextmanager
def beside(method: Method[Any] | None, call: Call[Any], start: Schedule | Result | None) -> Iterator[Working | None]:
    """The method at work until the call's time is over, or None where there is no core, no time or no process for it.

    Only one that says how many `threads` it may have is told to leave one alone.
    """
    left, worth = call.left(), mates_worth(call.within, call.clock, 0)
    threaded: Any = method
    if left is None or not worth or not hasattr(threaded, "threads"):
        yield None
        return
    own = replace(threaded, threads=min(worth, MOST_THREADS))
    judged = left - (deadline(left, call.instance.job_count) or left)
    mate = Mate(Beside, own, (call.instance, call.stop, call.seed))
    try:
        working = Working(mate, start, left, GRACE_S + ON_ITS_WAY_S + judged)
        yield None if mate.dead else working
    finally:
        mate.close()
