"""What every method does around its own idea: clock and limits before it, the certificate after it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import ClassVar, Generic

from optsched.errors import OptschedError
from optsched.instances.base import I
from optsched.monitor import Monitor, Progress
from optsched.result import Proof, Result, certified, schedule_of
from optsched.schedules.base import Schedule
from optsched.stop import Clock, Stop, deadline

Report = Callable[[Progress], None]


@dataclass
class Call(Generic[I]):
    """One call of a method.

    Attributes
    ----------
    instance, seed
        As they were given.
    stop
        The limits, as they were given.
    start
        A schedule to start from, or a result, whose prices may be used too.
    progress
        Called with what is known, as it comes.
    clock
        Runs since the call began.
    """

    instance: I
    stop: Stop
    seed: int
    start: Schedule | Result | None
    progress: Report | None
    clock: Clock = field(default_factory=Clock)

    @property
    def given(self) -> Schedule | None:
        """The schedule to start from."""
        return schedule_of(self.start)

    @property
    def until(self) -> float | None:
        """When searching must end, in seconds of the clock, so that what was found is judged within the limit."""
        return deadline(self.stop.seconds, self.instance.job_count)

    @property
    def within(self) -> Stop:
        """The limits of the search: those given, but for the time that judging takes."""
        return replace(self.stop, seconds=self.until)

    def left(self) -> float | None:
        """Seconds that a part of the method may take from now on; None without a limit."""
        return None if self.until is None else max(1e-3, self.until - self.clock.elapsed_s())

    def monitor(self) -> Monitor:
        """Incumbents and bounds of this call."""
        return Monitor(self.clock, 1 if self.instance.sense == "minimize" else -1, self.progress)


@dataclass
class Found:
    """What a method has found; the referee says what it is worth.

    Attributes
    ----------
    schedule
        Feasible.
    termination
        Why the search ended; see `Result`.
    bound, proof
        What has been proven, and how, or None.
    options
        What the result tells of how it was found.
    packages
        Distributions whose versions matter.
    timings
        Seconds of each step.
    monitor
        Whose incumbents and bounds the result tells.
    message, shadow_prices
        As in `Result`.
    """

    schedule: Schedule
    termination: str
    bound: float | None = None
    proof: Proof | None = None
    options: dict[str, object] = field(default_factory=dict)
    packages: Iterable[str] = ()
    timings: dict[str, float] = field(default_factory=dict)
    monitor: Monitor | None = None
    message: str | None = None
    shadow_prices: dict[str, tuple[float, ...]] | None = None


class BaseMethod(ABC, Generic[I]):
    """A method whose result is certified by the referee; a subclass says how it searches."""

    name: ClassVar[str]
    ends_itself: ClassVar[bool] = False  # within a limit that it could use up, so that another part may have the rest
    decides_now: ClassVar[bool] = True  # so that a rolling horizon may carry its schedule out
    prices_capacity: ClassVar[bool] = False  # its results tell what one more unit is worth

    def __call__(
        self,
        instance: I,
        *,
        stop: Stop | None = None,
        seed: int = 0,
        start: Schedule | Result | None = None,
        progress: Report | None = None,
    ) -> Result:
        """Solve an instance.

        Parameters
        ----------
        instance
            What is given.
        stop
            When to stop; without limits the method ends by itself.
        seed
            Of whatever is drawn.
        start
            A schedule to start from, or a result, of which prices may be used too.
        progress
            Called with what is known, as it comes.

        Raises
        ------
        OptschedError
            The method does not take the instance, or the start breaks a rule.
        CertificateError
            Method and referee contradict each other.
        """
        call = Call(instance, stop or Stop(), seed, start, progress)
        found: object = self.search(call)
        if not isinstance(found, Found):
            raise OptschedError(f"{self.name}: search returned {type(found).__name__}, expected an optsched.scaffold.Found")
        trace = () if found.monitor is None else found.monitor.trace
        return certified(
            instance,
            found.schedule,
            method=self.name,
            termination=found.termination,
            bound=found.bound,
            proof=found.proof,
            seconds=call.clock.elapsed_s(),
            seed=seed,
            options=found.options | {"time_limit": call.stop.seconds, "gap": call.stop.gap},
            packages=found.packages,
            timings=found.timings,
            incumbents=[(p.seconds, p.objective, p.bound) for p in trace],
            message=found.message,
            shadow_prices=found.shadow_prices,
        )

    @abstractmethod
    def search(self, call: Call[I]) -> Found:
        """Search within the call's limits."""
