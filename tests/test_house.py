"""The house keeps its shape: imports go downwards, families live in their own modules, only cli/ prints."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from optsched.errors import OptschedError
from optsched.rooms import families, room
from optsched.stop import Stop

PACKAGE = Path(__file__).parents[1] / "optsched"
FLOORS = ["instances", "schedules", "solvers", "models", "decomposition", "heuristics", "rl", "rolling", "analysis", "cli"]
# solvers/ reads the protocol of a model, so the two share a floor
LEVEL = {name: i for i, name in enumerate(FLOORS)} | {"solvers": FLOORS.index("models")}


def imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    found = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module}
    found |= {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    return {name.split(".")[1] for name in found if name.startswith("optsched.")}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_down(path: Path) -> None:
    here = path.relative_to(PACKAGE).parts[0]
    if here in LEVEL:
        above = {name for name in imports(path) if name in LEVEL and LEVEL[name] > LEVEL[here]}
        assert not above


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_no_ladders_no_prints_no_long_files(path: Path) -> None:
    text = path.read_text()
    for family in families():
        assert f'problem == "{family}"' not in text
    if "cli" not in path.parts:
        assert "print(" not in text.replace("pprint(", "")
    assert len(text.splitlines()) <= 400


def test_the_referee_knows_nothing_above() -> None:
    for path in [*(PACKAGE / "schedules").glob("*.py"), *(PACKAGE / "instances").rglob("*.py")]:
        assert not imports(path) & {"models", "solvers", "heuristics", "methods", "exact", "result", "cli", "analysis"}, path


def test_families() -> None:
    assert families() == ("allocation", "day_ahead", "deferrable", "geo", "vcc")
    for family in families():
        for name in ("instances", "schedules", "models", "heuristics", "analysis"):
            assert room(name, family)
    with pytest.raises(OptschedError, match="nothing in models for the family 'weather'"):
        room("models", "weather")


def test_stops_combine() -> None:
    both = Stop(seconds=5) | Stop(seconds=3, gap=0.01)
    assert (both.seconds, both.gap) == (3, 0.01)
    assert both.reason(1) is None
    assert both.reason(3) == "time_limit"
    assert both.reason(1, gap=0.005) == "gap_limit"
    assert (Stop(iterations=7) | Stop()).reason(0, iterations=7) == "iteration_limit"
    for wrong in ({"seconds": 0}, {"seconds": float("inf")}, {"gap": -1}, {"iterations": 0}):
        with pytest.raises(OptschedError):
            Stop(**wrong)  # type: ignore[arg-type]
