"""What no history of a replay can undercut: all jobs share the GPUs, by Dantzig-Wolfe decomposition over slots.

A linear program mixes each job's spread work (`spread.py`) within the GPU time of every slot; its duals price that time, the
prices give better work. What counts is not the program but what the best prices prove: any prices do.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from optsched.decomposition.allocation.spread import SpreadRelaxation
from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Floats
from optsched.solvers.columns import ColumnProgram
from optsched.solvers.csr import CsrMatrix

SLOTS = 64
WORK = 2e5  # jobs times slots times ways of an evaluation, up to which there are so many slots
FEW = 6  # ways: fewer cost as much
LEAST = 8  # slots, below which nothing would be proven
ITERATIONS = 60
CLOSE = 1e-3  # between the linear program and what is proven
STAY = 0.5  # of the best prices so far, against the program's (Wentges smoothing)
ROUNDING = 1e-9  # of the parts' sum: float64 sums are far more exact


def shared_bound(
    instance: AllocationInstance, slots: int = SLOTS, iterations: int = ITERATIONS, spare: Callable[[], bool] | None = None
) -> float:
    """A bound on the realised cost of whoever knows everything: GPU time by slot is shared, work may be spread at will.

    Parameters
    ----------
    slots, iterations
        At most; fewer slots for many jobs.
    spare
        Whether there is time for another iteration.
    """
    ways = len(instance.jobs) * max(FEW, sum(c.gpus for c in instance.node_classes))
    count = min(slots, int(WORK / max(1, ways)))
    if not instance.jobs or not instance.nodes or count < LEAST:
        return 0.0
    return raised(SpreadRelaxation(instance, _edges(instance, count)), iterations, spare)[0]


def raised(relaxed: SpreadRelaxation, iterations: int, spare: Callable[[], bool] | None = None) -> tuple[float, Floats]:
    """The best bound that is found while there is time, and the prices that prove it, shape (K, T)."""
    jobs, room = len(relaxed.weight), relaxed.room
    best, center = 0.0, np.zeros(room.shape)
    if not jobs:
        return best, center
    cost, seconds = float(relaxed.never.mean()), float(room.mean())  # units of the program
    program = ColumnProgram(jobs, room.ravel() / seconds)
    own, shape = np.arange(jobs), (jobs, jobs + room.size)
    program.add(relaxed.never / cost, CsrMatrix.identity(*shape))
    trial = center
    for _ in range(iterations):
        if spare is not None and not spare():
            break
        found = relaxed(trial)
        parts = np.append(found.least, -trial * room)
        proven = float(parts.sum() - ROUNDING * np.abs(parts).sum())
        if proven > best:
            best, center = proven, trial
        row, at = np.append(own, found.usage.row), np.append(own, jobs + found.usage.indices)
        columns = CsrMatrix.at(row, at, np.append(np.ones(jobs), found.usage.data / seconds), shape)
        program.add(found.cost / cost, columns)
        solved = program.solve()
        if solved is None or solved[0] * cost - best <= CLOSE * abs(solved[0] * cost):
            break
        wanted = np.maximum(0.0, -solved[1][jobs:]) * cost / seconds
        trial = STAY * center + (1 - STAY) * wanted.reshape(room.shape)
    return best, center


def _edges(instance: AllocationInstance, count: int) -> Floats:
    """Edges of slots, shape (count + 1,), from the first submission until the fastest could have done all work.

    Half of them are where jobs come and are due, so that rushes are seen closely.
    """
    jobs = instance.model_copy(update={"now_s": np.inf}).columns
    fastest = np.nan_to_num(np.nanmin(jobs.time_s, axis=(1, 2), initial=np.inf), posinf=0.0)
    order = np.argsort(jobs.submit_s)
    left = np.cumsum(fastest[order][::-1])[::-1] / sum(node.gpus for node in instance.nodes)
    first, last = float(jobs.submit_s.min()) - 1.0, float((jobs.submit_s[order] + left).max() + fastest.max()) + 1.0
    events = np.concatenate([jobs.submit_s, np.clip(jobs.due_s, first, last), np.linspace(first, last, 2 * len(order))])
    return np.unique(np.concatenate([[first, last], np.quantile(events, np.linspace(0, 1, count + 1)[1:-1])]))
