"""The documents say what the code is: names of formulations, links, commands, errata, files."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import shlex
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import pyomo.environ as pyo
import pytest

import optsched.models
from optsched.cli import cli
from optsched.instances import Instance
from optsched.models.base import Model
from tests.oracle import tiny

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
FAMILIES = list(tiny.EVERY)
SEEDS = 16  # both readings, both settings, hard and soft capacity are among them
PLACEHOLDER = re.compile(r"^[A-Z][A-Z_]*$|^\.\.\.$|^\[.*\]$")


def label(page: Path) -> str:
    return str(page.relative_to(ROOT))


# formulations ------------------------------------------------------------------------------------------------------------


@cache
def made(family: str) -> list[Instance]:
    return [tiny.EVERY[family](seed) for seed in range(SEEDS)]


def models(family: str) -> Iterator[type[Model[Any, Any]]]:
    """Every concrete formulation in the family's modules, also those that only a policy or a relaxation uses."""
    for module in pkgutil.walk_packages(optsched.models.__path__, "optsched.models."):
        if module.name.split(".")[2] == family:
            for _, found in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
                if issubclass(found, Model) and found.__module__ == module.name and not inspect.isabstract(found):
                    yield found


def components(family: str) -> dict[str, set[str]]:
    """Names of the variables, rows and objectives of each formulation, by its name."""
    found: dict[str, set[str]] = defaultdict(set)
    for model in models(family):
        for instance in made(family):
            if model.refuses(instance) is None:
                built = model.of(instance).pyomo
                for kind in (pyo.Var, pyo.Constraint, pyo.Objective):
                    found[model.name] |= {component.name for component in built.component_objects(kind)}
    return found


def tables(text: str) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Header and rows of every table."""
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        head, _, *rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in block.splitlines()]
        yield head, rows


def described(family: str) -> dict[str, set[str]]:
    """The same names as the family's page has them, in its columns `name in the code`."""
    found: dict[str, set[str]] = defaultdict(set)
    page = (DOCS / "formulations" / f"{family}.md").read_text()
    for section in re.split(r"^## Formulation ", page, flags=re.MULTILINE)[1:]:
        name, body = re.match(r"`([\w-]+)`", section), section.split("\n## ")[0]
        assert name, section[:40]
        for head, rows in tables(body):
            assert "name in the code" in head, head
            for row in rows:
                assert len(row) == len(head), row
                cell = row[head.index("name in the code")]
                names = re.findall(r"`(\w+)`", cell)
                assert names, row
                found[name[1]].add(names[0])
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_formulations_are_described_by_the_names_in_the_code(family: str) -> None:
    assert described(family) == components(family)
    assert set(optsched.models.formulations(family)) <= set(described(family))


@pytest.mark.parametrize("family", FAMILIES)
def test_equations_are_numbered(family: str) -> None:
    page = (DOCS / "formulations" / f"{family}.md").read_text()
    numbers = re.findall(r"^\| \(([A-Z])(\d+)\) \|", page, re.MULTILINE)
    assert len({letter for letter, _ in numbers}) == 1
    assert [int(number) for _, number in numbers] == list(range(1, len(numbers) + 1))
    mentioned = {int(number) for number in re.findall(rf"\({numbers[0][0]}(\d+)\)", page)}
    assert max(mentioned) == len(numbers)


# links, files and tests --------------------------------------------------------------------------------------------------


def prose(page: Path) -> str:
    """The page without its code blocks."""
    return re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


@cache
def anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    heads = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.strip().lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=label)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"https?://", target):
            continue
        path, _, anchor = target.partition("#")
        to = (page.parent / path).resolve() if path else page
        assert to.exists(), target
        if anchor:
            assert anchor in anchors(to), target


@pytest.mark.parametrize("page", PAGES, ids=label)
def test_files_that_are_named_exist(page: Path) -> None:
    names = re.findall(r"`([\w./-]+\.(?:py|toml|json|ipynb))`", page.read_text())
    for name in {*names, *re.findall(r"python (benchmarks/\w+\.py)", page.read_text())}:
        if name.startswith(("optsched/", "tests/", "benchmarks/", "notebooks/", "instances/", "docs/")):
            assert (ROOT / name).exists(), name
        elif name.endswith(".py") and "<" not in name:
            assert any(str(path).endswith(f"/{name}") for path in (ROOT / "optsched").rglob("*.py")), name


def test_pages_that_the_code_names_exist() -> None:
    named = {
        (page, path) for path in (ROOT / "optsched").rglob("*.py") for page in re.findall(r"[\w/]+\.md\b", path.read_text())
    }
    assert len({page for page, _ in named}) >= 5
    assert [(page, label(path)) for page, path in sorted(named) if not (ROOT / page).is_file()] == []


@pytest.mark.parametrize("page", PAGES, ids=label)
def test_tests_that_are_named_exist(page: Path) -> None:
    for file, test in re.findall(r"(tests/[\w/]+\.py)::(\w+)", page.read_text()):
        tree = ast.parse((ROOT / file).read_text())
        assert test in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, f"{file}::{test}"


def test_every_erratum_has_its_test() -> None:
    sections = re.split(r"^### ", (DOCS / "errata.md").read_text(), flags=re.MULTILINE)[1:]
    assert len(sections) >= 20
    for section in sections:
        for part in ("*Printed:*", "*Read:*", "*Test:*"):
            assert part in section, section
        assert re.search(r"tests/[\w/]+\.py::\w+", section), section


def test_the_glossary_is_in_order() -> None:
    terms = re.findall(r"^\*\*(.+?)\*\*", (DOCS / "glossary.md").read_text(), re.MULTILINE)
    assert len(terms) >= 40
    assert terms == sorted(terms, key=str.lower)


def test_whoever_is_cited_is_in_the_bibliography() -> None:
    text = (DOCS / "bibliography.md").read_text()
    for path in [*PAGES, *(ROOT / "optsched").rglob("*.py")]:
        for first in re.findall(r"(\w+)(?: et al\.| and \w+,? \(?\d{4})", path.read_text()):
            assert first in text, f"{path}: {first}"
    for shown, doi in re.findall(r"\[(10\.[^\]]+)\]\(https://doi\.org/([^)]+)\)", text):
        assert shown == doi


# commands ----------------------------------------------------------------------------------------------------------------


def commands(page: Path) -> Iterator[tuple[str, bool]]:
    """Every `optsched ...` of a page, and whether it is to be typed as it is (not in running text)."""
    text = page.read_text()
    for line in text.splitlines():
        if re.match(r"(    |\$ )?(\S+=\S+ )?optsched ", line):
            yield line.strip().removeprefix("$ "), True
    for code in re.findall(r"`(optsched [^`]+)`", text):
        yield code, False


def verb(words: list[str]) -> tuple[click.Command, click.Context, list[str]]:
    """The command that the words name, and the words that are left for it."""
    command: click.Command = cli
    context = click.Context(cli, info_name="optsched")
    while isinstance(command, click.Group) and words and not PLACEHOLDER.match(words[0]):
        found = command.get_command(context, words[0])
        assert found is not None, f"no verb {words[0]!r}"
        command, words = found, words[1:]
        context = click.Context(command, parent=context, info_name=command.name)
    return command, context, words


def parses(line: str, whole: bool) -> None:
    """Whether a line's commands have real verbs and options, and values that their options take."""
    for part in re.split(r"\s(?:&&|\||;)\s", line):
        words = shlex.split(part, comments=True)
        if "optsched" not in words[:2]:
            continue
        command, context, left = verb(words[words.index("optsched") + 1 :])
        if isinstance(command, click.Group):
            assert not whole or left, line
            continue
        given, _, _ = command.make_parser(context).parse_args([word for word in left if word != "..."])
        for param in command.params:
            value = given.get(param.name)
            for one in value if isinstance(value, (list, tuple)) else [value]:
                if isinstance(one, str) and not isinstance(param.type, click.Path) and not PLACEHOLDER.match(one):
                    param.type.convert(one, param, context)
            assert not (whole and param.required and param.name not in given), f"{line}: {param.name} is missing"


@pytest.mark.parametrize("page", PAGES, ids=label)
def test_commands_are_real(page: Path) -> None:
    for line, whole in commands(page):
        try:
            parses(line, whole)
        except click.ClickException as error:
            pytest.fail(f"{line}: {error.format_message()}")


@pytest.mark.parametrize(
    "line", ["optsched sovle x.json", "optsched solve x.json --gpa 0.1", "optsched check x.json --seed much"]
)
def test_commands_that_are_not_real_are_noticed(line: str) -> None:
    with pytest.raises((AssertionError, click.ClickException)):
        parses(line, True)


def test_a_result_that_a_page_checks_is_written_before() -> None:
    commands = [line.split("#")[0].split() for line in (DOCS / "extending.md").read_text().splitlines()]
    checked = [words[3] for words in commands if words[:2] == ["optsched", "check"]]
    written = {words[words.index("-o") + 1] for words in commands if words[:2] == ["optsched", "solve"] and "-o" in words}
    assert checked
    assert set(checked) <= written
