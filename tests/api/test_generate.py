"""Scenarios in Python are those of the command line."""

from __future__ import annotations

import json
import re

import click
import pytest
from click.testing import CliRunner

import optsched
from optsched.cli._options import asked
from optsched.instances.generators.masac import masac
from optsched.origins import Option, Origins, Scenario, scenarios
from tests.cli.test_cli import run


@pytest.mark.parametrize("scenario", scenarios())
def test_python_and_the_command_line_generate_the_same(scenario: str) -> None:
    """With the defaults of both, which are told in two places: in the generator and in what the command asks for."""
    done = run("generate", scenario, "--seed", "3")
    assert done.returncode == 0, done.stderr
    made = optsched.generate(scenario, seed=3)
    assert made == optsched.generate(scenario, seed=3)
    assert made != optsched.generate(scenario, seed=4)
    assert json.loads(done.stdout) == made.to_json()


def test_what_is_no_scenario_is_one_line() -> None:
    with pytest.raises(optsched.OptschedError, match="no scenario 'masak', did you mean masac"):
        optsched.generate("masak")
    with pytest.raises(optsched.OptschedError, match="osdec has no option 'job', did you mean jobs"):
        optsched.generate("osdec", job=3)
    with pytest.raises(optsched.OptschedError):
        optsched.generate("osdec", jobs=-1)


def test_an_option_says_its_least(monkeypatch: pytest.MonkeyPatch) -> None:
    """In Python and on the command line, for a generator that does not check."""
    option = Option("jobs", "In all.", int, 5, least=1)
    theirs = Origins({"theirs": Scenario("Any.", (option,), lambda: lambda seed, jobs: masac(jobs=abs(jobs), days=0.1))})
    monkeypatch.setattr("optsched.origins.origins", lambda: {"theirs": theirs})
    with pytest.raises(optsched.OptschedError, match=r"^jobs: is -3, expected at least 1$"):
        optsched.generate("theirs", jobs=-3)
    assert optsched.generate("theirs", jobs=1).job_count == 1
    command = asked(option)(click.command()(click.pass_context(lambda _, jobs: click.echo(jobs))))
    assert CliRunner().invoke(command, ["--jobs", "1"]).output == "1\n"  # type: ignore[arg-type]
    assert "-3 is not in the range x>=1" in CliRunner().invoke(command, ["--jobs", "-3"]).output  # type: ignore[arg-type]


def test_too_few_jobs_say_what_would_do() -> None:
    with pytest.raises(optsched.OptschedError, match=", or a load of") as refused:
        optsched.generate("vcc", days=1, jobs=10)
    load = float(re.search(r", or a load of ([\d.]+)", str(refused.value))[1])  # type: ignore[index]
    assert optsched.generate("vcc", days=1, jobs=10, load=load).job_count == 10
    with pytest.raises(optsched.OptschedError):
        optsched.generate("vcc", days=1, jobs=10, load=load + 0.1)
    enough = int(re.search(r"about (\d+) jobs", str(refused.value))[1])  # type: ignore[index]
    assert optsched.generate("vcc", days=1, jobs=enough).job_count == enough
