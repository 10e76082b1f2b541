"""Run every notebook where it lies, check what it shows, and write that to out/notebooks/, which git ignores.

    python notebooks/run.py [--inplace] [--full] [NOTEBOOK...]

What a notebook says of its own figures it asserts in its cells. Besides, this ends with 1 where one fails, warns, names a place
on this machine or is too large for the web, or is kept without having been run. --inplace writes the outputs into the
notebooks themselves, as they are published; --full runs their long form (OPTSCHED_FULL=1).
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from time import perf_counter

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

HERE = Path(__file__).parent
SHOWN = HERE.parent / "out" / "notebooks"
LARGEST = 600_000  # bytes
PLACES = re.compile(r"(/home/|/root/|/tmp/|/work/|/Users/|[A-Z]:\\)|0x[0-9a-f]{8,}")
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


LONG = ("02", "03", "04", "08")  # first, so that no core waits for one of them


def _last(path: Path) -> tuple[bool, str]:
    return not path.name.startswith(LONG), path.name


def code(book: NotebookNode) -> list[NotebookNode]:
    """The cells that are run."""
    return [cell for cell in book.cells if cell.cell_type == "code"]


def texts(output: NotebookNode) -> Iterator[str]:
    """What an output says, pictures left out."""
    if output.output_type == "stream":
        yield output.text
    for kind, data in output.get("data", {}).items():
        if kind.startswith("text/"):
            yield data


def faults(book: NotebookNode) -> list[str]:
    """What a reader of the web should not see."""
    found = []
    for number, cell in enumerate(code(book), 1):
        if cell.source.strip() and cell.execution_count is None:
            found.append(f"cell {number} was not run")
        for output in cell.outputs:
            if output.output_type == "stream" and output.name == "stderr":
                found.append(f"cell {number} writes to standard error: {output.text[:200]!r}")
            found += [f"cell {number} shows {match[0]!r}" for text in texts(output) for match in PLACES.finditer(text)]
    size = len(nbformat.writes(book).encode())
    if size > LARGEST:
        found.append(f"{size:,} bytes, at most {LARGEST:,}")
    return found


def tidy(book: NotebookNode) -> None:
    """Nothing of the machine or of the moment is kept beside the outputs."""
    book.metadata = nbformat.from_dict(METADATA)
    for number, cell in enumerate(code(book), 1):
        cell.metadata, cell.execution_count = nbformat.from_dict({}), number
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = number


def ran(path: Path, inplace: bool, full: bool) -> list[str]:
    """What is wrong with a notebook that has been run, checked and written."""
    book = nbformat.read(path, as_version=4)
    wrong = [] if inplace else [f"as it is kept: {fault}" for fault in faults(book)]
    how = {"timeout": None, "record_timing": False, "resources": {"metadata": {"path": str(path.parent)}}}
    began = perf_counter()
    try:
        NotebookClient(book, **how).execute()
    except CellExecutionError as error:
        wrong.append(str(error))
    else:
        tidy(book)
        wrong += faults(book)
        if not full or inplace:
            nbformat.write(book, path if inplace and not wrong else SHOWN / path.name)
        else:
            nbformat.write(book, SHOWN / f"{path.stem}.full.ipynb")
    print(f"{path.name}: {perf_counter() - began:.0f} s{'' if not wrong else ', wrong'}", flush=True)
    for fault in wrong:
        print(f"  {fault}", flush=True)
    return wrong


def main() -> None:
    """Run, check and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", type=Path, default=sorted(HERE.glob("*.ipynb"), key=_last))
    parser.add_argument("--inplace", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--workers", type=int, default=1, help="So many at once; what is published is made one at a time.")
    given = parser.parse_args()
    if given.full:
        os.environ["OPTSCHED_FULL"] = "1"
    else:
        os.environ.pop("OPTSCHED_FULL", None)
    SHOWN.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(given.workers) as pool:
        wrong = list(pool.map(partial(ran, inplace=given.inplace, full=given.full), given.notebooks))
    sys.exit(1 if any(wrong) else 0)


if __name__ == "__main__":
    main()
