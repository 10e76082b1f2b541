"""What a result says of itself, draws and becomes; that types and instances it remembers change no file."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

import optsched
from optsched import Result, geo
from optsched.errors import CertificateError, InputError, OptschedError
from optsched.instances.allocation import AllocationInstance
from optsched.instances.geo import GeoInstance


@pytest.fixture(scope="module")
def instance(examples: Path) -> GeoInstance:
    return GeoInstance.load(examples / "geo-small.json")


@pytest.fixture(scope="module")
def result(instance: GeoInstance) -> Result[geo.Schedule]:
    return optsched.solve(instance, "exact")


def test_a_result_is_told_in_a_line(result: Result[geo.Schedule]) -> None:
    said = repr(result)
    assert said.startswith("<Result masac-J40-load0.8-s2: optimal, objective 2.89507 USD, bound 2.89507, gap 0 %, exact, ")
    assert str(result) == said
    assert "j0" not in said


def test_a_result_is_told_in_some_lines(result: Result[geo.Schedule], examples: Path) -> None:
    lines = dict(line.split(maxsplit=1) for line in result.summary().splitlines()[1:])
    assert result.summary().splitlines()[0] == "masac-J40-load0.8-s2 (geo)"
    assert lines["ended"] == "proven optimal"
    assert lines["objective"] == "2.89507 USD, by the referee"
    assert lines["bound"] == "2.89507 USD, proven by search"
    assert lines["gap"] == "0 %"
    assert lines["profit"] == "3.59656 USD"
    assert lines["jobs"].split(maxsplit=1)[1] == f"{len(result.best.starts)} of 40"
    greedy = optsched.solve(optsched.load(examples / "allocation-small.json"), "greedy").summary()
    assert "(proxy), by the referee" in greedy
    assert "\nbound         -\ngap           -\n" in greedy


def test_a_notebook_shows_a_table(result: Result[geo.Schedule]) -> None:
    shown = result.model_copy(update={"message": "a < b & c"})._repr_html_()
    assert shown.startswith("<table>")
    assert "2.89507 USD, by the referee" in shown
    assert "a &lt; b &amp; c" in shown
    assert shown.count("<tr>") == shown.count("</tr>") == len(result.summary().splitlines())


def test_its_schedule_as_a_frame(result: Result[geo.Schedule]) -> None:
    frame = result.to_frame()
    assert list(frame.columns) == ["job", "site", "start", "departure"]
    assert geo.Schedule.from_frame(frame) == result.schedule


def test_a_picture(result: Result[geo.Schedule], instance: GeoInstance, examples: Path, tmp_path: Path) -> None:
    drawn = result.plot()
    assert "proven optimal" in drawn.get_suptitle()
    result.save(tmp_path / "r.json")
    read = optsched.load_result(tmp_path / "r.json")
    with pytest.raises(OptschedError, match=r"plot\(instance\)"):
        read.plot()
    assert read.plot(instance).get_suptitle() == drawn.get_suptitle()
    with pytest.raises(OptschedError, match="not about the instance 'other' given"):
        result.plot(instance.model_copy(update={"name": "other"}))


def test_what_it_remembers_is_in_no_file_and_no_comparison(
    result: Result[geo.Schedule], instance: GeoInstance, tmp_path: Path
) -> None:
    result.save(tmp_path / "r.json")
    read = optsched.load_result(tmp_path / "r.json")
    assert read == result
    assert set(json.loads((tmp_path / "r.json").read_text())) == set(Result.model_fields) - {"shadow_prices"}
    assert type(result) is Result
    passed = pickle.loads(pickle.dumps(result))
    assert passed == result
    assert len(pickle.dumps(result)) < len(pickle.dumps(instance)) / 2  # the instance stays at home
    assert read.verify(instance) == []
    assert read.sealed().digest == result.digest


def test_best_is_there_or_says_why(examples: Path) -> None:
    instance = optsched.load(examples / "deferrable-small.json")
    bounded = optsched.solve(instance, "exact", backend="pdlp")
    missing = bounded.model_copy(update={"schedule": None})
    with pytest.raises(OptschedError, match=f"has no schedule: it ended {missing.termination}"):
        _ = missing.best
    with pytest.raises(OptschedError, match="has no schedule"):
        missing.to_frame()


def test_check_and_evaluate_take_what_json_gives(result: Result[geo.Schedule], instance: GeoInstance, examples: Path) -> None:
    decided = json.loads(result.best.model_dump_json())
    assert optsched.check(instance, decided) == []
    assert optsched.evaluate(instance, decided).objective == result.objective
    assert optsched.evaluate(instance, result).components == result.components
    assert optsched.check(instance, json.loads(json.dumps(result.to_json()))) == []
    decided["starts"][0]["job"] = "nobody"
    assert [v.rule for v in optsched.check(instance, decided)] == ["unknown job"]
    forged = result.to_json() | {"objective": 3.0}
    assert "edited" in {v.rule for v in optsched.check(instance, forged)}
    allocation = AllocationInstance.load(examples / "armida.json")
    history = optsched.replay(allocation, "fifo")
    assert optsched.evaluate(allocation, history.best.model_dump()).objective == history.objective


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"starts": [{"job": "j0"}]}, "schedule: starts[0].site: is missing"),
        ({"starts": {"j0": 3}}, "schedule: starts: must be a valid list"),
        ({"begin": []}, "schedule: begin: unknown key; starts is missing"),
        ({"format": "optsched-result/1", "problem": "weather"}, "result: problem: expected one of"),
        ([], "expected a schedule, a result, or the JSON object of one, got list: []"),
        (None, "expected a schedule, a result, or the JSON object of one, got NoneType"),
    ],
)
def test_what_is_no_schedule_is_refused_in_a_line(instance: GeoInstance, given: object, message: str) -> None:
    for judge in (optsched.check, optsched.evaluate):
        with pytest.raises(OptschedError) as caught:
            judge(instance, given)  # type: ignore[arg-type]
        assert str(caught.value).startswith(message)
        assert "\n" not in str(caught.value)


def test_a_schedule_from_anywhere_gets_a_certificate(
    result: Result[geo.Schedule], instance: GeoInstance, examples: Path
) -> None:
    idle = optsched.certify(instance, {"starts": []}, bound=result)
    assert (idle.method, idle.termination, idle.solution, idle.bound) == ("given", "completed", "feasible", result.bound)
    assert idle.objective is not None
    assert result.bound is not None
    assert idle.gap == pytest.approx((result.bound - idle.objective) / abs(idle.objective))
    assert optsched.check(instance, idle) == []
    again = optsched.certify(instance, result.best, bound=result)
    assert (again.solution, again.gap) == ("optimal", 0.0)
    assert optsched.certify(instance, result.best).bound is None
    with pytest.raises(OptschedError, match=r"not feasible: job decided more than once: .* \(and \d+ more"):
        optsched.certify(instance, geo.Schedule(starts=result.best.starts * 2))
    with pytest.raises(CertificateError, match="beyond its bound"):
        optsched.certify(instance, result.best, bound=1.0)
    forged = result.model_copy(update={"bound": 3.5})
    with pytest.raises(OptschedError, match="the bound cannot be trusted: edited"):
        optsched.certify(instance, result.best, bound=forged)
    with pytest.raises(OptschedError, match="a bound is a finite number or a result, got inf"):
        optsched.certify(instance, result.best, bound=float("inf"))
    other = optsched.load(examples / "deferrable-small.json")
    with pytest.raises(OptschedError, match="the bound is of"):
        optsched.certify(other, {"starts": []}, bound=result)


def test_a_replay_is_held_against_a_result(result: Result[geo.Schedule], instance: GeoInstance) -> None:
    replayed = optsched.replay(instance, "local-fcfs", bound=result)
    assert (replayed.bound, replayed.method) == (result.bound, "replay:local-fcfs")
    assert replayed.gap is not None
    assert replayed.gap > 0


def test_a_proxy_does_not_bound_what_was_realised(examples: Path) -> None:
    instance = AllocationInstance.load(examples / "armida-snapshot.json")
    proxy = optsched.solve(instance, "exact")
    runs = [
        {"job": job.id, "node": "armida-07", "gpus": 1, "start_s": 1e6 * n, "end_s": 1e6 * n + (job.time_s["T4"][0] or 0.0)}
        for n, job in enumerate(instance.known_jobs)
    ]
    with pytest.raises(OptschedError, match="the bound is of a proxy objective, the schedule has a realised one"):
        optsched.certify(instance, {"runs": runs}, bound=proxy)
    assert optsched.certify(instance, {"runs": runs}).objective_kind == "realised"


def test_files_from_before_are_read_and_bad_ones_refused(result: Result[geo.Schedule]) -> None:
    data = result.to_json()
    for later in ("digest", "proof"):
        del data[later]
    from optsched.result import parse_result

    assert parse_result(data, "old").schedule == result.schedule
    with pytest.raises(InputError, match=r"^new: colour: unknown key$"):
        parse_result(data | {"colour": 1}, "new")


def test_jobs_of_what_happened_are_not_counted_against_a_snapshots(examples: Path) -> None:
    instance = optsched.load(examples / "armida.json")  # one job is known at first, and eight come

    def jobs_run(result: optsched.Result) -> str:
        return next(line for line in result.summary().splitlines() if line.startswith("jobs run")).split(maxsplit=2)[2]

    assert jobs_run(optsched.replay(instance, "fifo")) == "8"
    assert jobs_run(optsched.solve(instance, "greedy")) == "1 of 1"
