"""The command line as a user types it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import optsched
from optsched.errors import InputError
from optsched.instances.files import save
from optsched.instances.generators import osdec
from optsched.registry import families
from tests.cli.forks import completed


def run(
    *words: object, cwd: Path | None = None, timeout: float = 120, columns: int | None = None
) -> subprocess.CompletedProcess[str]:
    """The command as typed, its output read by a program, or as wide as COLUMNS says (which readline sets unasked)."""
    env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    env |= {} if columns is None else {"COLUMNS": str(columns)}
    return completed([str(word) for word in words], cwd, env, timeout)


def one_line(done: subprocess.CompletedProcess[str], code: int = 2) -> str:
    """The single line of a refusal."""
    assert done.returncode == code, (done.stdout, done.stderr)
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert "Traceback" not in done.stderr
    return lines[0]


def test_solve_check_plot(examples: Path, tmp_path: Path) -> None:
    instance, result = examples / "armida-snapshot.json", tmp_path / "r.json"
    done = run("solve", instance, "-o", result)
    assert done.returncode == 0, done.stderr
    for word in ("armida-snapshot", "tardiness", "postponement", "energy", "objective", "244.422", "proven optimal", "0 %"):
        assert word in done.stdout
    checked = run("check", instance, result)
    assert checked.returncode == 0
    assert "ok: every rule holds" in checked.stdout
    for suffix in ("png", "svg", "pdf"):
        drawn = run("plot", result, "-o", tmp_path / f"x.{suffix}")
        assert drawn.returncode == 0, drawn.stderr
        assert (tmp_path / f"x.{suffix}").stat().st_size > 5_000
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.json", "x.pdf", "x.png", "x.svg"]


@pytest.mark.parametrize("family", ["allocation", "deferrable", "geo"])
def test_every_family_from_file_to_picture(examples: Path, tmp_path: Path, family: str) -> None:
    result = tmp_path / "r.json.gz"
    assert run("solve", examples / f"{family}-small.json", "-o", result, "-q").returncode == 0
    assert run("check", examples / f"{family}-small.json", result).returncode == 0
    assert run("plot", result, "-o", tmp_path / "x.png").returncode == 0


def test_json_is_the_result_file(examples: Path, tmp_path: Path) -> None:
    done = run("solve", examples / "geo-small.json", "--json", "-o", tmp_path / "r.json")
    printed = json.loads(done.stdout)
    assert printed == json.loads((tmp_path / "r.json").read_text())
    keys = {
        "format", "problem", "objective_kind", "instance", "method", "options", "seed", "termination", "solution",
        "objective", "bound", "gap", "components", "message", "timings_s", "incumbents", "versions", "schedule", "proof",
        "digest",
    }  # fmt: skip
    assert set(printed) - {"shadow_prices"} == keys  # which the decomposition has, where `exact` was not quick enough
    assert set(printed["timings_s"]) == {"build", "translate", "solve", "total"}
    assert "Infinity" not in done.stdout
    assert "NaN" not in done.stdout


def test_several_files_into_a_folder(examples: Path, tmp_path: Path) -> None:
    files = [examples / f"{family}-small.json" for family in ("allocation", "deferrable", "geo")]
    done = run("solve", *files, "-o", tmp_path / "out")
    assert done.returncode == 0
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "allocation-small.result.json",
        "deferrable-small.result.json",
        "geo-small.result.json",
    ]
    assert done.stdout.count("objective") == 4  # one a table, one in the summary's head


def test_one_bad_file_is_reported_and_the_others_are_solved(examples: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text("{")
    words = ["solve", "nope.json", bad, examples / "geo-small.json", "-q", "-o", tmp_path / "out"]
    done = run(*words)
    assert done.returncode == 2
    assert [line.split(": ")[1] for line in done.stderr.splitlines()] == ["nope.json", str(bad)]
    assert done.stdout.count("optimal") == 1
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["geo-small.result.json"]
    none = run("solve", "nope.json", bad, "-o", tmp_path / "none")
    assert none.returncode == 2
    assert not (tmp_path / "none").exists()


def test_start_from_a_result(examples: Path, tmp_path: Path) -> None:
    first = tmp_path / "first.json"
    run("solve", examples / "deferrable-small.json", "-o", first, "-q")
    again = run("solve", examples / "deferrable-small.json", "--start", first, "--json")
    assert json.loads(again.stdout)["incumbents"][0][1] == 118
    wrong = one_line(run("solve", examples / "geo-small.json", "--start", first))
    assert "is deferrable, the instance is geo" in wrong


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["solve", "nowhere.json"], "nowhere.json: no such file"),
        (["solve", "{geo}", "--backend", "gurobi"], "no backend 'gurobi'"),
        (["solve", "{geo}", "--formulation", "x"], "has no formulation 'x'"),
        (["solve", "{geo}", "--method", "x"], "has no method 'x'"),
        (["solve", "{geo}", "--method", "masac"], "masac is a policy, no method: `optsched replay --policy masac` plays it"),
        (["methods", "vcc-sac"], "vcc-sac is a policy, no method: `optsched replay --policy vcc-sac` plays it"),
        (["solve", "{geo}", "--time-limit", "0"], "time limit must be a positive number"),
        (["solve", "{geo}", "--gap", "-1"], "gap must be a number from 0 on"),
        (["solve", "{geo}", "--threads", "0"], "threads are a whole number from 1 to 64 (cores of this machine: "),
        (["solve", "{geo}", "--option", "mip_gap=1"], "has no option 'mip_gap'"),
        (["solve", "{geo}", "-o", "no/such/folder/x.json"], "no such folder"),
        (["solve", "{geo}", "-o", "x.txt"], "ends in .json or .json.gz"),
        (["solve", "{geo}", "-o", "{geo}"], "give the result another name"),
        (["solve", "{geo}", "--start", "{geo}"], "is an instance, expected a result"),
        (["check", "{geo}", "{geo}"], "is an instance, expected a result"),
        (["plot", "{geo}", "-o", "x.png"], "is an instance, expected a result"),
        (["plot", "{geo}", "-o", "x.bmp"], "a picture ends in .png, .pdf, .svg"),
        (["export", "{geo}", "x.nl"], "the name must end in .mps or .lp"),
        (["schema", "weather"], "no family 'weather'"),
        (["generate", "andreas-1", "--nodes", "0"], "nodes: is 0, expected a number from 1 to 100,000"),
        (["generate", "masac", "--days", "nan"], "days: is nan, expected a number from 0.0006944444444 to 3,650"),
        (["generate", "masac", "--gpu-power-kw", "-1"], "gpu_power_kw: is -1.0, expected a number from 0 to 1,000,000"),
        (["generate", "andreas-1", "--nodes", "1000000000"], "nodes: is 1000000000, expected a number from 1 to 100,000"),
        (["generate", "vcc", "--load", "101"], "load: is 101.0, expected a number from 0.001 to 100"),
        (["generate", "day-ahead", "--campuses", "9"], "campuses: is 9, expected a number from 1 to 5"),
        (["events", "{geo}", "--cancelled", "nan"], "cancelled: is nan, expected a number from 0 to 1"),
        (["events", "{geo}", "--mtbf", "0"], "mtbf_s: is 0.0, expected a number from 1e-06 to"),
        (["solve", "{geo}", "--method", ""], "geo has no method ''"),
        (["solve", "{geo}", "--gap", "inf"], "gap must be a number from 0 on, got inf"),
        (["solve", "{geo}", "--gap", "150"], "150 would be 15000 %: write 150% for 150 per cent"),
        (["generate", "masac", "--trace", "no.csv"], "no.csv: no such file"),
        (["generate", "osdec", "-o", "x.csv"], "ends in .json or .json.gz"),
    ],
)
def test_refusals_are_one_line(examples: Path, tmp_path: Path, words: list[str], message: str) -> None:
    geo = (examples / "geo-small.json").read_bytes()
    filled = [word.replace("{geo}", str(examples / "geo-small.json")) for word in words]
    assert message in one_line(run(*filled, cwd=tmp_path))
    assert list(tmp_path.iterdir()) == []
    assert (examples / "geo-small.json").read_bytes() == geo


def test_a_wrong_method_is_told_before_the_instance_is_shown(examples: Path) -> None:
    for words in (("--method", "x"), ("--method", "fifo", "--threads", "2")):
        assert run("solve", examples / "deferrable-small.json", *words).stdout == ""


def test_nothing_that_is_no_result_is_written_over(examples: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.json"
    mine.write_bytes((examples / "armida.json").read_bytes())
    assert "exists and is not a result file" in one_line(run("solve", examples / "geo-small.json", "-o", mine))
    assert mine.read_bytes() == (examples / "armida.json").read_bytes()
    result = tmp_path / "r.json"
    for _ in range(2):  # a result may be replaced by a newer one
        assert run("solve", examples / "geo-small.json", "-o", result, "-q").returncode == 0
    assert "cannot be used as output" in one_line(run("solve", examples / "geo-small.json", "-o", "x" * 300 + ".json"))


def test_one_failing_file_does_not_end_the_batch(examples: Path) -> None:
    files = [examples / f"{family}-small.json" for family in ("deferrable", "allocation", "geo")]
    done = run("solve", *files, "--formulation", "state", "-q")
    assert done.returncode == 2
    assert done.stdout.count("optimal") == 2
    assert len(done.stderr.strip().splitlines()) == 1


def test_unknown_verb_and_option_have_code_2(tmp_path: Path) -> None:
    for words in (["sovle"], ["solve", "--fast"], ["generate", "nothing"]):
        done = run(*words)
        one_line(done)


def test_validate_names_every_file(examples: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("[]")
    done = run("validate", examples / "geo-small.json", tmp_path / "bad.json", examples / "armida.json")
    assert done.returncode == 2
    assert done.stdout.count(": ok, ") == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert run("validate", *examples.glob("*.json")).returncode == 0


@pytest.mark.parametrize("suffix", ["lp", "mps"])
@pytest.mark.parametrize(
    ("name", "optimum"), [("armida-snapshot", 244.4223253), ("deferrable-small", 118), ("geo-small", 2.895066059)]
)
def test_exported_models_have_the_same_optimum(examples: Path, tmp_path: Path, name: str, optimum: float, suffix: str) -> None:
    import highspy

    path = tmp_path / f"x.{suffix}"
    assert run("export", examples / f"{name}.json", path).returncode == 0
    highs = highspy.Highs()
    highs.silent()
    highs.readModel(str(path))
    highs.setOptionValue("mip_rel_gap", 0.0)
    highs.run()
    assert abs(highs.getInfo().objective_function_value) == pytest.approx(optimum, rel=1e-7)


def test_generate_is_reproducible(tmp_path: Path) -> None:
    """Every scenario is compared with Python's in tests/api/test_generate.py."""
    for name in ("a", "b"):
        done = run("generate", "osdec", "--core-case", "3", "--seed", "3", "-o", tmp_path / f"{name}.json")
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


@pytest.mark.parametrize(
    "verb", ["check", "export", "generate", "import", "methods", "plot", "replay", "schema", "solve", "validate", "versions"]
)
def test_help_teaches(verb: str) -> None:
    assert verb in run("--help").stdout
    done = run(verb, "--help")
    assert done.returncode == 0
    assert len(done.stdout) > 120


def test_lists(examples: Path) -> None:
    methods = run("methods").stdout
    for word in ("exact", "greedy", "aggregated (default)", "printed", "cp-sat", "pdlp", "MINLP"):
        assert word in methods
    versions = run("versions").stdout
    for word in ("highspy", "ortools", "backend scip", "available"):
        assert word in versions
    for family in families():
        assert json.loads(run("schema", family).stdout)["properties"]["problem"]["const"] == family


@pytest.mark.timing
def test_time_limit_holds_for_the_whole_command(tmp_path: Path) -> None:
    """30,000 binaries, --time-limit 3: back within 5 s, with a feasible schedule that the referee passes."""
    path, result = tmp_path / "x.json", tmp_path / "r.json"
    save(osdec(2, 1, jobs=2500, horizon=576, window=60, seed=1), path)
    began = time.perf_counter()
    done = run("solve", path, "--time-limit", 3, "-o", result)
    assert time.perf_counter() - began < 5
    assert done.returncode == 0, done.stderr
    assert run("check", path, result).returncode == 0
    found = optsched.load_result(result)
    assert (found.termination, found.solution) == ("time_limit", "feasible")


@pytest.mark.timing
@pytest.mark.parametrize("backend", ["highs", "cp-sat", "scip"])
def test_ctrl_c_keeps_the_best_schedule(tmp_path: Path, backend: str) -> None:
    path, result = tmp_path / "x.json", tmp_path / "r.json"
    save(osdec(2, 1, jobs=1500, horizon=576, window=60, seed=1), path)
    command = [sys.executable, "-m", "optsched", "solve", path, "--backend", backend, "-o", result]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout is not None
    assert "jobs, 576 slots" in running.stdout.readline() + running.stdout.readline()  # read, and about to build
    time.sleep(4)
    running.send_signal(signal.SIGINT)
    pressed = time.perf_counter()
    out, err = running.communicate(timeout=20)
    assert time.perf_counter() - pressed < 3
    assert running.returncode == 130, err
    assert "interrupted" in out
    assert "Traceback" not in err
    found = optsched.load_result(result)
    assert (found.termination, found.solution) == ("interrupted", "feasible")
    assert found.verify(optsched.load(path)) == []


def test_output_is_atomic(examples: Path, tmp_path: Path) -> None:
    """A folder that cannot be written keeps what it had."""
    kept = tmp_path / "r.json"
    kept.write_text("mine")
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    tmp_path.chmod(0o500)
    assert "cannot be written" in one_line(run("solve", examples / "geo-small.json", "-o", kept, "-q"))
    tmp_path.chmod(0o700)
    assert kept.read_text() == "mine"


def test_plot_finds_the_instance_or_says_so(examples: Path, tmp_path: Path) -> None:
    instance = tmp_path / "here.json"
    instance.write_bytes((examples / "geo-small.json").read_bytes())
    run("solve", instance, "-o", tmp_path / "r.json", "-q")
    instance.rename(tmp_path / "there.json")
    assert "give it with --instance FILE" in one_line(run("plot", tmp_path / "r.json", "-o", tmp_path / "x.png"))
    moved = run("plot", tmp_path / "r.json", "--instance", tmp_path / "there.json", "-o", tmp_path / "x.png")
    assert moved.returncode == 0
    other = run("plot", tmp_path / "r.json", "--instance", examples / "armida.json", "-o", tmp_path / "y.png")
    assert "is not the instance of this result" in one_line(other)
    assert not (tmp_path / "y.png").exists()


@pytest.mark.parametrize(
    "words",
    [
        "schema geo",
        "methods",
        "solve {geo}",
        *(pytest.param(w, marks=pytest.mark.slow) for w in ("example geo-small", "solve {geo} --json")),
    ],
)
def test_head_may_leave_early(examples: Path, words: str) -> None:
    """Whoever prints, click or rich: it ends quietly, and that nobody read to the end is no failure."""
    typed = words.replace("{geo}", str(examples / "geo-small.json"))
    for reader in ("head -1", "true"):
        command = f"{sys.executable} -m optsched {typed} | {reader}"
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), (typed, reader)


def test_input_error_is_public() -> None:
    assert issubclass(InputError, optsched.OptschedError)
    assert optsched.InputError is InputError
