"""Caps by rule, by hand: which hours count as clean, and that no rule looks beyond its day or over 1."""

from __future__ import annotations

from typing import Any

import pytest

from optsched.errors import OptschedError
from optsched.heuristics.vcc import HEURISTICS, constant_cap, threshold_cap, uncapped_cap
from optsched.referee import check
from tests.oracle import tiny


def carbon(values: list[float], slot_s: float = 21600.0) -> Any:
    """Slots of six hours: four a day."""
    job = {"id": "j", "submitted": 0, "duration": 1, "ncu": 1.0}
    inflexible = [0.0] * len(values)
    return tiny.make("vcc", slot_s=slot_s, capacity_ncu=2.0, carbon_kg_per_kwh=values, inflexible_ncu=inflexible, jobs=[job])


@pytest.mark.parametrize(
    ("values", "quantile", "open_"),
    [
        ([1, 2, 3, 4], 0.0, [1, 1, 1, 1]),  # each is the least of what is left
        ([4, 3, 2, 1], 0.0, [0, 0, 0, 1]),
        ([4, 3, 2, 1], 1.0, [1, 1, 1, 1]),
        ([2, 1, 4, 3], 0.5, [1, 1, 0, 1]),  # median of 2 1 4 3 is 2.5, of 1 4 3 is 3, of 4 3 is 3.5
        ([2, 3, 4, 5, 1, 1], 0.0, [1, 0, 0, 0, 1, 1]),  # in slot 0 the 24 hours end before the 1
        ([1, 1, 1, 1], 0.3, [1, 1, 1, 1]),
    ],
)
def test_threshold(values: list[float], quantile: float, open_: list[int]) -> None:
    assert threshold_cap(carbon(values), quantile, 0.25).tolist() == [1.0 if o else 0.25 for o in open_]


def test_constant_and_uncapped() -> None:
    instance = carbon([1, 2, 3])
    assert uncapped_cap(instance).tolist() == [1, 1, 1]
    assert constant_cap(instance, 0.3).tolist() == [0.3] * 3
    with pytest.raises(OptschedError, match="cap is a share, from 0 to 1, got 7"):
        constant_cap(instance, 7.0)
    for wrong, name in (({"low": 7.0}, "low"), ({"quantile": 2.0}, "quantile")):
        with pytest.raises(OptschedError, match=f"{name} is a share, from 0 to 1, got "):
            threshold_cap(instance, **wrong)


@pytest.mark.parametrize("name", HEURISTICS)
def test_feasible(name: str) -> None:
    for seed in range(60):
        instance: Any = tiny.vcc(seed)
        assert check(instance, HEURISTICS[name](instance, 0)) == [], seed
