"""The decomposition as a method: never on the wrong side of the optimum, reproducible, stopped at any moment."""

from __future__ import annotations

import threading
import time
from statistics import median
from typing import Any

import numpy as np
import pytest

import optsched
from optsched.decomposition import method as room_of_method
from optsched.decomposition import search
from optsched.errors import OptschedError
from optsched.instances import Instance
from optsched.instances.generators import masac, osdec
from optsched.result import Result
from tests.oracle import tiny

FAMILIES = ("deferrable", "geo")
FAST, ALL, CHUNK = 100, 1000, 50


def gap_to_optimum(instance: Instance, where: Any) -> float:
    """Of the decomposition's schedule; its bound is checked on the way."""
    best = optsched.solve(instance).objective
    found = optsched.solve(instance, "decomposition", options={"iterations": 3})
    assert best is not None
    assert found.bound is not None
    assert found.objective is not None
    noise = 1e-9 * max(1.0, abs(best))
    assert found.bound >= best - noise, where
    assert found.objective <= best + noise, where
    assert found.verify(instance) == [], where
    return (best - found.objective) / max(abs(best), 1e-9)


@pytest.mark.parametrize("core", [search.CORE, 0], ids=["whole", "without the core"])
@pytest.mark.parametrize("family", FAMILIES)
def test_brackets_the_optimum(family: str, core: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "CORE", core)
    gaps = [gap_to_optimum(tiny.TINY[family](seed), (family, seed)) for seed in range(FAST)]
    assert median(gaps) <= 1e-9
    assert np.mean(gaps) <= (1e-9 if core else 0.02)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, ALL, CHUNK))
@pytest.mark.parametrize("family", FAMILIES)
def test_brackets_the_optimum_of_a_thousand(family: str, first: int) -> None:
    gaps = [gap_to_optimum(tiny.TINY[family](seed), (family, seed)) for seed in range(first, first + CHUNK)]
    assert max(gaps) <= 1e-9, "the core closes what is that small"
