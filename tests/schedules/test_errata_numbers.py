"""Errata about numbers: what a paper does not give, and what it gives a thousand times too high."""

from __future__ import annotations

from typing import Any

import pytest

import optsched
from optsched.instances.generators import day_ahead, masac
from optsched.schedules.day_ahead import flexible
from tests.schedules.test_day_ahead import cluster, plan


def test_erratum_g3_every_site_profits_at_the_power_that_is_assumed() -> None:
    """A GPU's revenue less energy and carbon, on the mean: at 0.07 kW positive everywhere, at 0.25 kW not in PL and SG."""

    def losing(power_kw: float) -> set[str]:
        instance = masac(jobs=10, gpu_power_kw=power_kw, seed=0)
        usd = instance.price / 1000 + instance.carbon_price_usd_per_t * 1e-6 * instance.carbon
        sites = zip(instance.sites, usd.mean(axis=1).tolist(), strict=True)
        return {s.id for s, mean in sites if s.pue * instance.gpu_power_kw * mean > instance.gpu_revenue_usd_per_h}

    assert losing(masac(jobs=10).gpu_power_kw) == set()
    assert losing(0.25) == {"PL", "SG"}


def test_erratum_r1_the_printed_carbon_price_outweighs_the_peak() -> None:
    """At 40 USD a kg carbon costs thousands of times what the peak does; at 40 USD a tonne they are of one size."""
    printed = day_ahead(clusters=3, seed=0)
    meant = printed.model_copy(update={"carbon_price": printed.carbon_price / 1000})
    carbon, peak = optsched.solve(printed, "greedy").components.values()
    assert printed.carbon_price == 40
    assert carbon > 1000 * peak
    fewer, same = optsched.solve(meant, "greedy").components.values()
    assert fewer == pytest.approx(carbon / 1000)
    assert same == peak
    assert fewer < 100 * peak


@pytest.mark.parametrize(
    "limits", [{"usage_limit_ncu": 6.0, "capacity_ncu": 20.0}, {"usage_limit_ncu": 20.0, "capacity_ncu": 6.0}]
)
def test_erratum_r2_an_hour_above_its_limit_takes_no_flexible_usage(limits: dict[str, float]) -> None:
    """7 of 6 NCU are inflexible in the first hour: all of tau = 2 goes to the second, 15 kW at 0.5 and 11 kW at 0.1."""
    instance = plan([cluster(inflexible_ncu=[7.0, 3.0], inflexible_high_ncu=[7.0, 3.0], reserved_ncu_h=12.0, **limits)])
    result: Any = optsched.solve(instance)
    assert flexible(instance, result.best)[0] == pytest.approx([0.0, 2.0])
    assert result.objective == pytest.approx(0.5 * 15 + 0.1 * 11)
    assert (result.solution, optsched.check(instance, result)) == ("optimal", [])
    there = result.best.curves[0].model_copy(update={"delta": (-0.9, 0.9), "peak_mw": 0.1})
    wrong = optsched.check(instance, result.best.model_copy(update={"curves": (there,)}))
    assert [(v.rule, v.time) for v in wrong] == [("usage above the power's or the machines' limit (8), (11)", 0)]
