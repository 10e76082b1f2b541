"""A trace as an allocation instance: real time tables where a profile gave them, else Amdahl's law as ANDREAS measured it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from optsched.errors import OptschedError
from optsched.instances.allocation import AllocationInstance, Job
from optsched.instances.base import Floats
from optsched.instances.generators.andreas import NETWORKS
from optsched.instances.readers.gpus import ASSUMED_COSTS, most_gpus, parse_nodes, priced
from optsched.instances.readers.own_fields import GPUS, JOB, Field, Kind
from optsched.instances.readers.trace import Times, Trace

AMDAHL = (
    "The recorded duration is the job's time with its recorded number of GPUs on {reference}. It follows Amdahl's law in the "
    "number of GPUs, with the serial share, and the T4 to V100 ratio, of one of ANDREAS' four profiled networks, drawn for "
    "each job. A job runs on one node, so one that had more GPUs than a node has takes longer."
)
FIELDS = {
    **JOB,
    "gpus": GPUS,
    "requested": Field(Kind.SPAN, "how long its user said it would take, for --estimates user"),
    "due": Field(Kind.MOMENT, "when it should have ended; drawn if not mapped"),
    "weight": Field(Kind.NUMBER, "cost of being late, EUR/s; drawn if neither this nor priority is mapped"),
    "priority": Field(Kind.NUMBER, "relative weight, scaled to the mean of the paper's weights"),
}
LEAST_WEIGHT, MOST_WEIGHT = 0.0253709514, 0.0443991650  # EUR/s
DUE = "Due dates (submission + uniform from the fastest to the slowest time)"
WEIGHTS = "weights (0.0254-0.0444 EUR/s)"
DRAWN = " are drawn as ANDREAS draws them."
PRIORITIES = "Weights are the priorities, scaled so that their mean is that of ANDREAS' weights, 0.0349 EUR/s."


def to_allocation(trace: Trace, nodes: str | None = None, *, seed: int = 0, all_submitted: bool = False) -> AllocationInstance:
    """The trace's jobs on `nodes` (see `parse_nodes`; by default ten nodes of four GPUs of a type that it has times for).

    `all_submitted` sets now to the last submission, so that a single solve sees every job; else now is 0, for a replay.
    """
    rng = np.random.default_rng(seed)
    listed = parse_nodes(nodes if nodes is not None else _fitting(trace))
    most = most_gpus(listed)
    if trace.time_s:
        assumed: list[str] = []
    else:
        trace = replace(trace, time_s=_amdahl(trace, most, rng))
        assumed = [AMDAHL.format(reference=next(iter(most)))]
    tables = [{kind: row[: most[kind]] for kind, row in times.items() if kind in most} for times in trace.time_s]
    able = np.array([any(t is not None for row in times.values() for t in row) for times in tables], dtype=bool)
    if not able.any():
        raise OptschedError(
            f"no job of the trace has a time on {', '.join(most)}; it knows {', '.join(_types(trace)) or 'none'}"
        )
    kept = trace.where(able, "{} jobs that cannot run on these nodes are left out.")
    due, weight = kept.moments.get("due"), _weights(kept)
    jobs, estimates = [], kept.estimates
    for i, j in enumerate(np.flatnonzero(able).tolist()):
        every = [t for row in tables[j].values() for t in row if t is not None]
        submitted = round(float(kept.submitted_s[i]), 3)
        drawn_due, drawn_weight = submitted + rng.uniform(min(every), max(every)), rng.uniform(LEAST_WEIGHT, MOST_WEIGHT)
        jobs.append(
            Job(
                id=kept.ids[i],
                submit_s=submitted,
                due_s=round(drawn_due if due is None else float(due[i]), 3),
                weight_per_s=round(float(drawn_weight if weight is None else weight[i]), 6),
                time_s=tables[j],
                estimate=estimates[i],
            )
        )
    return AllocationInstance(
        name=f"{kept.name()}-s{seed}",
        meta=kept.meta([*assumed, *_told(kept), ASSUMED_COSTS]) | {"seed": seed},
        currency="EUR",
        now_s=max(job.submit_s for job in jobs) if all_submitted else 0.0,
        scheduling_interval_s=300.0,
        postponement_penalty=100.0,
        gpu_types=priced(listed),
        nodes=listed,
        jobs=tuple(jobs),
    )


def _weights(trace: Trace) -> Floats | None:
    """Weights in EUR/s, as they are given or by priority; None where there is neither."""
    if "weight" in trace.columns:
        return trace.columns["weight"]
    priority = trace.columns.get("priority")
    if priority is None:
        return None
    if not priority.sum() > 0:
        raise OptschedError(
            f"{', '.join(trace.files)}: no job has a priority above 0: weights are priorities scaled to their mean"
        )
    scaled: Floats = priority * ((LEAST_WEIGHT + MOST_WEIGHT) / 2 / priority.mean())
    return scaled


def _told(trace: Trace) -> list[str]:
    """What of due dates and weights was drawn, or scaled."""
    weighed = not trace.columns.keys() & {"weight", "priority"}
    drawn = [name for name, missing in ((DUE, "due" not in trace.moments), (WEIGHTS, weighed)) if missing]
    told = [" and ".join(drawn) + DRAWN] if drawn else []
    told = [sentence[0].upper() + sentence[1:] for sentence in told]
    return told + ([PRIORITIES] if "priority" in trace.columns and "weight" not in trace.columns else [])


def _types(trace: Trace) -> list[str]:
    return sorted({kind for times in trace.time_s for kind in times})


def _fitting(trace: Trace) -> str:
    """V100 where the trace has times for it, or none at all; else its first type."""
    types = _types(trace) or ["V100"]
    return f"{'V100' if 'V100' in types else types[0]}:4x10"


def _amdahl(trace: Trace, most: dict[str, int], rng: np.random.Generator) -> tuple[Times, ...]:
    if not set(most) <= {"V100", "T4"}:
        raise OptschedError("a trace without a profile is scaled by ANDREAS' measurements: nodes of V100 and T4 only")
    one, two, turing = np.array(list(NETWORKS.values()))[rng.integers(0, len(NETWORKS), len(trace))].T
    serial = 2 * two / one - 1
    slower = {"V100": np.ones(len(trace)), "T4": turing / one}
    reference = slower[next(iter(most))]
    alone = trace.duration_s / (serial + (1 - serial) / trace.units) / reference
    # 1 ms at the least: the file rounds to ms
    columns = {
        kind: np.maximum(
            0.001,
            np.round((alone * slower[kind])[:, None] * (serial[:, None] + (1 - serial[:, None]) / np.arange(1, g + 1)), 3),
        )
        for kind, g in most.items()
    }
    return tuple({kind: tuple(rows[j].tolist()) for kind, rows in columns.items()} for j in range(len(trace)))
