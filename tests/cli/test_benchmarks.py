"""Benchmarks and notebooks leave the clone as it was, and the peer of the build benchmark is given the same model."""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_build_benchmark_compares_the_same_model() -> None:
    pytest.importorskip("linopy")
    found = []
    for who in ("ours", "linopy"):
        command = [sys.executable, ROOT / "benchmarks" / "build.py", "--only", who, "--binaries", "3000"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found.append(json.loads(done.stdout.splitlines()[-1]))
    ours, peer = found  # linopy has columns for idle slots too, so they differ in number
    assert ours["lp"] == pytest.approx(peer["lp"], rel=1e-6)


def test_the_peer_is_pinned_and_the_environment_has_an_extra_of_its_own() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert any(requirement.startswith("linopy==") for requirement in extras["dev"])
    assert [requirement.split(">=")[0] for requirement in extras["env"]] == ["gymnasium", "pettingzoo"]


@pytest.mark.parametrize("script", ["benchmarks/scale.py", "notebooks/run.py"])
def test_what_they_write_is_ignored_by_git(script: str) -> None:
    text = (ROOT / script).read_text()
    assert '"out"' in text
    ignored = subprocess.run(["git", "check-ignore", "-q", "out/x"], cwd=ROOT, check=False)
    assert ignored.returncode == 0
    assert "--inplace" not in (ROOT / "Makefile").read_text()


@pytest.mark.parametrize("script", sorted((ROOT / "benchmarks").glob("*.py")), ids=lambda path: path.stem)
def test_what_benchmarks_import_is_there(script: Path) -> None:
    for node in ast.walk(ast.parse(script.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("optsched"):
            module = importlib.import_module(str(node.module))
            assert [name.name for name in node.names if not hasattr(module, name.name)] == []
