"""Standard Workload Format of the Parallel Workloads Archive (Feitelson): 18 numbers a job, ; comments, -1 = unknown."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from optsched.instances.readers.table import Table, text_lines
from optsched.instances.readers.trace import Trace, gathered

FIELDS = (
    "job", "submit", "wait", "run", "allocated", "cpu", "memory", "requested", "requested_time",
    "requested_memory", "status", "user", "group", "executable", "queue", "partition", "preceding", "think",
)  # fmt: skip
START = re.compile(r";\s*UnixStartTime:\s*(\d{9,11})\s*")


def read(path: str | Path, *, skip_bad: bool = False) -> Trace:
    """Jobs of an ``.swf`` or ``.swf.gz`` file."""
    lines = list(text_lines(path))
    starts = [match[1] for line in lines if (match := START.fullmatch(line))]
    numbered = [(n, line.split()) for n, line in enumerate(lines, start=1)]
    rows = [(n, words) for n, words in numbered if words and not words[0].startswith(";")]
    wrong = np.array([len(words) != len(FIELDS) for _, words in rows], dtype=bool)
    columns = list(zip(*((words + ["-1"] * len(FIELDS))[: len(FIELDS)] for _, words in rows), strict=True))
    table = Table(path, dict(zip(FIELDS, columns or [()] * len(FIELDS), strict=True)), [n for n, _ in rows])
    table.fault(wrong, "fields", f"has not the {len(FIELDS)} fields of the format")
    run = table.number("run", least=-1)
    allocated, requested = table.number("allocated", least=-1, whole=True), table.number("requested", least=-1, whole=True)
    cores = np.where(allocated > 0, allocated, requested)
    submitted = table.number("submit", least=-1)
    asked = table.number("requested_time", least=-1)
    return gathered(
        table,
        "swf",
        skip_bad=skip_bad,
        ids=table.identifiers("job"),
        submitted_s=submitted,
        duration_s=run,
        units=cores,
        begins_s=float(starts[0]) if starts else None,
        columns={"requested_s": np.where(asked > 0, asked, np.nan)} if (asked > 0).any() else {},
        assumed=(
            "A job is deferrable and rigid: its allocated processors (or else those requested) for its actual run time.",
            "Waiting times, dependencies and the status are not used: failed and cancelled jobs count with the time they ran.",
        ),
        without=[
            ((run <= 0) | (cores <= 0) | (submitted < 0), "{} jobs of unknown or no submission, run time or size are left out.")
        ],
    )
