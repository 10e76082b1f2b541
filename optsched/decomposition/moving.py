"""Whether a bound still moves, so that what raises it is worth more of a time limit."""

from __future__ import annotations

from collections import deque
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
    _seen: deque[tuple[float, float]] = field(default_factory=deque)  # the last from before that tenth, and what came since

    def __call__(self, bound: float) -> bool:
        """Whether it has moved by a hundredth of itself in the last tenth of the limit, or is not known for as long."""
        now_s = self.clock.elapsed_s()
        since_s = now_s - WHILE * self.limit_s
        self._seen.append((now_s, bound))
        while len(self._seen) > 1 and self._seen[1][0] <= since_s:
            self._seen.popleft()
        at_s, before = self._seen[0]
        return at_s > since_s or abs(bound - before) > MUCH * abs(bound)
