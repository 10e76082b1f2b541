"""What an agent sees in a round: the jobs asked about, and every site as a place to run them; all of it from a snapshot.

Section III of the paper names job, free GPUs, queued GPUs, price and carbon of every site. Each is here, as shares of what a
site has or of what a job earns at best, so that it means the same for any number, size and price level of sites; with what is
believed of the hours to come, and how much has been asked of late.
"""

from __future__ import annotations

import numpy as np

from optsched.instances.base import Floats, Ints
from optsched.rl.geo.arrivals import Arrivals
from optsched.rl.geo.rounds import Rounds

LATER = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the way from the first start to the last one
AHEAD_H = (1, 3, 6)  # hours in which what runs now leaves GPUs
MEANS_H = (6, 24)  # hours over which prices are averaged
SITE = 1 + len(AHEAD_H) + 5 + len(MEANS_H)
JOB = 7
PAIR = 6
WORLD = 6
LARGEST = 5.0
UNIT_GPU_H = 16.0  # whose revenue is the unit of credits: about a job of Table I


class Sight:
    """What is seen at a decision time; what changes from round to round is looked up in the rounds.

    Attributes
    ----------
    fixed
        Of the sites, shape (P, SITE - 1): what no round changes.
    """

    def __init__(self, rounds: Rounds, arrivals: Arrivals, now: int) -> None:
        self.rounds, network, rows = rounds, rounds.network, rounds.rows
        signals, hour, unit, day = rounds.signals, network.hour, network.unit, 24 * network.hour
        self.best = unit * rows.gpus * rows.duration  # what a job would earn with energy for nothing
        sites, jobs = rounds.sites, len(rows.gpus)
        self.total = np.maximum(1.0, network.gpus)
        queued, work = np.zeros(sites), np.zeros(sites)
        np.add.at(queued, rows.at, rows.gpus)
        np.add.at(work, rows.at, rows.gpus * rows.duration)
        end = rounds.horizon - 1
        free = rounds.free[:, [min(round(h * hour), end) for h in AHEAD_H]] / self.total[:, None]
        now_rate = signals.rate[:, 0] / unit
        site, slots = np.arange(sites), [max(1, min(round(h * hour), rounds.horizon)) for h in MEANS_H]
        means = [signals.upto(site, np.full(sites, k)) - signals.upto(site, np.zeros(sites, np.int64)) for k in slots]
        ahead = [mean / k / unit for mean, k in zip(means, slots, strict=True)]
        demand = arrivals.rate(sites) / self.total
        size = self.total / self.total.sum()
        columns = [*free.T, queued / self.total, np.log1p(work / self.total / hour), demand, now_rate, *ahead, size]
        self.fixed = np.array(columns, dtype=float).T
        self._later(jobs, sites)
        share = float(self.total.sum())
        angle = 2 * np.pi * (now % day) / day
        everywhere = float((arrivals.rate(sites)).sum()) / share
        left = min(1.0, rounds.horizon / day)
        self.world = np.array([np.sin(angle), np.cos(angle), left, everywhere, float(queued.sum()) / share])

    def _later(self, jobs: int, sites: int) -> None:
        """The most that each job earns at each site by starting later, shape (J, P), as a share of `best`."""
        rounds, rows = self.rounds, self.rounds.rows
        room = np.maximum(0, rounds.last - rounds.first)
        start = rounds.first[..., None] + (room[..., None] * np.array(LATER)).astype(np.int64)
        site, end = np.arange(sites)[:, None], start + rows.duration[:, None, None]
        found = (rounds.signals.upto(site, end) - rounds.signals.upto(site, start)).max(axis=-1) * rows.gpus[:, None]
        scale = self.best[:, None]
        self.gain = rounds.gain / scale
        self.later = np.where(rounds.first <= rounds.last, (found - rounds.cost) / scale, -1.0)

    def _site(self) -> Floats:
        """Of the sites, shape (P, SITE)."""
        rounds = self.rounds
        free = (rounds.free[:, 0] - rounds.promised[:, 0]) / self.total
        return np.concatenate([free[:, None], self.fixed], axis=1)

    def _job(self, asked: Ints) -> Floats:
        """Of jobs, shape (n, JOB)."""
        rounds, rows = self.rounds, self.rounds.rows
        at, hour, gpus, duration = rows.at[asked], rounds.network.hour, rows.gpus[asked], rows.duration[asked]
        slack = np.maximum(0, rounds.last[asked, at] - rounds.first[asked, at])
        found = np.empty((len(asked), JOB))
        found[:, 0] = np.log2(gpus) / 4
        found[:, 1] = gpus / self.total[at]
        found[:, 2] = np.log1p(duration / hour)
        found[:, 3] = slack / duration
        found[:, 4] = np.log1p(slack / hour)
        found[:, 5] = rows.moved[asked]
        found[:, 6] = (rounds.horizon - duration) / rounds.horizon
        return found

    def _pair(self, asked: Ints) -> Floats:
        """Of jobs at each site, shape (n, P, PAIR)."""
        rounds, rows, every = self.rounds, self.rounds.rows, np.arange(self.rounds.sites)
        gain, at = self.gain[asked], rows.at[asked]
        first = np.minimum(rounds.first[asked], rounds.horizon - 1)
        room = rounds.free[every, first] - rounds.promised[every, first]
        ranked = np.where(rounds.legal[at, 1:], gain, -LARGEST)
        order = np.sort(ranked, axis=1)
        second = order[:, -2:-1] if len(every) > 1 else np.full((len(asked), 1), -LARGEST)
        other = np.where(every == ranked.argmax(axis=1)[:, None], second, order[:, -1:])
        found = np.empty((*gain.shape, PAIR))
        found[..., 0] = gain
        found[..., 1] = self.later[asked] - gain
        found[..., 2] = np.clip(gain - other, -2.0, 2.0)
        found[..., 3] = rounds.cost[asked] / self.best[asked, None]
        found[..., 4] = every == at[:, None]
        found[..., 5] = (room - rows.gpus[asked, None]) / self.total
        return found

    def joint(self) -> Floats:
        """What each site's agent of a fixed number of sites sees, shape (P, `joint_size`): its own job, and all sites."""
        rounds, sites = self.rounds, self.rounds.sites
        mine, jobs = np.flatnonzero(rounds.asked >= 0), rounds.rows
        j = rounds.asked[mine]
        asked = np.zeros((sites, 2))
        asked[mine, 0] = jobs.gpus[j] / self.total[mine]
        asked[mine, 1] = np.log1p(jobs.duration[j] / rounds.network.hour)
        seen = np.zeros((sites, joint_size(sites)))
        seen[mine, :JOB] = self._job(j)
        seen[mine, JOB : JOB + PAIR * sites] = self._pair(j).reshape(len(mine), -1)
        seen[:, JOB + PAIR * sites :] = np.concatenate([self._site().ravel(), asked.ravel(), self.world])
        return np.clip(seen, -LARGEST, LARGEST, out=seen)

    def credits(self) -> Floats:
        """What each action is credited with, shape (P, 1 + P), in units of `UNIT_GPU_H` GPU-hours of revenue.

        A job that has moved was credited with its gain as it left: its start earns nothing more, without one that is lost.
        """
        rounds = self.rounds
        found = np.zeros((rounds.sites, 1 + rounds.sites))
        mine = np.flatnonzero(rounds.asked >= 0)
        asked = rounds.asked[mine]
        found[mine, 1:] = np.where(rounds.legal[mine, 1:], rounds.gain[asked], 0.0)
        found[mine] -= np.where(rounds.rows.moved[asked], rounds.gain[asked, rounds.rows.at[asked]], 0.0)[:, None]
        return found / unit_usd(rounds)

    def sizes(self) -> Floats:
        """GPU-time of the job that each site is asked about, in units of `UNIT_GPU_H`, shape (P,); 0 where there is none."""
        rounds, rows = self.rounds, self.rounds.rows
        found = np.zeros(rounds.sites)
        mine = np.flatnonzero(rounds.asked >= 0)
        asked = rounds.asked[mine]
        found[mine] = rows.gpus[asked] * rows.duration[asked] / rounds.network.hour / UNIT_GPU_H
        return found


def unit_usd(rounds: Rounds) -> float:
    """USD of a unit of credit."""
    return UNIT_GPU_H * rounds.network.unit * rounds.network.hour


def joint_size(sites: int) -> int:
    """Numbers that an agent of so many sites sees."""
    return JOB + PAIR * sites + (SITE + 2) * sites + WORLD - 1
