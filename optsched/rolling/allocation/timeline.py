"""Free GPUs of a node from now on, as a step function of time: where reservations are made."""

from __future__ import annotations

from bisect import bisect_right
from math import inf


class Timeline:
    """The steps of one node: ``free[i]`` GPUs from ``times[i]`` to the next time (s), the last without end.

    Parameters
    ----------
    now_s : the first time.
    gpus : of the node.
    """

    def __init__(self, now_s: float, gpus: int) -> None:
        self.times, self.free = [now_s], [gpus]

    def forget(self, now_s: float) -> None:
        """Let the function begin now."""
        passed = bisect_right(self.times, now_s) - 1
        del self.times[:passed], self.free[:passed]
        self.times[0] = now_s

    def book(self, start_s: float, end_s: float, gpus: int) -> None:
        """Take GPUs for a while; what has passed does not count."""
        for i in range(self._step(start_s), self._step(end_s)):
            self.free[i] -= gpus

    def _step(self, time_s: float) -> int:
        """The step that begins at a time, made if there is none."""
        time_s = max(time_s, self.times[0])
        i = bisect_right(self.times, time_s) - 1
        if self.times[i] != time_s:
            i += 1
            self.times.insert(i, time_s)
            self.free.insert(i, self.free[i - 1])
        return i

    def earliest(self, gpus: int, duration_s: float, latest_s: float = inf) -> tuple[float, int] | None:
        """When so many GPUs are free for so long, and how many are then; None where that is after `latest_s`."""
        begin = None
        last = len(self.times) - 1
        for i, free in enumerate(self.free):
            if free < gpus:
                begin = None
                continue
            if begin is None:
                begin, left = self.times[i], free
                if begin > latest_s:
                    return None
            if (inf if i == last else self.times[i + 1]) >= begin + duration_s:
                return begin, left
        return None
