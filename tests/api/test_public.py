"""The public names: all there, documented one parameter a line, and loaded only when they are asked for."""

from __future__ import annotations

import doctest
import inspect
import logging
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import optsched
from optsched import geo
from optsched.errors import OptschedError
from optsched.stop import Spare

HEAVY = ["numpy", "pandas", "pydantic", "matplotlib", "pyomo", "networkx", "ortools", "highspy", "rich"]


def documented() -> Iterator[Any]:
    """Every public function and class, and the methods of the latter that are ours."""
    for name in optsched.__all__:
        found = getattr(optsched, name)
        members = [getattr(found, each) for each in found.__all__] if inspect.ismodule(found) else [found]
        for member in members:
            yield pytest.param(member, id=f"{name}.{member.__name__}" if inspect.ismodule(found) else name)
            for each, method in vars(member).items() if inspect.isclass(member) else ():
                function = getattr(method, "__func__", method)
                if not each.startswith("_") and inspect.isfunction(function):
                    yield pytest.param(function, id=f"{name}.{member.__name__}.{each}")


def section(text: str, title: str) -> list[str] | None:
    """Names in a section of a numpydoc docstring, or None where it has no such section."""
    lines = inspect.cleandoc(text).splitlines()
    if title not in lines:
        return None
    at = lines.index(title)
    assert lines[at + 1] == "-" * len(title)
    names: list[str] = []
    for line in lines[at + 2 :]:
        if re.fullmatch(r"-+", line):
            names.pop()
            break
        if line and not line.startswith(" "):
            names += [name.strip().lstrip("*") for name in line.split(" : ")[0].split(",")]
    return names


@pytest.mark.parametrize("member", list(documented()))
def test_every_parameter_is_documented_and_no_other(member: Any) -> None:
    text = member.__doc__
    assert text
    assert not re.search(r"^ *\w+ : ", text, re.MULTILINE), "a type beside a name: annotations say it"
    if inspect.isclass(member):
        return
    taken = [name for name in inspect.signature(member).parameters if name not in ("self", "cls")]
    told = section(text, "Parameters")
    if told is not None or len(taken) > 1:
        assert sorted(told or []) == sorted(taken)
    assert section(text, "Raises") != []


@pytest.mark.parametrize("face", optsched.FACES)
def test_every_field_of_what_is_given_is_documented_and_no_other(face: str) -> None:
    module = getattr(optsched, face)
    kinds = [getattr(module, name) for name in module.__all__]
    given = [kind for kind in kinds if kind.__module__ == f"optsched.instances.{face}"]
    assert len(given) > 1
    for kind in given:
        common = set(optsched.Instance.model_fields) if issubclass(kind, optsched.Instance) else set()
        assert sorted(section(kind.__doc__, "Attributes") or []) == sorted(set(kind.model_fields) - common), kind


def test_every_export_is_there_and_listed() -> None:
    assert sorted(optsched.__all__) == optsched.__all__
    assert set(optsched.__all__) <= set(dir(optsched))
    assert set(optsched.PLACES) | set(optsched.FACES) | {"compare", "replay", "solve"} == set(optsched.__all__)
    with pytest.raises(AttributeError, match="no attribute 'solv'"):
        _ = optsched.solv


def test_import_loads_nothing_heavy() -> None:
    code = "import sys, optsched; print([name for name in sys.argv[1:] if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code, *HEAVY], capture_output=True, text=True, check=True).stdout
    assert loaded == "[]\n"


def test_judging_and_building_load_no_solver_and_no_pandas(examples: Path) -> None:
    code = (
        "import sys, optsched; i = optsched.load(sys.argv[1]); optsched.check(i, {'starts': []}); optsched.geo.Model\n"
        "print([name for name in sys.argv[2:] if name in sys.modules])"
    )
    words = [
        sys.executable,
        "-c",
        code,
        str(examples / "geo-small.json"),
        "pandas",
        "pyomo",
        "matplotlib",
        "ortools",
        "highspy",
    ]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "[]\n"


def test_what_there_is_to_ask_for(examples: Path) -> None:
    instance = optsched.load(examples / "geo-small.json")
    names = [info.name for info in optsched.methods(instance)]
    assert {"exact", "auto", "decomposition", "greedy"} <= set(names)
    assert "randomized-greedy" not in names
    assert "randomized-greedy" in [info.name for info in optsched.methods()]
    assert optsched.solve(instance, "greedy").method == "greedy"
    assert [info.name for info in optsched.methods("geo")] == names  # importing the module of that name hides nothing
    assert {"rolling", "local-fcfs", "rolling:exact"} <= set(optsched.policies("geo"))
    assert optsched.backends()["highs"] is None
    for ask in (optsched.methods, optsched.policies):
        with pytest.raises(OptschedError, match="there is no family 'weather', there are: allocation"):
            ask("weather")


def test_display_shows_rows_on_standard_error_and_leaves_no_trace(examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    instance = optsched.load(examples / "geo-small.json")
    seen: list[object] = []
    result = optsched.solve(instance, "exact", display=True, progress=seen.append)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].split() == ["seconds", "objective", "USD", "bound", "gap"]
    assert lines[-1] == repr(result)
    assert len(lines) > 2
    assert seen
    optsched.replay(instance, "local-fcfs", display=True)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].split() == ["hours", "waiting", "left", "event"]
    assert "replay:local-fcfs" in lines[-1]
    optsched.solve(instance, "greedy")
    assert capsys.readouterr() == ("", "")
    assert [type(handler) for handler in logging.getLogger("optsched").handlers] == [logging.NullHandler]


def test_results_are_logged(examples: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="optsched"):
        result = optsched.solve(optsched.load(examples / "geo-small.json"), "greedy")
    assert [(record.name, record.getMessage()) for record in caplog.records] == [("optsched", repr(result))]


def test_a_method_of_ones_own_gets_what_it_takes(examples: Path) -> None:
    instance = geo.Instance.load(examples / "geo-small.json")
    greedy = optsched.solve(instance, "greedy").best
    got: list[object] = []

    def seeded(instance: geo.Instance, seed: int) -> geo.Schedule:
        got.append(seed)
        return greedy

    def limited(instance: geo.Instance, *, spare: Spare | None) -> geo.Schedule:
        got.append(None if spare is None else 0 < spare.left_s() <= 30)
        return greedy

    class Whole:
        def __call__(
            self,
            instance: geo.Instance,
            *,
            stop: optsched.Stop | None = None,
            seed: int = 0,
            start: optsched.Schedule | optsched.Result | None = None,
            progress: Callable[[optsched.Progress], None] | None = None,
        ) -> optsched.Result:
            got.extend([stop, seed, start])
            return optsched.certify(instance, greedy)

    assert optsched.solve(instance, seeded, seed=7).seed == 7
    assert optsched.solve(instance, limited, time_limit=30).best == greedy
    assert optsched.solve(instance, Whole(), seed=3, gap=0.1, start=greedy).method == "given"
    assert got == [7, True, optsched.Stop(gap=0.1), 3, greedy]

    def optional(instance: geo.Instance, most: int = 3) -> geo.Schedule:
        return geo.Schedule(starts=greedy.starts[:most])

    few = optsched.solve(instance, optional, options={"most": 2})
    assert (len(few.best.starts), few.options["most"]) == (2, 2)
    for own, takes in ((optional, r"most \(3\)"), (seeded, "none"), (Whole(), "none")):
        with pytest.raises(OptschedError, match=rf"has no option 'many', it has: {takes}$"):
            optsched.solve(instance, own, options={"many": 2})
    empty = geo.Schedule(starts=())
    assert optsched.solve(instance, lambda instance: empty, start=greedy).best == greedy  # the better of the two


def test_limits_as_an_object(examples: Path) -> None:
    instance = optsched.load(examples / "geo-small.json")
    result = optsched.solve(instance, "exact", time_limit=50, stop=optsched.Stop(seconds=20, gap=0.5))
    assert (result.options["time_limit"], result.options["gap"]) == (20, 0.5)
    for name, given in (("seconds", "10s"), ("gap", "1%"), ("iterations", "3")):
        with pytest.raises(OptschedError, match=f"^{name} of a Stop must be a number, got '{given}'; text goes to `solve`"):
            optsched.Stop(**{name: given})  # type: ignore[arg-type]


def test_limits_as_typed(examples: Path) -> None:
    instance = optsched.load(examples / "geo-small.json")
    result = optsched.solve(instance, "exact", time_limit="1m30s", gap="1%", seed=np.int64(3))  # type: ignore[arg-type]
    assert (result.options["time_limit"], result.options["gap"], result.seed) == (90, 0.01, 3)
    assert optsched.replay(instance, "rolling:greedy", window_s="1h", period_s="10m").options["window_s"] == 3600
    assert len(optsched.compare(instance, ["greedy"], time_limit="10s")) == 1
    for given, said in (
        ({"time_limit": "10x"}, "'10x' is no duration: write seconds, or 90s, 5m, 1h, 1h30m"),
        ({"time_limit": [3]}, r"\[3\] is no duration"),
        ({"time_limit": "0s"}, "time limit must be a positive number of seconds, got 0"),
        ({"gap": "5"}, "5 would be 500 %: write 5% or 0.05 for 5 per cent"),
        ({"gap": "small"}, "'small' is no gap"),
        ({"gap": -0.5}, "gap must be a number from 0 on"),
        ({"seed": "a"}, "a seed is a whole number from 0 on, got 'a'"),
        ({"seed": 1.5}, "a seed is a whole number from 0 on, got 1.5"),
        ({"seed": -1}, "a seed is a whole number from 0 on, got -1"),
        ({"options": "x"}, "options are a dict of values by name, got 'x'"),
    ):
        with pytest.raises(OptschedError, match=f"^{said}"):
            optsched.solve(instance, "greedy", **given)
    for act in (lambda: optsched.replay(instance, "local-fcfs", seed="a"), lambda: optsched.compare(instance, seed="a")):  # type: ignore[arg-type]
        with pytest.raises(OptschedError, match="a seed is a whole number"):
            act()


def test_a_quick_bound_of_a_replay(examples: Path) -> None:
    instance = optsched.load(examples / "geo-small.json")
    free, quick = optsched.replay(instance, "local-fcfs"), optsched.replay(instance, "local-fcfs", bound="quick")
    assert (free.bound, free.gap) == (None, None)
    assert quick.bound is not None
    assert quick.bound >= 2.895066059  # the optimum, of a maximisation
    with pytest.raises(OptschedError, match="a bound is a number, a result, 'quick' or None, got 'slow'"):
        optsched.replay(instance, "local-fcfs", bound="slow")  # type: ignore[arg-type]
    for seeds in ([0], [0, 1]):  # a busy machine may find a looser one
        bounds = optsched.compare(instance, policies="local-fcfs", seeds=seeds, bound="quick")["bound"]
        assert len(bounds) == len(seeds)
        assert bounds.nunique() == 1
        assert bounds[0] >= 2.895066059
    with pytest.raises(OptschedError, match="a bound is a number, a result, 'quick' or None, got 'slow'"):
        optsched.compare(instance, policies="local-fcfs", bound="slow")


@pytest.mark.parametrize("name", ["__init__", "judging", "result"])
def test_examples(name: str, monkeypatch: pytest.MonkeyPatch, examples: Path) -> None:
    from importlib import import_module

    monkeypatch.chdir(examples.parent)
    found = doctest.testmod(import_module("optsched" if name == "__init__" else f"optsched.{name}"))
    assert found.failed == 0
    assert found.attempted > 1
