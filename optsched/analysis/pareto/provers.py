"""What proves something of a front: weighted sums by any method with a bound, at any size."""

from __future__ import annotations

from dataclasses import dataclass

from optsched.analysis.pareto.axes import Pair, Traded
from optsched.instances.base import Instance
from optsched.methods import Method
from optsched.portfolio import Auto
from optsched.schedules.base import Schedule
from optsched.stop import Stop

CLOSE = 1e-5  # relative gap at which a weighted sum is good enough: less is no wider than a point of a picture
ROUNDING = 1e-12  # of the terms of a sum: what other prices may have lost in float64


@dataclass(frozen=True)
class Answer:
    """What one program has come to.

    Attributes
    ----------
    schedule
        The best found, or None.
    bound
        Proven of what was minimised, or None.
    interrupted
        Whether somebody asked to stop.
    """

    schedule: Schedule | None
    bound: float | None
    interrupted: bool = False


class WeightedSums:
    """Weighted sums of the axes: the same instance with other prices, by the family's own methods."""

    def __init__(self, traded: Traded, method: Method[Instance] | None = None, seed: int = 0) -> None:
        self.traded, self.seed = traded, seed
        self.method: Method[Instance] = Auto() if method is None else method

    def __call__(self, weights: Pair, start: Schedule | None, seconds: float | None) -> Answer:
        """The least weighted sum.

        Parameters
        ----------
        weights
            Of the axes' costs.
        start
            A schedule to start from, or None.
        seconds
            None for no limit.
        """
        made = self.traded.priced.weighted(self.traded.instance, self.traded.weights(weights))
        stop = Stop(seconds=seconds, gap=CLOSE)
        result = self.method(made.instance, stop=stop, seed=self.seed, start=start)
        bound = None
        if result.bound is not None:
            sign = 1 if made.instance.sense == "minimize" else -1
            lost = ROUNDING * sum(map(abs, (result.bound, *result.components.values())))
            bound = made.factor * (sign * result.bound - lost) - made.slack
        return Answer(result.schedule, bound, result.termination == "interrupted")
