"""What may come: futures of a cluster drawn from the arrivals that were seen, in stretches, so that rushes stay together."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from optsched.instances.allocation import AllocationInstance, Job
from optsched.instances.base import Floats, Ints

STRETCH = 8  # arrivals that are drawn together, in the mean
RECENT = 0.5  # of the futures go on from one of the last arrivals
PRIOR = 4.0  # so many gaps are believed before one is seen: of a cluster that is in use for
USED = 0.7  # of the time
LASTING = 1.0  # futures last as long as what was seen, in the median: nobody knows when the jobs end


class Arrivals:
    """Jobs in the order in which they came, those of a history first.

    Attributes
    ----------
    jobs
        As they were submitted.
    gaps_s
        What had passed since the arrival before, NaN for a first one.
    last_s
        When the last one came; None where time begins anew.
    """

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.gaps_s: list[float] = []
        self.last_s: float | None = None

    def begin(self) -> None:
        """Another stretch of time."""
        self.last_s = None

    def add(self, job: Job) -> None:
        """It has come."""
        self.gaps_s.append(np.nan if self.last_s is None else max(0.0, job.submit_s - self.last_s))
        self.last_s = job.submit_s
        self.jobs.append(job)

    def draw(self, rng: np.random.Generator, samples: int, now_s: float, most: int, usual_gap_s: float) -> tuple[Ints, Floats]:
        """Who comes when.

        Parameters
        ----------
        samples, most
            Futures, and jobs in each.
        usual_gap_s
            At which the cluster is always in use, and never behind.

        Returns
        -------
        Indices into `jobs`, shape (samples, most), and times of arrival (s), infinite where nobody comes any more.
        """
        seen, shape = len(self.jobs), (samples, most)
        known = np.where(np.isnan(self.gaps_s), usual_gap_s / USED, self.gaps_s)
        begins = rng.random(shape) < 1 / STRETCH
        begins[:, 0] = True
        first = rng.integers(seen, size=shape)
        recent = np.maximum(0, seen - 1 - rng.integers(STRETCH, size=samples))
        first[:, 0] = np.where(rng.random(samples) < RECENT, recent, first[:, 0])
        at = np.arange(most)
        begun = np.maximum.accumulate(np.where(begins, at, 0), axis=1)
        who = (np.take_along_axis(first, begun, axis=1) + at - begun) % seen
        unsure = rng.random(shape) < PRIOR / (PRIOR + seen)
        gaps = np.where(unsure, rng.exponential(usual_gap_s / USED, shape), known[who])
        since = 0.0 if self.last_s is None else now_s - self.last_s
        gaps *= max(1.0, since / max(2.0 * float(np.median(known)), 1e-9))  # nobody has come for long
        gaps[:, 0] *= rng.random(samples)
        share = rng.random(samples)
        lasts = LASTING * seen * share / (1.0 - share)
        gaps[at >= lasts[:, None]] = np.inf
        return who, now_s + np.cumsum(gaps, axis=1)


@dataclass(frozen=True)
class Futures:
    """The known jobs, and those drawn, in every sample; shape (S, J), known ones first, `time_s` (S, J, C) by way to run.

    Where nobody comes `submit_s` is infinite; so is a time where a job cannot run so. `told` is what rules take each job's
    times for, as a multiple of what they are, shape (S, J).
    """

    submit_s: Floats
    due_s: Floats
    weight_per_s: Floats
    time_s: Floats
    told: Floats

    def taken(self, samples: Ints) -> Futures:
        """Those samples of them, some perhaps twice."""
        rows = (self.submit_s, self.due_s, self.weight_per_s, self.time_s, self.told)
        return Futures(*(row[samples] for row in rows))

    def surprising(self, times: Floats, reckoned: Floats) -> Futures:
        """The same, but that jobs take so many `times` as long, and rules take them for `reckoned` times, shape (S, J)."""
        return replace(self, time_s=self.time_s * times[:, :, None], told=reckoned / times)

    def stressed(self, now_s: float, rushes: int, times: float) -> Futures:
        """The same, but that nobody comes in the first, and in so many last ones everybody so many times as soon."""
        submit = self.submit_s.copy()
        submit[0, submit[0] > now_s] = np.inf
        submit[-rushes:] = now_s + (submit[-rushes:] - now_s) / times
        with np.errstate(invalid="ignore"):  # who never comes is never due
            due = np.where(np.isfinite(submit), self.due_s + submit - self.submit_s, np.inf)
        return replace(self, submit_s=submit, due_s=due)


def by_way(time_s: Floats, kind: Ints, gpus: Ints) -> Floats:
    """Times by job, class and GPUs as times by way to run, infinite where a job cannot run so, shape (J, C)."""
    times = time_s[:, kind, gpus - 1]
    return np.where(np.isnan(times), np.inf, times)


def futures(snapshot: AllocationInstance, kind: Ints, gpus: Ints, arrivals: Arrivals, drawn: tuple[Ints, Floats]) -> Futures:
    """The snapshot's jobs and `drawn` ones of `arrivals`; a way to run is a class of nodes and a number of GPUs."""
    who, when = drawn
    used, back = np.unique(who, return_inverse=True)
    back = back.reshape(who.shape)
    pool = snapshot.model_copy(update={"jobs": tuple(arrivals.jobs[i] for i in used), "now_s": np.inf}).columns
    known = snapshot.columns

    def joined(mine: Floats, theirs: Floats) -> Floats:
        return np.concatenate([np.broadcast_to(mine, (len(who), *mine.shape)), theirs], axis=1)

    return Futures(
        submit_s=joined(np.full(len(known.due_s), snapshot.now_s), when),
        due_s=joined(known.due_s, when + (pool.due_s - pool.submit_s)[back]),
        weight_per_s=joined(known.weight_per_s, pool.weight_per_s[back]),
        time_s=joined(by_way(known.time_s, kind, gpus), by_way(pool.time_s, kind, gpus)[back]),
        told=np.ones((len(who), len(known.due_s) + who.shape[1])),
    )
