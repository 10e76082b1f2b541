"""The site: every page is in its navigation, it builds without a warning, it fetches nothing, and what is pasted runs."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import optsched
from tests.test_docs import DOCS, ROOT, label, prose

yaml = pytest.importorskip("yaml")

QUICKSTARTS = sorted((DOCS / "quickstarts").glob("[a-z]*.md"))
REFERENCE = sorted((DOCS / "reference").glob("*.md"))


class Loader(yaml.SafeLoader):
    """Of a file that names Python objects, which are left alone."""


Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: None)


def config() -> dict[str, Any]:
    return yaml.load((ROOT / "mkdocs.yml").read_text(), Loader)


def pages_of(nav: object) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    return [page for part in (nav.values() if isinstance(nav, dict) else nav) for page in pages_of(part)]  # type: ignore[attr-defined]


def pasted(page: Path) -> str:
    return "\n".join(line[4:] for line in prose(page).splitlines() if line.startswith("    "))


# pages -------------------------------------------------------------------------------------------------------------------


def test_every_page_is_in_the_navigation_once() -> None:
    assert sorted(pages_of(config()["nav"])) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


def test_the_site_warns_of_whatever_leads_nowhere() -> None:
    validation = config()["validation"]
    assert config()["strict"] is True
    assert {*validation["nav"].values(), *validation["links"].values()} == {"warn"}


def test_the_reference_has_all_that_is_public() -> None:
    shown = {name for page in REFERENCE for name in re.findall(r"^::: (\S+)$", page.read_text(), re.MULTILINE)}
    places = {"methods": "listing.methods"}  # optsched.methods is a module too
    assert {f"optsched.{places.get(name, name)}" for name in optsched.__all__} <= shown
    listed = set(re.findall(r"`(\w+)`", (DOCS / "reference" / "README.md").read_text()))
    assert {name for name in optsched.__all__ if not (ROOT / "optsched" / f"{name}.py").exists()} <= listed


def test_extending_tells_of_every_entry_point() -> None:
    text = (DOCS / "extending.md").read_text()
    heads = re.findall(r"^## (.*)$", text, re.MULTILINE)
    for kind in re.findall(r"^\| `optsched\.(\w+)`", text, re.MULTILINE):
        assert any(re.sub("s$", "", re.sub("ies$", "y", kind)) in head for head in heads), kind
    with (ROOT / "tests" / "plugin" / "pyproject.toml").open("rb") as file:
        groups = tomllib.load(file)["project"]["entry-points"]
    assert set(groups) == set(re.findall(r"^\| `(optsched\.\w+)`", text, re.MULTILINE))


def test_the_importer_that_a_page_shows_is_the_plugins() -> None:
    source = (ROOT / "tests" / "plugin" / "extras.py").read_text()
    kept = next(node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.name == "knapsack_csv")
    shown = (DOCS / "extending.md").read_text().partition('@click.command("knapsack-csv")')[2].partition("```")[0]
    body = ast.parse('@click.command("knapsack-csv")' + shown).body[0]
    kept.body = [line for line in kept.body if not isinstance(line, ast.ImportFrom)]
    assert ast.dump(body) == ast.dump(kept)


def test_every_table_of_results_has_a_command_and_a_date() -> None:
    for section in re.split(r"^##+ ", (DOCS / "results.md").read_text(), flags=re.MULTILINE):
        if "|---" in section:
            assert re.search(r"20\d\d-\d\d-\d\d", section), section[:60]
            assert re.search(r"`(python benchmarks/|optsched )", section), section[:60]


# pictures ----------------------------------------------------------------------------------------------------------------


def test_pictures_are_small_and_of_the_page_that_makes_them() -> None:
    text = (DOCS / "gallery.md").read_text()
    shown = re.findall(r"^!\[(.+)\]\(assets/gallery/([\w-]+\.png)\)$", text, re.MULTILINE)
    kept = {path.name: path.stat().st_size for path in (DOCS / "assets" / "gallery").iterdir()}
    assert {name for _, name in shown} == set(kept)
    assert 10 <= len(shown) <= 12
    assert max(kept.values()) <= 60_000
    for section in text.split("\n## ")[1:]:
        name = re.search(r"assets/gallery/([\w-]+\.png)", section)
        assert name, section
        assert re.search(rf"^    .*\b{re.escape(name[1])}\b", section, re.MULTILINE), f"no command makes {name[1]}"


# how to cite -------------------------------------------------------------------------------------------------------------


def test_the_citation_is_of_this_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    assert cited["version"] == project["version"]
    assert f"version = {{{project['version']}}}" in (DOCS / "cite.md").read_text()
    assert cited["license"] == project["license"]
    assert cited["title"] in (DOCS / "cite.md").read_text()


def test_the_citation_has_what_the_format_asks_for() -> None:
    """The required keys of the Citation File Format 1.2.0; `cffconvert --validate` knows all of it."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(cited)
    for work in [cited, *cited["references"]]:
        assert work["title"]
        assert work["type"]
        assert all("name" in author or {"family-names", "given-names"} <= set(author) for author in work["authors"])


def test_the_papers_that_are_cited_are_those_of_the_bibliography() -> None:
    papers = (DOCS / "bibliography.md").read_text().partition("## Papers")[2].partition("## Methods")[0]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())["references"]
    assert len(cited) == papers.count("\n| `")
    page = (DOCS / "cite.md").read_text().replace("{", "").replace("}", "")
    for work in cited:
        assert work["title"] in papers
        assert work["title"] in page
        for key in ("doi", "url"):
            assert work.get(key, "") in papers
        for author in work["authors"]:
            assert author.get("family-names", "") in papers
            assert author.get("family-names", "") in page


# what takes longer -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("page", [*QUICKSTARTS, DOCS / "index.md"], ids=label)
def test_what_a_quickstart_says_runs_as_pasted(page: Path, tmp_path: Path) -> None:
    """In an empty folder, one after the other; what installs is left out, what trains is for those who have torch."""
    lines = [line for line in pasted(page).splitlines() if "pip install" not in line and "venv" not in line]
    if find_spec("torch") is None:
        lines = [line for line in lines if "optsched train" not in line and "agent:" not in line]
    assert len(lines) >= 2
    runs("\n".join(lines), tmp_path)


def runs(script: str, folder: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    run = subprocess.run(["bash", "-euc", script], cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


OF_ONES_OWN = """
import optsched
def heuristic(instance):
    return optsched.solve(instance, "greedy").schedule
class Policy:
    def reset(self, seed): pass
    def decide(self, snapshot):
        return optsched.solve(snapshot, "greedy").schedule
"""
JOBS = "JobID,Submit,GPUs,Runtime_min,Deadline,Priority\na,0,1,30,7200,1\nb,60,2,45,9000,2\n"


@pytest.mark.slow
def test_what_the_readme_says_runs_as_pasted(tmp_path: Path) -> None:
    """Beside the repository's instances, with a table, a schedule and a module of one's own, which it speaks of."""
    (tmp_path / "instances").symlink_to(ROOT / "instances")
    (tmp_path / "jobs.csv").write_text(JOBS)
    (tmp_path / "my-schedule.json").write_text('{"starts": []}')
    (tmp_path / "mymodule.py").write_text(OF_ONES_OWN)
    lines = [line for line in pasted(ROOT / "README.md").splitlines() if line.startswith("optsched ")]
    assert len(lines) > 25
    runs("\n".join(lines), tmp_path)


class Built(HTMLParser):
    """What a page makes a browser fetch, where it leads, and what can be led to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids.add(given.get("id", ""))
        if tag == "link" and given.get("rel", "") not in ("canonical", "prev", "next"):
            self.fetched.append(given.get("href", ""))
        if tag in ("script", "img", "iframe", "source", "video", "object"):
            self.fetched.append(given.get("src", given.get("data", "")))
        if tag == "a":
            self.links.append(given.get("href", ""))


def leads(page: Path, link: str, pages: dict[Path, Built]) -> bool:
    """Whether a link of a page leads to a file, and to a place in it."""
    path, _, anchor = link.partition("#")
    to = (page.parent / path).resolve() if path else page
    to = to / "index.html" if to.is_dir() else to
    return to.is_file() and (not anchor or to not in pages or anchor in pages[to].ids)


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_fetches_nothing(tmp_path: Path) -> None:
    for module in ("mkdocs", "material", "mkdocstrings_handlers.python", "latex2mathml"):
        pytest.importorskip(module, reason="pip install 'optsched[docs]'")
    build = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert build.returncode == 0, build.stdout + build.stderr
    pages = {page: Built(page) for page in tmp_path.rglob("*.html")}
    assert len(pages) >= len(list(DOCS.rglob("*.md")))
    for page, built in pages.items():
        assert [src for src in built.fetched if re.match(r"(https?:)?//", src)] == [], page
        if page.name != "404.html":  # its links begin at the root, wherever that is
            inside = [link for link in built.links if not re.match(r"\w+:", link)]
            assert [link for link in inside if not leads(page, link, pages)] == [], page
        assert 'class="arithmatex"' not in page.read_text(), page
    for sheet in tmp_path.rglob("*.css"):
        assert re.findall(r"(?:url\(|@import )['\"]?(?:https?:)?//", sheet.read_text()) == [], sheet
    assert "<math" in (tmp_path / "formulations" / "geo" / "index.html").read_text()
    assert "0.1.0" in (tmp_path / "changelog" / "index.html").read_text()
    assert 'id="optsched.solve"' in (tmp_path / "reference" / "functions" / "index.html").read_text()
