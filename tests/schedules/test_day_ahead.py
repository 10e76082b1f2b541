"""day_ahead by hand: two hours, one cluster; and what must hold of every plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import optsched
from optsched.errors import InputError
from optsched.instances.generators import day_ahead
from optsched.referee import check, evaluate
from optsched.schedules.day_ahead import capacity_curve, flexible
from tests.oracle import tiny


def cluster(**changes: Any) -> dict[str, Any]:
    """10 NCU-hours of reservations besides 4 of usage a hour at ratio 1: tau = 2, so 1 NCU an hour before shifting."""
    return {
        "id": "c",
        "campus": "k",
        "inflexible_ncu": [4.0, 4.0],
        "inflexible_high_ncu": [4.5, 4.5],
        "flexible_ncu_h": 2.0,
        "reserved_ncu_h": 10.0,
        "reservation_ratio": [1.0, 1.0],
        "carbon_kg_per_kwh": [0.5, 0.1],
        "idle_kw": 1.0,
        "kw_per_ncu": 2.0,
        "capacity_ncu": 6.0,
        "usage_limit_ncu": 6.0,
        **changes,
    }


def plan(clusters: list[dict[str, Any]], **changes: Any) -> Any:
    fields: dict[str, Any] = {"carbon_price": 1.0, "peak_price": 0.0, "campuses": [{"id": "k", "contract_mw": 1.0}]}
    return tiny.make("day_ahead", clusters=clusters, **(fields | changes))


def test_usage_goes_to_the_clean_hour() -> None:
    """Up to 6 - 4.5 = 1.5 NCU by (8): 0.5 stays in the dirty hour. Power 1 + 2 * 4.5 = 10 and 1 + 2 * 5.5 = 12 kW."""
    instance = plan([cluster()])
    assert instance.demand.tolist() == [2.0]
    result = optsched.solve(instance)
    assert flexible(instance, result.best)[0] == pytest.approx([0.5, 1.5])
    assert capacity_curve(instance, result.best)[0] == pytest.approx([4.5, 5.5])
    assert result.objective == pytest.approx(0.5 * 10 + 0.1 * 12)
    assert result.termination == "optimal"
    assert result.best.curves[0].delta == pytest.approx((-0.5, 0.5))


def test_a_dear_peak_keeps_it_flat() -> None:
    """A kW of peak at 1 USD outweighs 0.4 USD of carbon."""
    result = optsched.solve(plan([cluster()], peak_price=1000.0))
    assert result.objective == pytest.approx(0.6 * 11 + 11)
    assert result.components["peak"] == pytest.approx(11)


def test_the_inflation_of_eq_4() -> None:
    """Ratio 2 and an error of a tenth: 2 * (4 + tau / 2) * 2 = 1.1 * 20, so tau = 3."""
    instance = plan([cluster(reservation_ratio=[2.0, 2.0], reserved_ncu_h=20.0, reserved_error=0.1, capacity_ncu=12.0)])
    assert instance.demand == pytest.approx([3.0])


def test_the_contract_binds() -> None:
    """Two clusters on 22 kW: both must be flat; on 23 kW one may have 12."""
    both = [cluster(), cluster(id="d")]
    flat = optsched.solve(plan(both, campuses=[{"id": "k", "contract_mw": 0.022}]))
    assert flat.objective == pytest.approx(2 * 0.6 * 11)
    one = optsched.solve(plan(both, campuses=[{"id": "k", "contract_mw": 0.023}]))
    assert one.objective == pytest.approx(0.6 * 11 + 0.5 * 10 + 0.1 * 12)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"delta": (0.2, 0.2)}, "deviations that do not add up to zero (7)"),
        ({"delta": (-1.5, 1.5), "peak_mw": 1.0}, "deviation below -1"),
        ({"delta": (0.9, -0.9), "peak_mw": 1.0}, "usage above the power's or the machines' limit (8), (11)"),
        ({"peak_mw": 0.001}, "power above the stated peak"),
        ({"peak_mw": 2.0}, "peaks above the campus contract (9)"),
        ({"delta": (0.0,)}, "a deviation for every hour"),
        ({"cluster": "x"}, "unknown job"),
    ],
)
def test_the_referee_refuses(change: dict[str, Any], rule: str) -> None:
    instance = plan([cluster()])
    schedule: Any = optsched.solve(instance, "greedy").schedule
    assert check(instance, schedule) == []
    broken = schedule.model_copy(update={"curves": (schedule.curves[0].model_copy(update=change),)})
    assert rule in [v.rule for v in check(instance, broken)]


def test_no_plan_is_better_than_the_optimum() -> None:
    for seed in range(40):
        instance = day_ahead(clusters=1 + seed % 5, campuses=1 + seed % 2 * (seed % 5 > 0), seed=seed)
        best = optsched.solve(instance)
        flat: Any = optsched.solve(instance, "greedy")
        assert best.verify(instance) == []
        assert best.objective <= flat.objective + 1e-9  # type: ignore[operator]
        assert flat.components["peak"] <= best.components["peak"] + 1e-9
        rng = np.random.default_rng(seed)
        mixed = rng.random()
        use = [flexible(instance, s) for s in (best.best, flat.best)]
        from optsched.problems.day_ahead import with_usage

        between = with_usage(instance, mixed * use[0] + (1 - mixed) * use[1])
        assert check(instance, between) == []
        assert evaluate(instance, between).objective >= best.objective - 1e-6 * abs(best.objective)  # type: ignore[operator]


def test_impossible_days_are_one_line(tmp_path: Path) -> None:
    for change, said in (
        ({"usage_limit_ncu": 5.0}, "no room"),
        ({"inflexible_high_ncu": [3.0, 4.5]}, "is below inflexible_ncu"),
        ({"carbon_kg_per_kwh": [0.5, 0.1, 0.2]}, "has 2 entries"),
        ({"campus": "x"}, "there are k"),
    ):
        with pytest.raises(InputError, match=said):
            plan([cluster(**change)])
    with pytest.raises(InputError, match="least peaks are"):
        plan([cluster()], campuses=[{"id": "k", "contract_mw": 0.0109}])
    assert plan([cluster(reserved_ncu_h=8.0 + 1e-12)]).demand.tolist() == [0.0]


def test_pages_and_pictures(examples: Path, tmp_path: Path) -> None:
    from optsched.cli import _run

    for name in ("day-ahead.json", "vcc-small.json"):
        result = tmp_path / f"{name}.result.json"
        assert _run(["solve", str(examples / name), "-o", str(result)]) == 0
        assert _run(["check", str(examples / name), str(result)]) == 0
        assert _run(["plot", str(result), "--instance", str(examples / name), "-o", str(tmp_path / "x.png")]) == 0
        assert (tmp_path / "x.png").stat().st_size > 10_000
