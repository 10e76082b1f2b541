"""The month of May 2019: the published program's carbon, corrected; and files that are broken."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from optsched.cli import _run
from optsched.instances.readers import read_google2019
from optsched.referee import evaluate
from optsched.schedules.vcc import simulate_queue

HEADER = "time,task_id,duration,cpu,priority\n"


@pytest.mark.parametrize(("cap", "kg"), [(1.0, 169.6), (0.05, 167.2)])
def test_the_corrected_programs_carbon(traces: Path, cap: float, kg: float) -> None:
    """Carbon only, with its alignment of the signal and its integer durations."""
    instance = read_google2019(traces / "google2019", reference_alignment=True)
    found = evaluate(instance, simulate_queue(instance, (cap,) * instance.horizon)).components["carbon"]
    assert found == pytest.approx(kg, rel=0.001)


def test_the_time_zone_and_the_hours(traces: Path) -> None:
    """Slot 0 is midnight in California, 7:00 UTC; carbon is the mean of twelve values, the forecast that of twelve ahead."""
    instance = read_google2019(traces / "google2019", days=1)
    import pandas as pd

    signal = pd.read_csv(traces / "google2019/SGIP_CAISO_PGE_2019-05.csv.gz", index_col="time", parse_dates=True).sort_index()
    first = signal.loc["2019-05-01 07:00":"2019-05-01 07:59"]  # type: ignore[misc]
    assert instance.carbon[0] == pytest.approx(first["moer"].mean())
    row = signal.loc["2019-05-01 07:00"].squeeze()
    assert instance.carbon_forecast is not None
    assert instance.carbon_forecast[0][1] == pytest.approx(row[[f"f{i}" for i in range(12, 24)]].mean())
    assert instance.horizon == 24
    assert instance.capacity_ncu == 42


@pytest.fixture
def folder(traces: Path, tmp_path: Path) -> Path:
    """A copy with one day."""
    (tmp_path / "daily_events").mkdir()
    for name in ("daily_events/day_0.csv", "SGIP_CAISO_PGE_2019-05.csv.gz", "machine_events_sample.json"):
        shutil.copyfile(traces / "google2019" / name, tmp_path / name)
    return tmp_path


def broken(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    out = folder / "x.json"
    assert _run(["import", "google2019", str(folder), "--days", "1", "-o", str(out), *words]) == 2
    assert not out.exists()
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    return error


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("700000000,a,-5,0.01,0", "line 2, duration"),
        ("700000000,a,nan,0.01,0", "line 2, duration"),
        ("700000000,a,5,-0.01,0", "line 2, cpu"),
        ("700000000,a,5,0.01,", "line 2, priority"),
        ("5,a,5,0.01,0", "line 2, time"),
        ("700000000,a,5,0.01", "line 2, fields"),
        ("700000000,a,5,0.01,0\n700000001,a,5,0.01,0", "line 3, task_id"),
    ],
)
def test_broken_rows(folder: Path, capsys: pytest.CaptureFixture[str], row: str, said: str) -> None:
    (folder / "daily_events/day_0.csv").write_text(HEADER + row + "\n800000000,b,5,0.01,0\n")
    assert f"day_0.csv: {said}" in broken(folder, capsys)
    instance = read_google2019(folder, days=1, skip_bad=True)
    assert instance.meta["skipped_rows"] == 1
    assert [job.id for job in instance.jobs][-1] == "b"


def test_missing_files_and_hours(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "day_1.csv: no such file" in broken(folder, capsys, "--days", "2")
    signal: Any = folder / "SGIP_CAISO_PGE_2019-05.csv.gz"
    names = ",".join(["time", "moer", *(f"f{i}" for i in range(1, 37))])
    (folder / "SGIP_short.csv").write_text(names + "\n2019-05-01 07:00:00+00:00" + ",0.1" * 37 + "\n")
    signal.unlink()
    assert "lacks 287 of 288 steps of 5 min, the first 2019-05-01 07:05 UTC" in broken(folder, capsys)
    (folder / "SGIP_short.csv").write_text(names + "\n2019-05-01 07:00:00+00:00,nan" + ",0.1" * 36 + "\n")
    assert "line 2, moer" in broken(folder, capsys)
    (folder / "SGIP_short.csv").unlink()
    assert "SGIP*.csv" in broken(folder, capsys)
