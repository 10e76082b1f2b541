"""In which order jobs come and are done: between two such moments it is always the same jobs that may run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from optsched.instances.base import Bools, Floats, Ints


@dataclass(frozen=True)
class Order:
    """Edges in turn, two of each job; interval i lies between edges i and i + 1.

    Attributes
    ----------
    job
        Whose edge it is, shape (E,).
    done
        Whether the job is done there, or comes, shape (E,).
    """

    job: Ints
    done: Bools

    @classmethod
    def of(cls, submit_s: Floats, done_s: Floats) -> tuple[Order, Floats]:
        """Jobs that come and are done at those times, shape (J,); with the edges' times, shape (E,)."""
        jobs = len(submit_s)
        at, done = np.concatenate([submit_s, done_s]), np.arange(2 * jobs) >= jobs
        turn = np.lexsort((done, at))
        return cls(turn % jobs, done[turn]), at[turn]

    @cached_property
    def begin(self) -> Ints:
        """The edge where each job comes, shape (J,)."""
        return self._edges(~self.done)

    @cached_property
    def end(self) -> Ints:
        """The edge where each job is done, shape (J,)."""
        return self._edges(self.done)

    def _edges(self, which: Bools) -> Ints:
        found = np.zeros(len(self.job) // 2, dtype=np.int64)
        found[self.job[which]] = np.flatnonzero(which)
        return found

    def present(self, first: int, last: int) -> tuple[Ints, Ints]:
        """Which jobs may run in the intervals from `first` to before `last`: (interval, job), by interval."""
        begin, end = np.maximum(self.begin, first), np.minimum(self.end, last)
        jobs = np.flatnonzero(begin < end)
        length = (end - begin)[jobs]
        interval = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length - begin[jobs], length)
        job = np.repeat(jobs, length)
        turn = np.argsort(interval, kind="stable")
        return interval[turn], job[turn]

    def exchanged(self, edges: Ints) -> Order:
        """Each of these edges and the next one change places."""
        turn = np.arange(len(self.job))
        turn[edges], turn[edges + 1] = edges + 1, edges
        return Order(self.job[turn], self.done[turn])
