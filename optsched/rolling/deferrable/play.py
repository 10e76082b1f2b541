"""A replay of deferrable, decision by decision: the simulator, what is seen of it, and what each slot earns."""

from __future__ import annotations

import numpy as np

from optsched.instances.base import Floats
from optsched.instances.deferrable import DeferrableInstance
from optsched.rl.deferrable.past import Past
from optsched.rl.deferrable.state import Seen
from optsched.rolling.deferrable.simulator import DeferrableSimulator
from optsched.rolling.forecast import Forecast, perfect
from optsched.schedules.deferrable import DeferrableSchedule, Start


class Play:
    """One replay, of which the sum of what `start` returns is the referee's objective.

    Attributes
    ----------
    seen
        What may be known now; None at the end.
    past
        What has been decided.
    """

    def __init__(self, instance: DeferrableInstance, forecast: Forecast = perfect, seed: int = 0) -> None:
        self.simulator = DeferrableSimulator(instance, None, forecast, seed)
        self.past = Past()
        self.charged = 0  # slots whose overload has been paid for
        self._see()

    def _see(self) -> None:
        simulator = self.simulator
        self.seen: Seen | None = None
        if simulator.due():
            jobs, now = simulator.truth.columns, simulator.now
            rows = np.array(simulator.waiting, dtype=np.int64)
            earliest = jobs.earliest[rows]
            self.seen = Seen(
                cores=jobs.cores[rows],
                duration=jobs.duration[rows],
                earliest=np.maximum(0, earliest - now),
                latest=jobs.latest[rows] - now,
                waited=jobs.waited[rows] + np.maximum(0, now - earliest),
                left=simulator.left(),
                delay_penalty=simulator.truth.delay_penalty,
            )

    def start(self, begun: list[int]) -> float:
        """Start those of the jobs that are seen, go to the next decision, and say what that has earned.

        Jobs earn their work less their delay when they start; overload is paid for slot by slot as time passes.
        """
        simulator, seen = self.simulator, self.seen
        assert seen is not None
        self.past.add(seen, begun)
        rows = [simulator.waiting[j] for j in begun]
        starts = tuple(Start(job=simulator.truth.jobs[j].id, start=0) for j in rows)
        simulator.apply(DeferrableSchedule(starts=starts))
        earned = float((seen.work[begun] - seen.delay_penalty * seen.waited[begun]).sum())
        self._see()
        return earned - self._overload(simulator.truth.horizon if self.seen is None else simulator.now)

    def _overload(self, until: int) -> float:
        simulator, since, self.charged = self.simulator, self.charged, until
        over: Floats = simulator.load[0, since:until] - simulator.capacity[0, since:until]
        return simulator.truth.overload_penalty * float(np.maximum(0.0, over).sum())
