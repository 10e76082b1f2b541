"""Whether time limits are kept: every method on five families and three sizes, each in a process of its own.

    python benchmarks/limits.py                                  # everything: 1, 5 and 20 s; about an hour and a half
    python benchmarks/limits.py --limits 1 --sizes large         # where it is hardest; five minutes
    python benchmarks/limits.py --families geo --methods decomposition auto
    python benchmarks/limits.py --tries 3                        # on a machine that others use too: the best of three counts

A row a run: seconds past the limit, from the instance in memory to the end of the process (writing a result left out); how many
of them Linux had the process wait while others had the processor, which are not held against it; and the objective against
greedy's without a limit, relative, positive where better. The promise: at most a tenth of the limit and `SLACK` seconds more,
and whatever searches is nowhere worse than greedy under the same limit. Dispatch rules and the authors' randomized greedy are
baselines: their objective is shown, their seconds are judged. Exits 1 where the promise is broken.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from optsched import load
from optsched.methods import bounding
from optsched.registry import families
from optsched.registry import family as family_named

SLACK = 1.0  # seconds
ALIKE = 1e-9  # relative: two objectives that are the same
CASES = {
    "allocation": {
        "small": "andreas-2 --nodes 2 --jobs 10 --all-submitted",
        "paper": "andreas-2 --nodes 100 --all-submitted",
        "large": "andreas-2 --nodes 1000 --all-submitted",
    },
    "deferrable": {
        "small": "osdec --jobs 20 --horizon 48",
        "paper": "osdec",
        "large": "osdec --jobs 60000 --horizon 2016",
    },
    "geo": {
        "small": "masac --jobs 20 --days 0.25 --scale 0.05",
        "paper": "masac",
        "large": "masac --jobs 15000 --days 10",
    },
    "vcc": {
        "small": "vcc --jobs 60 --days 1",
        "paper": "vcc",
        "large": "vcc --jobs 50000 --days 28",
    },
    "day_ahead": {
        "small": "day-ahead --clusters 2",
        "paper": "day-ahead",
        "large": "day-ahead --clusters 500 --campuses 50",
    },
}
SIZES = ("small", "paper", "large")
CHILD = """
import json, pathlib, sys, time, optsched
file, method, limit = sys.argv[1:]
def waited():  # of the main thread; /proc/self/schedstat: running, waiting (nanoseconds), time slices
    stat = pathlib.Path("/proc/self/schedstat")
    return int(stat.read_text().split()[1]) / 1e9 if stat.exists() else 0.0
instance = optsched.load(file)
before, began = waited(), time.monotonic()
try:
    result = optsched.solve(instance, method, time_limit=float(limit) or None)
    told = {"objective": result.objective, "ended": result.termination, "bound": result.bound}
except optsched.OptschedError as error:
    told = {"refused": str(error)}
print(json.dumps(told | {"began": began, "waited": waited() - before}), flush=True)
"""


@dataclass(frozen=True)
class Run:
    """One process: its seconds past reading, those that it waited, and what it found; `refused` where a method does not fit."""

    seconds: float
    waited: float
    objective: float | None
    ended: str
    refused: bool


def run(file: str, method: str, limit: float) -> Run:
    """Solve in a new process; `limit` 0 is none."""
    process = subprocess.Popen([sys.executable, "-c", CHILD, file, method, str(limit)], stdout=subprocess.PIPE, text=True)
    output, _ = process.communicate()
    ended = time.monotonic()
    if process.returncode:
        return Run(0.0, 0.0, None, f"exit code {process.returncode}", False)
    told = json.loads(output.splitlines()[-1])
    seconds = ended - told["began"]
    return Run(seconds, told["waited"], told.get("objective"), told.get("ended", "refused"), "refused" in told)


def broken(found: Run, greedy: Run, limit: float, sign: int, judged: bool, slack: float) -> str:
    """What a run breaks of the promise; empty if nothing."""
    if found.refused:
        return ""
    if found.objective is None or greedy.objective is None:
        return "EMPTY"
    late = found.seconds - found.waited > 1.1 * limit + slack
    worse = judged and sign * (found.objective - greedy.objective) < -ALIKE * abs(greedy.objective)
    return " ".join(["LATE"] * late + ["WORSE"] * worse)


def methods(family: str) -> list[str]:
    """Greedy first: the others are held against it."""
    heuristics = [name for name in family_named(family).heuristics() if name != "greedy"]
    return ["greedy", *bounding(family), *heuristics]


def judge(file: str, label: str, asked: argparse.Namespace) -> int:
    """Print a row a method and limit; how many break the promise."""
    instance = load(file)
    sign = -1 if instance.sense == "minimize" else 1
    searching = bounding(instance.problem)
    wanted = [name for name in methods(instance.problem) if asked.methods is None or name in ("greedy", *asked.methods)]
    free, failed = run(file, "greedy", 0), 0
    print(
        f"{label:18} {'greedy':22} {'none':>5} {free.seconds:7.2f} s {free.waited:6.2f} s {free.objective or 0.0:16.9g}",
        flush=True,
    )
    for limit in asked.limits:
        greedy = free
        for name in wanted:
            for _ in range(asked.tries):
                found = run(file, name, limit)
                greedy = found if name == "greedy" else greedy
                word = broken(found, greedy, limit, sign, name in searching, asked.slack)
                if not word:
                    break
            failed += bool(word)
            row = f"{label:18} {name:22} {limit:5g} {found.seconds - limit:+7.2f} s {found.waited:6.2f} s"
            if found.objective is not None and free.objective is not None:
                gained = sign * (found.objective - free.objective) / max(abs(free.objective), 1e-9)
                row += f" {found.objective:16.9g} {gained:+12.3%}"
            print(f"{row} {found.ended} {word}", flush=True)
    return failed


def main() -> None:
    """The table; exits 1 where the promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", nargs="+", choices=families(), default=families())
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=SIZES)
    parser.add_argument("--limits", nargs="+", type=float, default=[1.0, 5.0, 20.0])
    parser.add_argument("--methods", nargs="+", help="Besides greedy. [default: all that the family has]")
    parser.add_argument("--slack", type=float, default=SLACK, help="Seconds past the limit and its tenth. [default: 1]")
    parser.add_argument("--tries", type=int, default=1, help="Where the promise is broken, so many tries in all. [default: 1]")
    asked = parser.parse_args()
    failed = 0
    print(f"{'instance':18} {'method':22} {'limit':>5} {'past':>9} {'waited':>8} {'objective':>16} {'on greedy':>13} ended")
    with tempfile.TemporaryDirectory() as folder:
        for family in asked.families:
            for size in asked.sizes:
                file = str(Path(folder) / f"{family}-{size}.json")
                command = [sys.executable, "-m", "optsched", "generate", *CASES[family][size].split(), "-o", file]
                subprocess.run(command, check=True, capture_output=True)
                failed += judge(file, f"{family} {size}", asked)
    print(f"{failed} runs break the promise")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
