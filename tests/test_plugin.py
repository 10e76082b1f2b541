"""A distribution that adds a family, a method, a backend, a policy and an importer, through the command line.

`make plugin` installs it into an environment of its own and runs this there (OPTSCHED_PLUGIN_PYTHON); the slow tests put its
entry points on the path.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = [] if os.environ.get("OPTSCHED_PLUGIN_PYTHON") else [pytest.mark.slow]
ROOT = Path(__file__).parents[1]
PLUGIN = ROOT / "tests" / "plugin"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], dict[str, str]]:
    """An interpreter with the plug-in, and its environment."""
    installed = os.environ.get("OPTSCHED_PLUGIN_PYTHON")
    if installed:
        return [installed], {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text())["project"]
    site = tmp_path_factory.mktemp("site")
    made = site / "optsched_knapsack-1.0.dist-info"
    made.mkdir()
    (made / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    lines = [
        f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in named.items()) for group, named in project["entry-points"].items()
    ]
    (made / "entry_points.txt").write_text("\n".join(lines))
    return [sys.executable], os.environ | {"PYTHONPATH": os.pathsep.join([str(site), str(PLUGIN), str(ROOT)])}


@pytest.fixture
def optsched(python: tuple[list[str], dict[str, str]], tmp_path: Path):  # type: ignore[no-untyped-def]
    def run(*words: str, code: int = 0) -> str:
        command, environment = python
        done = subprocess.run(
            [*command, "-m", "optsched", *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    return run


@pytest.fixture
def machine(optsched, tmp_path: Path) -> str:  # type: ignore[no-untyped-def]
    """Jobs of 4, 4 and 3 GPUs on 7, worth 5, 4.9 and 3: the best are the first and the last, by the plug-in's importer."""
    (tmp_path / "jobs.csv").write_text("id,gpus,value\na,4,5\nb,4,4.9\nc,3,3\n")
    optsched("import", "knapsack-csv", "jobs.csv", "--gpus", "7", "-o", "k.json")
    return "k.json"


def test_the_page_shows_the_family() -> None:
    page = (ROOT / "docs" / "extending.md").read_text()
    assert (PLUGIN / "knapsack.py").read_text() in re.findall(r"```python\n(.*?)```", page, re.DOTALL)


def test_family(optsched, machine: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    assert "ok" in optsched("validate", machine)
    for how in ([], ["--method", "exact"], ["--backend", "enumeration"], ["--backend", "extras:Enumeration"]):
        result = json.loads(optsched("solve", machine, "--json", *how).splitlines()[0])
        assert (result["objective"], result["bound"], result["solution"]) == (8, 8, "optimal"), how
    optsched("solve", machine, "-o", "k.result.json")
    assert "ok: every rule holds" in optsched("check", machine, "k.result.json")
    assert "knapsack has no replay" in optsched("replay", machine, code=2)
    assert "binaries" in optsched("methods")
    for row, said in (("a,x,5", "raised ValueError: invalid literal"), ("a", "raised TypeError")):
        (tmp_path / "bad.csv").write_text(f"id,gpus,value\n{row}\n")
        told = optsched("import", "knapsack-csv", "bad.csv", "--gpus", "7", "-o", "b.json", code=2)
        assert f"error: importer knapsack-csv {said}" in told
    optsched("generate", "knapsack-random", "--jobs", "8", "--seed", "3", "-o", "r.json")
    assert "ok: every rule holds" in optsched("solve", "r.json", "-o", "r.result.json") + optsched(
        "check", "r.json", "r.result.json"
    )


def test_method_and_policy(optsched) -> None:  # type: ignore[no-untyped-def]
    optsched("generate", "osdec", "--jobs", "40", "--horizon", "48", "-o", "x.json")
    best = json.loads(optsched("solve", "x.json", "--json").splitlines()[0])
    for name in ("longest-first", "extras:longest_first"):
        result = json.loads(optsched("solve", "x.json", "--method", name, "--json").splitlines()[0])
        assert 0 < result["objective"] <= best["bound"] * (1 + 1e-9)
        assert (result["termination"], result["bound"]) == ("completed", None)
    less = json.loads(
        optsched("solve", "x.json", "--method", "longest-first", "--option", "share=0.5", "--json").splitlines()[0]
    )
    assert less["objective"] < result["objective"]
    for name in ("largest-now", "extras:LargestNow"):
        assert name in optsched("replay", "x.json", "--policy", name, "--on-failure", "raise")
    assert "longest-first" in optsched("methods", "--json")


def test_what_is_no_plug_in_is_one_line(optsched, machine: str) -> None:  # type: ignore[no-untyped-def]
    for how, said in (
        (["--method", "extras:Nobody"], "extras has no 'Nobody'"),
        (["--method", "nowhere:x"], "no module 'nowhere'"),
        (["--backend", "extras:longest_first"], "is no backend: it lacks name"),
        (["--backend", "enumerate"], "no backend 'enumerate'"),
    ):
        told = optsched("solve", machine, *how, code=2)
        assert said in told
        assert len([line for line in told.splitlines() if line.startswith("error: ")]) == 1
        assert "Traceback" not in told
