"""Paths between sites: where every link is better than any detour no graph is needed, and elsewhere nothing changes."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from optsched.instances import network
from optsched.instances.network import cheapest_paths


@pytest.mark.parametrize("seed", range(200))
def test_direct_links_are_what_the_graph_finds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(seed)
    sites = rng.randint(1, 5)
    links = [
        (i, j, Fraction(rng.randint(0, 9)), Fraction(rng.randint(0, 4)))
        for i in range(sites)
        for j in range(sites)
        if i != j and rng.random() < rng.choice([0.8, 1.0])
    ]
    quick = cheapest_paths(links, sites)
    monkeypatch.setattr(network, "FEW", 0)
    graph = cheapest_paths(links, sites)
    assert {pair: (path.price, path.delay) for pair, path in quick.items()} == {p: (q.price, q.delay) for p, q in graph.items()}


def test_a_cheaper_detour_is_taken() -> None:
    links = [(0, 1, Fraction(1), Fraction(9)), (0, 2, Fraction(1), Fraction(1)), (2, 1, Fraction(1), Fraction(1))]
    back = [(1, 0, Fraction(1), Fraction(1)), (2, 0, Fraction(1), Fraction(1)), (1, 2, Fraction(1), Fraction(1))]
    found = cheapest_paths([*links, *back], 3)
    assert found[0, 1].sites == (0, 2, 1)
    assert found[1, 0].sites == (1, 0)
