"""The house keeps its shape: imports go downwards without circles, families stay in their own modules, only cli/ prints."""

from __future__ import annotations

import ast
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import networkx as nx
import pytest

from optsched.errors import OptschedError
from optsched.family import Family, Heuristic
from optsched.methods import Method
from optsched.registry import families, family
from optsched.rolling.policy import Lasting, Policy
from optsched.rolling.simulator import Simulator
from optsched.stop import Stop

PACKAGE = Path(__file__).parents[1] / "optsched"
FLOORS = [  # from the ground up; families/ ties them together and is asked through the registry
    ["instances"],
    ["schedules"],
    ["problems"],
    ["heuristics", "models"],
    ["solvers"],
    ["decomposition", "rl"],
    ["rolling"],
    ["analysis"],
    ["origins"],
    ["cli"],
]
LEVEL = {name: i for i, floor in enumerate(FLOORS) for name in floor}
FILES = sorted(PACKAGE.rglob("*.py"))
TIES = ("families", "cli", "__init__", "__main__")


def unit(path: Path) -> str:
    """The room or top-level module that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    """Rooms and top-level modules that a file imports, inside functions too, but for what only a type checker reads."""
    found = set()

    def walk(node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.ImportFrom) and child.module == "optsched":
                found.update(alias.name for alias in child.names)
            elif isinstance(child, ast.ImportFrom) and (child.module or "").startswith("optsched."):
                found.add(str(child.module).split(".")[1])
            elif isinstance(child, ast.Import):
                found.update(alias.name.split(".")[1] for alias in child.names if alias.name.startswith("optsched."))
            walk(child)

    walk(ast.parse(path.read_text()))
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_down(path: Path) -> None:
    if (here := unit(path)) in LEVEL:
        above = {name for name in imports(path) if LEVEL.get(name, 0) > LEVEL[here]}
        assert not above


def test_no_circles() -> None:
    """Between rooms and top-level modules, imports inside functions counted; families/ is never imported but by name."""
    graph = nx.DiGraph()
    for path in FILES:
        if unit(path) not in TIES:
            graph.add_edges_from((unit(path), other) for other in imports(path) if other != unit(path))
    assert [c for c in nx.strongly_connected_components(graph) if len(c) > 1] == []
    assert not {a for a, b in graph.edges if b == "families"}


OPTIONAL = "stable_baselines3", "torch", "gymnasium", "pettingzoo"
LOADED = f"""
import importlib, os, pathlib, sys
import highspy, networkx, ortools.sat.python.cp_model, pandas, pydantic, pyomo.environ, rich, scipy.optimize
for room in sys.argv[1:]:
    if os.fork():
        os.wait()
        continue
    for path in sorted(pathlib.Path("optsched", room).rglob("*.py")):
        try:
            importlib.import_module(".".join(path.with_suffix("").parts))
        except ImportError as error:
            assert error.name in {OPTIONAL!r}, error
    print(*sorted({{name.split(".")[1] for name in sys.modules if name.startswith("optsched.")}}), flush=True)
    os._exit(0)
"""


def test_a_room_alone_loads_nothing_above() -> None:
    """At run time: every module of the room, in a process of its own, which shares only what is not ours."""
    rooms = [name for floor in FLOORS for name in floor]
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", LOADED, *rooms],  # of forks, where a library has threads
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) == len(rooms)
    for room, line in zip(rooms, lines, strict=True):
        loaded = set(line.split())
        assert not {name for name in loaded if LEVEL.get(name, 0) > LEVEL[room]}, room
        assert room in loaded


@pytest.mark.parametrize(
    "use",
    [
        "optsched.load(path)",
        "optsched.check(optsched.load(path), optsched.solve(optsched.load(path), 'greedy'))",
        "optsched.replay(optsched.load(path), 'local-fcfs')",
        "__import__('optsched.cli').cli.cli.main(['validate', path], standalone_mode=False)",
    ],
)
def test_pyomo_is_loaded_for_exact_models_only(use: str) -> None:
    path = str(PACKAGE.parent / "instances" / "geo-small.json")
    script = (
        f"import sys, optsched\npath = {path!r}\n{use}\nprint([m for m in ('pyomo', 'ortools', 'highspy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_no_ladders_no_prints_no_long_files(path: Path) -> None:
    text = path.read_text()
    for name in families():
        assert f'problem == "{name}"' not in text
    if "cli" not in path.parts:
        assert "print(" not in text.replace("pprint(", "")
    assert len(text.splitlines()) <= 400


MANY = {  # files that may speak of more than one of our families
    "__init__.py": "the package's face",
    "instances/generators/__init__.py": "that room's face",
    "rolling/vcc/policies.py": "which has that policy",
    "rolling/vcc/day_ahead.py": "tomorrow's curves, planned for one data centre as those of many clusters are",
}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_file_knows_one_family(path: Path) -> None:
    """By what it imports and by words that are a family's name, docstrings left out."""
    if path.relative_to(PACKAGE).as_posix() in MANY:
        return
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= {name for name in families() if node.value == name}
        elif isinstance(node, ast.ImportFrom):
            found |= set((node.module or "").split(".")) | {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {part for alias in node.names for part in alias.name.split(".")}
    assert len(found & set(families())) <= 1


def lines_of_any(path: Path) -> set[int]:
    """Lines of code, imports apart, that speak of Any."""
    nodes = ast.walk(ast.parse(path.read_text()))
    imported = {line for n in nodes if isinstance(n, ast.Import | ast.ImportFrom) for line in range(n.lineno, n.end_lineno + 1)}
    with path.open("rb") as code:
        found = {t.start[0] for t in tokenize.tokenize(code.readline) if t.type == tokenize.NAME and t.string == "Any"}
    return found - imported


def test_types_are_said(tmp_path: Path) -> None:
    (tmp_path / "some.py").write_text('from typing import (\n  Any,\n)\n\n# Any\nx: Any = "Any"\ny: list[Any]\nz: Anything\n')
    assert lines_of_any(tmp_path / "some.py") == {6, 7}
    places = Counter(unit(path) for path in FILES for _ in lines_of_any(path))
    assert places.total() < 60, places


def hints_of(kind: type) -> Iterator[tuple[str, object]]:
    """What a class and its functions are annotated with, names included that only a type checker imports."""
    module = sys.modules[kind.__module__]
    names = dict(vars(module))
    for node in ast.parse(Path(str(module.__file__)).read_text()).body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            exec(compile(ast.Module(node.body, []), "", "exec"), names)
    yield from get_type_hints(kind, names).items()
    for name, part in vars(kind).items():
        function = getattr(part, "fget", getattr(part, "__func__", part))
        if callable(function) and hasattr(function, "__code__"):
            yield from ((f"{name}: {at}", hint) for at, hint in get_type_hints(function, names).items())


def holds_any(hint: object) -> bool:
    return hint is Any or any(holds_any(part) for part in (hint if isinstance(hint, list) else get_args(hint)))


@pytest.mark.parametrize("kind", [Family, Heuristic, Method, Policy, Lasting, Simulator])
def test_what_others_implement_is_typed(kind: type) -> None:
    hints = dict(hints_of(kind))
    assert hints
    assert [place for place, hint in hints.items() if holds_any(hint)] == []


def test_any_is_found_wherever_it_hides() -> None:
    class Hiding:
        kept: dict[str, Any]

        def said(self, given: Callable[[list[Any]], int]) -> int: ...

    assert {place for place, hint in hints_of(Hiding) if holds_any(hint)} == {"kept", "said: given"}


def test_the_referee_knows_nothing_above() -> None:
    for path in [*(PACKAGE / "schedules").rglob("*.py"), *(PACKAGE / "instances").rglob("*.py")]:
        assert imports(path) <= {"instances", "schedules", "errors", "files", "interrupts"}, path


def test_families() -> None:
    assert families() == ("allocation", "day_ahead", "deferrable", "geo", "vcc")
    for name in families():
        made = family(name)
        assert isinstance(made, Family)
        assert made.name == made.instance.problem == name
        assert "greedy" in made.heuristics()
        assert made.formulations()
    with pytest.raises(OptschedError, match="no family 'weather', there are: allocation"):
        family("weather")


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
