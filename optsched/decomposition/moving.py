"""Whether a bound still moves, so that what raises it is worth more of a time limit."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from optsched.stop import Clock

MUCH, WHILE = 1e-2, 0.1  # of itself, in such a share of the limit


@dataclass
class Moving:
    """A bound that is looked at again and again.

    Attributes
    ----------
    clock, limit_s : of the search.
    """

    clock: Clock
    limit_s: float
    _seen: list[tuple[float, float]] = field(default_factory=list)

    def __call__(self, bound: float) -> bool:
        """Whether it has moved by a hundredth of itself in the last tenth of the limit, or is not known for as long."""
        now_s = self.clock.elapsed_s()
        self._seen.append((now_s, bound))
        before = next((then for at_s, then in reversed(self._seen) if at_s <= now_s - WHILE * self.limit_s), math.inf)
        return abs(bound - before) > MUCH * abs(bound)
