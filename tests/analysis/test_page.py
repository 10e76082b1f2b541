"""What the page of `optsched report` is made of: bars and curves that add up to the schedule, words, tables, one file."""

from __future__ import annotations

import itertools
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import optsched
from optsched.analysis.page import build, page, tables, words
from optsched.analysis.page import timeline as data
from optsched.analysis.page.payload import embedded
from optsched.certificate import Proof
from optsched.errors import OptschedError
from optsched.instances.base import Instance
from optsched.registry import families, family, family_of
from optsched.schedules.allocation.history import AllocationHistory
from tests.oracle import tiny

pytest.importorskip("plotly", reason="a page needs plotly")

HOSTILE = "</script><script>alert(1)</script>&lt;b&gt; é \u2028"


def solved(examples: Path, name: str, method: str = "greedy") -> tuple[Instance, Any]:
    instance = optsched.load(examples / f"{name}.json")
    return instance, optsched.solve(instance, method)


def drawn(instance: Instance, result: Any) -> data.Timeline:
    made = family_of(instance).timeline(instance, result.best)
    assert made is not None
    return made


def area(curve: data.Curve) -> float:
    return float(np.nansum(curve.values * np.diff(curve.edges_s)))


def bars_of(bars: data.Bars, *roles: str) -> np.ndarray:
    wanted = [i for i, (_, role) in enumerate(bars.kinds) if role in roles]
    return np.isin(bars.kind, wanted)


def expect_apart(bars: data.Bars, which: np.ndarray) -> None:
    """No two bars lie over each other."""
    rows: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for low, high, begin, end in zip(
        *(column[which] for column in (bars.low, bars.high, bars.begin_s, bars.end_s)), strict=True
    ):
        for row in range(int(low), int(np.ceil(high))):
            rows[row].append((begin, end))
    for spans in rows.values():
        spans.sort()
        assert all(a[1] <= b[0] + 1e-9 for a, b in itertools.pairwise(spans))


@pytest.mark.parametrize("name", list(tiny.EVERY))
@pytest.mark.parametrize("seed", range(4))
def test_every_family_can_be_shown(name: str, seed: int) -> None:
    instance = tiny.EVERY[name](seed)
    result = optsched.solve(instance, "greedy")
    shown = drawn(instance, result)
    told = json.loads(embedded(shown))
    assert told["end"] > 0
    for panel in shown.panels:
        assert panel.unit
        for curve in panel.curves:
            assert len(curve.edges_s) == len(curve.values) + 1
    if shown.bars is not None:
        assert shown.bars.jobs[0].label == "job"
        counts = {len(column.values) for column in shown.bars.jobs}
        assert counts == {len(shown.bars.jobs[0].values)}
        assert {len(column.values) for column in shown.bars.own} <= {len(shown.bars.kind)}


def test_bars_of_deferrable_are_its_load(examples: Path) -> None:
    instance, result = solved(examples, "deferrable-small")
    shown = drawn(instance, result)
    bars: Any = shown.bars
    ran = bars_of(bars, "run")
    assert ran.sum() == len(result.best.starts)
    cores = np.array(bars.jobs[3].values)[bars.job]
    load = {curve.name: area(curve) for curve in shown.panels[0].curves}
    assert (cores * (bars.end_s - bars.begin_s))[ran].sum() == pytest.approx(load["load"] + load["overload"])
    assert bars_of(bars, "left").sum() == len(instance.jobs) - ran.sum()
    expect_apart(bars, ran)


def test_bars_of_geo_are_its_load(examples: Path) -> None:
    instance, result = solved(examples, "geo-small")
    shown = drawn(instance, result)
    bars: Any = shown.bars
    run = bars_of(bars, "load", "other")
    gpus = np.array(bars.jobs[4].values)[bars.job]
    used = sum(area(c) for panel in shown.panels for c in panel.curves if c.role in ("load", "other"))
    assert (gpus * (bars.end_s - bars.begin_s))[run].sum() == pytest.approx(used)
    expect_apart(bars, np.ones(len(bars.kind), dtype=bool))
    bands = {name: (top, bottom) for top, bottom, name in bars.rows}
    sites = {start.job: start.site for start in result.best.starts}
    for i in np.flatnonzero(run):
        top, bottom = bands[sites[bars.jobs[0].values[bars.job[i]]]]
        assert top <= bars.low[i] < bars.high[i] <= bottom
    assert [panel.unit for panel in shown.panels[-2:]] == ["USD/MWh", "g CO2/kWh"]


@pytest.mark.parametrize("name", ["armida", "armida-snapshot"])
def test_bars_of_allocation_are_its_load(examples: Path, name: str) -> None:
    instance = optsched.load(examples / f"{name}.json")
    result: Any = optsched.replay(instance, "fifo") if name == "armida" else optsched.solve(instance, "greedy")
    shown = drawn(instance, result)
    bars: Any = shown.bars
    whole, late = bars_of(bars, "job"), bars_of(bars, "late")
    high = np.round(bars.high - bars.low + 2 * 0.06)
    use = {curve.role: area(curve) for curve in shown.panels[0].curves}
    seconds = bars.end_s - bars.begin_s
    assert (high * seconds)[whole].sum() == pytest.approx(use["load"] + use.get("over", 0))
    assert (high * seconds)[late].sum() == pytest.approx(use.get("over", 0))
    expect_apart(bars, whole)
    if isinstance(result.best, AllocationHistory):
        energy = area(shown.panels[2].curves[0]) / 3600
        assert energy == pytest.approx(result.components["energy"])
        assert "8 of 8 jobs run" in shown.decided


def test_bars_of_vcc_are_its_load(examples: Path) -> None:
    instance, result = solved(examples, "vcc-small", "threshold")
    shown = drawn(instance, result)
    bars: Any = shown.bars
    ncu = np.array(bars.jobs[3].values)[bars.job]
    run, waits = bars_of(bars, "run"), bars_of(bars, "queue", "left")
    ends = np.minimum(bars.end_s, shown.end_s)
    flexible = next(curve for curve in shown.panels[0].curves if curve.role == "load")
    assert (ncu * (ends - bars.begin_s))[run].sum() == pytest.approx(area(flexible))
    assert (ncu * (bars.end_s - bars.begin_s))[waits].sum() == pytest.approx(area(shown.panels[2].curves[0]))


def test_lanes_are_as_few_as_can_be() -> None:
    rng = np.random.default_rng(7)
    begin = rng.integers(0, 50, 300).tolist()
    end = [b + int(d) for b, d in zip(begin, rng.integers(1, 9, 300), strict=True)]
    lane, count = data.lanes(begin, end)
    assert count == max(sum(b <= t < e for b, e in zip(begin, end, strict=True)) for t in range(60))
    assert set(lane) == set(range(count))
    assert data.lanes([], []) == ([], 0)


def test_curves_keep_only_what_changes() -> None:
    edges = np.arange(7.0)
    base = np.array([0.0, 0, 0, 1, 1, 1])
    curve = data.Curve("x", "load", edges, np.array([1.0, 1, np.nan, np.nan, 2, 2]), base=base)
    flat = data.Panel("p", "u", (curve,))
    axis = drawn(*_tiny()).time
    told = json.loads(embedded(data.Timeline(axis, 6.0, "", None, (flat,))))["panels"][0]["curves"][0]
    assert told["x"] == [0, 2, 3, 4]
    assert told["y"] == [1, None, None, 2]
    assert told["base"] == [0, 0, 1, 1]
    assert told["end"] == 6


def _tiny() -> tuple[Instance, Any]:
    instance = tiny.EVERY["deferrable"](1)
    return instance, optsched.solve(instance, "greedy")


def test_too_many_bars_are_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = drawn(*_tiny())
    assert data.spared(shown) is shown
    monkeypatch.setattr(data, "MOST_BARS", 0)
    spared = data.spared(shown)
    assert spared.bars is None
    assert "too many" in spared.notes[-1]
    assert spared.panels == shown.panels


def test_convergence_is_shown_where_there_is_a_trace(examples: Path) -> None:
    instance, result = solved(examples, "geo-small", "exact")
    from optsched.analysis.page import convergence

    shown: Any = convergence.timeline(result, instance.unit)
    assert [panel.title for panel in shown.panels] == ["Objective and bound", "Gap"]
    gap = shown.panels[1].curves[0]
    assert gap.values[-1] == 0
    assert convergence.timeline(optsched.solve(instance, "greedy"), "USD") is None
    only_bound = result.model_copy(update={"incumbents": ((0.1, None, 3.0),), "objective": None, "bound": 2.95})
    (panel,) = convergence.timeline(only_bound, "USD").panels  # type: ignore[union-attr]
    assert [curve.name for curve in panel.curves] == ["bound"]


# words and tables --------------------------------------------------------------------------------------------------------


def test_a_certificate_says_who_proves_what(examples: Path) -> None:
    instance, best = solved(examples, "geo-small", "exact")
    said = words.certificate(best, "USD", "maximize")
    assert "recomputed from the schedule by the referee" in said
    assert f"No schedule can earn more than {best.bound:.6g} USD, so this one is optimal: proven by branch and bound" in said
    none = words.certificate(optsched.solve(instance, "greedy"), "USD", "maximize")
    assert "No bound: greedy has proven none" in none
    for kind in ("prices", "duals", "integers", "path", "search", "sign"):
        one = best.model_copy(update={"proof": Proof(kind=kind), "gap": 0.5, "solution": "feasible"})
        assert "so the optimum is at most 50 % away: proven by" in words.certificate(one, "USD", "maximize")
    old = best.model_copy(update={"proof": None})
    assert "does not say how it was proven" in words.certificate(old, "kg", "minimize")
    assert "cost less than" in words.certificate(old, "kg", "minimize")
    nothing = best.model_copy(update={"schedule": None, "objective": None, "gap": None, "solution": "none"})
    assert words.certificate(nothing, "USD", "maximize").startswith("There is no schedule")


def test_a_missing_bound_is_none_and_another_result_lends_its_own(examples: Path) -> None:
    instance, best = solved(examples, "geo-small", "exact")
    other = optsched.solve(instance, "greedy")
    table = tables.comparison(instance, [other, best], ["greedy", "exact"], ["a", "b"])
    first = re.findall(r"<td.*?</td>", table)[:6]
    assert 'class="none">none' in first[2]
    assert 'class="none">none' in first[3]
    gap = abs(other.objective - best.bound) / other.objective
    assert f"{100 * gap:.3g} %" in first[4]
    assert table.count(">best<") == 1
    assert "objective, USD" in table
    alone = tables.comparison(instance, [other], ["greedy"], ["a"])
    assert "best bound" not in alone
    assert ">best<" not in alone


def test_bounds_are_of_one_kind_of_objective() -> None:
    class Some:
        def __init__(self, kind: str, bound: float | None) -> None:
            self.objective_kind, self.bound = kind, bound

    instance = tiny.EVERY["allocation"](0)
    results: Any = [Some("proxy", 5.0), Some("realised", 3.0), Some("realised", 4.0), Some("realised", None)]
    assert tables.best_bound(instance, results, "realised") == 4
    assert tables.best_bound(instance, results, "proxy") == 5
    assert tables.best_bound(instance, results, None) is None


def test_results_of_one_method_are_told_apart(examples: Path) -> None:
    _, result = solved(examples, "geo-small")
    assert build.labels([result, result], ["a.json", "b.json"]) == ["greedy (a.json)", "greedy (b.json)"]
    assert build.labels([result], ["a.json"]) == ["greedy"]


# the page ----------------------------------------------------------------------------------------------------------------


def test_the_page_is_one_file_and_always_the_same(examples: Path) -> None:
    pairs = [solved(examples, name) for name in ("geo-small", "vcc-small", "day-ahead")]
    instances, results = [instance for instance, _ in pairs], [result for _, result in pairs]
    made = page(results, instances)
    assert made == page(results, reversed(instances))
    own = made.replace(build.plotly_js(), "")
    assert made.count(build.plotly_js()) == 1
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//|url\(|@import|fetch\(|XMLHttpRequest""", own)
    assert "default-src 'none'" in own
    assert len(own) < 300_000
    assert "3 results of 3 instances" in own


def test_what_comes_from_files_is_harmless() -> None:
    instance: Any = tiny.EVERY["deferrable"](2)
    jobs = tuple(job.model_copy(update={"id": f"{HOSTILE}{j}"}) for j, job in enumerate(instance.jobs))
    instance = instance.model_copy(update={"jobs": jobs, "name": HOSTILE})
    result = optsched.solve(instance, "greedy")
    made = page([result, result], [instance], [HOSTILE, "\ud800"]).replace(build.plotly_js(), "")
    assert "alert(1)</script>" not in made
    assert "&lt;/script&gt;" in made
    block = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', made, re.DOTALL)
    assert block
    ids = json.loads(block[1])["bars"]["jobs"][0]["values"]
    assert sorted(ids) == sorted(job.id for job in jobs)
    made.encode("utf-8")


def test_ten_thousand_jobs_are_a_small_file() -> None:
    instance = optsched.generate("osdec", jobs=10_000, horizon=2000)
    result: Any = optsched.solve(instance, "greedy")
    made = page([result], [instance])
    assert len(made) - len(build.plotly_js()) < 3_000_000
    bars: Any = drawn(instance, result).bars
    assert bars_of(bars, "run").sum() == len(result.best.starts)
    assert bars_of(bars, "run", "left").sum() == 10_000


def test_refusals(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instance, result = solved(examples, "geo-small")
    with pytest.raises(OptschedError, match="no results"):
        page([], [instance])
    with pytest.raises(OptschedError, match="is not given"):
        page([result], [])
    with pytest.raises(OptschedError, match="does not pass the referee"):
        page([result.model_copy(update={"objective": 1e6})], [instance])
    build.plotly_js.cache_clear()
    monkeypatch.setattr(build, "find_spec", lambda name: None)
    with pytest.raises(OptschedError, match=r"pip install 'optsched\[report\]'"):
        page([result], [instance])


def test_a_family_without_a_timeline_and_a_result_without_a_schedule(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instance, result = solved(examples, "geo-small", "exact")
    kind = type(family(instance.problem))
    monkeypatch.delattr(kind, "timeline")
    made = page([result], [instance]).replace(build.plotly_js(), "")
    assert "geo has no picture for a page" in made
    assert 'id="i0r0-gap"' in made
    empty = result.model_copy(
        update={
            "schedule": None,
            "objective": None,
            "gap": None,
            "components": {},
            "solution": "none",
            "termination": "time_limit",
        }
    )
    made = page([empty.model_copy(update={"digest": None})], [instance])
    assert "There is no schedule to draw" in made


def test_all_of_ours_have_a_timeline() -> None:
    assert all("timeline" in vars(type(family(name))) for name in families())
