"""The slots of a transfer by hand: when a result leaves, when a job may, and what is said of one that leaves too early."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import optsched
from optsched.instances.grid import exact
from optsched.instances.network import Path
from optsched.models import formulations
from optsched.schedules.geo import GeoSchedule, Lost, Start, check, evaluate
from tests.oracle.tiny import make

CARBON = [100.0, 200.0, 300.0, 400.0, 500.0, 600.0, 700.0, 800.0]


def dearer_every_slot(**job: Any) -> Any:
    """Two sites whose carbon rises slot by slot; a GB takes a slot each way and 1 kWh on the way, a t costs 1000 USD."""
    fields = {"id": "j", "source": "a", "submitted": 0, "gpus": 1, "duration": 2, "slack": 7, "data_gb": 0.0, "model_gb": 1.0}
    site = {"gpus": 1, "pue": 1, "price_usd_per_mwh": [0.0] * 8}
    return make(
        "geo",
        slot_s=60,
        horizon=8,
        signal_slot_s=60,
        gpu_revenue_usd_per_h=60,
        gpu_power_kw=0,
        idle_power_ratio=0,
        carbon_price_usd_per_t=1000,
        network_kwh_per_gb=1,
        sites=[{"id": s, **site, "carbon_g_per_kwh": CARBON} for s in "ab"],
        links=[{"from": s, "to": t, "throughput_gb_per_s": 1 / 60, "cost_usd_per_gb": 0} for s, t in ("ab", "ba")],
        jobs=[fields | job],
    )


def at_b(start: int, departure: int | None) -> GeoSchedule:
    return GeoSchedule(starts=(Start(job="j", site="b", start=start, departure=departure),))


@pytest.mark.parametrize(("start", "slot"), [(1, 3), (2, 4), (5, 7), (6, 7)])
def test_the_result_leaves_in_the_slot_after_the_last(start: int, slot: int) -> None:
    """Two slots of work from `start` on: the result leaves in start + 2, by the carbon of then (the last slot's at the end)."""
    instance = dearer_every_slot(slack=20)
    judged = evaluate(instance, at_b(start, 0))
    assert judged.components["retrieval"] == pytest.approx(CARBON[slot] * 1e-3)
    assert judged.components["migration"] == pytest.approx(CARBON[0] * 1e-3)


def test_the_way_out_is_charged_when_it_is_left() -> None:
    assert evaluate(dearer_every_slot(), at_b(4, 2)).components["migration"] == pytest.approx(CARBON[2] * 1e-3)


@pytest.mark.parametrize("formulation", formulations("geo"))
def test_models_charge_what_the_referee_does(formulation: str) -> None:
    """At a there is no GPU: leave at once (the cleanest slot), run at once, for 2 USD less 0.1 there and 0.4 back."""
    instance = dearer_every_slot()
    sites = (instance.sites[0].model_copy(update={"gpus": 0}), instance.sites[1])
    result = optsched.solve(instance.model_copy(update={"sites": sites}), formulation=formulation)
    assert result.objective == pytest.approx(2 - 0.1 - 0.4)


@pytest.mark.parametrize(
    ("start", "departure", "rules"),
    [
        (4, 2, []),
        (4, 1, ["departs before it is submitted"]),
        (2, 2, ["starts before it has arrived"]),
        (2, 0, ["departs before it is submitted"]),
        (4, None, ["runs away from its source without a departure"]),
        (7, 6, ["runs past the horizon"]),
    ],
)
def test_departures(start: int, departure: int | None, rules: list[str]) -> None:
    """Submitted in slot 2."""
    assert [v.rule for v in check(dearer_every_slot(submitted=2), at_b(start, departure))] == rules


@pytest.mark.parametrize(
    ("departure", "rules"), [(2, []), (1, ["departs before it is submitted"]), (7, []), (8, ["departs past the horizon"])]
)
def test_departures_in_vain(departure: int, rules: list[str]) -> None:
    gone = GeoSchedule(starts=(), lost=(Lost(job="j", site="b", departure=departure),))
    assert [v.rule for v in check(dearer_every_slot(submitted=2), gone)] == rules


@pytest.mark.parametrize(
    ("seconds", "slots"),
    [(0.0, 0), (0.03, 1), (59.97, 1), (60.0, 1), (60.000000000000007, 1), (60.000001, 2), (60.03, 2), (3600.03, 61)],
)
def test_a_started_slot_of_a_transfer_is_a_slot(seconds: float, slots: int) -> None:
    """Decided in fractions: a billionth of a slot is cut off, for what a number of 17 digits cannot say, and no more."""
    path = Path((0, 1), Fraction(0), exact(seconds))
    assert path.delay_slots((1.0,), 60.0) == slots
    assert path.slots((np.array([0.25, 1.0]), np.array([0.75, 0.0])), 60.0).tolist() == [slots, slots]
