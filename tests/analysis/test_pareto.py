"""Fronts against enumeration: every schedule of tiny instances, judged by the second referee in fractions."""

from __future__ import annotations

import dataclasses
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import optsched
from optsched.analysis.pareto import Front, pareto
from optsched.analysis.pareto.axes import read_axes
from optsched.analysis.pareto.picture import draw
from optsched.analysis.pareto.region import Corner, HalfPlane, Region
from optsched.analysis.pareto.search import _Search
from optsched.errors import CertificateError, OptschedError
from optsched.instances import Instance
from optsched.instances.generators import masac
from optsched.registry import family_of
from tests.oracle import brute, exact_referee, tiny
from tests.oracle.brute import plain
from tests.parts import parts

FAST, ALL, CHUNK = 8, 600, 20
MOST = 40  # more points than any tiny front has
UNSAID = {"geo": {144, 492}}  # two paths of equal cost and delay: the contract prefers neither
NEAR = 1e-6  # of the front's extent
Plane = set[tuple[Fraction, Fraction]]


def signed(raw: dict[str, Any], schedule: dict[str, Any]) -> dict[str, Fraction]:
    """Costs by component, earnings negative, as the second referee says them; those of a maximised objective turned."""
    sign = -1 if raw["problem"] in brute.MAXIMISED else 1
    return {name: sign * value for name, value in exact_referee.components(raw, schedule).items()}


def geo_costs(raw: dict[str, Any], schedule: dict[str, Any]) -> tuple[Fraction, Fraction]:
    """Money but for carbon, and kg: the utility at no carbon price, and what a price of 1,000 USD/t takes off it."""
    free, dear = (exact_referee.objective(raw | {"carbon_price_usd_per_t": float(price)}, schedule) for price in (0, 1000))
    return -free, free - dear


def sums(*groups: tuple[str, ...]) -> Any:
    def costs(raw: dict[str, Any], schedule: dict[str, Any]) -> tuple[Fraction, ...]:
        parts = signed(raw, schedule)
        return tuple(sum((parts[name] for name in group), Fraction(0)) for group in groups)

    return costs


COSTS: dict[str, Any] = {
    "allocation": sums(("energy",), ("tardiness", "postponement")),
    "deferrable": sums(("work", "delay"), ("over",)),
    "geo": geo_costs,
    "vcc": sums(("carbon",), ("delay", "daily", "unfinished")),
}


def reachable(instance: Instance) -> list[tuple[float, float]]:
    """What every feasible schedule costs on both axes."""
    raw = plain(instance)
    if raw["problem"] == "geo":  # departures differ in carbon only, which tiny instances may not price
        raw = raw | {"carbon_price_usd_per_t": raw["carbon_price_usd_per_t"] or 1.0}
    found = (s for s in brute.EVERY[raw["problem"]](raw) if not exact_referee.check(raw, s))
    return sorted({tuple(map(float, COSTS[raw["problem"]](raw, schedule))) for schedule in found})  # type: ignore[misc]


def undominated(costs: list[tuple[float, float]], near: tuple[float, float]) -> list[tuple[float, float]]:
    """Those that no other one matches or beats, near ones counted once."""
    kept: list[tuple[float, float]] = []
    for cost in sorted(costs):
        if not kept or cost[1] < kept[-1][1] - near[1]:
            kept.append(cost)
    return kept


def extent(costs: list[tuple[float, float]]) -> tuple[float, float]:
    first, second = ([c[k] for c in costs] for k in (0, 1))
    return max(max(first) - min(first), 1e-9), max(max(second) - min(second), 1e-9)


def agrees(family: str, seed: int, **options: Any) -> Front:
    """The front is the enumerated one, and nothing that a schedule reaches lies where it was proven that none is."""
    instance = tiny.TINY[family](seed)
    front = pareto(instance, points=MOST, time_limit=None, **options)
    costs = reachable(instance)
    found = [tuple(a.sign * v for a, v in zip(front.traded.axes, p.values, strict=True)) for p in front.points]
    wide = extent(undominated(costs, (0.0, 0.0)))
    for cost in costs:
        margin = (1e-9 * (wide[0] + abs(cost[0])), 1e-9 * (wide[1] + abs(cost[1])))
        assert front.region.beaten_by(cost, margin) is None, (family, seed, cost)
    near = (NEAR * (wide[0] + max(abs(c[0]) for c in costs)), NEAR * (wide[1] + max(abs(c[1]) for c in costs)))
    true = undominated(costs, near)
    if front.complete:
        for cost in true:
            assert any(p[0] <= cost[0] + near[0] and p[1] <= cost[1] + near[1] for p in found), (family, seed, cost)
    for p in found:
        assert any(abs(p[0] - c[0]) <= near[0] and abs(p[1] - c[1]) <= near[1] for c in costs), (family, seed, p)
    if front.gap is not None:
        for cost in true:
            unit = (front_extent(found)[0] * front.gap + near[0], front_extent(found)[1] * front.gap + near[1])
            assert any(p[0] <= cost[0] + unit[0] and p[1] <= cost[1] + unit[1] for p in found), (family, seed, cost)
    return front


def front_extent(found: list[tuple[float, ...]]) -> tuple[float, float]:
    first, second = ([abs(p[k]) for p in found] for k in (0, 1))
    wide = [max(p[k] for p in found) - min(p[k] for p in found) for k in (0, 1)]
    return wide[0] or max(first), wide[1] or max(second)


def seeds(family: str, first: int, last: int) -> list[int]:
    return [seed for seed in range(first, last) if seed not in UNSAID.get(family, ())]


@pytest.mark.parametrize("family", tiny.TINY)
def test_the_front_is_the_enumerated_one(family: str) -> None:
    fronts = [agrees(family, seed) for seed in seeds(family, 0, FAST)]
    assert all(front.complete and front.exact for front in fronts)
    assert any(len(front.points) > 1 for front in fronts)


@pytest.mark.slow
@pytest.mark.parametrize("first", parts(range(FAST, ALL, CHUNK), in_ci=4))
@pytest.mark.parametrize("family", tiny.TINY)
def test_slow(family: str, first: int) -> None:
    for seed in seeds(family, first, first + CHUNK):
        agrees(family, seed)


@pytest.mark.parametrize("family", tiny.TINY)
def test_weighted_sums_alone_prove_nothing_false(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the exact model is too large: what is found is on the front, what is excluded is unreachable, the gap holds."""
    monkeypatch.setattr(_Search, "_exactly", lambda self: None)
    fronts = [agrees(family, seed) for seed in seeds(family, 0, FAST)]
    assert not any(front.exact for front in fronts)
    assert any(len(front.points) > 1 for front in fronts)
    assert all(front.gap is not None for front in fronts)


OTHERS = {
    "allocation": ["energy,tardiness", "energy,postponement", "tardiness,postponement"],
    "deferrable": ["work,overload", "work,delay", "delay,overload", "work,delay+overload"],
    "geo": ["revenue,carbon", "energy,transfer", "cost,transfer", "revenue,energy+transfer"],
    "vcc": ["carbon,delay", "delay,unfinished", "carbon,unfinished+daily", "carbon+delay,daily"],
}


@pytest.mark.parametrize(("family", "axes"), [(f, axes) for f, rows in OTHERS.items() for axes in rows])
def test_any_two_axes(family: str, axes: str) -> None:
    """Every enumerated schedule, judged by the referee on these axes: none where it is excluded, each matched to the gap."""
    for seed in seeds(family, 0, 2):
        instance = tiny.TINY[family](seed)
        front = pareto(instance, axes, points=MOST, time_limit=None)
        kind = type(front.points[0].schedule)
        raw = plain(instance)
        feasible = (s for s in brute.EVERY[family](raw) if not exact_referee.check(raw, s))
        costs = {front.traded.costs(kind.from_dict(schedule)) for schedule in feasible}
        found = [tuple(a.sign * v for a, v in zip(front.traded.axes, p.values, strict=True)) for p in front.points]
        wide = front_extent(found)
        assert front.gap is not None
        for cost in costs:
            near = tuple(front.gap * w + NEAR * (w + abs(c)) for w, c in zip(wide, cost, strict=True))
            assert front.region.beaten_by(cost, (1e-9 * (wide[0] + abs(cost[0])), 1e-9 * (wide[1] + abs(cost[1])))) is None
            assert any(p[0] <= cost[0] + near[0] and p[1] <= cost[1] + near[1] for p in found), (seed, cost)


@pytest.mark.parametrize("family", tiny.EVERY)
def test_other_prices_weigh_the_terms(family: str) -> None:
    """The objective at other prices is the weighted sum of the terms, but for what a faint term adds."""
    rng = np.random.default_rng(7)
    for seed in range(20):
        instance = tiny.EVERY[family](seed)
        priced = family_of(instance).priced_terms()
        assert priced is not None
        schedule, terms = optsched.solve(instance, "greedy").best, priced.terms(instance)
        values = priced.values(instance, schedule)
        judged = optsched.evaluate(instance, schedule).objective
        whole = {name: (-1 if t.earned else 1) * t.price * values[name] for name, t in terms.items()}
        sign = 1 if instance.sense == "minimize" else -1
        size = sum(map(abs, whole.values()))
        assert sum(whole.values()) == pytest.approx(sign * judged, abs=1e-9 * size + 1e-12)
        for kind in range(3):
            weights = {name: float(w) for name, w in zip(terms, rng.choice([0, 0.3, 1, 700], len(terms)), strict=True)}
            if not any(weights.values()):
                continue
            if kind == 0:
                weights = {name: weight or 0.5 for name, weight in weights.items()}
            made = priced.weighted(instance, weights)
            asked = sum((-1 if terms[n].earned else 1) * w * values[n] for n, w in weights.items())
            said = made.factor * sign * optsched.evaluate(made.instance, schedule).objective
            noise = 1e-9 * sum(abs(w * values[n]) for n, w in weights.items()) + 1e-12
            assert asked >= said - made.slack - noise, (seed, weights)
            if all(weights.values()):
                assert asked == pytest.approx(said, abs=noise), (seed, weights)


def test_a_day_ahead_is_traded_too() -> None:
    """Its plans may be mixed, so that weighted sums find all there is."""
    front = pareto(tiny.day_ahead(11), points=8, time_limit=None)
    assert front.axes == ("carbon", "peak")
    assert not front.exact
    assert front.gap is not None


def test_by_hand() -> None:
    """Two jobs for one core at a time: one alone earns its work, both overload a slot by one core at 10 core-slots."""
    m = optsched.deferrable.Model("two", slot_s=60, capacity=[1], delay_penalty=0, overload_penalty=10)
    m.add_job(cores=1, duration=1, earliest=0, latest=0)
    m.add_job(cores=1, duration=1, earliest=0, latest=0)
    front = optsched.pareto(m.instance(), "work,overload")
    assert [point.values for point in front.points] == [(2.0, 10.0), (1.0, 0.0)]
    assert [point.bounds for point in front.points] == [pytest.approx((2.0, 10.0)), pytest.approx((1.0, 0.0), abs=1e-6)]
    assert front.complete
    assert front.exact
    assert [point.objective for point in front.points] == [-8.0, 1.0]
    table = front.to_frame()
    assert list(table) == ["work", "work bound", "overload", "overload bound", "gap", "objective"]
    told = front.to_dict()
    assert json.loads(json.dumps(told)) == told
    assert told["axes"][0]["better"] == "more"  # type: ignore[index]


def test_what_is_proven_of_the_plane() -> None:
    region = Region([HalfPlane((1.0, 2.0), 10.0), Corner(0, 3.0, 6.0)])
    assert region.least(0, 3.0) == 6.0
    assert region.least(0, 3.5) == 3.0
    assert region.least(0, -1.0) == 12.0
    assert region.least(1, 5.0) == 3.0
    assert region.least(1, 6.0) == 2.0
    assert region.depth((6.0, 4.0), (1.0, 1.0)) == 1.0
    assert region.depth((4.0, 3.0), (1.0, 1.0)) == 0.0
    assert region.beaten_by((4.0, 3.0), (0.0, 0.0)) is not None
    assert region.beaten_by((6.0, 2.0), (0.0, 0.0)) is None
    edge = list(region.outline(((0.0, 0.0), (10.0, 6.0))))
    assert edge == sorted(edge, key=lambda point: point[0])
    assert all(region.beaten_by((x + 1e-6, y + 1e-6), (0.0, 0.0)) is None for x, y in edge if y < 6)
    assert all(region.beaten_by((x - 1e-6, y - 1e-6), (0.0, 0.0)) is not None for x, y in edge if 1e-6 < y < 6 and x > 1e-6)


def test_a_wrong_bound_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever proves it: a schedule where none can be ends the search."""
    from optsched.analysis.pareto import search

    right = search.WeightedSums.__call__

    def wrong(self: Any, weights: Any, start: Any, seconds: Any) -> Any:
        found = right(self, weights, start, seconds)
        return dataclasses.replace(found, bound=None if found.bound is None else found.bound + 1.0)

    monkeypatch.setattr(search.WeightedSums, "__call__", wrong)
    with pytest.raises(CertificateError, match="is impossible"):
        pareto(tiny.deferrable(3))


def test_the_picture_shows_all(examples: Path) -> None:
    front = pareto(optsched.load(examples / "deferrable-small.json"), points=5)
    figure = draw(front)
    (axes,) = figure.axes
    assert axes.get_xlabel().startswith("work+delay (core-slots, more is better)")
    assert axes.get_ylabel().startswith("overload (core-slots, less is better)")
    drawn = {tuple(xy) for line in axes.lines if line.get_marker() == "o" for xy in line.get_xydata().tolist()}
    assert drawn == {point.values for point in front.points}
    labels = {text.get_text() for legend in figure.legends for text in legend.get_texts()}
    assert {"proven: no schedule", "open: neither found nor excluded", "best objective"} <= labels


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"axes": "work,cost"}, "deferrable has no axis 'cost'"),
        ({"axes": ["work"]}, "a front has two axes"),
        ({"axes": "work,work"}, "both axes are work"),
        ({"points": 1}, "points must be a whole number from 2 on"),
        ({"time_limit": -1}, "time limit must be a positive number"),
        ({"gap": "much"}, "gap"),
    ],
)
def test_refusals(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptschedError, match=message):
        pareto(tiny.deferrable(0), **options)


def test_axes_have_units_and_directions() -> None:
    instance = tiny.geo(0)
    first, second = read_axes(instance, None).axes
    assert (first.label, second.label) == ("cost (USD, less is better)", "carbon (kg, less is better)")
    both = read_axes(instance, ("revenue+energy", "carbon")).axes[0]
    assert both.earned
    assert both.says == "revenue - energy"
    assert read_axes(instance, "revenue,carbon").left_out == ["energy", "transfer"]


def test_limits_end_it() -> None:
    instance = masac(jobs=15)
    seen: list[Any] = []
    front = pareto(instance, gap="50%", time_limit=900, progress=seen.append)
    assert front.ended == "gap_limit"
    assert front.gap is not None
    assert front.gap <= 0.5
    assert [told.points for told in seen][-1] == len(front.points)
    assert pareto(instance, time_limit=0.06).ended in ("time_limit", "supported", "complete")
