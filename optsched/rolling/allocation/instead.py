"""Whether one decision serves better than another: both played out, a rule following, under the same futures.

To those drawn from what has come belong one in which nobody comes, and some in which all come in a rush. A decision that is not
the rule's has to be worth it in the mean, and no loss in any of them (`worth`), or never dearer (`dominates`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from optsched.heuristics.allocation.priced import Bidding
from optsched.instances.base import Floats, Ints
from optsched.rolling.allocation.futures import Futures
from optsched.rolling.allocation.playout import Cluster, Playout, Present, pace
from optsched.stop import Spare

USUAL_ONES, RUSHES = 8, 4  # futures as they are drawn, and in a rush
SAMPLES = USUAL_ONES + RUSHES
RUSH = 3.0  # times as soon as drawn
STEPS = 60  # decisions in each
SURE = 1.0  # standard errors by which a decision must be ahead in the usual ones,
WORTH = 0.1  # and by so much of what is to come: any other decision changes all that follows, and that is partly luck
SOME = 0.1  # of what is to come in the mean, where nothing is lost in any future
ROUNDING = 1e-9  # of what a future costs
LOSS = 0.02  # of what is to come, in the worst of all futures


def foreseen(
    cluster: Cluster,
    drawn: Futures,
    now_s: float,
    present: Present,
    decisions: Sequence[Ints],
    follows: Bidding,
    spare: Spare | None = None,
) -> Floats | None:
    """What each decision leads to in each of `SAMPLES` drawn futures, energy and tardiness, shape (decisions, SAMPLES).

    A decision is the way of each known job, -1 where it waits (`Cluster.ways`). None where time is out.
    """
    ahead = drawn.stressed(now_s, RUSHES, RUSH)
    samples = np.tile(np.arange(SAMPLES), len(decisions))
    lanes = Playout(cluster, ahead, now_s, present, [follows] * len(samples), samples)
    costs = lanes.run(STEPS, pace(cluster), spare, first=np.repeat(decisions, SAMPLES, axis=0))
    return None if costs is None else costs.reshape(len(decisions), SAMPLES)


def dominates(other: Floats, rule: Floats) -> bool:
    """Whether it costs more than the rule's in no future, and less in some, by what both cost in each, shape (SAMPLES,)."""
    return bool((other <= (1 + ROUNDING) * rule).all() and (rule - other).max() > SOME * rule.mean())


def worth(other: Floats, rule: Floats) -> bool:
    """Whether another decision than the rule's saves enough, by what both cost in each future, shape (SAMPLES,)."""
    saved = (rule - other)[:USUAL_ONES]
    least = max(SURE * saved.std() / np.sqrt(USUAL_ONES), WORTH * rule[:USUAL_ONES].mean())
    return bool(saved.mean() > least and (other <= (1 + LOSS) * rule).all())
