"""What a new user types first: help, words misspelt, pipes, outputs that cannot be, times and gaps as people write them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import click
import pytest

import optsched
import optsched.cli
from optsched.cli._durations import DURATION, GAP, HOURS
from optsched.cli._verbs import VERBS
from tests.cli.test_cli import one_line, run

HEAVY = {"pandas", "numpy", "pydantic", "pyomo", "scipy", "networkx", "ortools", "highspy", "matplotlib", "rich", "torch"}


def test_the_table_of_verbs_is_the_package() -> None:
    modules = {module.name for module in iter_modules(optsched.cli.__path__) if not module.name.startswith("_")}
    assert modules == set(VERBS)
    for verb in VERBS:
        assert isinstance(import_module(f"optsched.cli.{verb}").command, click.Command)


@pytest.mark.parametrize(
    "words",
    [["--help"], ["--version"], *([verb, "--help"] for verb in VERBS), ["import", "csv", "--help"]],
)
def test_help_loads_nothing_that_takes_time(words: list[str]) -> None:
    """With a bare package instead of optsched's own, so that the command line alone is looked at."""
    program = (
        "import sys, types, atexit; package = types.ModuleType('optsched'); package.__path__ = [sys.argv.pop(1)]; "
        f"sys.modules['optsched'] = package; heavy = set({sorted(HEAVY)!r}); "
        "atexit.register(lambda: print('loaded', *sorted(heavy & set(sys.modules)))); "
        "from optsched.cli import main; main()"
    )
    command = [sys.executable, "-c", program, str(Path(optsched.__file__).parent), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].split() == ["loaded"]


@pytest.mark.parametrize(
    "words",
    [
        ["solve", "instances/armida-snapshot.json"],
        ["solve", "instances/geo-small.json", "--method", "decomposition", "--option", "iterations=1"],
        ["replay", "instances/deferrable-small.json", "--policy", "rolling"],
        ["compare", "instances/vcc-small.json", "--methods", "greedy", "--policies", "uncapped"],
    ],
)
def test_usual_commands_load_little(words: list[str]) -> None:
    """Beside Pyomo it costs more than all else that a small command does; so does what draws pictures."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "optsched", *words], capture_output=True, text=True, check=True
    )
    loaded = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "numpy" in loaded
    assert not {"scipy", "matplotlib"} & loaded
    assert "networkx" not in loaded or "geo" in words[1]  # which has paths


@pytest.mark.parametrize("words", [[], ["generate"], ["import"], ["train"], ["solve"], ["check"], ["validate"], ["export"]])
def test_a_bare_verb_prints_its_help(words: list[str]) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert done.stderr.startswith("Usage: optsched")
    assert "error:" not in done.stderr
    assert run(*words, "--help").stdout.strip() == done.stderr.strip()


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["sovle", "x.json"], "did you mean solve?"),
        (["generate", "masca"], "did you mean masac?"),
        (["import", "phily", "x"], "did you mean philly?"),
        (["solve", "{geo}", "--tme-limit", "5"], "--time-limit"),
        (["example", "armida-snapshto"], "did you mean armida-snapshot"),
        (["methods", "gready"], "did you mean greedy"),
        (["schema", "go"], "did you mean geo?"),
    ],
)
def test_what_was_meant(examples: Path, words: list[str], meant: str) -> None:
    assert meant in one_line(run(*(word.replace("{geo}", str(examples / "geo-small.json")) for word in words)))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("90s", 90),
        ("5m", 300),
        ("5min", 300),
        ("1h", 3600),
        ("1h30m", 5400),
        ("1.5h", 5400),
        ("2d", 172800),
        ("500ms", 0.5),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert DURATION.convert(text, None, None) == pytest.approx(seconds)
    assert HOURS.convert(text, None, None) == pytest.approx(90 if text == "90" else seconds / 3600)


@pytest.mark.parametrize("text", ["5x", "", "h", "nan", "inf", "1h 30", "m5", "5m3", "5s5s", "1m1h", "2M"])
def test_no_durations(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is no duration"):
        DURATION.convert(text, None, None)


def test_gaps() -> None:
    assert [GAP.convert(text, None, None) for text in ("1%", "0.01", "0.5 %", "0")] == pytest.approx([0.01, 0.01, 0.005, 0])
    for text in ("5", "1"):
        with pytest.raises(click.BadParameter, match=f"write {text}% or"):
            GAP.convert(text, None, None)
    with pytest.raises(click.BadParameter, match="is no gap"):
        GAP.convert("small", None, None)


def test_times_and_gaps_as_typed(examples: Path) -> None:
    done = run("solve", examples / "geo-small.json", "--time-limit", "1m", "--gap", "1%", "-q")
    assert done.returncode == 0, done.stderr
    assert "would be 500 %: write 5% or 0.05" in one_line(run("solve", examples / "geo-small.json", "--gap", "5"))
    assert "is no duration" in one_line(run("solve", examples / "geo-small.json", "--time-limit", "soon"))


def piped(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A line of a shell."""
    line = command.replace("optsched ", f"{sys.executable} -m optsched ")
    return subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True, cwd=cwd, check=False)


def test_standard_input_is_a_dash(examples: Path, tmp_path: Path) -> None:
    assert "optimal" in piped("optsched example geo-small | optsched solve - -q", tmp_path).stdout
    assert piped("optsched generate osdec --jobs 5 | optsched validate -", tmp_path).stdout.startswith("standard input: ok")
    assert "standard input: is empty" in piped("optsched validate - < /dev/null", tmp_path).stderr
    source = examples / "geo-small.json"
    checked = piped(f"optsched solve {source} --json | optsched check {source} -", tmp_path)
    assert "ok: every rule holds" in checked.stdout, checked.stderr
    assert piped("optsched example geo-small | optsched export - x.lp", tmp_path).returncode == 0
    assert piped("optsched example geo-small | gzip | optsched solve - -q -o r.json", tmp_path).returncode == 0
    assert json.loads((tmp_path / "r.json").read_text())["instance"]["file"] is None
    assert "names no file of its instance" in one_line(run("plot", "r.json", "-o", "x.png", cwd=tmp_path))
    assert "only once" in one_line(run("check", "-", "-"))


def test_examples_come_along(tmp_path: Path, examples: Path) -> None:
    listed = json.loads(run("example", "--json").stdout)
    assert {row["name"] for row in listed} == {path.stem for path in examples.glob("*.json")}
    assert "armida-snapshot" in run("example").stdout
    assert run("example", "armida", "-o", tmp_path / "x.json").returncode == 0
    assert (tmp_path / "x.json").read_bytes() == (examples / "armida.json").read_bytes()
    assert run("example", "armida").stdout == (examples / "armida.json").read_text()


def test_the_wheel_takes_the_examples() -> None:
    import tomllib

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    taken = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert taken == {"instances": "optsched/examples", "benchmarks/library": "optsched/library"}
    assert (Path(optsched.__file__).parent / "examples") == import_module("optsched.cli.example").FOLDERS[0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["solve", "{geo}", "-o", "/proc/foo.json"], "/proc/foo.json: cannot be written"),
        (["generate", "osdec", "-o", "/proc/foo.json"], "/proc/foo.json: cannot be written"),
        (["generate", "osdec", "-o", "mine.json"], "mine.json: exists and is not an instance file"),
        (["import", "signals", "{geo}", "x.csv", "-o", "{geo}"], "is a file that is read here"),
        (["import", "csv", "jobs.csv", "--to", "deferrable", "-o", "jobs.csv"], "an instance file ends in"),
        (["export", "{geo}", "/proc/foo.lp"], "/proc/foo.lp: cannot be written"),
        (["train", "vcc-ppo", "-o", "/proc/foo.npz"], "/proc/foo.npz: cannot be written"),
        (["solve", "{geo}", "-o", "mine.json"], "mine.json: exists and is not a result file"),
        (["solve", "{geo}", "-o", "link.json"], "is a file that is read here; give the result another name"),
        (["solve", "{geo}", "-o", "hard.json"], "is a file that is read here; give the result another name"),
    ],
)
def test_outputs_are_tried_first(examples: Path, tmp_path: Path, words: list[str], message: str) -> None:
    (tmp_path / "mine.json").write_text('{"mine": true}')
    geo = tmp_path / "geo.json"
    geo.write_bytes((examples / "geo-small.json").read_bytes())
    (tmp_path / "link.json").symlink_to(geo)
    (tmp_path / "hard.json").hardlink_to(geo)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert message in one_line(run(*(word.replace("{geo}", str(geo)) for word in words), cwd=tmp_path))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_nothing_known_is_said(tmp_path: Path) -> None:
    made = run("generate", "andreas-1", "-o", tmp_path / "x.json")
    pattern = r"note: only 1 of the 100 jobs is known at now = 0 s.*--all-submitted.*optsched replay"
    assert re.search(pattern, made.stderr)
    for verb in ("validate", "solve"):
        done = run(verb, tmp_path / "x.json")
        assert re.search(pattern, done.stderr), done.stderr
    planned = run("solve", tmp_path / "x.json", "--method", "offline-plan", "--option", "generations=0")
    assert "note:" not in planned.stderr
    assert re.search(r"jobs run +100 of 100", planned.stdout)
    assert "note:" not in run("generate", "andreas-1", "--all-submitted", "-o", tmp_path / "y.json").stderr


def test_every_verb_has_json(examples: Path, tmp_path: Path) -> None:
    geo, result = examples / "geo-small.json", tmp_path / "r.json"
    assert run("solve", geo, "-q", "--method", "decomposition", "-o", result).returncode == 0
    (tmp_path / "p.toml").write_text('methods = ["greedy"]\n[[instances]]\nrecipe = "generate osdec --jobs 5"\n')
    small = [tmp_path / f"v{seed}.json" for seed in (1, 2)]
    for seed, file in enumerate(small):
        assert run("generate", "vcc", "--jobs", 20, "--days", 1, "--load", 0.2, "--seed", seed, "-o", file).returncode == 0
    commands: dict[str, list[object]] = {
        "bench": ["example-geo-small"],
        "compare": [geo, "--methods", "greedy"],
        "sweep": [tmp_path / "p.toml", "--workers", "1"],
        "tune": ["constant", "--train", small[0], "--test", small[1], "--trials", "2"],
        "check": [geo, result],
        "completion": ["zsh"],
        "events": [geo],
        "example": [],
        "export": [geo, tmp_path / "x.lp"],
        "generate": ["osdec", "-o", tmp_path / "x.json"],
        "import": ["signals", geo, tmp_path / "s.csv", "-o", tmp_path / "y.json"],
        "methods": [],
        "pareto": [examples / "deferrable-small.json", "--points", "3"],
        "plot": [result, "-o", tmp_path / "x.svg"],
        "prices": [result],
        "report": [result, "-o", tmp_path / "x.html"],
        "replay": [geo, "--policy", "local-fcfs", "--no-bound"],
        "schema": ["geo"],
        "solve": [geo],
        "validate": [geo],
        "versions": [],
    }
    hours = [
        f"2022-01-01 {hour:02}:00,{zone},50,{100 + hour}"
        for hour in range(24)
        for zone in ("AU-SA", "AU-WA", "CA-ON", "PL", "SG")
    ]
    (tmp_path / "s.csv").write_text("\n".join(["datetime,region,price,carbon", *hours]) + "\n")
    for verb, words in commands.items():
        done = run(verb, *words, "--json")
        assert done.returncode == 0, (verb, done.stderr)
        assert json.loads(done.stdout), verb
    assert set(VERBS) == {*commands, "train"}
    assert "--json" in run("train", "vcc-ppo", "--help").stdout


def test_a_method_of_ones_own(examples: Path, tmp_path: Path) -> None:
    (tmp_path / "mymodule.py").write_text(
        "from optsched.schedules.deferrable import DeferrableSchedule\n\n"
        "def nothing(instance, seed=0):\n    return DeferrableSchedule(starts=())\n"
    )
    done = run("solve", examples / "deferrable-small.json", "--method", "mymodule:nothing", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "0 of 12" in done.stdout
    assert "none proven: --method auto looks for one" in done.stdout
    refused = run("solve", examples / "deferrable-small.json", "--method", "mymodule:something", cwd=tmp_path)
    assert "has no 'something'" in one_line(refused)


def test_methods_tell_their_options() -> None:
    found = {row["name"]: row for row in json.loads(run("methods", "--json").stdout)["methods"]}
    assert found["randomized-greedy"]["options"]["allocation"]["iterations"] == 1000
    assert "--option iterations=1000" in run("methods", "randomized-greedy").stdout


def test_completion_of_shells(tmp_path: Path) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert "_OPTSCHED_COMPLETE" in run("completion", shell).stdout
    program = f"COMP_WORDS='optsched so' COMP_CWORD=1 _OPTSCHED_COMPLETE=bash_complete {sys.executable} -m optsched"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["plain,solve"]
