"""Agents that cap a data centre, on months that they were not trained on: with their guard, and bare.

    python benchmarks/guard.py                      # fourteen other months, two loads, jobs of 22 to 28 May 2019; ten minutes
    python benchmarks/guard.py --bare               # the same without the guard
    python benchmarks/guard.py --scales 3 --months PGE_2020-04 SCE_2020-09

A row a month and load: by how much each policy costs more than `uncapped`, which the guard plays beside an agent; then the mean
and the worst of each. The shipped agents were trained on May 2019 at its original load (docs/vcc.md): neither these carbon
months nor these loads. The carbon of a month is laid over the jobs by its time of day. Exits 1 where an agent with its guard
costs more than 5 % more than `uncapped`.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import optsched
from optsched.instances import Instance
from optsched.instances.readers import read_google2019
from optsched.rl.agent import shipped

DATA = Path(os.environ.get("OPTSCHED_DATA", Path(__file__).parents[2] / "shared" / "data"))
FIRST_DAY, DAYS = 21, 7
ALLOWED = 0.05
RULES = ("uncapped", "threshold")


def laid_over(file: Path, folder: Path) -> Path:
    """The signal with other time stamps: its second local day becomes the jobs' first."""
    table = pd.read_csv(file)
    moments = pd.to_datetime(table["time"], utc=True)
    begins = moments.min().tz_convert("America/Los_Angeles").normalize() + pd.Timedelta(days=1)
    wanted = pd.Timestamp("2019-05-01", tz="America/Los_Angeles") + pd.Timedelta(days=FIRST_DAY)
    table["time"] = (moments + (wanted - begins)).dt.strftime("%Y-%m-%d %H:%M:%S+00:00")
    moved = folder / file.name
    table.to_csv(moved, index=False)
    return moved


def row(instance: Instance, policies: list[str], guard: bool) -> list[float]:
    """By how much each policy costs more than the first, relative."""
    costs = [optsched.replay(instance, policy, forecast="fitted", guard=guard).objective or np.nan for policy in policies]
    return [cost / costs[0] - 1 for cost in costs]


def main() -> None:
    """The table; exits 1 where the guard breaks its promise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--months", nargs="+", help="As in PGE_2020-04. [default: all]")
    parser.add_argument("--scales", type=float, nargs="+", default=[1.5, 6.0], help="Of every task's NCU.")
    parser.add_argument("--bare", action="store_true", help="Without the guard.")
    asked = parser.parse_args()
    policies, rows = [*RULES, *shipped()], []
    print(f"{'month':14} {'load':>5} " + " ".join(f"{name:>12}" for name in policies[1:]))
    with tempfile.TemporaryDirectory() as folder:
        for file in sorted((DATA / "moer").glob("SGIP_CAISO_*.csv.gz")):
            month = file.name.removeprefix("SGIP_CAISO_").removesuffix(".csv.gz")
            if asked.months and month not in asked.months:
                continue
            moved = laid_over(file, Path(folder))
            for scale in asked.scales:
                instance = read_google2019(DATA / "google2019", moer=moved, first_day=FIRST_DAY, days=DAYS, scale=scale)
                rows.append(row(instance, policies, not asked.bare)[1:])
                print(f"{month:14} {scale:5g} " + " ".join(f"{value:+12.2%}" for value in rows[-1]), flush=True)
    table = np.array(rows)
    for word, figures in (("mean", table.mean(axis=0)), ("worst", table.max(axis=0))):
        print(f"{word:20} " + " ".join(f"{value:+12.2%}" for value in figures))
    sys.exit(0 if asked.bare or (table[:, len(RULES) - 1 :] <= ALLOWED).all() else 1)


if __name__ == "__main__":
    main()
