"""Transfer paths between sites: the cheapest by money, then by delay (networkx), compared and added up in fractions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, lcm

import numpy as np

from optsched.instances.base import Floats, Ints
from optsched.instances.grid import exact

QUANTUM = Fraction(1, 10**9)  # of a slot: a transfer that is late by no more is in time (1/60 GB/s has but 17 digits)
DOUBT = 1e-12  # relative: so far from a whole number of slots float64 tells for sure
MOST = 10**9  # slots; no horizon is longer
FEW = 12  # sites, of which all detours by one other are looked at


@dataclass(frozen=True)
class Path:
    """The path that data takes from one site to another.

    Attributes
    ----------
    sites : indices of the sites passed, both ends included.
    price, delay : sum of the links' USD/GB, and of their inverse throughputs in s/GB.
    """

    sites: tuple[int, ...]
    price: Fraction
    delay: Fraction

    @cached_property
    def cost_usd_per_gb(self) -> float:
        """The price as a float."""
        return float(self.price)

    def delay_slots(self, sizes_gb: Iterable[float], slot_s: float) -> int:
        """Slots until data of some sizes together has arrived."""
        return min(MOST, max(0, ceil(sum(map(exact, sizes_gb), Fraction(0)) * self.delay / exact(slot_s) - QUANTUM)))

    def slots(self, sizes_gb: tuple[Floats, ...], slot_s: float) -> Ints:
        """The same for many at once, shape (n,): each of `sizes_gb` is a column."""
        near = sum(sizes_gb) * float(self.delay) / slot_s - float(QUANTUM)
        found = np.clip(np.ceil(near), 0, MOST)
        for i in np.flatnonzero((np.abs(near - np.round(near)) <= DOUBT * (1 + near)) & (near < 2 * MOST)).tolist():
            found[i] = self.delay_slots((float(column[i]) for column in sizes_gb), slot_s)
        return found.astype(np.int64)


def cheapest_paths(links: Iterable[tuple[int, int, Fraction, Fraction]], sites: int) -> dict[tuple[int, int], Path]:
    """All pairs' paths of least price, ties by least delay, over directed links (from, to, seconds/GB, USD/GB).

    A pair without a path is absent. Dijkstra by price keeps the links that lie on some cheapest path; among those,
    Dijkstra by delay decides.
    """
    links = list(links)
    if sites <= FEW and (direct := _direct(links, sites)) is not None:
        return direct
    import networkx as nx  # here: it takes 0.2 s to load

    unit = lcm(*(usd.denominator for *_, usd in links))  # whole numbers are added up thirty times as fast
    graph = nx.DiGraph()
    graph.add_nodes_from(range(sites))
    for source, target, seconds, usd in links:
        graph.add_edge(source, target, seconds=seconds, usd=int(usd * unit))
    paths = {}
    for source in range(sites):
        price = nx.single_source_dijkstra_path_length(graph, source, weight="usd")
        tight = graph.edge_subgraph(
            (u, v) for u, v, usd in graph.edges(data="usd") if u in price and price[u] + usd == price[v]
        )
        if source not in tight:
            continue
        seconds, route = nx.single_source_dijkstra(tight, source, weight="seconds")
        for target in route:
            if target != source:
                paths[source, target] = Path(tuple(route[target]), Fraction(price[target], unit), Fraction(seconds[target]))
    return paths


def _direct(links: Iterable[tuple[int, int, Fraction, Fraction]], sites: int) -> dict[tuple[int, int], Path] | None:
    """The links as paths, where each is better than every detour by another site, and so than any; else None."""
    weight = {(source, target): (usd, seconds) for source, target, seconds, usd in links if source != target}
    if len(weight) != sites * (sites - 1):
        return None
    for (source, target), (usd, seconds) in weight.items():
        for by in range(sites):
            if by not in (source, target):
                first, second = weight[source, by], weight[by, target]
                if (first[0] + second[0], first[1] + second[1]) <= (usd, seconds):
                    return None
    return {(source, target): Path((source, target), usd, seconds) for (source, target), (usd, seconds) in weight.items()}
