"""Run every notebook where it lies, and write what it shows to out/notebooks/, which git ignores.

    python notebooks/run.py [--inplace] [NOTEBOOK...]

--inplace writes the outputs into the notebooks themselves, as they are published.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent
SHOWN = HERE.parent / "out" / "notebooks"


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", type=Path, default=sorted(HERE.glob("*.ipynb")))
    parser.add_argument("--inplace", action="store_true")
    given = parser.parse_args()
    for path in given.notebooks:
        book = nbformat.read(path, as_version=4)
        how = {"timeout": None, "record_timing": False, "resources": {"metadata": {"path": str(path.parent)}}}
        NotebookClient(book, **how).execute()
        SHOWN.mkdir(parents=True, exist_ok=True)
        nbformat.write(book, path if given.inplace else SHOWN / path.name)


if __name__ == "__main__":
    main()
