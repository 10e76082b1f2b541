"""Build and translate a time-indexed model of 100,000 binaries: optsched (Pyomo) beside linopy, same model, same run.

    python benchmarks/build.py [--binaries 100000] [--repeat 3]

Each contender runs in a process of its own and ends with the model inside HiGHS. Printed: seconds and peak memory of
building, of translating, and of both; the last line is the ratio that the README quotes.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import time
import warnings
from importlib.metadata import version


def instance(binaries: int):
    """A deferrable instance with about `binaries` options worth having, and its time-indexed program."""
    from optsched.instances.generators import osdec
    from optsched.problems.deferrable import time_indexed

    made = osdec(2, 1, jobs=max(50, binaries // 21), horizon=576, window=120, seed=7)
    made = made.model_copy(update={"delay_penalty": 0.1})
    options = time_indexed(made)
    options = options.where(options.worthwhile())  # ours leaves out the others, so the peer is not given them either
    return made, options.where(options.job < options.job[min(binaries, len(options)) - 1])


def peak_mb() -> float:
    """Largest resident set of this process so far, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def ours(binaries: int) -> dict[str, float]:
    """Pyomo model, linear form, HiGHS."""
    import highspy

    from optsched.models.deferrable import DeferrableState
    from optsched.solvers.highs import Highs, pass_form, quiet
    from optsched.solvers.linear_form import linear_form

    made, options = instance(binaries)

    class Limited(DeferrableState):
        def options(self):
            return options

    assert Highs().unavailable() is None
    before = peak_mb()
    began = time.perf_counter()
    model = Limited(made)
    built = time.perf_counter()
    form = linear_form(model)
    highs = quiet()
    pass_form(highs, form, form.integer)
    ended = time.perf_counter()
    assert highs.getNumCol() == len(form.columns)
    return report(began, built, ended, before, highs, highspy, form.scale)


def linopy(binaries: int) -> dict[str, float]:
    """linopy model, HiGHS."""
    import highspy
    import linopy as lp
    import numpy as np
    import pandas as pd
    import xarray as xr

    warnings.filterwarnings("ignore")
    made, p = instance(binaries)
    before = peak_mb()
    began = time.perf_counter()
    model = lp.Model()
    option, slot = pd.RangeIndex(len(p), name="option"), pd.RangeIndex(made.horizon, name="slot")
    choice = model.add_variables(binary=True, coords=[option], name="choice")
    level = model.add_variables(lower=0, upper=p.demand.sum(), coords=[slot], name="level")
    over = model.add_variables(lower=0, upper=p.demand.sum(), coords=[slot], name="over")
    by = lambda values, name: xr.DataArray(values, coords=[option], name=name)  # noqa: E731
    model.add_constraints(choice.groupby(by(p.job, "job")).sum() <= 1, name="once")
    weighted = choice * by(p.demand[p.job], "demand")
    starts = weighted.groupby(by(p.start, "slot")).sum().reindex(slot=slot)
    ends = weighted.groupby(by(p.start + p.duration[p.job], "slot")).sum().reindex(slot=slot)
    model.add_constraints(level - level.shift(slot=1) - starts + ends == 0, name="balance")
    model.add_constraints(level - over <= xr.DataArray(np.asarray(made.capacity), coords=[slot]), name="capacity")
    value = (choice * by(p.value, "value")).sum() - made.overload_penalty * over.sum()
    model.add_objective(value, sense="max")
    built = time.perf_counter()
    highs = lp.io.to_highspy(model)
    ended = time.perf_counter()
    return report(began, built, ended, before, highs, highspy)


def report(
    began: float, built: float, ended: float, before: float, highs: object, highspy: object, scale: float = 1.0
) -> dict[str, float]:
    """Times, memory and, so that it is the same model, the value of its LP relaxation in the model's own unit.

    `scale` is by how much the objective was multiplied on its way to HiGHS.
    """
    peak = peak_mb()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("solve_relaxation", True)
    highs.run()
    assert highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    lp = abs(highs.getInfo().objective_function_value) / scale
    return {
        "build": built - began,
        "translate": ended - built,
        "both": ended - began,
        "added_mb": peak - before,
        "columns": highs.getNumCol(),
        "lp": lp,
    }


def main() -> None:
    """Run both in turn and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", choices=["ours", "linopy"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only:
        print(json.dumps({"ours": ours, "linopy": linopy}[arguments.only](arguments.binaries)))
        return
    print(f"{platform.machine()}, Python {platform.python_version()}, ", end="")
    print(", ".join(f"{name} {version(name)}" for name in ("pyomo", "linopy", "highspy")))
    best = {}
    for name in ("ours", "linopy"):
        runs = []
        for _ in range(arguments.repeat):
            command = [sys.executable, __file__, "--only", name, "--binaries", str(arguments.binaries)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            runs.append(json.loads(done.stdout.splitlines()[-1]))
        best[name] = row = min(runs, key=lambda run: run["both"])
        print(
            f"{name:>7}: {row['columns']:,} columns, build {row['build']:.2f} s, translate {row['translate']:.2f} s, "
            f"both {row['both']:.2f} s, memory +{row['added_mb']:.0f} MB, LP {row['lp']:.4f}"
        )
    assert abs(best["ours"]["lp"] - best["linopy"]["lp"]) < 1e-6 * best["ours"]["lp"], "not the same model"
    ratio = best["ours"]["both"] / best["linopy"]["both"]
    memory = best["ours"]["added_mb"] / best["linopy"]["added_mb"]
    print(f"optsched / linopy: time {ratio:.2f}, memory {memory:.2f} (best of {arguments.repeat})")


if __name__ == "__main__":
    main()
