"""What a learned scheduler sees of a snapshot: a row of relative numbers for every way to run a known job now."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Floats, Ints
from optsched.problems.allocation.options import Options, options
from optsched.problems.allocation.urgency import Urgency, urgency

PRICE = 0.3  # of `Urgency.price`, as in the priced dispatch
FAR = 5.0  # what relative times are clipped to
SMALL = 1e-12

OF_WAY = (
    "time / shortest",
    "GPU time / work",
    "energy / least energy",
    "slack / longest time",
    "slack / time to clear",
    "tardiness / energy",
    "price of the GPU time / energy",
    "priced score / least",
    "priced score is the least",
    "GPUs / GPUs of a node",
    "GPUs",
    "speed of the class",
    "share of all GPUs in the class",
)
"""Of a way to run a job; ratios as logarithms."""
OF_JOB = (
    "weight / mean weight",
    "rank by urgency / jobs",
    "more urgent jobs / GPUs",
    "work of more urgent jobs / all work",
    "fading by slack",
    "slack at its fastest / longest time",
    "slack at its fastest / time to clear",
    "shortest / mean shortest",
    "longest / shortest",
)
"""Of a job."""
OF_ALL = ("jobs / GPUs", "mean fading", "share of jobs that will be late", "time to clear / mean shortest")
"""Of the snapshot."""
TARDINESS, DEARNESS = OF_WAY.index("tardiness / energy"), OF_WAY.index("price of the GPU time / energy")
SPARE = OF_JOB.index("slack at its fastest / time to clear")
SIZE = len(OF_ALL) + len(OF_JOB) + 6  # of a summary


@dataclass(frozen=True)
class View:
    """A snapshot as it is seen.

    Attributes
    ----------
    listed
        Ways to run the known jobs, n rows.
    measured
        How urgent the jobs are.
    order
        Known jobs that can run at all, the most urgent first.
    of_way, of_job, of_all
        Features, shapes (n, 13), (J, 9) and (4,).
    """

    listed: Options
    measured: Urgency
    order: Ints
    of_way: Floats
    of_job: Floats
    of_all: Floats

    @property
    def summary(self) -> np.ndarray:
        """The snapshot in numbers that do not depend on how many jobs and ways there are, shape (19,), single precision."""
        if not len(self.order):
            return np.zeros(SIZE, np.float32)
        jobs, way = self.of_job[self.order], self.of_way[:, [TARDINESS, DEARNESS]]
        spare = np.quantile(jobs[:, SPARE], (0.1, 0.5, 0.9))
        found = [self.of_all, jobs.mean(axis=0), spare, way.mean(axis=0), way[:, 1:].max(axis=0)]
        return np.concatenate(found, dtype=np.float32)


def see(snapshot: AllocationInstance) -> View:
    """Measure a snapshot."""
    listed, columns, jobs = options(snapshot), snapshot.columns, len(snapshot.known_jobs)
    measured = urgency(snapshot, listed)
    able = np.isfinite(measured.shortest)
    shortest = np.where(able, measured.shortest, 1.0)
    work = np.where(able, measured.work, 1.0)
    room = np.array([c.gpus for c in snapshot.node_classes])
    gpus = room * np.array([len(c.nodes) for c in snapshot.node_classes])
    clear = max(float(work[able].sum()) / max(float((gpus * measured.speed).sum()), 1e-9), 1e-9)
    mean = float(shortest[able].mean()) if able.any() else 1.0
    fading = np.exp(-np.maximum(0.0, measured.slack) / clear)
    order = np.argsort(-measured.weight, kind="stable")
    order = order[able[order]]
    rank, before = np.zeros((2, jobs))
    rank[order] = np.arange(len(order))
    before[order] = np.cumsum(work[order]) - work[order]
    count = max(1, len(order))
    weight = columns.weight_per_s
    of_job = [
        _log(weight, max(float(weight.mean()), SMALL) if jobs else 1.0),
        rank / count,
        np.log1p(rank) - np.log1p(gpus.sum()),
        before / max(float(work[able].sum()), SMALL),
        fading,
        _far(measured.slack / columns.longest_s),
        _far(measured.slack / clear),
        _log(shortest, mean),
        _log(columns.longest_s, shortest),
    ]
    of_all = np.array(
        [
            np.log1p(count) - np.log1p(gpus.sum()),
            fading[able].mean() if able.any() else 0.0,
            (measured.slack[able] < 0).mean() if able.any() else 0.0,
            np.log(clear / mean),
        ]
    )
    of_way = _ways(snapshot, listed, measured, clear, gpus / max(1, gpus.sum()))
    return View(listed, measured, order, of_way, np.stack(of_job, axis=1).reshape(jobs, len(OF_JOB)), of_all)


def _ways(snapshot: AllocationInstance, listed: Options, measured: Urgency, clear: float, share: Floats) -> Floats:
    job, kind, columns = listed.job, listed.node_class, snapshot.columns
    gpu_time = listed.time_s * listed.gpus * measured.speed[kind]
    energy = np.maximum(listed.energy, SMALL)
    price = measured.price * gpu_time
    score = energy + listed.tardiness + PRICE * price
    least, cheapest = np.full((2, len(snapshot.known_jobs)), np.inf)
    np.minimum.at(least, job, score)
    np.minimum.at(cheapest, job, energy)
    spare = columns.due_s[job] - snapshot.now_s - listed.time_s
    room = np.array([c.gpus for c in snapshot.node_classes])
    found = [
        _log(listed.time_s, measured.shortest[job]),
        _log(gpu_time, measured.work[job]),
        _log(energy, cheapest[job]),
        _far(spare / columns.longest_s[job]),
        _far(spare / clear),
        np.log1p(listed.tardiness / energy),
        np.log1p(price / energy),
        _log(score, least[job]),
        (score <= least[job] * (1 + 1e-9)).astype(float),
        listed.gpus / room[kind],
        np.log2(listed.gpus),
        measured.speed[kind],
        share[kind],
    ]
    return np.stack(found, axis=1).reshape(len(listed), len(OF_WAY))


def _log(above: Floats, below: Floats | float) -> Floats:
    return np.asarray(np.log(np.maximum(above, SMALL) / np.maximum(below, SMALL)))


def _far(ratio: Floats) -> Floats:
    return np.asarray(np.clip(ratio, -FAR, FAR))
