"""Bid prices from features: what a GPU will be worth, by site and hour, to whoever knew the future.

The network is one for all sites and hours, so that it goes with any number of sites. A job takes the site that earns most after
what its GPUs pay, and waits where nothing pays its price.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from optsched.instances.base import Floats, Ints
from optsched.rl.geo.network import Signals
from optsched.rl.geo.observation import Sight
from optsched.rl.perceptron import forward, layers_of
from optsched.rl.trained import Trained

PRICES = "geo-prices"
LEADS_H = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 47)
FEATURES = 24


def features(sight: Sight) -> Floats:
    """Of every site at every lead, shape (P, L, FEATURES); prices and rates in units of a GPU's revenue."""
    rounds, total = sight.rounds, sight.total
    network, signals, hour, sites = rounds.network, rounds.signals, rounds.network.hour, rounds.sites
    leads = np.array(LEADS_H)
    slot = np.minimum(np.rint(leads * hour).astype(np.int64), rounds.horizon - 1)
    left = rounds.free[:, slot] - rounds.promised[:, slot]
    free = left / total[:, None]
    at = np.minimum((slot + signals.phase) // network.ratio, signals.rate.shape[1] - 1)
    rate = signals.rate[:, at] / network.unit
    day = signals.rate[:, : at[-1] + 1] / network.unit
    size = total / total.sum()
    order = np.sort(rate, axis=0)
    best = order[-1]
    better = np.array([size[rate[:, k] > rate[n, k]].sum() for n in range(sites) for k in range(len(leads))])
    usable = (left * (rate > 0)).sum(axis=0) / total.sum()
    ways = network.reach & ~np.eye(sites, dtype=bool)
    costs = np.where(ways, network.usd_per_gb, 0.0)
    dear = [c.sum(axis=1) / np.maximum(1, w.sum(axis=1)) for c, w in ((costs, ways), (costs.T, ways.T))]
    ahead = (rounds.horizon - leads * hour) / (24 * hour)
    now = np.arctan2(sight.world[0], sight.world[1]) + 2 * np.pi * leads / 24
    rows = rounds.rows
    waits = np.log1p(float(np.mean(rows.duration)) / hour)
    found = np.empty((sites, len(leads), FEATURES))
    site = sight.fixed  # free ahead (3), queued, work, demand, rate now, means ahead (2), size
    found[..., 0] = free
    found[..., 1] = rate
    found[..., 2] = best - rate
    found[..., 3] = better.reshape(sites, len(leads))
    found[..., 4] = usable
    found[..., 5] = np.log1p(leads)
    found[..., 6] = np.clip(ahead, 0.0, 2.0)
    found[..., 7], found[..., 8] = np.sin(now), np.cos(now)
    found[..., 9:13] = site[:, None, 3:7]
    found[..., 13:15] = site[:, None, 7:9]
    found[..., 15] = size[:, None]
    found[..., 16] = sight.world[3]
    found[..., 17] = sight.world[4]
    found[..., 18] = waits
    found[..., 19], found[..., 20] = 10 * dear[0][:, None], 10 * dear[1][:, None]
    found[..., 21] = site[:, None, 0]
    found[..., 22] = rate - day.mean(axis=1)[:, None]
    found[..., 23] = float((size * site[:, 4]).sum())
    return np.clip(found, -5.0, 5.0)


class BidPrices:
    """Acts by prices; see the module.

    Attributes
    ----------
    discount
        Share of the prices that counts: what is not known may leave room.
    """

    def __init__(self, trained: Trained) -> None:
        self.trained = trained
        self.layers = layers_of(trained.arrays)
        self.discount = float(trained.arrays["discount"])
        self._of: tuple[Sight, Signals] | None = None

    def knows(self, sites: int) -> bool:
        """Any number."""
        return True

    def prices(self, sight: Sight) -> Signals:
        """As believed, like signals: USD a GPU and slot, by site and hour, or slot if that is longer, from the present on."""
        network, hour = sight.rounds.network, sight.rounds.network.hour
        network = replace(network, ratio=max(1, round(hour)))
        hours = np.arange(-(-sight.rounds.horizon // network.ratio) + 1) * network.ratio / hour
        said = np.maximum(0.0, forward(features(sight), self.layers)[..., 0]) * network.unit * self.discount
        rate = np.array([np.interp(hours, LEADS_H, row) for row in said])
        earned = np.zeros((len(rate), len(hours) + 1))
        np.cumsum(rate * network.ratio, axis=1, out=earned[:, 1:])
        return Signals(network, 0, np.zeros_like(rate), rate, earned)

    def act(self, sight: Sight) -> Ints:
        """The best of now, later and never; prices are those at the beginning of a decision time."""
        if self._of is None or self._of[0] is not sight:
            self._of = sight, self.prices(sight)
        return choose(sight, self._of[1])


def choose(sight: Sight, paid: Signals) -> Ints:
    """An action a site at given prices, shape (P,): what earns most of what is legal and pays its price.

    To wait for a better start than the present one is no choice here: with the optimum's own prices that earned a tenth less
    than to leave it, since a start that looks better later is seldom still free then.
    """
    rounds, rows = sight.rounds, sight.rounds.rows
    mine = np.flatnonzero(rounds.asked >= 0)
    j = rounds.asked[mine]
    start, site = rounds.first[j], np.arange(rounds.sites)
    end = start + rows.duration[j][:, None]
    worth = rounds.gain[j] - rows.gpus[j][:, None] * (paid.upto(site, end) - paid.upto(site, start))
    now = np.where(rounds.legal[mine, 1:], worth, -np.inf)
    actions = np.zeros(rounds.sites, dtype=np.int64)
    actions[mine] = np.where(now.max(axis=1) > 0.0, 1 + now.argmax(axis=1), 0)
    return actions
