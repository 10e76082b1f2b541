"""Randomized Greedy (ANDREAS, Algorithm 1), all iterations side by side: one array axis an iteration, no compiler."""

from __future__ import annotations

import numpy as np

from optsched.heuristics.allocation.configurations import Preferences, preferences, pressure
from optsched.heuristics.allocation.dispatch import dispatch, slack
from optsched.heuristics.allocation.occupy_idle import occupy_idle_nodes
from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Counting, Floats, Ints
from optsched.referee import evaluate
from optsched.schedules.allocation import AllocationSchedule, Assignment
from optsched.stop import Spare

ITERATIONS = 1000
SWAP = 0.3
AMONG = 3
DRAWN_A_S = 5e6  # jobs in a place of some construction, drawn in a second: under a limit no more are drawn than that


def randomized_greedy(
    instance: AllocationInstance,
    seed: int = 0,
    iterations: int = ITERATIONS,
    swap: float = SWAP,
    among: Counting = AMONG,
    *,
    spare: Spare | None = None,
) -> AllocationSchedule:
    """Algorithm 1: one deterministic construction and `iterations` random ones, the best by the proxy.

    Jobs go by decreasing pressure. In a random construction neighbours are swapped with probability ``swap * w_min / w_j``,
    w_j the weight of the one in front, and the configuration is drawn among the `among` first of those that meet the due date,
    with probability inversely proportional to cost. A job that does not fit takes its next configuration, late ones last,
    on the node with the least room that is enough; else it is postponed.

    Where time is out, what the constructions have placed so far competes with the whole deterministic one.
    """
    if not instance.known_jobs or not instance.nodes:
        return AllocationSchedule(assignments=())
    rng = np.random.default_rng(seed)
    rows, whole = iterations + 1, []
    if spare is not None:
        whole = [occupy_idle_nodes(instance, dispatch(instance, slack, spare=spare))]
        rows = int(min(rows, DRAWN_A_S * spare.left_s() / len(instance.known_jobs)))
        spare.cut |= rows <= iterations
        if rows < 2:
            return whole[0]
    liked = preferences(instance)
    order = _orders(rng, instance, rows, swap)
    drawn = _draws(rng, liked, order, among)
    chosen, node, objective = _construct(instance, liked, order, drawn, spare)
    few = _leaders(objective) if spare is None or spare() else _leaders(objective)[:1]
    found = [occupy_idle_nodes(instance, _schedule(instance, liked, chosen[i], node[i])) for i in few]
    return min(found + whole, key=lambda schedule: evaluate(instance, schedule).objective)


def _leaders(objective: Floats) -> list[int]:
    """The best few constructions, the deterministic one among them: opening idle nodes may change their order."""
    return [*np.argsort(objective, kind="stable")[:3].tolist(), 0]


def _orders(rng: np.random.Generator, instance: AllocationInstance, rows: int, swap: float) -> Ints:
    """Jobs by decreasing pressure, one row a construction; row 0 without swaps. Shape (rows, J)."""
    base = np.argsort(-pressure(instance), kind="stable")
    order = np.tile(base, (rows, 1))
    weight = instance.columns.weight_per_s
    positive = weight[weight > 0]
    least = float(positive.min()) if len(positive) else 1.0
    chance = swap * least / np.maximum(weight, least)
    for parity in (0, 1):  # pairs (0,1), (2,3), ... and then (1,2), (3,4), ...: every neighbour once
        left = np.arange(parity, order.shape[1] - 1, 2)
        swapped = rng.random((rows, len(left))) < chance[order[:, left]]
        swapped[0] = False
        a, b = order[:, left], order[:, left + 1]
        order[:, left], order[:, left + 1] = np.where(swapped, b, a), np.where(swapped, a, b)
    return order


def _draws(rng: np.random.Generator, liked: Preferences, order: Ints, among: int) -> Ints:
    """Rank of the drawn configuration by construction and job, shape (rows, J); 0 in row 0."""
    width = min(among, liked.option.shape[1])
    weight = np.where(liked.in_time[:, :width], 1 / np.maximum(liked.cost[:, :width], 1e-12), 0.0)
    weight[weight.sum(axis=1) == 0, 0] = 1.0  # nothing meets the due date: the fastest
    limit = np.cumsum(weight, axis=1) / weight.sum(axis=1, keepdims=True)
    lot = rng.random(order.shape)
    drawn = (
        sum((lot >= limit[None, :, c]).astype(np.int64) for c in range(width - 1))
        if width > 1
        else np.zeros(order.shape, np.int64)
    )
    drawn = np.asarray(drawn)
    drawn[0] = 0
    return drawn


def _construct(
    instance: AllocationInstance, liked: Preferences, order: Ints, drawn: Ints, spare: Spare | None
) -> tuple[Ints, Ints, Floats]:
    """Options (or -1) and nodes by construction and job, shapes (rows, J), and each construction's proxy."""
    rows, jobs = order.shape
    listed, width = liked.listed, liked.option.shape[1]
    classes = len(instance.node_classes)
    nodes = [n for c in instance.node_classes for n in c.nodes]
    ends = np.cumsum([0] + [len(c.nodes) for c in instance.node_classes])
    free = np.tile(np.array([instance.nodes[n].gpus for n in nodes], dtype=np.int8), (rows, 1))
    most = np.stack([free[:, ends[k] : ends[k + 1]].max(axis=1) for k in range(classes)], axis=1)
    first_time = np.full((rows, len(nodes)), np.inf)
    first_cost = np.zeros((rows, len(nodes)))
    value = np.full(rows, listed.postponed.sum())
    chosen = np.full((rows, jobs), -1, dtype=np.int64)
    where = np.full((rows, jobs), -1, dtype=np.int64)
    cheapest = instance.first_ending == "cheapest"
    gpus_of = np.append(listed.gpus, 127)  # option -1 never fits
    class_of = np.append(listed.node_class, 0)
    for position in range(jobs):
        if spare is not None and not spare():
            break
        job = order[:, position]
        options = liked.option[job]
        lot = drawn[np.arange(rows), job]
        fits = gpus_of[options] <= np.take_along_axis(most, class_of[options], axis=1)
        rank = np.where(np.arange(width)[None, :] == lot[:, None], -1, np.arange(width)[None, :])
        rank = np.where(fits, rank, width)
        pick = rank.argmin(axis=1)
        taken = np.flatnonzero(rank[np.arange(rows), pick] < width)
        if not len(taken):
            if not most.any():
                break
            continue
        option = options[taken, pick[taken]]
        gpus, kind = listed.gpus[option], listed.node_class[option]
        for k in range(classes):
            of_class = kind == k
            if not of_class.any():
                continue
            here, g = taken[of_class], gpus[of_class].astype(np.int8)
            room = free[here, ends[k] : ends[k + 1]]
            best = np.where(room >= g[:, None], room, 127).argmin(axis=1)
            at = best + ends[k]
            free[here, at] -= g
            room[np.arange(len(here)), best] -= g
            most[here, k] = room.max(axis=1)
            o = option[of_class]
            time, energy = listed.time_s[o], listed.energy[o]
            value[here] += listed.gain[o]
            key = energy if cheapest else time
            sooner = (key < first_time[here, at]) | ((key == first_time[here, at]) & (energy < first_cost[here, at]))
            first_time[here[sooner], at[sooner]] = key[sooner]
            first_cost[here[sooner], at[sooner]] = energy[sooner]
            chosen[here, job[here]] = o
            where[here, job[here]] = np.array(nodes)[at]
    return chosen, where, value + first_cost.sum(axis=1)


def _schedule(instance: AllocationInstance, liked: Preferences, chosen: Ints, node: Ints) -> AllocationSchedule:
    return AllocationSchedule(
        assignments=tuple(
            Assignment(
                job=instance.known_jobs[j].id,
                node=instance.nodes[int(node[j])].id,
                gpus=int(liked.listed.gpus[chosen[j]]),
            )
            for j in np.flatnonzero(chosen >= 0).tolist()
        )
    )
