"""Notebooks as they are kept: run, fit for the web, linked, and holding what they say with assertions; run.py executes them."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
every = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def running() -> ModuleType:
    """notebooks/run.py as a module."""
    spec = importlib.util.spec_from_file_location("run_notebooks", ROOT / "notebooks" / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_eight_stories() -> None:
    assert {path.name[:2] for path in NOTEBOOKS} == {f"{n:02d}" for n in range(1, 9)}


@every
def test_it_is_kept_with_outputs_that_may_be_published(path: Path, running: ModuleType) -> None:
    book = nbformat.read(path, as_version=4)
    assert running.faults(book) == []
    kinds = {kind for cell in book.cells for output in cell.get("outputs", []) for kind in output.get("data", {})}
    assert {"image/png", "text/html"} <= kinds  # pictures and tables


@every
def test_what_it_says_is_asserted(path: Path) -> None:
    book = nbformat.read(path, as_version=4)
    code = "\n".join(cell.source for cell in book.cells if cell.cell_type == "code")
    assert any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(code)))
    assert "bound" in code


@every
def test_its_links_lead_somewhere(path: Path) -> None:
    book = nbformat.read(path, as_version=4)
    prose = "\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown")
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if not target.startswith("http"):
            assert (path.parent / target.partition("#")[0]).resolve().exists(), target


@pytest.mark.parametrize("shown", ["/root/x", "/tmp/y/z.json", "<matplotlib.legend.Legend at 0x7f0e092e5ed0>"])
def test_places_of_this_machine_are_found(shown: str, running: ModuleType) -> None:
    cell = nbformat.v4.new_code_cell("1", execution_count=1)
    cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=shown)]
    assert len(running.faults(nbformat.v4.new_notebook(cells=[cell]))) == 1


def test_warnings_and_cells_that_were_not_run_are_found(running: ModuleType) -> None:
    warned = nbformat.v4.new_code_cell("1", execution_count=1)
    warned.outputs = [nbformat.v4.new_output("stream", name="stderr", text="UserWarning: so")]
    book = nbformat.v4.new_notebook(cells=[warned, nbformat.v4.new_code_cell("2")])
    assert [fault.split()[2] for fault in running.faults(book)] == ["writes", "was"]
