"""Every formulation and every backend that can take it finds the optimum of enumeration, on seeded tiny instances.

The fast run takes the first seeds, `pytest -m slow` takes the 2,000 of each family.
"""

from __future__ import annotations

from typing import Any

import pytest

import optsched
from optsched.errors import OptschedError
from optsched.instances import Instance
from optsched.models import Model, formulations
from optsched.solvers import BACKENDS, linear_form
from tests.oracle import brute, tiny

FAST, ALL, CHUNK = 120, 2000, 40
MINLP_EVERY = 4  # in the fast run


def chunks(first: int, last: int) -> list[object]:
    return [pytest.param(family, seed, id=f"{family}-{seed}") for family in tiny.TINY for seed in range(first, last, CHUNK)]


def all_integer(instance: Instance, formulation: type[Model[Any, Any]]) -> bool:
    form = linear_form(formulation.of(instance))
    return bool((form.integer | form.implied).all())


def agrees(family: str, seed: int, minlp: bool) -> int:
    instance = tiny.TINY[family](seed)
    best = brute.optimum(instance)
    solved = 0
    for name, formulation in formulations(family).items():
        for backend in BACKENDS.values():
            can = backend.capabilities
            if not can.schedules or (not formulation.linear and not (can.nonlinear and minlp)):
                continue
            if not can.continuous and not all_integer(instance, formulation):
                with pytest.raises(OptschedError, match="all-integer models only"):
                    optsched.solve(instance, formulation=name, backend=backend.name)
                continue
            result = optsched.solve(instance, formulation=name, backend=backend.name)
            where = (family, seed, name, backend.name)
            assert result.objective == pytest.approx(best, rel=1e-6, abs=1e-11), where
            assert result.bound == pytest.approx(best, rel=1e-6, abs=1e-11), where
            # a MINLP in floating point may end within its tolerance of 1e-6 instead, and then says so
            assert result.solution == "optimal" or (not formulation.linear and result.gap <= 1e-8), where
            assert result.verify(instance) == [], where
            solved += 1
    return solved


@pytest.mark.parametrize(("family", "first"), chunks(0, FAST))
def test_fast(family: str, first: int) -> None:
    for seed in range(first, first + CHUNK):
        assert agrees(family, seed, minlp=seed % MINLP_EVERY == 0) >= (
            2 if family == "vcc" else 3
        )  # caps are continuous: not for CP-SAT


@pytest.mark.slow
@pytest.mark.parametrize(("family", "first"), chunks(0, ALL))
def test_slow(family: str, first: int) -> None:
    for seed in range(first, first + CHUNK):
        assert agrees(family, seed, minlp=True) >= (2 if family == "vcc" else 3)  # caps are continuous: not for CP-SAT


@pytest.mark.parametrize("family", tiny.TINY)
def test_no_heuristic_beats_the_optimum(family: str) -> None:
    for seed in range(200):
        instance = tiny.TINY[family](seed)
        greedy = optsched.solve(instance, "greedy")
        best = brute.optimum(instance)
        assert greedy.verify(instance) == []
        noise = 1e-9 * max(1.0, abs(best))
        assert greedy.objective >= best - noise if instance.sense == "minimize" else greedy.objective <= best + noise


def test_generators_reach_every_corner() -> None:
    """The tiny instances are worth something only if they differ where the rules do."""
    made = [tiny.allocation(s) for s in range(FAST)]
    assert {(i.first_ending, i.use_all_nodes) for i in made} == {
        (f, u) for f in ("earliest", "cheapest") for u in (True, False)
    }
    assert any(len(i.known_jobs) < len(i.jobs) for i in made)
    assert any(i.nodes_to_use < min(len(i.nodes), len(i.known_jobs)) for i in made)
    migrated = [s for seed in range(FAST) for s in optsched.solve(tiny.geo(seed)).schedule.starts if s.departure is not None]
    assert len(migrated) >= 5
    overloads = [optsched.solve(tiny.deferrable(s)).components["overload"] for s in range(FAST)]
    assert any(o > 0 for o in overloads)
