"""Tables as people have them, and files that are of another kind than what is expected."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import optsched
from optsched.instances.deferrable import DeferrableInstance
from tests.cli.test_cli import one_line, run
from tests.cli.test_import_csv import JOBS

WORDS = ["--to", "deferrable", "--map", "submit=Submit", "--map", "duration=Runtime_min", "--slot-s", "5m"]


def imported(tmp_path: Path, text: str, *words: object) -> tuple[DeferrableInstance, str]:
    (tmp_path / "jobs.csv").write_text(text)
    done = run("import", "csv", tmp_path / "jobs.csv", *WORDS, *words, "-o", tmp_path / "x.json")
    assert done.returncode == 0, done.stderr
    made = optsched.load(tmp_path / "x.json")
    assert isinstance(made, DeferrableInstance)
    return made, done.stderr


@pytest.mark.parametrize(("mark", "word"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars")])
def test_other_delimiters_are_detected_and_told(tmp_path: Path, mark: str, word: str) -> None:
    commas, said = imported(tmp_path, JOBS)
    assert "separated" not in said
    others, said = imported(tmp_path, JOBS.replace(",", mark))
    assert others.jobs == commas.jobs
    assert f"jobs.csv: columns are separated by {word}" in said
    broken = JOBS.replace(",", mark).replace("120", "soon")
    (tmp_path / "jobs.csv").write_text(broken)
    assert f"{tmp_path / 'jobs.csv'}: line 3, Runtime_min" in run("import", "csv", tmp_path / "jobs.csv", *WORDS).stderr


@pytest.mark.parametrize(
    ("name", "ids"),
    [("JobID", ["a", "b", "c"]), ("job_id", ["a", "b", "c"]), ("ID", ["a", "b", "c"]), ("User", ["line2", "line3", "line4"])],
)
def test_ids_are_those_of_the_column_named_so(tmp_path: Path, name: str, ids: list[str]) -> None:
    made, said = imported(tmp_path, JOBS.replace("JobID", name))
    assert [job.id for job in made.jobs] == ids
    assert (f"id is column {name}." in said) == (name != "User")


def test_ids_that_are_not_unique_are_none(tmp_path: Path) -> None:
    made, said = imported(tmp_path, JOBS.replace("\nb,", "\na,"))
    assert len({job.id for job in made.jobs}) == 3
    assert "id is its line" in said
    chosen, _ = imported(tmp_path, JOBS, "--map", "id=Where", "--skip-bad")
    assert {job.id for job in chosen.jobs} == {"east", "west"}


def piped(words: list[object], given: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "optsched", *map(str, words)]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False)


def test_a_table_on_standard_input(tmp_path: Path) -> None:
    made, _ = imported(tmp_path, JOBS)
    done = piped(["import", "csv", "-", *WORDS, "-o", tmp_path / "y.json"], JOBS)
    assert done.returncode == 0, done.stderr
    assert optsched.load(tmp_path / "y.json").jobs == made.jobs  # type: ignore[attr-defined]
    wrong = piped(["import", "csv", "-", *WORDS], JOBS.replace("120", "soon"))
    assert "standard input: line 3, Runtime_min" in one_line(wrong)


def test_nothing_on_standard_input_says_what_to_type() -> None:
    said = one_line(piped(["solve", "-"], ""))
    assert said.startswith("error: standard input: is empty")
    assert "optsched example armida-snapshot | optsched solve -" in said


def test_another_kind_of_file_is_called_what_it_is(examples: Path, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes((examples / "geo-small.json").read_bytes())
    assert run("solve", "x.json", "-q", "-o", "out/r.json", cwd=tmp_path).returncode == 2
    assert run("solve", "x.json", "-q", "-o", "r.json", cwd=tmp_path).returncode == 0
    for verb in (["solve"], ["validate"], ["replay"]):
        said = one_line(run(*verb, "r.json", cwd=tmp_path))
        assert said == "error: r.json: is a result, expected an instance; its instance is x.json"
    said = one_line(run("check", "x.json", "r.json", "--bound", "x.json", cwd=tmp_path))
    assert said.startswith("error: x.json: is an instance, expected a result")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    (tmp_path / "x.json").chmod(0)
    assert "x.json: cannot be read (Permission denied)" in one_line(run("solve", tmp_path / "x.json"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["solve", "nowhere.json", "--time-limit", "0"], "time limit must be a positive number of seconds"),
        (["solve", "nowhere.json", "--gap", "nan"], "gap"),
        (["replay", "nowhere.json", "--budget", "0"], "budget must be a positive number"),
        (["replay", "nowhere.json", "--forecast", "yesterdy"], "did you mean yesterday?"),
        (["replay", "{geo}", "--policy", "gredy"], "did you mean greedy"),
        (["export", "{geo}"], "give a name that ends in .mps or .lp"),
        (["export", "{geo}", "a.lp", "-o", "b.lp"], "two names for the model"),
        (
            ["import", "csv", "{csv}", "--to", "vcc", "--map", "submit=Submit", "--map", "duration=Runtime_min"],
            "--to vcc needs",
        ),
    ],
)
def test_refusals(examples: Path, tmp_path: Path, words: list[str], message: str) -> None:
    (tmp_path / "jobs.csv").write_text(JOBS)
    filled = [word.format(geo=examples / "geo-small.json", csv="jobs.csv") for word in words]
    said = one_line(run(*filled, cwd=tmp_path))
    assert message in said
    assert "no such file" not in said


def test_a_model_goes_where_the_option_says(examples: Path, tmp_path: Path) -> None:
    assert run("export", examples / "geo-small.json", "-o", tmp_path / "x.lp").returncode == 0
    assert run("export", examples / "geo-small.json", tmp_path / "y.lp").returncode == 0
    assert (tmp_path / "x.lp").read_bytes() == (tmp_path / "y.lp").read_bytes()


def test_a_method_of_ones_own_is_listed(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from optsched.instances.deferrable import DeferrableInstance\n\n"
        'def f(instance: DeferrableInstance, seed=0, tries=3):\n    """Tries a few."""\n'
    )
    shown = run("methods", "mine:f", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "mine:f: Tries a few." in shown.stdout
    assert "families: deferrable; bound: none" in shown.stdout
    assert shown.stdout.splitlines()[-1] == "options for deferrable (defaults): --option tries=3"
    assert "has no 'g'" in one_line(run("methods", "mine:g", cwd=tmp_path))
    assert "seed" not in run("methods", "randomized-greedy").stdout
    assert '"seed"' not in json.dumps(json.loads(run("methods", "--json").stdout))
