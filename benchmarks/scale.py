"""Certified gaps at scale: methods side by side on the same instances, each as a whole command in a process of its own.

    python benchmarks/scale.py                              # the four headline cases, 60 s a method; 25 minutes
    python benchmarks/scale.py --cases geo-1.0 --seconds 600 --methods decomposition --seeds 3
    python benchmarks/scale.py --cases jobs-2k jobs-20k jobs-200k hours-17 hours-168 --methods decomposition greedy
    python benchmarks/scale.py --cases nodes-1000 nodes-10000 nodes-8gpus nodes-8gpus-2000 --methods auto greedy --seconds 300
    python benchmarks/scale.py --cases azure-all geo-wide geo-wide-real --seconds 600 --methods decomposition   # 40 minutes

In out/benchmarks, which git ignores (benchmarks/results with --record): scale.csv (a row a run, appended), scale-trace.csv (gap
over time), scale.png (gap against time of this call), and best_known.json: the best value and bound of every instance, by whom
and when. Traces: $OPTSCHED_DATA.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path
from typing import Any

from arguments import add_seeds, told
from matplotlib.figure import Figure

from optsched.workers import of_machine

DATA = Path(os.environ.get("OPTSCHED_DATA", Path(__file__).parents[2] / "shared" / "data"))
RECORD = Path(__file__).parent / "results"
OUT = Path(__file__).parents[1] / "out" / "benchmarks"
OPTSCHED = [sys.executable, "-m", "optsched"]
METHODS = {
    "decomposition": ["--method", "decomposition"],
    "highs": ["--backend", "highs"],
    "cp-sat": ["--backend", "cp-sat"],
    "scip": ["--backend", "scip"],
    "greedy": ["--method", "greedy"],
    "auto": ["--method", "auto"],
}


def geo(load: float, jobs: int = 1500, days: float = 2) -> list[str]:
    """Table I on real job shapes, prices and carbon."""
    real = ["--trace", f"{DATA}/gpu/alibaba2020_pai_1week_1k.csv"]
    real += ["--signals", f"{DATA}/grid/masac_five_regions_2022-12-01_06_hourly.csv"]
    return ["generate", "masac", "--jobs", str(jobs), "--days", str(days), "--load", str(load), *real]


def azure(jobs: int, hours: float, slack: float = 1.0) -> list[str]:
    """A sample of the Azure V1 trace on what a busy cluster leaves."""
    cpu = DATA / "cpu"
    window = ["--hours", str(hours), "--sample", str(jobs), "--busy", f"{cpu}/azure_v2_busy_cores_21days_5min.csv"]
    return ["import", "azure-v1", f"{cpu}/azure_v1_vms_7days.csv.gz", *window, "--load", "1.1", "--slack", str(slack)]


CASES = {
    "geo-1.0": geo(1.0),
    "geo-1.8": geo(1.8),
    "azure-20k": azure(20_000, 48),
    "azure-20k-wide": azure(20_000, 48, slack=2.0),
    "azure-200k": azure(200_000, 168),
    "azure-all": azure(10**9, 168),
    "geo-wide": [str(Path(__file__).with_name("wide_geo.py"))],
    "geo-wide-real": [str(Path(__file__).with_name("wide_geo.py")), "--trace", f"{DATA}/gpu/alibaba2020_pai_1week_1k.csv"],
    "jobs-2k": azure(2_000, 168),
    "jobs-20k": azure(20_000, 168),
    "jobs-200k": azure(200_000, 168),
    "hours-17": azure(20_000, 16.8),
    "hours-168": azure(20_000, 168),
    "nodes-100": ["generate", "andreas-2", "--nodes", "100", "--all-submitted"],
    "nodes-1000": ["generate", "andreas-2", "--nodes", "1000", "--all-submitted"],
    "nodes-10000": ["generate", "andreas-2", "--nodes", "10000", "--jobs", "100000", "--all-submitted"],
    "nodes-8gpus": ["generate", "wide-nodes", "--nodes", "200", "--jobs", "1000"],
    "nodes-8gpus-2000": ["generate", "wide-nodes", "--nodes", "2000", "--jobs", "10000"],
    "nodes-8gpus-10000": ["generate", "wide-nodes", "--nodes", "10000", "--jobs", "100000"],
}
HEADLINE = ("geo-1.0", "geo-1.8", "azure-20k", "azure-20k-wide")
COLUMNS = (
    "case", "seed", "method", "seconds_limit", "gap_limit", "objective", "bound", "gap", "termination", "seconds", "peak_mb",
    "instance", "sha256", "date", "python", "optsched", "machine",
)  # fmt: skip


def run(path: str, method: str, seconds: float, gap: float | None) -> tuple[dict[str, Any] | None, float, float]:
    """Result (None where the backend refuses the model), wall seconds and peak MB of one command."""
    command = [*OPTSCHED, "solve", path, *METHODS[method], "--time-limit", str(seconds), "--json"]
    command += [] if gap is None else ["--gap", str(gap)]
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    output = process.stdout.read()
    wall = time.perf_counter() - began  # the answer is there; a solver left behind may take its time to end
    _, status, usage = os.wait4(process.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, 2), (command, code)
    return json.loads(output) if code == 0 else None, wall, usage.ru_maxrss / 1024


def append(path: Path, header: tuple[str, ...], rows: list[list[Any]]) -> None:
    """Add rows to a CSV that may not be there yet."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([header, *rows] if new else rows)


def remember(results: Path, result: dict[str, Any], sense: int) -> None:
    """Keep the best value and bound of an instance, with provenance."""
    path = results / "best_known.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    entry = known.setdefault(result["instance"]["sha256"], {"name": result["instance"]["name"], "problem": result["problem"]})
    how = {"method": result["method"], "options": result["options"], "seed": result["seed"], "versions": result["versions"]}
    for what, better in (("objective", sense), ("bound", -sense)):
        value = result[what]
        if value is not None and (what not in entry or better * value > better * entry[what]["value"]):
            entry[what] = {"value": value, "date": date.today().isoformat(), **how}
    path.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


def draw(results: Path, traces: dict[tuple[str, str], list[tuple[float, float]]]) -> None:
    """Gap against time, a panel a case."""
    cases = sorted({case for case, _ in traces})
    figure = Figure(figsize=(5 * len(cases), 4), layout="constrained")
    for axes, case in zip(figure.subplots(1, len(cases), squeeze=False)[0], cases, strict=True):
        for (of, method), points in traces.items():
            if of == case and points:
                axes.step(*zip(*points, strict=True), where="post", marker=".", label=method)
        axes.set(title=case, xlabel="seconds", ylabel="gap, %", xscale="log", yscale="log")
        axes.legend(fontsize=8)
    figure.savefig(results / "scale.png", dpi=120)


def main() -> None:
    """Print a line a run, keep everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=HEADLINE)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=["decomposition", "highs", "cp-sat", "scip", "greedy"])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--gap", type=float)
    add_seeds(parser, "0")
    parser.add_argument("--record", action="store_true", help="add to the figures of record, in benchmarks/results")
    given = parser.parse_args()
    results = RECORD if given.record else OUT
    results.mkdir(parents=True, exist_ok=True)
    traces: dict[tuple[str, str], list[tuple[float, float]]] = {}
    print(f"{'case':15} {'seed':>4} {'method':14} {'objective':>14} {'bound':>14} {'gap %':>9} {'seconds':>8} {'peak MB':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for case in given.cases:
            for seed in given.seeds:
                path = f"{folder}/{case}-{seed}.json.gz"
                script = CASES[case][0].endswith(".py")
                made = [*(OPTSCHED[:1] if script else OPTSCHED), *CASES[case], "--seed", str(seed), "-o", path]
                subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
                for method in given.methods:
                    result, wall, peak = run(path, method, given.seconds, given.gap)
                    if result is None:
                        print(f"{case:15} {seed:4d} {method:14} refuses the model", flush=True)
                        continue
                    objective, bound, gap = result["objective"], result["bound"], result["gap"]
                    cells = [f"{v:14,.6g}" if v is not None else f"{'-':>14}" for v in (objective, bound)]
                    percent = f"{100 * gap:9.4f}" if gap is not None else f"{'-':>9}"
                    print(f"{case:15} {seed:4d} {method:14} {' '.join(cells)} {percent} {wall:8.1f} {peak:8.0f}", flush=True)
                    remember(results, result, -1 if result["problem"] == "allocation" else 1)
                    ran = [
                        case,
                        seed,
                        method,
                        given.seconds,
                        given.gap,
                        objective,
                        bound,
                        gap,
                        result["termination"],
                        round(wall, 2),
                    ]
                    about = [result["instance"]["name"], result["instance"]["sha256"], date.today().isoformat()]
                    about += [platform.python_version(), result["versions"].get("optsched"), f"{of_machine()} cores"]
                    append(results / "scale.csv", COLUMNS, [[*ran, round(peak), *about]])
                    points = [(s, o, b) for s, o, b in result["incumbents"] if o is not None and b is not None]
                    gaps = [(s, 100 * abs(o - b) / max(abs(o), 1e-9)) for s, o, b in points]
                    traces[case, method] = gaps
                    header = ("case", "seed", "method", "seconds", "gap_percent")
                    append(
                        results / "scale-trace.csv",
                        header,
                        [[case, seed, method, s, g] for s, g in gaps[:: max(1, len(gaps) // 100)]],
                    )
    draw(results, traces)


if __name__ == "__main__":
    told(main)
