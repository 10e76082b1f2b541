"""Prices from all that is known of a bound: a proximal bundle.

Each evaluation gives a plane that a concave bound lies below. The next prices are where the lowest plane is highest, less a
charge for the distance from the best prices so far. It is solved in its dual, the weights of the planes, by accelerated
projected gradients: a few matrix products, and no solver.
"""

from __future__ import annotations

import numpy as np

from optsched.instances.base import Floats

MOST, DROPPED = 60, 20  # planes, and how many of the least weight make room
STEPS, EXACT = 300, 1e-9  # of the weights
SERIOUS, GOOD = 0.1, 0.3  # share of the promised rise for a new best, and for a longer reach
WIDER, SHORTER, PATIENCE = 2.0, 0.8, 3


class Bundle:
    """Planes above a concave function between limits.

    Attributes
    ----------
    best, point : the highest value, and where. promised : how much higher the model is at the last proposal.
    """

    def __init__(self, point: Floats, limits: tuple[Floats, Floats], value: float, slope: Floats, hope: float) -> None:
        self.limits = limits
        self.point, self.best, self.promised = point, value, np.inf
        self.slopes, self.offsets = slope[None, :], np.array([value - float(slope @ point)])
        self.weights = np.ones(1)
        self.reach = hope / max(float(slope @ slope), 1e-12)
        self.run = 0  # new bests in a row, or misses (negative)

    def propose(self) -> Floats:
        """Where to look next."""
        self._weigh()
        there = self._at(self.weights)
        self.promised = float((self.offsets + self.slopes @ there).min()) - self.best
        return there

    def learn(self, point: Floats, value: float, slope: Floats) -> None:
        """What the function and its slope are at the proposal."""
        rise = value - self.best
        if rise > 0 and rise >= SERIOUS * self.promised:
            if rise >= GOOD * self.promised:
                self.reach *= WIDER
            self.point, self.best, self.run = point, value, max(1, self.run + 1)
        else:
            self.run = min(-1, self.run - 1)
            self.reach *= SHORTER if self.run <= -PATIENCE else 1.0
        kept = np.arange(len(self.weights))
        if len(kept) >= MOST:  # what is dropped is kept as its mean
            mean, offset = self.weights @ self.slopes, float(self.weights @ self.offsets)
            kept = np.sort(np.argsort(self.weights, kind="stable")[DROPPED:])
            self.slopes = np.vstack([self.slopes[kept], mean])
            self.offsets, self.weights = np.append(self.offsets[kept], offset), np.append(self.weights[kept], 0.0)
        self.slopes = np.vstack([self.slopes, slope])
        self.offsets = np.append(self.offsets, value - float(slope @ point))
        weights = np.append(self.weights, 0.0)
        self.weights = weights / weights.sum()

    def _at(self, weights: Floats) -> Floats:
        return np.clip(self.point + self.reach * (weights @ self.slopes), *self.limits)

    def _weigh(self) -> None:
        """The weights under which the mean plane, less the distance, is lowest where it is highest."""
        largest = float(np.linalg.eigvalsh(self.slopes @ self.slopes.T)[-1])  # a quarter of the time of singular values
        rate = 1.0 / (self.reach * max(0.0, largest) + 1e-30)
        old = ahead = self.weights
        momentum = 1.0
        for _ in range(STEPS):
            slope = self.offsets + self.slopes @ self._at(ahead)
            new = on_simplex(ahead - rate * slope)
            moved = new - old
            if float(slope @ moved) > 0:  # overshot
                momentum, ahead = 1.0, new
            else:
                following = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
                ahead, momentum = on_simplex(new + (momentum - 1.0) / following * moved), following
            old = new
            if float(np.abs(moved).max()) < EXACT:
                break
        self.weights = old


def on_simplex(weights: Floats) -> Floats:
    """The nearest weights that are not negative and add up to 1."""
    weights = weights - weights.max()  # the largest may be so large that it swallows the 1
    falling = np.sort(weights)[::-1]
    excess = (np.cumsum(falling) - 1.0) / np.arange(1, len(weights) + 1)
    return np.asarray(np.maximum(0.0, weights - excess[np.flatnonzero(falling > excess)[-1]]))
