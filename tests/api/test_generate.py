"""Scenarios in Python are those of the command line."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import optsched
from optsched.origins import origins


@pytest.mark.parametrize("scenario", [name for of in origins().values() for name in of.scenarios])
def test_python_and_the_command_line_generate_the_same(scenario: str) -> None:
    """With the defaults of both, which are told in two places: in the generator and in what the command asks for."""
    done = subprocess.run(
        [sys.executable, "-m", "optsched", "generate", scenario, "--seed", "3"], capture_output=True, check=True
    )
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
