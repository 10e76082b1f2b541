"""Microsoft Philly (Jeon et al., ATC 2019): the authors' cluster_job_log (JSON), or the CSV of petuum/adaptdl."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from optsched.errors import InputError, OptschedError
from optsched.files import read_bytes
from optsched.instances.readers.table import Table, read_csv
from optsched.instances.readers.trace import Trace, gathered, midnight

CLOCK = "The trace's seconds count from the midnight before its first submission; times are taken as UTC."


def read(path: str | Path, *, skip_bad: bool = False, cluster: str | None = None) -> Trace:
    """Jobs of one virtual cluster, or of all."""
    log = Path(path).name.endswith((".json", ".json.gz")) or Path(path).name == "cluster_job_log"
    table = _log(path) if log else read_csv(path)
    owner = table.text("cluster")
    if cluster is not None and cluster not in set(owner):
        raise OptschedError(f"{path}: no cluster {cluster!r}, there are: {', '.join(sorted(set(map(str, owner))))}")
    gpus = table.number("num_gpus", least=0, whole=True)
    duration = table.number("duration", least=0)
    submitted = table.moment("timestamp")
    begins = midnight(submitted)
    other = np.array(owner != cluster) if cluster is not None else np.zeros(len(table), dtype=bool)
    return gathered(
        table,
        "philly",
        skip_bad=skip_bad,
        submitted_s=submitted - begins,
        begins_s=begins,
        duration_s=duration,
        units=gpus,
        assumed=(CLOCK, *(LOG_ASSUMED if log else ())),
        without=[
            (other, "{} jobs of other clusters are left out."),
            ((gpus == 0) | (duration == 0), "{} jobs that never ran on a GPU are left out."),
        ],
    )


LOG_ASSUMED = (
    "A job's duration is the sum of its attempts', its GPUs those of the attempt with the most.",
    "Failed and killed jobs count with the time they ran.",
)


def _log(path: str | Path) -> Table:
    """Every job of the JSON log as a row; an attempt that lacks its start or end adds no time."""
    try:
        jobs = json.loads(read_bytes(path))
    except ValueError as error:
        raise InputError(path, "", f"is not valid JSON ({error})") from None
    if not isinstance(jobs, list):
        raise InputError(path, "", "is not Philly's cluster_job_log, a JSON list of jobs")
    rows, broken = [], np.zeros(len(jobs), dtype=bool)
    for n, job in enumerate(jobs):
        try:
            rows.append(_job(job))
        except (ValueError, KeyError, TypeError, AttributeError):
            rows.append(("", 0.0, 0, ""))
            broken[n] = True
    columns = list(zip(*rows, strict=True)) or [()] * 4
    names = ("timestamp", "duration", "num_gpus", "cluster")
    table = Table(path, dict(zip(names, columns, strict=True)), range(1, len(rows) + 1), row="job")
    table.fault(broken, "attempts", "lacks submitted_time, vc, or attempts with times and details")
    return table


def _job(job: dict[str, Any]) -> tuple[str, float, int, str]:
    ran = [a for a in job["attempts"] if _given(a.get("start_time")) and _given(a.get("end_time"))]
    ends = np.array([[a["start_time"], a["end_time"]] for a in ran], dtype="datetime64[s]").reshape(-1, 2)
    seconds = float((ends[:, 1] - ends[:, 0]).astype(float).sum())
    gpus = max((sum(len(part["gpus"]) for part in a.get("detail", ())) for a in ran), default=0)
    return str(job["submitted_time"]), seconds, gpus, str(job["vc"])


def _given(stamp: Any) -> bool:
    return stamp not in (None, "", "None")
