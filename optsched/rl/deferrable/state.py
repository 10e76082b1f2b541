"""What a learned policy of deferrable sees of a slot: numbers a job and numbers of the whole, relative to each other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from optsched.instances.base import Bools, Floats, Ints
from optsched.instances.deferrable import DeferrableInstance

JOB = 12
"""Numbers a job."""
WHOLE = 10
"""Numbers of the whole."""
SOON = (1, 6, 12, 24)
"""Slots ahead between whose means of the capacity left the whole is told."""
ALL = float("-inf")
"""A least score that keeps no job from starting."""
MOST = 4.0
"""Where numbers are cut off."""


@dataclass(frozen=True)
class Seen:
    """What may be known in a slot; slots count from the present.

    Attributes
    ----------
    cores, duration, earliest, latest, waited
        Of the jobs that are known and not started, shape (J,); a job whose `earliest` is 0 may start now.
    left
        Cores believed to be left by what runs, from the present slot to the last, shape (T,).
    delay_penalty
        omega_1.
    """

    cores: Floats
    duration: Ints
    earliest: Ints
    latest: Ints
    waited: Ints
    left: Floats
    delay_penalty: float

    @classmethod
    def of(cls, snapshot: DeferrableInstance) -> Seen:
        """Of a snapshot."""
        jobs = snapshot.columns
        columns = (jobs.cores, jobs.duration, jobs.earliest, jobs.latest, jobs.waited)
        return cls(*columns, left=snapshot.capacity_cores, delay_penalty=snapshot.delay_penalty)

    @property
    def open(self) -> Bools:
        """Jobs that may start now, end within the horizon, and have not waited until they earn nothing, shape (J,)."""
        worth = self.work > self.delay_penalty * self.waited
        return np.asarray((self.earliest <= 0) & (self.latest >= 0) & (self.duration <= len(self.left)) & worth)

    @property
    def work(self) -> Floats:
        """Core-slots of the jobs, shape (J,)."""
        return self.cores * self.duration

    def least(self) -> Floats:
        """The least capacity left while a job would run if it started now, shape (J,)."""
        lowest = np.minimum.accumulate(self.left)
        return np.asarray(lowest[np.minimum(self.duration, len(lowest)) - 1])


def features(seen: Seen) -> tuple[Floats, Floats]:
    """Numbers a job, shape (J, `JOB`), and of the whole, shape (`WHOLE`,), all between -`MOST` and `MOST`."""
    left, work, ready = seen.left, seen.work, seen.open
    cuts = [min(cut, len(left)) for cut in (0, *SOON)]
    ahead = [float(left[a:b].mean()) if b > a else 0.0 for a, b in pairwise(cuts)]
    usual = max(1e-9, float(left[: SOON[-1]].mean()))
    size, length = (max(1e-9, float(column.mean())) if len(work) else 1.0 for column in (seen.cores, seen.duration))
    least, now = seen.least(), max(1e-9, float(left[0]))
    jobs = np.column_stack(
        [
            seen.cores / size,
            seen.duration / length,
            np.log1p(work) / 4,
            seen.cores / now,
            (least - seen.cores) / usual,
            ready & (seen.cores <= least + 1e-9),
            ready,
            np.maximum(0, seen.earliest) / length,
            (seen.latest - np.maximum(0, seen.earliest)) / length,
            (seen.waited + np.maximum(0, -seen.earliest)) / length,
            1 - seen.delay_penalty * seen.waited / work,
            seen.delay_penalty * length / work,
        ]
    ).reshape(len(work), JOB)
    whole = np.array(
        [
            *(mean / usual for mean in ahead),
            float(seen.cores[ready].sum()) / usual / 4,
            float(work[ready].sum()) / (usual * SOON[-1]),
            float(work[~ready].sum()) / (usual * SOON[-1]),
            np.log1p(int(ready.sum())) / 4,
            len(left) / SOON[-1] / 4,
            length / SOON[-1],
        ]
    )
    return np.clip(jobs, -MOST, MOST), np.clip(whole, -MOST, MOST)


def start_by_score(seen: Seen, scores: Floats, least: float = ALL) -> list[int]:
    """Jobs to start now: by score, the highest first, each that fits until its end into what is believed to be left.

    Parameters
    ----------
    scores
        Confidence, shape (J,).
    least
        Jobs of a lower score wait; by default whatever fits is started, as in the paper.
    """
    wanted = np.flatnonzero(seen.open & (scores >= least))
    left, begun = seen.left.copy(), []
    for j in wanted[np.argsort(-scores[wanted], kind="stable")].tolist():
        window = left[: int(seen.duration[j])]
        if window[0] < 1e-9:
            break
        if window.min() >= seen.cores[j] - 1e-9:
            window -= seen.cores[j]
            begun.append(j)
    return begun
