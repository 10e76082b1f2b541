"""Builders: what they make, what they refuse in one line, and that their defaults are the instance's own."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import optsched
from optsched import allocation, day_ahead, deferrable, geo, vcc
from optsched.errors import InputError

FACES = [allocation, day_ahead, deferrable, geo, vcc]
DECIDED = {  # defaults that are the builder's, not the instance's
    ("allocation", "currency"), ("allocation", "now_s"),
    ("geo", "signal_slot_s"), ("geo", "idle_power_ratio"), ("geo", "carbon_price_usd_per_t"), ("geo", "network_kwh_per_gb"),
}  # fmt: skip


@pytest.mark.parametrize("face", ["allocation", "day_ahead", "deferrable", "geo", "vcc"])
def test_the_example_of_every_family(face: str) -> None:
    found = doctest.testmod(import_module(f"optsched.{face}"))
    assert found.failed == 0
    assert found.attempted > 3


@pytest.mark.parametrize("face", FACES, ids=lambda face: face.__name__)
def test_every_parameter_is_a_field_with_its_default(face: Any) -> None:
    fields = face.Instance.model_fields
    for name, parameter in signature(face.Model).parameters.items():
        assert name in fields, name
        if parameter.default is not parameter.empty and (face.Instance.problem, name) not in DECIDED:
            assert fields[name].default == parameter.default, name
        if parameter.default is parameter.empty:
            assert fields[name].is_required(), name


def two_sites() -> tuple[geo.Model, geo.Site, geo.Site]:
    m = geo.Model("two", horizon=4, slot_s=900, gpu_revenue_usd_per_h=1, gpu_power_kw=0.5, signal_slot_s=1800)
    east = m.add_site(gpus=2, price_usd_per_mwh=[50, 60], carbon_g_per_kwh=[300, 300], pue=1.2)
    west = m.add_site(
        gpus=np.array([1, 2, 3, 4]), price_usd_per_mwh=np.array([5.0, 6.0]), carbon_g_per_kwh=pd.Series([1, 2]), id="w"
    )
    return m, east, west  # fmt: skip


def test_a_geo_instance_field_by_field() -> None:
    m, east, west = two_sites()
    m.add_link(east, "w", throughput_gb_per_s=2, cost_usd_per_gb=0.25)
    first = m.add_job(west, gpus=1, duration=2, slack=1, submitted=1, data_gb=3, model_gb=4)
    second = m.add_job("site0", gpus=2, duration=1, slack=0, id="second")
    assert (first.id, first.source, first.data_gb, first.model_gb, second.id, second.source) == (
        "job0",
        "w",
        3,
        4,
        "second",
        "site0",
    )
    made = m.instance()
    assert made == geo.Instance(
        name="two", horizon=4, slot_s=900, signal_slot_s=1800, gpu_revenue_usd_per_h=1, gpu_power_kw=0.5, idle_power_ratio=0,
        carbon_price_usd_per_t=0, network_kwh_per_gb=0, sites=(east, west), jobs=(first, second),
        links=(geo.Link(from_="site0", to="w", throughput_gb_per_s=2, cost_usd_per_gb=0.25),),
    )  # fmt: skip
    assert west.gpus == (1, 2, 3, 4)
    assert west.carbon_g_per_kwh == (1.0, 2.0)
    m.add_job(east, gpus=1, duration=1, slack=0)
    assert (len(made.jobs), len(m.instance().jobs)) == (2, 3)  # an instance stays as it was


def test_an_allocation_and_a_plan_of_clusters_field_by_field() -> None:
    m = allocation.Model("a", scheduling_interval_s=60, postponement_penalty=2, first_ending="cheapest", use_all_nodes=False)
    v100, t4 = m.add_gpu_type("V100", node_cost_per_h=[1, 1.5]), m.add_gpu_type("T4", node_cost_per_h=np.array([0.5]))
    nodes = m.add_node(v100, gpus=2), m.add_node(t4, gpus=1, id="cheap")
    job = m.add_job(time_s={v100: [100, None], t4: np.array([300.0])}, due_s=50, weight_per_s=0.1, submit_s=0)
    made = m.instance()
    assert (made.nodes, made.jobs, made.first_ending, made.use_all_nodes) == (nodes, (job,), "cheapest", False)
    assert job.time_s == {"V100": (100.0, None), "T4": (300.0,)}
    assert made.gpu_types["V100"].node_cost_per_h == (1.0, 1.5)

    hours: dict[str, Any] = {"inflexible_ncu": [1, 2], "reservation_ratio": [1, 1], "carbon_kg_per_kwh": [0.1, 0.2]}
    plan = day_ahead.Model("d", carbon_price=1, peak_price=2)
    campus = plan.add_campus(contract_mw=3)
    cluster = plan.add_cluster(
        campus, **hours, flexible_ncu_h=1, reserved_ncu_h=5, idle_kw=7, kw_per_ncu=8, capacity_ncu=90, usage_limit_ncu=10
    )  # fmt: skip
    assert (plan.instance().clusters, plan.instance().campuses) == ((cluster,), (campus,))
    assert (cluster.inflexible_high_ncu, cluster.idle_kw, cluster.capacity_ncu, cluster.usage_limit_ncu) == (
        (1.0, 2.0),
        7,
        90,
        10,
    )


def test_queues_and_windows_field_by_field() -> None:
    m = vcc.Model("v", capacity_ncu=3, carbon_kg_per_kwh=[1, 2], inflexible_ncu=[0, 1], delay_limit_slots=1, preempt=True)
    assert m.add_job(ncu=2, duration=3, submitted=1).model_dump() == {
        "id": "job0", "ncu": 2, "duration": 3, "submitted": 1, "waited": 0, "evicted": False, "estimate": None,
    }  # fmt: skip
    assert (m.instance().inflexible_ncu, m.instance().delay_limit_slots, m.instance().preempt) == ((0.0, 1.0), 1, True)
    d = deferrable.Model("d", slot_s=60, capacity=(1, 2), delay_penalty=3, overload_penalty=4)
    job = d.add_job(cores=1.5, duration=1, earliest=1, latest=1)
    assert (job.submitted, d.add_job(cores=1, duration=1, earliest=1, latest=1, submitted=0).submitted) == (1, 0)
    assert (d.instance().delay_penalty, d.instance().overload_penalty, d.instance().capacity) == (3, 4, (1.0, 2.0))


REFUSED: list[tuple[Callable[[geo.Model], object], str]] = [
    (lambda m: m.add_job("e", gpus=1, duration=1, slack=0), "add_job: source: is 'e', which was not added to sites: site0, w"),
    (lambda m: m.add_job(3, gpus=1, duration=1, slack=0), "add_job: source: is None, which was not added"),  # type: ignore[arg-type]
    (
        lambda m: m.add_job("w", gpus=0, duration=1, slack=0),
        "add_job('job0'): gpus: must be greater than or equal to 1, got 0",
    ),
    (lambda m: m.add_job("w", gpus=1, duration=-1, slack=0), "add_job('job0'): duration: must be greater"),
    (lambda m: m.add_site(gpus=1, price_usd_per_mwh=[1], carbon_g_per_kwh=[-1]), "add_site('site2'): carbon_g_per_kwh[0]"),
    (
        lambda m: m.add_site(gpus=1, price_usd_per_mwh=[1], carbon_g_per_kwh=[1], id="w"),
        "add_site('w'): id: 'w' is there already",
    ),
    (lambda m: m.add_link("w", "w", throughput_gb_per_s=1), "add_link: to: links 'w' to itself"),
    (lambda m: m.add_link("w", "v", throughput_gb_per_s=1), "add_link: to: is 'v', which was not added"),
    (lambda m: [m.add_link("w", "site0", throughput_gb_per_s=1) for _ in "ab"], "add_link: 'w -> site0' is there already"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_errors_are_one_line_that_names_the_call(call: Callable[[geo.Model], object], message: str) -> None:
    m, _, _ = two_sites()
    with pytest.raises(InputError) as caught:
        call(m)
    assert str(caught.value).startswith(f"geo.Model.{message}")
    assert "\n" not in str(caught.value)
    made = m.instance()
    assert (len(made.sites), len(made.jobs), len(made.links)) == (2, 0, "site0" in message and "link" in message)


def test_what_only_shows_in_the_whole_is_told_by_instance() -> None:
    m, _, _ = two_sites()
    m.add_site(gpus=[1], price_usd_per_mwh=[1, 1], carbon_g_per_kwh=[1, 1])
    with pytest.raises(InputError, match=r"^geo.Model.instance: sites\[2\].gpus: 1 values, the horizon needs 4$"):
        m.instance()


def test_errors_of_types_of_gpus() -> None:
    m = allocation.Model("a", scheduling_interval_s=1, postponement_penalty=1)
    m.add_gpu_type("T4", node_cost_per_h=[1])
    for call, message in (
        (lambda: m.add_gpu_type("T4", node_cost_per_h=[1]), "allocation.Model.add_gpu_type: name: 'T4' is there already"),
        (
            lambda: m.add_gpu_type("V", node_cost_per_h=[]),
            "allocation.Model.add_gpu_type: node_cost_per_h: must have at least 1",
        ),
        (lambda: m.add_node("V", gpus=1), "allocation.Model.add_node: GPU type: is 'V', which was not added: T4"),
        (lambda: m.add_job(time_s={"V": [1]}, due_s=1, weight_per_s=1), "allocation.Model.add_job: GPU type: is 'V'"),
        (
            lambda: m.add_job(time_s=[1.0, 2.0], due_s=1, weight_per_s=1),  # type: ignore[arg-type]
            "allocation.Model.add_job('job0'): time_s: must be an object, got a list of 2",
        ),
    ):
        with pytest.raises(InputError) as caught:
            call()
        assert str(caught.value).startswith(message)


def test_an_instance_that_was_built_is_the_one_that_is_read(tmp_path: Path) -> None:
    m, _, west = two_sites()
    m.add_job(west, gpus=1, duration=1, slack=0)
    made = m.instance()
    made.save(tmp_path / "two.json.gz")
    assert optsched.load(tmp_path / "two.json.gz").sha256 == made.sha256
    assert m.solve(time_limit=20).instance.sha256 == made.sha256
