"""Alibaba PAI 2020 (Weng et al., NSDI 2022): the official simulator's CSV, or the short form of umassos/GAIA."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from optsched.instances.readers.table import Table, read_csv
from optsched.instances.readers.trace import Trace, gathered


def read(path: str | Path, *, skip_bad: bool = False) -> Trace:
    """Jobs of ``pai_job_*_100K.csv`` (job_id, submit_time, duration, num_gpu, ...) or of arrival_time, length, cpus."""
    table = read_csv(path)
    return (_short if "arrival_time" in table else _official)(table, skip_bad)


def _official(table: Table, skip_bad: bool) -> Trace:
    asked = table.number("num_gpu", least=0, missing=0)
    ids = table.identifiers("job_id")
    return gathered(
        table,
        "alibaba2020",
        skip_bad=skip_bad,
        ids=ids,
        submitted_s=table.number("submit_time", least=0),
        duration_s=np.maximum(table.number("duration", least=0), 1.0),
        units=np.ceil(asked),
        assumed=(
            "num_gpu is the GPUs of the whole job, as the official simulator takes it (num_inst is not multiplied in).",
            "A share of a GPU is rounded up to a whole GPU; a duration under 1 s counts as 1 s.",
        ),
        without=[(asked == 0, "{} jobs without a GPU are left out.")],
    )


def _short(table: Table, skip_bad: bool) -> Trace:
    return gathered(
        table,
        "alibaba2020",
        skip_bad=skip_bad,
        submitted_s=table.number("arrival_time", least=0),
        duration_s=table.number("length", above=0),
        units=table.number("cpus", least=1, whole=True),
        assumed=("cpus, the workers of a job, are its GPUs: one GPU a worker.", "arrival_time and length are in seconds."),
    )
