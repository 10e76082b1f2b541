"""The paper's largest allocation to proven optimality: whole commands, wall time and peak memory.

    python benchmarks/allocation.py [--nodes 100] [--seeds 0-2]

For each reading of the first-ending job: `optsched generate andreas-2 --all-submitted`, then `optsched solve` in a process
of its own. The last lines compare `aggregated` with `linearized` to the digit on 10 nodes and 100 jobs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

from arguments import add_seeds


def solve(path: str, formulation: str) -> tuple[dict, float, float]:
    """Result, wall seconds and peak MB of one command."""
    command = [sys.executable, "-m", "optsched", "solve", path, "--formulation", formulation, "--json"]
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0
    return json.loads(output), time.perf_counter() - began, usage.ru_maxrss / 1024


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100)
    add_seeds(parser, "0-2")
    arguments = parser.parse_args()
    from optsched.instances.files import save
    from optsched.instances.generators import andreas

    print("nodes   jobs  reading   seed   wall s  solver s  peak MB  objective              gap")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.json")
        for reading in ("cheapest", "earliest"):
            for seed in arguments.seeds:
                save(andreas(2, arguments.nodes, seed=seed, all_submitted=True, first_ending=reading), path)
                r, wall, peak = solve(path, "aggregated")
                print(
                    f"{arguments.nodes:5d} {10 * arguments.nodes:6d}  {reading:9s} {seed:3d} {wall:8.2f} "
                    f"{r['timings_s']['solve']:9.2f} {peak:8.0f}  {r['objective']:<21.10g} {r['gap']:.1e}"
                )
                assert r["solution"] == "optimal"
        for reading in ("cheapest", "earliest"):
            save(andreas(2, 10, seed=0, all_submitted=True, first_ending=reading), path)
            (a, wall_a, _), (b, wall_b, _) = solve(path, "aggregated"), solve(path, "linearized")
            assert abs(a["objective"] - b["objective"]) <= 1e-9 * a["objective"]
            print(f"10 nodes, 100 jobs, {reading}: aggregated {a['objective']:.10g} ({wall_a:.1f} s), ", end="")
            print(f"linearized the same to 1e-9 ({wall_b:.1f} s)")


if __name__ == "__main__":
    main()
