"""Many futures of a cluster at once: rules of dispatch played out, a lane each, vectorised over the lanes.

A lane is one rule under one sampled future. All lanes take a step together: each decides anew, with preemption, and goes to the
time when so many of its jobs have ended or come. Nodes have no names: jobs fit where they could be packed onto so many nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from optsched.heuristics.allocation.priced import Bidding
from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Bools, Floats, Ints
from optsched.rolling.allocation.futures import Futures
from optsched.rolling.allocation.packing import cost_of, fit_on, nodes_needed
from optsched.schedules.allocation import Assignment

DONE = 1e-9  # of a job's work
ROUNDS = 4  # of a dispatch, in which jobs that found no room ask again
PACE = 40  # GPUs for each end or arrival that ends a step: longer ones leave too much idle, and make rules too careful
LAST = 1e300
SPARE = 8  # jobs that a dispatch looks at besides one a GPU


@dataclass(frozen=True)
class Cluster:
    """Nodes by class, and the ways to run a job on them.

    Attributes
    ----------
    kind, gpus
        Of each way, shape (C,).
    way_per_s, alone_per_s
        What its GPUs cost as their share of a full node, and on a node where nothing else runs, shape (C,).
    most, total
        GPUs of a node, and of all nodes of a class, shape (K,).
    node_per_s
        What a node costs with so many GPUs in use, by class.
    speed
        Of a class, relative to the fastest, shape (K,).
    whole
        All GPUs, each counted by its speed.
    """

    kind: Ints
    gpus: Ints
    way_per_s: Floats
    alone_per_s: Floats
    most: Ints
    total: Ints
    node_per_s: tuple[Floats, ...]
    speed: Floats
    whole: float

    @classmethod
    def of(cls, instance: AllocationInstance, speed: Floats) -> Cluster:
        """The instance's nodes, whose classes have those speeds."""
        classes = instance.node_classes
        most = np.array([c.gpus for c in classes])
        total = np.array([c.gpus * len(c.nodes) for c in classes])
        node_per_s = tuple(np.append(0.0, instance.cost_per_h[k, : c.gpus]) / 3600 for k, c in enumerate(classes))
        kind, gpus = np.array([(k, g) for k, c in enumerate(classes) for g in range(1, c.gpus + 1)], dtype=int).T
        way_per_s = instance.cost_per_h[kind, most[kind] - 1] * gpus / most[kind] / 3600
        alone_per_s = instance.cost_per_h[kind, gpus - 1] / 3600
        return cls(kind, gpus, way_per_s, alone_per_s, most, total, node_per_s, speed, max(float(total @ speed), 1e-9))

    @cached_property
    def nodes(self) -> Ints:
        """Of each class, shape (K,)."""
        return np.asarray(self.total // self.most)

    @cached_property
    def ways_of(self) -> list[Ints]:
        """The ways to run on each class, by GPUs."""
        return [np.flatnonzero(self.kind == k) for k in range(len(self.total))]

    def hold(self, sizes: Ints, k: int) -> Bools:
        """Whether the nodes of class k have room for jobs by size, shape (G, ...); shape (...)."""
        return fit_on(int(self.nodes[k]), sizes, int(self.most[k]))

    def cost_per_s(self, packed: Ints) -> Floats:
        """What nodes cost with jobs by class and size, shape (K, G, L); shape (L,)."""
        used = np.arange(1, packed.shape[1] + 1) @ packed
        most = self.most.tolist()
        each = (cost_of(nodes_needed(packed[k], most[k]), used[k], node) for k, node in enumerate(self.node_per_s))
        return np.asarray(sum(each))

    def ways(self, snapshot: AllocationInstance, placed: Mapping[str, Assignment]) -> Ints:
        """Of each known job, how it runs, -1 where it waits, shape (J,)."""
        number = {(int(k), int(g)): c for c, (k, g) in enumerate(zip(self.kind, self.gpus, strict=True))}
        of_node = snapshot.class_of_node
        runs = (placed.get(job.id) for job in snapshot.known_jobs)
        return np.array([-1 if a is None else number[of_node[a.node], a.gpus] for a in runs], dtype=int)


def pace(cluster: Cluster) -> int:
    """Ends or arrivals in a step."""
    return max(1, round(int(cluster.total.sum()) / PACE))


@dataclass(frozen=True)
class Present:
    """What runs now, of the known jobs.

    Attributes
    ----------
    way
        Of each job, -1 where it waits, shape (J,).
    begun
        Whether it has ever run: to run it anywhere else loses work.
    lost_s
        How much.
    """

    way: Ints
    begun: Bools
    lost_s: float


class Playout:
    """Lanes on their way.

    Parameters
    ----------
    cluster, futures
        Where, and what there is to do.
    now_s, present
        The state.
    rules, samples
        Of each lane, L of them.
    bids
        What each rule takes the jobs' weights for, where not for what they are, shape (L, J).
    """

    LANES = ("lane", "sample", "price", "fade", "short", "patience", "caution", "shared", "keeps", "submit", "due", "weight",
             "bid", "time", "told", "energy", "shortest", "least", "left", "way", "begun", "now", "cost")  # fmt: skip
    """What is there by lane."""

    def __init__(
        self,
        cluster: Cluster,
        futures: Futures,
        now_s: float,
        present: Present,
        rules: Sequence[Bidding],
        samples: Ints,
        bids: Floats | None = None,
    ) -> None:
        self.cluster, self.lost_s = cluster, present.lost_s
        self._follow(rules)
        self.submit, self.due = futures.submit_s[samples], futures.due_s[samples]
        self.weight, self.time, self.told = futures.weight_per_s[samples], futures.time_s[samples], futures.told[samples]
        self.bid = self.weight if bids is None else bids
        self.use = cluster.gpus * cluster.speed[cluster.kind]
        able = np.isfinite(self.time).any(axis=2)
        self.shortest = np.where(able, self.time.min(axis=2), 0.0)
        with np.errstate(invalid="ignore"):  # who cannot run where it costs nothing: no number, which is never least
            self.least = np.where(able, np.fmin.reduce(self.time * self.use, axis=2), 0.0)
            self.energy = np.where(able, np.fmin.reduce(self.time * cluster.way_per_s, axis=2), 0.0)
        self.left = np.where(able & np.isfinite(self.submit), 1.0, 0.0)
        known, shape = len(present.way), self.left.shape
        self.way, self.begun = np.full(shape, -1), np.zeros(shape, dtype=bool)
        self.way[:, :known], self.begun[:, :known] = present.way, present.begun
        self.lane: Ints = np.arange(len(samples))
        self.sample = samples
        self.now, self.cost, self.total = np.full(len(samples), now_s), np.zeros(len(samples)), np.zeros(len(samples))
        self.joined, self.paid = (
            self.lane.copy(),
            np.zeros(len(samples)),
        )  # which lane goes on for each, and what it cost till then

    def _follow(self, rules: Sequence[Bidding]) -> None:
        told = [(rule.price, rule.fade, rule.short, rule.patience, rule.caution) for rule in rules]
        self.price, self.fade, self.short, self.patience, self.caution = np.array(told).T
        self.shared, self.keeps = np.array([(rule.shared, rule.keeps) for rule in rules]).T

    def differ(self, ends: int = 1) -> bool:
        """Take the first step; whether the lanes decided differently."""
        with np.errstate(all="ignore"):
            self._step(ends)
        return bool((self.way != self.way[0]).any())

    def run(
        self,
        steps: int,
        ends: int = 1,
        spare: Callable[[], bool] | None = None,
        later: Bidding | None = None,
        after: int = 0,
        first: Ints | None = None,
    ) -> Floats | None:
        """What each lane costs, energy and tardiness of all its jobs; of what is left in the end, an estimate.

        Parameters
        ----------
        steps
            Decisions at most.
        ends
            Another one is made when so many jobs have ended or come: what ends before the last of them leaves its GPUs idle.
        spare
            Whether there is time left.
        later, after
            The rule of all lanes after so many more steps.
        first
            What is decided now, by lane and known job: the way, -1 where it waits, shape (L, J).

        Returns
        -------
        Shape (L,); None where time is out.
        """
        with np.errstate(all="ignore"):  # ways that do not exist are infinite, and jobs that are done have no share
            for step in range(steps):
                self._leave()
                if not len(self.lane):
                    break
                if spare is not None and not spare():
                    return None
                if later is not None and step == after:
                    self._join(later)
                    self._follow([later] * len(self.lane))
                self._step(ends, first if step == 0 else None)
            self.total[self.lane] = self.cost + self._remaining()
        return self.paid + self.total[self.joined]

    def decisions(self, steps: int) -> Iterator[tuple[float, Ints]]:
        """When a single lane decides what, so often at most: the way of each job, -1 where it waits, shape (J,)."""
        with np.errstate(all="ignore"):
            while (self.left > 0).any() and steps:
                now, steps = float(self.now[0]), steps - 1
                self._step(1)
                yield now, self.way[0].copy()

    def _leave(self) -> None:
        """Lanes without work are done."""
        busy = (self.left > 0).any(axis=1)
        if np.count_nonzero(busy) > 0.75 * busy.size:
            return  # copying costs more
        self.total[self.lane[~busy]] = self.cost[~busy]
        self._keep(np.flatnonzero(busy))

    def _keep(self, lanes: Ints) -> None:
        for name in self.LANES:
            setattr(self, name, getattr(self, name)[lanes])

    def _join(self, later: Bidding) -> None:
        """Of lanes in the same state, which the same rule is to follow, one goes on."""
        state = [self.sample[:, None], self.now[:, None], self.left]
        if self.lost_s or later.keeps:
            state += [self.way, self.begun]
        _, first, alike = np.unique(np.concatenate(state, axis=1), axis=0, return_index=True, return_inverse=True)
        self.paid[self.lane] = self.cost
        self.joined[self.lane] = self.lane[first][alike.reshape(-1)]
        self.cost = np.zeros(len(self.lane))
        self._keep(np.asarray(first, dtype=np.int64))

    def _step(self, ends: int, decided: Ints | None = None) -> None:
        """Decide, and go on."""
        until = _smallest(np.where(self.submit > self.now[:, None], self.submit, np.inf), ends)
        here = (self.submit <= self.now[:, None]) & (self.left > 0)
        columns = np.flatnonzero(here.any(axis=0))
        if not len(columns):
            self.now = np.where(np.isfinite(until), until, self.now)
            return
        way, rate = self._dispatch(columns, here[:, columns]) if decided is None else self._decided(columns, decided)
        lanes, jobs = np.nonzero(way >= 0)
        at, chosen = columns[jobs], way[lanes, jobs]
        pace = self.time[lanes, at, chosen]
        if self.lost_s:
            moved = self.begun[lanes, at] & (self.way[lanes, at] != chosen)
            self.left[lanes, at] += np.where(moved, self.lost_s / pace, 0.0)
            self.begun[lanes, at] = True
        self.way[:, columns] = way
        end = self.now[lanes] + self.left[lanes, at] * pace
        ending = np.full(way.shape, np.inf)
        ending[lanes, jobs] = end
        until = np.fmin(until, _smallest(ending, ends))  # what is not a number ends nothing
        until = np.where(np.isfinite(until), until, self.now)
        self.cost += rate * (until - self.now)
        left = self.left[lanes, at] - (until[lanes] - self.now[lanes]) / pace
        over = (end <= until[lanes]) | (left <= DONE)
        late = self.weight[lanes, at] * np.maximum(0.0, end - self.due[lanes, at])
        self.cost += np.bincount(lanes[over], late[over], minlength=len(self.cost))
        self.left[lanes, at] = np.where(over, 0.0, left)
        self.now = until

    def _dispatch(self, columns: Ints, here: Bools) -> tuple[Ints, Floats]:
        """The way of each job, -1 where it waits, and what the nodes cost a second.

        In rounds every waiting job asks for the way that it likes best where there is room, and in each class of nodes the
        first of them are served.
        """
        cluster, now, left = self.cluster, self.now[:, None], self.left[:, columns] * self.told[:, columns]
        weight, due = self.bid[:, columns], self.due[:, columns]
        least = np.where(here, self.least[:, columns] * left, 0.0)
        clear = np.maximum(least.sum(axis=1) / cluster.whole, 1e-9)[:, None]
        slack = np.maximum(0.0, due - now - self.caution[:, None] * self.shortest[:, columns] * left)
        faded = slack / (self.fade[:, None] * clear)
        urgent = np.where(here, weight * np.exp(-faded), 0.0)
        price = self.price * urgent.sum(axis=1) / cluster.whole
        key = self.short[:, None] * np.log(np.maximum(least, 1e-9)) - np.log(weight) + faded
        key = np.where(here, np.fmin(key, LAST), np.inf)  # who has no weight comes before who is not here
        key[here & self.keeps[:, None] & (self.way[:, columns] >= 0)] = -np.inf
        looked = min(SPARE + int(cluster.total.sum()), int(here.sum(axis=1).max()))
        order = np.argsort(key, axis=1, kind="stable")[:, :looked]
        lanes = np.arange(len(here))[:, None]
        at, flat = columns[order], lanes * here.shape[1] + order
        waits = here.take(flat)
        time = self.time.reshape(-1, len(self.use)).take(lanes * self.left.shape[1] + at, axis=0)
        time *= left.take(flat)[:, :, None]
        per_s = np.where(self.shared[:, None], cluster.way_per_s, cluster.alone_per_s)
        asked = time * (per_s + price[:, None] * self.use)[:, None, :]
        late = time if (self.caution == 1.0).all() else time * self.caution[:, None, None]
        late = late + (now - due.take(flat))[:, :, None]
        asked += weight.take(flat)[:, :, None] * np.maximum(0.0, late)
        if len(waiting := np.flatnonzero(np.isfinite(self.patience))):
            own = asked[waiting]
            regret = (own - own.min(axis=2, keepdims=True)) / time[waiting]
            bearable = self.patience[waiting, None] * np.take_along_axis(urgent, order, axis=1)[waiting]
            asked[waiting] = np.where(regret <= bearable[:, :, None], own, np.inf)
        packed = np.zeros((len(cluster.total), int(cluster.most.max()), len(here)), dtype=int)
        ranked, rows = np.full(order.shape, -1), np.arange(order.size)
        if self.keeps.any():
            held = np.where(self.keeps[:, None] & waits, self.way[lanes, at], -1)
            self._serve(held, held >= 0, ranked, waits, packed)
        for _ in range(ROUNDS):
            if not waits.any() or not (fits := self._fits(packed)).any():
                break
            wish = np.where(fits[:, None, :], asked, np.inf)
            best = wish.argmin(axis=2)
            good = waits & np.isfinite(wish.reshape(rows.size, -1)[rows, best.reshape(-1)]).reshape(waits.shape)
            if not good.any():
                break
            self._serve(best, good, ranked, waits, packed)
        way = np.full(here.shape, -1)
        np.put_along_axis(way, order, ranked, axis=1)
        return way, cluster.cost_per_s(packed)

    def _decided(self, columns: Ints, first: Ints) -> tuple[Ints, Floats]:
        """The ways of those jobs, those that are not known waiting, and what the nodes cost a second."""
        cluster, way = self.cluster, np.full((len(self.lane), len(columns)), -1)
        known = columns < first.shape[1]
        way[:, known] = first[self.lane][:, columns[known]]
        packed = np.zeros((len(cluster.total), int(cluster.most.max()), len(way)), dtype=int)
        lanes, jobs = np.nonzero(way >= 0)
        np.add.at(packed, (cluster.kind[way[lanes, jobs]], cluster.gpus[way[lanes, jobs]] - 1, lanes), 1)
        return way, cluster.cost_per_s(packed)

    def _fits(self, packed: Ints) -> Bools:
        """Which ways have room for one more, shape (L, C)."""
        cluster, one = self.cluster, np.eye(packed.shape[1], dtype=int)
        more = (packed[k, :, :, None] + one[:, None, :most] for k, most in enumerate(cluster.most.tolist()))
        return np.concatenate([cluster.hold(sizes, k) for k, sizes in enumerate(more)], axis=1)

    def _serve(self, wanted: Ints, good: Bools, ranked: Ints, waits: Bools, packed: Ints) -> None:
        """In each class, the first of those that want it and have room; the last three are changed."""
        wanted, lanes = np.where(good, wanted, -1), np.arange(len(good))
        for k, ways in enumerate(self.cluster.ways_of):
            mine = wanted == ways[:, None, None]
            sizes = mine.cumsum(axis=2)
            sizes += packed[k, : len(mine), :, None]
            room = self.cluster.hold(sizes, k)
            served = mine.any(axis=0) & room
            np.copyto(ranked, wanted, where=served)
            waits &= ~served
            last = np.where(room[:, -1], room.shape[1], room.argmin(axis=1)) - 1  # who has room, always the first one
            packed[k, : len(mine)] = sizes[:, lanes, last]

    def _remaining(self) -> Floats:
        """What is left, as a fluid in the order of weight by work: its least energy, and its tardiness."""
        left = self.left
        work = self.least * left
        order = np.argsort(np.where(left > 0, -self.weight / np.maximum(work, 1e-9), np.inf), axis=1, kind="stable")
        before = np.empty_like(work)
        np.put_along_axis(before, order, np.cumsum(np.take_along_axis(work, order, axis=1), axis=1), axis=1)
        begin = np.maximum(self.now[:, None], self.submit)
        end = begin + np.maximum(before / self.cluster.whole, self.shortest * left)
        cost = self.weight * np.maximum(0.0, end - self.due) + self.energy * left
        return np.asarray(np.where(left > 0, cost, 0.0).sum(axis=1))


def _smallest(values: Floats, rank: int) -> Floats:
    """The so-manieth smallest of each row, or its last finite one; infinite, or no number, where none is."""
    if rank == 1:
        return np.asarray(np.fmin.reduce(values, axis=1))
    if rank >= values.shape[1]:
        kept = np.sort(values, axis=1)
    else:
        kept = np.sort(np.partition(values, rank - 1, axis=1)[:, :rank], axis=1)
    finite = np.isfinite(kept).sum(axis=1)
    return np.where(finite > 0, kept[np.arange(len(kept)), np.maximum(finite - 1, 0)], np.inf)
