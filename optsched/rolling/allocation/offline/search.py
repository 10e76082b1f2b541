"""A first plan: which rule, and what it should take each job's weight for, by trying many on the truth.

Priority rules with weights of their own for every job span good schedules (Storer, Wu and Vaccari,
New Search Spaces for Sequencing Problems, Management Science 38(10), 1992: perturbed data, the rule as decoder); an evolution
strategy searches them, all children of a generation played out at once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from optsched.errors import OptschedError
from optsched.heuristics.allocation.nodes import Nodes
from optsched.heuristics.allocation.priced import Bidding, priced_dispatch
from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Floats, Ints
from optsched.problems.allocation.options import options
from optsched.problems.allocation.urgency import urgency
from optsched.referee import evaluate
from optsched.rolling.allocation.futures import Futures, by_way
from optsched.rolling.allocation.playout import Cluster, Playout, Present
from optsched.rolling.allocation.portfolio import KEEPING, RULES
from optsched.rolling.allocation.simulator import AllocationSimulator
from optsched.schedules.allocation import AllocationHistory, AllocationSchedule, Assignment

CHILDREN, PARENTS = (64, 200), 16  # of a generation: of the former more where jobs are few, as they hardly take longer
EVERYBODY = 20_000  # jobs of all children together
OF_THE_BEST = 0.5  # of the children
FEW = 0.4  # of a geometric law: so many jobs of a child are weighed anew, two and a half in the mean, and one
SPREAD = 1.0  # of the logarithm of a weight
OTHER = 0.05  # of the children follow another rule
NOW = 1e-9  # of a time: playout and simulator add up what passes in another order


@dataclass
class Bid:
    """A rule, and by what it multiplies the weight of each job, as a logarithm, shape (J,); its history, once there is one."""

    rule: Bidding
    weights: Floats
    history: AllocationHistory | None = None


class PlanSearch:
    """Generations of plans, whose parts end where the clock that they are given says so.

    Parameters
    ----------
    seed
        Of what is drawn.

    Raises
    ------
    OptschedError : something goes wrong in the instance (`events`), or a job can run nowhere.
    """

    def __init__(self, instance: AllocationInstance, seed: int = 0) -> None:
        if instance.events is not None:
            raise OptschedError(
                "a plan made beforehand knows of no failures and cancellations: take the instance without events"
            )
        AllocationSimulator(instance)  # which refuses jobs that can run nowhere
        self.instance, self._rng = instance, np.random.default_rng(seed)
        self._truth = _Truth(instance) if instance.jobs else None
        rules = RULES + KEEPING if instance.migration_cost_s else RULES
        self._rules, self._spent = rules, np.zeros(0)
        self._children = int(np.clip(EVERYBODY // max(1, len(instance.jobs)), *CHILDREN))
        self._bids = [Bid(rule, np.zeros(len(instance.jobs))) for rule in rules]

    def advance(self, spare: Callable[[], bool] | None = None) -> bool:
        """Another generation, at first the rules as they are; False where time is out before its end: it counts for nothing."""
        if self._truth is None:
            return True
        if not len(self._spent):
            return self._played(self._bids, spare)
        best = self._order()[:PARENTS]
        self._bids, self._spent = [self._bids[i] for i in best], self._spent[best]
        return self._played([self._child() for _ in range(self._children)], spare)

    def history(self, spare: Callable[[], bool] | None = None, most: int = PARENTS) -> AllocationHistory | None:
        """The best of the best bids', by the referee; of as many as there is time for, None where there is for none."""
        if self._truth is None:
            return AllocationSimulator(self.instance).history()
        found = []
        for i in self._order()[:most]:
            bid = self._bids[i]
            bid.history = bid.history or _carried_out(self._truth, bid, spare)
            if bid.history is None:
                break
            found.append(bid.history)
        return min(found, key=lambda history: evaluate(self.instance, history).objective, default=None)

    def _order(self) -> Ints:
        """The bids, the best first."""
        return np.argsort(self._spent, kind="stable") if len(self._spent) else np.arange(len(self._bids))

    def _played(self, bids: list[Bid], spare: Callable[[], bool] | None) -> bool:
        """Play them out beside those that there are."""
        assert self._truth is not None
        spent = self._truth.playout(bids).run(self._truth.steps, spare=spare)
        if spent is None:
            return False
        self._bids = bids if bids is self._bids else self._bids + bids
        self._spent = np.append(self._spent, np.nan_to_num(spent, nan=np.inf))
        return True

    def _child(self) -> Bid:
        rng, parents, jobs = self._rng, self._bids, len(self.instance.jobs)
        parent = parents[0] if rng.random() < OF_THE_BEST else parents[rng.integers(len(parents))]
        weights, anew = parent.weights.copy(), rng.choice(jobs, size=min(jobs, 1 + rng.geometric(FEW)), replace=False)
        weights[anew] += rng.normal(0.0, SPREAD, len(anew))
        return Bid(self._rules[rng.integers(len(self._rules))] if rng.random() < OTHER else parent.rule, weights)


class _Truth:
    """All jobs of an instance, as the one future there is."""

    def __init__(self, instance: AllocationInstance) -> None:
        everything = instance.model_copy(update={"now_s": max(job.submit_s for job in instance.jobs)})
        known = everything.columns
        self.instance, self.jobs, self.weight = instance, len(known.due_s), known.weight_per_s
        self.cluster = Cluster.of(everything, urgency(everything, options(everything)).speed)
        times = by_way(known.time_s, self.cluster.kind, self.cluster.gpus)
        told = np.ones((1, self.jobs))
        self.future = Futures(known.submit_s[None], known.due_s[None], known.weight_per_s[None], times[None], told)
        self.first_s = float(known.submit_s.min())
        self.steps = 4 * self.jobs + 4  # a job comes and ends
        self.nothing = Present(np.full(0, -1), np.zeros(0, dtype=bool), instance.migration_cost_s)

    def playout(self, bids: list[Bid]) -> Playout:
        """A lane a bid."""
        weights = self.weight * np.exp([bid.weights for bid in bids])
        lanes = np.zeros(len(bids), dtype=np.int64)
        return Playout(self.cluster, self.future, self.first_s, self.nothing, [bid.rule for bid in bids], lanes, weights)


def _carried_out(truth: _Truth, bid: Bid, spare: Callable[[], bool] | None) -> AllocationHistory | None:
    """What the playout decides, on nodes with names; what follows its end, if anything, is the rule's. None out of time."""
    simulator, decisions = AllocationSimulator(truth.instance), list(truth.playout([bid]).decisions(truth.steps))
    when, last = [now for now, _ in decisions], -1
    while simulator.due():
        if spare is not None and not spare():
            return None
        now = bisect_right(when, simulator.now_s + NOW * max(1.0, simulator.now_s)) - 1
        if now > last or simulator.running:
            last, known = now, np.array(simulator.known, dtype=int)
            ways = decisions[now][1][known]
            runs = zip(known[ways >= 0].tolist(), ways[ways >= 0].tolist(), strict=True)
            simulator.apply(_packed(truth, simulator, {truth.instance.jobs[j].id: way for j, way in runs}))
        elif (snapshot := simulator.snapshot()) is not None:  # rounding has left something of a job
            simulator.apply(priced_dispatch(snapshot, bidding=bid.rule))
    return simulator.history()


def _packed(truth: _Truth, simulator: AllocationSimulator, ways: dict[str, int]) -> AllocationSchedule:
    """Jobs run by these ways on nodes with names: who would lose work stays, the largest of the others first, best fit."""
    instance, cluster = truth.instance, truth.cluster
    free = {node.id: node.gpus for node in instance.nodes}
    placed = []
    if instance.migration_cost_s:
        for job, run in simulator.running.items():
            way = ways.get(job, -1)
            if way >= 0 and (cluster.kind[way], cluster.gpus[way]) == (instance.class_of_node[run.node], run.gpus):
                placed.append(Assignment(job=job, node=run.node, gpus=run.gpus))
                free[run.node] -= run.gpus
                del ways[job]
    names = [node.id for node in instance.nodes]
    rooms = [Nodes(c.gpus, [(free[names[n]], n) for n in c.nodes]) for c in instance.node_classes]
    for job, way in sorted(ways.items(), key=lambda item: -int(cluster.gpus[item[1]])):
        gpus, room = int(cluster.gpus[way]), rooms[int(cluster.kind[way])]
        if (found := room.take(gpus)) is not None:
            left, node = found
            room.put(left - gpus, node)
            placed.append(Assignment(job=job, node=names[node], gpus=gpus))
    return AllocationSchedule(assignments=tuple(placed))
