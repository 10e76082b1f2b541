"""A decision time in rounds: every site that has an undecided job decides about its next one, all of them at once.

Both the environments and the policies of a replay go through these rounds, so that what is learned is what is played. Jobs of a
site are in the order of their submission; conflicts are settled in site order. A job that can only be postponed is not asked
about. GPUs that a job on its way will need are kept for it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from optsched.instances.base import Floats, Ints
from optsched.instances.geo import GeoInstance
from optsched.rl.geo.network import Network, Rows, Signals
from optsched.schedules.geo import GeoSchedule, Start

POSTPONE = 0  # the action; 1 + n is to run at site n: here and now, or there once it has arrived


class Rounds:
    """One decision time, from its first round to its last.

    Attributes
    ----------
    free
        GPUs left by what runs or has just been started, shape (P, T) from the present on.
    promised
        GPUs that jobs on their way or just sent will take, shape (P, T).
    first, last
        Slots in which each job may start at each site if it is decided now, shape (J, P); `last` < `first` where it may not.
    gain, cost
        USD that its start in slot `first` adds to the utility, and what transfers take of that, shape (J, P).
    leaves
        Whether it would have to leave its source for that, shape (J, P).
    asked
        The job of each site in this round, -1 where there is none, shape (P,).
    legal
        Actions that each site has, shape (P, 1 + P); `POSTPONE` always.
    """

    def __init__(self, network: Network, signals: Signals, rows: Rows, free: Ints, names: Sequence[str]) -> None:
        self.network, self.signals, self.rows, self.names = network, signals, rows, names
        self.free = free
        self.sites, self.horizon = free.shape
        self.starts: list[Start] = []
        self._options()
        self.open = (self.first <= self.last).any(axis=1)
        self.promised = np.zeros_like(free)
        for j in np.flatnonzero(rows.moved).tolist():
            self._promise(j, int(rows.at[j]), 1)
        self._ask()

    @classmethod
    def of_snapshot(cls, network: Network, snapshot: GeoInstance) -> Rounds:
        """What a policy may know."""
        price, carbon = (
            np.array([getattr(site, name) for site in snapshot.sites], dtype=float)
            for name in ("price_usd_per_mwh", "carbon_g_per_kwh")
        )
        signals = Signals.of(network, snapshot.now % network.ratio, price, carbon)
        names = [job.id for job in snapshot.jobs]
        return cls(network, signals, Rows.of(snapshot), snapshot.capacity.copy(), names)

    def _options(self) -> None:
        rows, sites = self.rows, np.arange(self.sites)
        home = sites == rows.source[:, None]
        leaves = ~rows.moved[:, None] & ~home
        self.leaves = leaves
        self.first = np.where(leaves, rows.out, 0)
        self.last = np.minimum(rows.due[:, None] - np.where(home, 0, rows.back), self.horizon - rows.duration[:, None])
        reach = self.network.reach[rows.source] & (~rows.moved[:, None] | (sites == rows.at[:, None]))
        self.last[~reach | (rows.arrives > 0)[:, None]] = -1
        self.cost = self.moving(self.signals)
        self.gain = self.worth(self.signals, self.first) - self.cost

    def worth(self, signals: Signals, start: Ints) -> Floats:
        """USD of running each job at each site from a slot on, shape (J, P), transfers apart."""
        sites, end = np.arange(self.sites), start + self.rows.duration[:, None]
        return np.asarray(self.rows.gpus[:, None] * (signals.upto(sites, end) - signals.upto(sites, start)))

    def moving(self, signals: Signals) -> Floats:
        """USD that a start in slot `first` costs in transfers yet to be paid, shape (J, P)."""
        rows, there = self.rows, np.broadcast_to(np.arange(self.sites), self.first.shape)
        here = np.broadcast_to(rows.source[:, None], self.first.shape)
        data, model = rows.data[:, None], rows.model[:, None]
        done = np.minimum(self.first + rows.duration[:, None], self.horizon - 1)
        paid = np.where(self.leaves, signals.transfer(here, there, data + model, np.zeros_like(done)), 0.0)
        return np.asarray(paid + np.where(here != there, signals.transfer(there, here, model, done), 0.0))

    def _promise(self, j: int, site: int, sign: int) -> None:
        begin = max(0, int(self.rows.arrives[j]))
        self.promised[site, begin : begin + int(self.rows.duration[j])] += sign * int(self.rows.gpus[j])

    def _room(self, j: int, site: int) -> bool:
        """Whether its GPUs are free for as long as it runs."""
        begin = int(self.first[j, site])
        end, gpus = begin + int(self.rows.duration[j]), int(self.rows.gpus[j])
        left = self.free[site, begin:end]
        if not self.rows.moved[j]:
            left = left - self.promised[site, begin:end]
        return int(left.min()) >= gpus

    def _ask(self) -> None:
        """The next job of each site, and what may be done with it."""
        rows, sites = self.rows, np.arange(self.sites)
        self.asked = np.full(self.sites, -1, dtype=np.int64)
        self.legal = np.zeros((self.sites, 1 + self.sites), dtype=bool)
        self.legal[:, POSTPONE] = True
        mine = np.flatnonzero(self.open)
        if len(mine):
            first = np.minimum(self.first[mine], self.horizon - 1)
            may = (self.first[mine] <= self.last[mine]) & (self.free[sites, first] >= rows.gpus[mine, None])
            for i in np.flatnonzero(may.any(axis=1)).tolist():
                j = int(mine[i])
                site = int(rows.at[j])
                if self.asked[site] >= 0:
                    continue
                for n in np.flatnonzero(may[i]).tolist():
                    self.legal[site, 1 + n] = self._room(j, n)
                if self.legal[site, 1:].any():
                    self.asked[site] = j
                else:
                    self.open[j] = False
            never = ~may.any(axis=1)
            self.open[mine[never]] = False

    @property
    def over(self) -> bool:
        """Whether nothing is left to decide."""
        return not (self.asked >= 0).any()

    def decide(self, actions: Sequence[int] | Ints) -> list[tuple[int, int]]:
        """Carry a round out, and ask for the next; an action that an earlier site has made impossible postpones.

        Returns
        -------
        (job, site) of those that start or leave.
        """
        done = []
        for site in np.flatnonzero(self.asked >= 0).tolist():
            j, action = int(self.asked[site]), int(actions[site])
            self.open[j] = False
            if action == POSTPONE or not self.legal[site, action] or not self._room(j, action - 1):
                continue
            self._start(j, action - 1)
            done.append((j, action - 1))
        self._ask()
        return done

    def _start(self, j: int, site: int) -> None:
        begin, rows = int(self.first[j, site]), self.rows
        if rows.moved[j]:
            self._promise(j, site, -1)
        self.free[site, begin : begin + int(rows.duration[j])] -= int(rows.gpus[j])
        left = 0 if self.leaves[j, site] else None
        start = Start.model_construct(job=self.names[j], site=self.network.ids[site], start=begin, departure=left)
        self.starts.append(start)

    @property
    def schedule(self) -> GeoSchedule:
        """What has been decided so far."""
        return GeoSchedule.model_construct(starts=tuple(self.starts), lost=())
