"""Transfer paths between sites: the cheapest by money, then by delay (networkx)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from optsched.instances.base import Floats, Ints


@dataclass(frozen=True)
class Path:
    """The path that data takes from one site to another.

    Attributes
    ----------
    sites : indices of the sites passed, both ends included.
    cost_usd_per_gb : sum of the links' prices. seconds_per_gb : sum of their inverse throughputs.
    """

    sites: tuple[int, ...]
    cost_usd_per_gb: float
    seconds_per_gb: float

    def delay_slots(self, size_gb: float, slot_s: float) -> int:
        """Slots until `size_gb` has arrived."""
        return int(slots_for(np.array(size_gb * self.seconds_per_gb), slot_s))


def slots_for(seconds: Floats, slot_s: float) -> Ints:
    """Slots that a transfer of so many seconds takes; the tolerance keeps 60.000000000000007 s within one slot of 60 s."""
    return np.asarray(np.ceil(seconds / slot_s - 1e-9), dtype=np.int64)


def cheapest_paths(links: Iterable[tuple[int, int, float, float]], sites: int) -> dict[tuple[int, int], Path]:
    """All pairs' paths of least price, ties by least delay, over directed links (from, to, seconds/GB, USD/GB).

    A pair without a path is absent. Dijkstra by price keeps the links that lie on some cheapest path; among those,
    Dijkstra by delay decides.
    """
    import networkx as nx  # here: it takes 0.2 s to load

    graph = nx.DiGraph()
    graph.add_nodes_from(range(sites))
    for source, target, seconds, usd in links:
        graph.add_edge(source, target, seconds=seconds, usd=usd)
    paths = {}
    for source in range(sites):
        price = nx.single_source_dijkstra_path_length(graph, source, weight="usd")
        tight = graph.edge_subgraph(
            (u, v)
            for u, v, usd in graph.edges(data="usd")
            if u in price and price[u] + usd <= price[v] + 1e-12 * max(1.0, price[v])
        )
        if source not in tight:
            continue
        seconds, route = nx.single_source_dijkstra(tight, source, weight="seconds")
        for target in route:
            if target != source:
                paths[source, target] = Path(tuple(route[target]), price[target], seconds[target])
    return paths
