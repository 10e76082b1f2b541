"""Every table with measured figures is made anew by a run of benchmarks/reproduce.toml, or is named there with a reason."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SPEC = importlib.util.spec_from_file_location("reproduce", ROOT / "benchmarks" / "reproduce.py")
assert SPEC
assert SPEC.loader
reproduce = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(reproduce)

WORDS = tomllib.loads((ROOT / "benchmarks" / "reproduce.toml").read_text(encoding="utf-8"))
RUNS, STATIC = WORDS["runs"], WORDS["static"]
CLAIMS = [claim for run in RUNS for claim in run["claims"]]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SMALL_S = 200  # of CI, on a quiet core
WORDED = re.compile(r"`[^`]*`|\]\([^)]*\)|\*\*?")  # code, links and emphasis are no figures


def rows(page: Path) -> Iterator[tuple[str, str]]:
    """Heading and text of every row of a table that has a digit."""
    heading, place = "", 0
    for line in page.read_text(encoding="utf-8").splitlines():
        heading = line.lstrip("# ") if line.startswith("#") else heading
        place = place + 1 if line.startswith("|") else 0
        if place > 2 and re.search(r"\d", WORDED.sub("", line)):
            yield heading, reproduce.plain(line)


def named(page: Path, heading: str, row: str) -> list[int]:
    """Which entries of the static list name a row."""
    first = row.strip("| ").split(" |")[0]
    return [
        number
        for number, entry in enumerate(STATIC)
        if any(page.relative_to(ROOT).match(pattern) for pattern in entry["pages"])
        and entry.get("heading", heading) == heading
        and first in entry.get("rows", [first])
    ]


def claimed(page: Path, row: str) -> bool:
    """Whether a run makes a figure of a row anew."""
    mine = [claim for claim in CLAIMS if ROOT / claim["page"] == page]
    return any(reproduce.plain(shown) in row for claim in mine for shown in reproduce.listed(claim["shown"]))


def test_every_row_with_figures_is_made_anew_or_named() -> None:
    unheld, used = [], set()
    for page in PAGES:
        for heading, row in rows(page):
            entries = named(page, heading, row)
            used.update(entries)
            if not entries and not claimed(page, row):
                unheld.append(f"{page.name}, {heading}: {row}")
    assert not unheld, "no run in benchmarks/reproduce.toml shows\n" + "\n".join(unheld)
    stale = [entry for number, entry in enumerate(STATIC) if number not in used]
    assert not stale


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run["name"])
def test_pages_say_what_runs_show(run: dict[str, Any]) -> None:
    assert run["claims"]
    assert ("command" in run) != ("notebook" in run)
    for claim in run["claims"]:
        assert not reproduce.missing(claim)
        for pattern in reproduce.listed(claim["pattern"]):
            re.compile(pattern)
        assert bool(reproduce.figures(claim)) == bool(claim["pattern"])
        assert len(reproduce.listed(claim.get("within", 0))) in (1, len(reproduce.figures(claim)))
        for figure in reproduce.figures(claim):
            reproduce.number(figure)


@pytest.mark.parametrize("run", [run for run in RUNS if "notebook" in run], ids=lambda run: run["name"])
def test_notebooks_show_what_is_published(run: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproduce, "MADE", ROOT / "notebooks")  # as they are kept; `make reproduce` reads what was made anew
    assert not list(reproduce.faults(run, None))


def test_names_are_unique_and_times_are_stated() -> None:
    assert len({run["name"] for run in RUNS}) == len(RUNS)
    small = [run for run in RUNS if run.get("suite") != "full"]
    assert sum(run.get("seconds", 0) for run in small) <= SMALL_S
    told = re.search(r"`make reproduce FULL=1` makes all anew, (\d+) minutes", (ROOT / "docs/results.md").read_text())
    assert told
    assert sum(run.get("seconds", 0) for run in RUNS) / 60 == pytest.approx(int(told[1]), rel=0.15)


CLAIM = {
    "page": "docs/results.md",
    "shown": "| a | {1.50} | **{1,200}** [{-0.3}] |",
    "pattern": r"(?m)^a ([\d.]+) (\S+) (\S+)$",
}


@pytest.mark.parametrize(
    ("output", "within", "wrong"),
    [
        ("a 1.504 1200.4 -0.34", None, []),
        ("a 1.506 1200.4 -0.34", None, ["1.506"]),
        ("a 1.506 1203 -0.34", 0.02, ["1203"]),
        ("a 1.55 1203 -0.9", [0.1, 5.0, 0.0], ["-0.9"]),
        ("a 1.50 1,200 -0.3\na 2 3 4", None, ["6"]),
        ("", None, ["0"]),
    ],
)
def test_a_figure_is_off(output: str, within: Any, wrong: list[str]) -> None:
    claim = CLAIM if within is None else {**CLAIM, "within": within}
    found, _ = reproduce.compare(claim, output)
    assert len(found) == len(wrong)
    assert all(word in fault for word, fault in zip(wrong, found, strict=True))


def test_only_between_two_words() -> None:
    claim = {**CLAIM, "between": ["second", "third"]}
    output = "first\na 9 9 9\nsecond\na 1.5 1200 -0.3\nthird\na 9 9 9\n"
    assert reproduce.compare(claim, output) == ([], {})


def test_a_printed_figure_is_written_as_the_published_one() -> None:
    told = [
        reproduce.rounded(*pair) for pair in (("1234.56", "1,200"), ("0.96", "0.9"), ("1.006", "+1.00"), ("-2.347", "-2.3"))
    ]
    assert told == ["1,235", "1.0", "+1.01", "-2.3"]


def test_a_run_that_fails_is_told() -> None:
    run = {"name": "x", "command": "echo 1.50; exit 3", "claims": [{**CLAIM, "shown": "Two shared cores", "pattern": []}]}
    assert list(reproduce.faults(run, None)) == ["exit code 3: 1.50"]
    assert not list(reproduce.faults({**run, "exit": 3}, None))
