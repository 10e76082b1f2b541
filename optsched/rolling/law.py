"""How long jobs take beside what is told of them: a law learned from those that have ended, and from those that have not.

Of a job that somebody saw end it is known, of one that has run only that it takes longer: a sample with censored observations,
whose distribution is that of E. L. Kaplan and P. Meier, Nonparametric Estimation from Incomplete Observations, JASA 53(282),
1958. A job that has run for some time takes one of the longer times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from optsched.instances.base import Floats, Ints

EXACT = 1e-3  # relative: who ends so near to what was told took as long as that
NEAR = 1e-5  # relative: times that are one but for their digits
NONE = 1e-12  # of all jobs
MOST = 600.0  # of a logarithm
SPREAD = 0.5  # of a slope about 1, before anything is known
ROUNDS = 30  # of a regression
TOLD = 2.0  # so many ended jobs weigh as much as what is told
AS_TOLD = (np.ones(1), TOLD)


@dataclass(frozen=True)
class Law:
    """How long jobs take, as multiples of what can fairly be expected of what is told of them.

    Attributes
    ----------
    times, share
        Multiples, ascending, and the share of all jobs that take each; the rest takes longer than anybody knows.
    middle, slope
        Of what is told, a logarithm, and how much of the distance from it is to be believed.
    """

    times: Floats
    share: Floats
    middle: float
    slope: float

    @classmethod
    def learned(
        cls, sizes: Floats, took: Floats, firsts: Floats, passed: Floats, before: tuple[Floats, float] = AS_TOLD
    ) -> Law:
        """From what has been seen.

        Parameters
        ----------
        sizes, took
            Of jobs that have ended: the logarithm of what was told, and how long each took, as a multiple of that, shape (n,).
        firsts, passed
            Of jobs that have not: that logarithm, and how long each has run, 0 for who has not begun, shape (m,).
        before
            Multiples that are believed before anything is seen, and for how many ended jobs they stand together.
        """
        middle = float(np.mean(np.append(sizes, firsts)))
        runs = passed > 0.0
        slope = _slope(sizes - middle, np.log(took), firsts[runs] - middle, np.log(passed[runs]))
        fair = _fair(firsts, middle, slope)
        multiples, count = before
        ended = np.append(took / _fair(sizes, middle, slope), multiples)
        weights = np.append(np.ones(len(took)), np.full(len(multiples), count / len(multiples)))
        return cls(*survival(ended, weights, (passed / fair)[runs]), middle, slope)

    def fair(self, sizes: Floats) -> Floats:
        """What can be expected of jobs that begin, as a multiple of what is told, whose logarithm that is."""
        return _fair(sizes, self.middle, self.slope)

    @property
    def beyond(self) -> float:
        """The share of jobs that take longer than anybody knows."""
        return max(0.0, 1.0 - float(self.share.sum()))

    def closed(self, longest: float) -> Law:
        """The same, but that whoever takes longer than anybody knows takes twice the longest time known of."""
        if self.beyond <= NONE:
            return self
        last = 2.0 * max(longest, float(self.times[-1]))
        return replace(self, times=np.append(self.times, last), share=np.append(self.share, self.beyond))

    def coarse(self, most: int) -> Law:
        """The same in about so many times at most, each the mean of its neighbours."""
        if len(self.times) <= most:
            return self
        _, which = np.unique(np.floor(np.cumsum(self.share) * most), return_inverse=True)
        share = np.bincount(which, self.share).astype(float)
        return replace(self, times=np.bincount(which, self.share * self.times) / share, share=share)

    def first(self, passed: Floats) -> Ints:
        """Of jobs that have run for so long, the first of the longer times."""
        return np.searchsorted(self.times, passed * (1.0 + NEAR), side="right")

    def longer(self, times: Floats) -> Floats:
        """The share of jobs that take longer than that."""
        return 1.0 - np.append(0.0, np.cumsum(self.share))[self.first(times)]

    def takes(self, rng: np.random.Generator, samples: int, first: Ints) -> Floats:
        """How long jobs take of which all times before one are past, shape (samples, len(first)); infinite beyond them all."""
        until = np.cumsum(self.share)
        below = np.append(0.0, until)[first]
        at = below + rng.random((samples, len(first))) * (1.0 - below)
        return np.append(self.times, np.inf)[np.maximum(np.searchsorted(until, at, side="right"), first)]

    def begun(self, rng: np.random.Generator, samples: int, coming: int) -> Floats:
        """How long jobs take that begin, shape (samples, coming)."""
        takes = self.takes(rng, samples, np.zeros(coming, dtype=np.int64))
        return np.where(np.isfinite(takes), takes, self.times[-1])

    @property
    def expected_begun(self) -> float:
        """How long they take in the mean."""
        return float(self.mean_left(np.zeros(1, dtype=np.int64), np.zeros(1), self.times[-1:])[0] * self.times[-1])

    def mean_left(self, first: Ints, passed: Floats, told: Floats) -> Floats:
        """What is left of jobs in the mean, as a multiple of what is told; who outlives all times takes as long as told."""
        sums = np.cumsum(np.array([self.share, self.share * self.times])[:, ::-1], axis=1)[:, ::-1]
        among, whole = np.hstack([sums, np.zeros((2, 1))])[:, first]
        beyond = self.beyond
        found = (np.maximum(whole - passed * among, 0.0) + beyond * told) / np.maximum(among + beyond, NONE) / told
        return np.where(among + beyond > NONE, np.maximum(found, NEAR), 1.0)


def survival(ended: Floats, weights: Floats, running: Floats) -> tuple[Floats, Floats]:
    """Times at which jobs have ended, ascending, and the share of all jobs that take each, of which the rest take longer.

    Parameters
    ----------
    ended, weights
        How long a job took, and how many jobs that stands for.
    running
        How long a job that has not ended has run.
    """
    times, which = np.unique(ended, return_inverse=True)
    died = np.bincount(which, weights)
    risk = np.cumsum(died[::-1])[::-1] + len(running) - np.searchsorted(np.sort(running), times, side="left")
    lives = np.cumprod(1.0 - died / risk)
    return times, -np.diff(lives, prepend=1.0)


def _slope(sizes: Floats, surprises: Floats, going: Floats, until: Floats) -> float:
    """How much longer jobs are that are told to be longer, in logarithms: least squares about 1, and drawn towards it.

    Those that have not ended count for what they can be expected to take: long jobs that have ended by now are those that were
    shorter than told. A regression with censored observations (J. Tobin, Econometrica 26(1), 1958) by expectation and
    maximisation (A. P. Dempster, N. M. Laird, D. B. Rubin, JRSS B 39(1), 1977).

    Parameters
    ----------
    sizes, surprises
        Of jobs that have ended: what was told about the middle, and by how much more they took, shape (n,).
    going, until
        Of those that run: the same, as far as is known, shape (m,).
    """
    from scipy.special import log_ndtr

    x, known = np.append(sizes, going), len(sizes)
    takes = np.append(surprises, until)
    tilt, level, noise = 0.0, 0.0, max(float(np.square(surprises).mean()), NEAR) if known else 1.0
    for _ in range(ROUNDS):
        mean, sigma = level + tilt * x, math.sqrt(noise)
        lacking = (until - mean[known:]) / sigma
        hazard = np.exp(-0.5 * lacking**2 - log_ndtr(-lacking)) / math.sqrt(2 * math.pi)
        takes[known:] = mean[known:] + sigma * hazard
        spread = np.append(np.square(surprises - mean[:known]), noise * (1.0 + lacking * hazard))
        noise = max((float(spread.sum()) + TOLD * noise) / (len(x) + TOLD), NEAR)  # what is told scatters as the rest
        tilt = float(x @ (takes - level)) / (float(x @ x) + noise / SPREAD**2)
        level = float((takes - tilt * x).sum()) / (len(x) + TOLD)
    return min(1.0, max(0.0, 1.0 + tilt))


def _fair(sizes: Floats, middle: float, slope: float) -> Floats:
    """What jobs of those sizes can be expected to take, as a multiple of what is told."""
    return np.exp(np.clip((slope - 1.0) * (sizes - middle), -MOST, MOST))
