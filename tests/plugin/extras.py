"""A method, a backend, a policy and an importer of somebody else's."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from itertools import product
from typing import Any

import click
import numpy as np

from optsched.instances.deferrable import DeferrableInstance
from optsched.instances.files import save
from optsched.schedules.deferrable import DeferrableSchedule, Start


def longest_first(instance: DeferrableInstance, seed: int = 0, *, share: float = 1.0) -> DeferrableSchedule:
    """Jobs by their length, each at its earliest slot if that leaves `share` of the cores within the capacity."""
    free, starts = share * instance.capacity_cores, []
    for job in sorted(instance.jobs, key=lambda job: -job.duration):
        window = free[job.earliest : job.earliest + job.duration]
        if len(window) == job.duration and (window >= job.cores).all():
            window -= job.cores
            starts.append(Start(job=job.id, start=job.earliest))
    return DeferrableSchedule(starts=tuple(starts))


class LargestNow:
    """Of the jobs that wait, those with the most cores first; what does not fit now is asked about again."""

    def reset(self, seed: int) -> None:
        """Nothing is remembered."""

    def decide(self, snapshot: DeferrableInstance) -> DeferrableSchedule:
        """Starts in the present slot alone."""
        free, starts = snapshot.capacity_cores.copy(), []
        for job in sorted(snapshot.jobs, key=lambda job: (-job.cores, job.id)):
            window = free[: job.duration]
            if job.earliest == 0 and len(window) == job.duration and (window >= job.cores).all():
                window -= job.cores
                starts.append(Start(job=job.id, start=0))
        return DeferrableSchedule(starts=tuple(starts))


class Enumeration:
    """Tries every vector of a small all-integer model: no search could be more exact."""

    name = "enumeration"
    packages = ("numpy",)
    most = 200_000  # vectors

    @property
    def capabilities(self) -> Any:
        """Integers only."""
        from optsched.solvers import Capabilities

        return Capabilities(continuous=False, proof="integers")

    def unavailable(self) -> None:
        """It can be used anywhere."""

    def refuse_options(self, options: Mapping[str, Any]) -> None:
        """It has none."""
        if options:
            from optsched.errors import OptschedError

            raise OptschedError("enumeration has no options")

    def solve(self, model: Any, form: Any, task: Any, monitor: Any) -> Any:
        """The best vector within all rows."""
        from optsched.errors import OptschedError
        from optsched.solvers import SolverResult

        ranges = [range(int(low), int(high) + 1) for low, high in zip(form.lower, form.upper, strict=True)]
        if np.prod([float(len(r)) for r in ranges]) > self.most:
            raise OptschedError(f"enumeration tries up to {self.most:,} vectors, this model has more")
        best, value = None, np.inf
        for point in product(*ranges):
            x = np.array(point, dtype=float)
            activity = form.matrix @ x
            if (
                (activity >= form.row_lower - 1e-9).all()
                and (activity <= form.row_upper + 1e-9).all()
                and form.value(x) < value
            ):
                best, value = x, form.value(x)
        if best is None:
            return SolverResult("infeasible")
        monitor.incumbent(value, best)
        monitor.bounded(value)
        return SolverResult("optimal", best, value, value)


@click.command("knapsack-csv")
@click.argument("file", type=click.Path(exists=True))
@click.option("--gpus", type=int, required=True, help="Of the machine.")
@click.option("-o", "--output", required=True, metavar="FILE", help="Instance file.")
def knapsack_csv(file: str, gpus: int, output: str) -> None:
    """Read jobs for one machine from a CSV with columns id, gpus, value."""
    from knapsack import Knapsack

    with open(file, newline="") as rows:
        jobs = [{"id": r["id"], "gpus": int(r["gpus"]), "value": float(r["value"])} for r in csv.DictReader(rows)]
    save(Knapsack.from_dict({"name": "imported", "gpus": gpus, "jobs": jobs}), output)
