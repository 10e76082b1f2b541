"""The sizes that the README speaks of; whole commands, on cores of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import optsched
from optsched.instances.files import save
from optsched.instances.generators import andreas


@pytest.mark.timing
@pytest.mark.parametrize("reading", ["earliest", "cheapest"])
def test_hundred_nodes_and_a_thousand_jobs(tmp_path: Path, reading: str) -> None:
    """Proven optimal within 6 s for the whole command, under 1 GiB."""
    path = tmp_path / "x.json"
    save(andreas(2, 100, seed=5, all_submitted=True, first_ending=reading), path)  # type: ignore[arg-type]
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "optsched", "solve", path, "--json"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    result = json.loads(process.stdout.read())
    _, status, usage = os.wait4(process.pid, 0)
    assert (status, result["solution"]) == (0, "optimal")
    assert time.perf_counter() - began < 6
    assert usage.ru_maxrss < 2**20


@pytest.mark.parametrize("reading", ["earliest", "cheapest"])
def test_aggregated_and_linearized_agree_to_the_digit(reading: str) -> None:
    instance = andreas(2, 10, seed=7, all_submitted=True, first_ending=reading)  # type: ignore[arg-type]
    values = [optsched.solve(instance, formulation=f).objective for f in ("aggregated", "linearized")]
    assert values[0] == pytest.approx(values[1], rel=1e-12)


def test_aggregated_refuses_what_it_cannot_build() -> None:
    """16 GPUs a node: patterns are few, firsts by option and pattern are not; the default falls through to another."""
    small = andreas(2, 4, jobs=300, all_submitted=True)
    times = {"V100": tuple(1000.0 / g for g in range(1, 17)), "T4": (900.0, 500.0)}
    jobs = tuple(job.model_copy(update={"time_s": times}) for job in small.jobs)
    costs = {"V100": {"node_cost_per_h": list(range(1, 17))}, "T4": {"node_cost_per_h": [1, 2]}}
    nodes = [node.model_dump() | ({"gpus": 16} if node.gpu_type == "V100" else {}) for node in small.nodes]
    data = small.to_json() | {"gpu_types": costs, "nodes": nodes, "jobs": [job.model_dump() for job in jobs]}
    from optsched.models import choose, formulations
    from optsched.reading import parse

    instance = parse(json.dumps(data).encode(), "x")
    assert "columns, at most" in (formulations("allocation")["aggregated"].refuses(instance) or "")
    assert choose(instance, None).name == "linearized"
