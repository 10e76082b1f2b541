"""Results: certificates that hold, and tampering that shows."""

from __future__ import annotations

import doctest
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import optsched
from optsched.errors import CertificateError, InputError
from optsched.instances.allocation import AllocationInstance
from optsched.instances.deferrable import DeferrableInstance
from optsched.instances.geo import GeoInstance
from optsched.result import certified, load_result
from tests.oracle import tiny


@cache
def proven(instance: Path) -> str:
    """Its result as JSON, once for all tests."""
    return json.dumps(optsched.solve(optsched.load(instance)).to_json())


@pytest.fixture(params=["armida-snapshot", "deferrable-small", "geo-small"])
def solved(request: pytest.FixtureRequest, examples: Path, tmp_path: Path) -> tuple[Any, dict[str, Any], Path]:
    """An instance, its result as JSON, and where to write a changed one."""
    file, path = examples / f"{request.param}.json", tmp_path / "r.json"
    path.write_text(proven(file))
    return optsched.load(file), json.loads(path.read_text()), path


def rules(instance: Any, data: dict[str, Any], path: Path) -> list[str]:
    path.write_text(json.dumps(data))
    return [v.rule for v in optsched.check(instance, load_result(path))]


def entries(data: dict[str, Any]) -> list[dict[str, Any]]:
    (found,) = data["schedule"].values()
    return list(found)


def test_untouched(solved: tuple[Any, dict[str, Any], Path]) -> None:
    instance, data, path = solved
    assert rules(instance, data, path) == []


def with_entry(data: dict[str, Any], index: int, change: dict[str, Any]) -> dict[str, Any]:
    copied: dict[str, Any] = json.loads(json.dumps(data))
    entries(copied)[index].update(change)
    return copied


@pytest.mark.parametrize("sealed", [True, False], ids=["sealed", "without digest"])
def test_every_moved_job_shows(solved: tuple[Any, dict[str, Any], Path], sealed: bool) -> None:
    """Sealed files show any edit; without the digest the referee still sees all that changes a rule or a figure."""
    instance, data, path = solved
    if not sealed:
        data["digest"] = None
    for index, entry in enumerate(entries(data)):
        changes: list[dict[str, Any]] = []
        if "gpus" in entry:
            changes += [{"gpus": entry["gpus"] + 1}]
            changes += [{"node": node.id} for node in instance.nodes if node.id != entry["node"]] if sealed else []
        if "start" in entry:
            changes += [{"start": entry["start"] + d} for d in (1, 500)] + [{"start": max(0, entry["start"] - 1)}]
        if "site" in entry and sealed:
            changes += [{"site": site.id} for site in instance.sites if site.id != entry["site"]]
        changes += [{"job": "nobody"}]
        for change in changes:
            if all(entry[key] == value for key, value in change.items()):
                continue
            moved = with_entry(data, index, change)
            if not rules(instance, moved, path):  # only an equally good schedule may pass, and only without the seal
                assert not sealed, change
                judged = optsched.evaluate(instance, load_result(path))
                assert judged.objective == pytest.approx(data["objective"], rel=1e-9), change


@pytest.mark.parametrize("sealed", [True, False], ids=["sealed", "without digest"])
@pytest.mark.parametrize("figure", ["objective", "bound", "gap", "components"])
def test_every_changed_figure_shows(solved: tuple[Any, dict[str, Any], Path], figure: str, sealed: bool) -> None:
    instance, data, path = solved
    if not sealed:
        data["digest"] = None
    for change in (lambda x: x * 1.001 + 1e-3, lambda x: x * 0.9 - 1e-3, lambda x: None):
        changed = json.loads(json.dumps(data))
        if figure == "components":
            for name in changed["components"]:
                if change(1.0) is not None:
                    changed["components"][name] = change(changed["components"][name])
        else:
            changed[figure] = change(changed[figure])
        if changed != data:
            assert rules(instance, changed, path), (figure, changed[figure])


def test_dropped_duplicated_and_added(solved: tuple[Any, dict[str, Any], Path]) -> None:
    instance, data, path = solved
    data["digest"] = None
    (field,) = data["schedule"]
    assert rules(instance, data | {"schedule": {field: entries(data)[1:]}}, path)
    assert "job decided more than once" in rules(
        instance, data | {"schedule": {field: entries(data) + entries(data)[:1]}}, path
    )
    assert rules(instance, data | {"schedule": None}, path) == ["objective without a schedule"]


def test_other_instance_and_words(solved: tuple[Any, dict[str, Any], Path], examples: Path) -> None:
    instance, data, path = solved
    data["digest"] = None
    renamed = instance.model_copy(update={"name": "other"})
    assert rules(renamed, data, path) == ["other instance"]
    assert rules(tiny.geo(1) if instance.problem != "geo" else tiny.allocation(1), data, path) == ["other problem"]
    assert "words that contradict" in rules(instance, data | {"solution": "feasible"}, path)
    assert rules(instance, data | {"bound": None, "gap": None}, path) == ["optimal without a proof"]


def test_the_referee_names_job_place_and_time(examples: Path) -> None:
    from optsched.schedules.geo import GeoSchedule, Start

    instance = GeoInstance.load(examples / "geo-small.json")
    jobs = [job for job in instance.jobs if job.source == "SG"]
    crowd = GeoSchedule(starts=tuple(Start(job=j.id, site="SG", start=j.submitted, departure=None) for j in jobs))
    words = [str(v) for v in optsched.check(instance, crowd)]
    assert any("GPUs above the site's: at 'SG' time" in w and "by" in w for w in words)


def test_certified_refuses_what_beats_its_bound(examples: Path) -> None:
    instance = DeferrableInstance.load(examples / "deferrable-small.json")
    best = optsched.solve(instance, "exact")
    assert best.objective is not None
    with pytest.raises(CertificateError, match="beyond its bound"):
        certified(instance, best.schedule, method="magic", termination="optimal", bound=best.objective - 1, seconds=0)
    broken = best.best.model_copy(update={"starts": best.best.starts * 2})
    with pytest.raises(CertificateError, match="infeasible schedule: job decided more than once"):
        certified(instance, broken, method="magic", termination="optimal", bound=None, seconds=0)


@pytest.mark.parametrize("problem", ["allocation", "deferrable"])
def test_no_incumbent_claims_more_than_the_referee_says(problem: str, examples: Path) -> None:
    """A solver's claims are within its tolerances; nobody has judged them."""
    instance: Any = optsched.load(examples / f"{problem}-small.json")
    best = optsched.solve(instance, "exact")
    claims = [(0.1, None, None), (0.2, 0.9 * best.objective, None), (0.3, 1.1 * best.objective, best.bound)]
    made = certified(instance, best.schedule, method="x", termination="completed", bound=None, seconds=1.0, incumbents=claims)
    worse, better = (1.1, 1.0) if instance.sense == "minimize" else (0.9, 1.0)
    shown = [objective for _, objective, _ in made.incumbents]
    assert shown[0] is None
    assert sorted(shown[1:]) == pytest.approx(sorted([worse * best.objective, better * best.objective]))


def test_old_files_stay_readable(solved: tuple[Any, dict[str, Any], Path]) -> None:
    """Fields that came later than the format may be missing."""
    instance, data, path = solved
    for later in ("digest", "message", "objective_kind"):
        del data[later]
    del data["instance"]["file"], data["instance"]["parameters"]
    assert rules(instance, data, path) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"objective": "much"}, "objective: must be a valid number"),
        ({"objective": float("nan")}, "objective: must be a finite number"),
        ({"termination": "bored"}, "termination: must be 'optimal', 'gap_limit'"),
        ({"colour": "red"}, "colour: unknown key"),
        ({"format": "optsched-result/9"}, 'format: expected "optsched-result/1"'),
        ({"problem": "weather"}, "problem: expected one of allocation, day_ahead, deferrable, geo"),
        ({"schedule": {"starts": 3, "assignments": 3}}, "schedule"),
    ],
)
def test_bad_result_files(solved: tuple[Any, dict[str, Any], Path], change: dict[str, Any], message: str) -> None:
    _, data, path = solved
    path.write_text(json.dumps(data | change))
    with pytest.raises(InputError) as caught:
        load_result(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_empty_instances() -> None:
    """No jobs, no nodes: the best schedule is the empty one, and that is certified too."""
    allocation = tiny.allocation(0)
    for changes in ({"jobs": ()}, {"nodes": ()}, {"jobs": (), "nodes": ()}):
        for formulation in ("aggregated", "linearized", "printed"):
            result = optsched.solve(allocation.model_copy(update=changes), "exact", formulation=formulation)
            assert (result.solution, result.best.jobs_run) == ("optimal", 0), (changes, formulation)
    for family in ("deferrable", "geo"):
        empty = tiny.TINY[family](0).model_copy(update={"jobs": ()})
        for backend in ("highs", "cp-sat", "scip"):
            result = optsched.solve(empty, "exact", backend=backend)
            assert (result.solution, result.best.jobs_run) == ("optimal", 0), (family, backend)


def test_docstring_example(monkeypatch: pytest.MonkeyPatch, examples: Path) -> None:
    monkeypatch.chdir(examples.parent)
    assert doctest.testmod(optsched).failed == 0
    readme = (examples.parent / "README.md").read_text()
    shown = [line for line in (optsched.__doc__ or "").splitlines() if line.startswith(">>>")]
    assert shown
    assert all(line in readme for line in shown)


def test_gpus_beyond_the_price_list_are_a_violation_not_an_error(examples: Path, tmp_path: Path) -> None:
    instance = AllocationInstance.load(examples / "armida-snapshot.json")
    long = {"V100": (1000.0, 900.0), "T4": tuple(1000.0 / g for g in range(1, 9))}
    jobs = tuple(job.model_copy(update={"time_s": long}) for job in instance.jobs)
    instance = instance.model_copy(update={"jobs": jobs})
    optsched.solve(instance).save(tmp_path / "r.json")
    data = json.loads((tmp_path / "r.json").read_text())
    for entry in entries(data):
        if entry["node"] == "armida-07":
            entry["gpus"] = 8
    found = rules(instance, data, tmp_path / "r.json")
    assert {"edited", "job cannot run so", "GPUs above the node's"} <= set(found)


def test_small_objectives_are_compared_relatively(examples: Path, tmp_path: Path) -> None:
    instance = optsched.load(examples / "geo-small.json")
    result = optsched.solve(instance, "greedy")
    assert result.instance.parameters == {"gpu_power_kw": 0.07}
    assert result.objective is not None
    tampered = result.model_copy(update={"objective": result.objective * (1 + 3e-6), "digest": None})
    assert tampered.verify(instance)


def test_prices_may_be_larger_than_what_an_instance_says() -> None:
    """A penalty of 1e15 over a job that is a millionth of the capacity."""
    job = {"id": "j", "submitted": 0, "duration": 1, "ncu": 3.3e-06}
    penalties = {"delay_penalty_per_ncu_h": 1, "daily_fraction": 0, "unfinished_penalty_per_ncu_h": 1e15}
    free = {
        "carbon_kg_per_kwh": [0],
        "inflexible_ncu": [4.95],
        "idle_kw": 0,
        "kw_per_ncu": 0,
        "carbon_price": 0,
        "delay_limit_slots": 0,
    }
    instance = optsched.vcc.Instance.from_dict(
        {"name": "dear", "slot_s": 86400, "capacity_ncu": 3.3, "daily_penalty_per_ncu_h": 1e9, "jobs": [job]} | free | penalties
    )
    found = optsched.solve(instance, "fluid")
    assert found.shadow_prices is not None
    assert max(map(max, found.shadow_prices.values())) > 1e12
    assert found.verify(instance) == []
