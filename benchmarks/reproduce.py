"""Published figures made anew: whoever changes what they say must change where they are said.

    python benchmarks/reproduce.py              # those that take minutes in all; what CI runs
    python benchmarks/reproduce.py --full       # all: what each takes is in reproduce.toml
    python benchmarks/reproduce.py --only armida

Every figure stands in benchmarks/reproduce.toml with the words that a page shows, the command that prints it, and by how much
it may differ (runs that a clock ends do). Exits 1 where a page no longer shows it, a command fails, or a figure is off. The
tables of notebooks assert their own claims (`make notebooks`), the benchmark library holds its own (`optsched bench`), and
shipped weights their recorded scores (`make rl`).
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FILE = Path(__file__).with_suffix(".toml")


def fault(figure: dict[str, Any], folder: str) -> str | None:
    """Why a figure is not what is published; None where it is."""
    page = (ROOT / figure["page"]).read_text()
    if figure["shown"] not in page:
        return f"{figure['page']} no longer says {figure['shown']!r}"
    data = os.environ.get("OPTSCHED_DATA", str(ROOT.parent / "shared" / "data"))
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = figure["command"].replace("instances/", f"{ROOT}/instances/").replace("benchmarks/", f"{ROOT}/benchmarks/")
    run = subprocess.run(
        ["bash", "-euc", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "OPTSCHED_DATA": data, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    found = [float(text) for match in re.findall(figure["pattern"], run.stdout) for text in _several(match)]
    if len(found) < len(figure["expected"]):
        last = (run.stderr.strip().splitlines() or run.stdout.strip().splitlines() or ["nothing"])[-1]
        return f"printed {found}, expected {figure['expected']}; exit code {run.returncode}: {last[:300]}"
    off = [(a, b) for a, b in zip(found, figure["expected"], strict=False) if abs(a - b) > figure["within"]]
    return "; ".join(f"{a:g} where {b:g} is published (within {figure['within']:g})" for a, b in off) or None


def _several(match: str | tuple[str, ...]) -> tuple[str, ...]:
    return (match,) if isinstance(match, str) else match


def main() -> None:
    """A line a figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="Those that take long too.")
    parser.add_argument("--only", help="Figures whose name holds this.")
    asked = parser.parse_args()
    figures = tomllib.loads(FILE.read_text())["figures"]
    chosen = [
        figure
        for figure in figures
        if (asked.only in figure["name"] if asked.only else asked.full or figure["suite"] == "small")
    ]
    print(f"{len(chosen)} of {len(figures)} figures, about {sum(figure['seconds'] for figure in chosen)} s", flush=True)
    failed = 0
    for figure in chosen:
        began = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="optsched-reproduce-") as folder:
            told = fault(figure, folder)
        failed += told is not None
        print(f"{'OFF ' if told else 'ok  '} {time.perf_counter() - began:6.1f} s  {figure['name']}", flush=True)
        if told:
            print(f"     {told}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
