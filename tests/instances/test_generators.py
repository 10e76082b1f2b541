"""Generators: the papers' numbers, seeds that reproduce, refusals in one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import optsched
from optsched.errors import OptschedError
from optsched.instances.generators import andreas, masac, osdec
from optsched.instances.generators.masac import masac as masac_function


@pytest.mark.parametrize(("case", "gpus"), [(1, {2, 1}), (2, {4, 2})])
@pytest.mark.parametrize("rate", ["high", "mixed"])
def test_andreas(case: int, gpus: set[int], rate: str) -> None:
    instance = andreas(case, 10, rate=rate, seed=3)
    assert (len(instance.nodes), len(instance.jobs)) == (10, 100)
    assert {node.gpus for node in instance.nodes} == gpus
    assert [node.gpu_type for node in instance.nodes].count("V100") == 5
    assert instance.postponement_penalty == 100
    assert instance == andreas(case, 10, rate=rate, seed=3)
    assert instance != andreas(case, 10, rate=rate, seed=4)
    assert len(andreas(case, 10, rate=rate, all_submitted=True).known_jobs) == 100


def test_mixed_arrivals_are_slower() -> None:
    last = {
        rate: np.mean([andreas(1, 20, rate=rate, seed=s).jobs[-1].submit_s for s in range(5)]) for rate in ("high", "mixed")
    }
    assert 1.5 < last["mixed"] / last["high"] < 4


def test_andreas_times_fall_sublinearly() -> None:
    for job in andreas(2, 10, seed=1).jobs:
        times = np.array(job.time_s["V100"])
        assert np.all(np.diff(times) < 0)
        assert np.all(np.diff(times * np.arange(1, 5)) > 0)


@pytest.mark.parametrize("core_case", [1, 2, 3])
@pytest.mark.parametrize("duration_case", [1, 2, 3])
def test_osdec(core_case: int, duration_case: int) -> None:
    instance = osdec(core_case, duration_case, jobs=4000, load=1.2, seed=2)
    cores, duration = instance.columns.cores, instance.columns.duration
    shares = {1: (0.51, 0.37, 0.08, 0.04), 2: (0.25,) * 4, 3: (0.4, 0.3, 0.2, 0.1)}[core_case]
    assert [np.mean(cores == c) for c in (1, 2, 4, 8)] == pytest.approx(shares, abs=0.03)
    longest = {1: 24, 2: 24, 3: 12}[duration_case]
    assert duration.max() == longest
    assert cores @ duration / sum(instance.capacity) == pytest.approx(1.2, rel=0.02)
    assert instance == osdec(core_case, duration_case, jobs=4000, load=1.2, seed=2)
    assert (instance.delay_penalty, instance.overload_penalty) == (2, 10)


def test_osdec_real_time() -> None:
    columns = osdec(real_time=True).columns
    assert np.array_equal(columns.earliest, columns.latest)
    assert np.array_equal(columns.earliest, columns.submitted)


@pytest.mark.parametrize("load", [0.5, 1.0, 1.8])
def test_masac_is_table_i(load: float) -> None:
    instance = masac(load=load, seed=5)
    assert [site.gpus for site in instance.sites] == [100, 110, 80, 130, 120]
    assert [site.pue for site in instance.sites] == [1.3, 1.2, 1.1, 1.4, 1.2]
    assert (instance.horizon, len(instance.jobs)) == (2880, 1500)
    columns = instance.columns
    assert np.array_equal(columns.slack, (0.4 * columns.duration).astype(int))
    assert columns.gpus @ columns.duration / instance.capacity.sum() == pytest.approx(load, rel=0.02)
    share = np.bincount(columns.source, minlength=5) / 1500
    assert share == pytest.approx(np.array([0.01, 0.02, 0.01, 0.025, 0.03]) / 0.095, abs=0.04)
    assert instance == masac_function(load=load, seed=5)


def test_masac_on_real_prices_and_jobs(traces: Path) -> None:
    real = {
        "trace": traces / "gpu" / "alibaba2020_pai_1week_1k.csv",
        "signals": traces / "grid" / "masac_five_regions_2022-12-01_06_hourly.csv",
    }
    instance = masac(jobs=300, scale=0.2, seed=1, **real)
    assert instance.sites[0].price_usd_per_mwh[0] == pytest.approx(-32.278)
    assert instance.meta["real_jobs"]
    assert instance.meta["real_signals"]
    assert optsched.solve(instance, "greedy").objective > 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: andreas(3),
        lambda: andreas(1, 0),
        lambda: andreas(1, rate="low"),
        lambda: osdec(4),
        lambda: osdec(load=0),
        lambda: masac(jobs=0),
        lambda: masac(trace="nowhere.csv"),
    ],
)
def test_refusals(call: object) -> None:
    with pytest.raises(OptschedError) as caught:
        call()  # type: ignore[operator]
    assert "\n" not in str(caught.value)


def test_files_that_lack_columns(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(OptschedError, match="arrival_time: no such column"):
        masac(trace=path)
    with pytest.raises(OptschedError, match="datetime_utc: no such column"):
        masac(signals=path)
