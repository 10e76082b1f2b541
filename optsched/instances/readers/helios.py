"""SenseTime Helios (Hu et al., SC 2021): cluster_log.csv of Venus, Earth, Saturn or Uranus."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from optsched.instances.readers.table import read_csv
from optsched.instances.readers.trace import Trace, gathered, midnight


def read(path: str | Path, *, skip_bad: bool = False) -> Trace:
    """Jobs of job_id, user, vc, gpu_num, cpu_num, node_num, state, submit_time, start_time, end_time, duration, queue."""
    table = read_csv(path)
    gpus = table.number("gpu_num", least=0, whole=True)
    duration = table.number("duration", least=0)
    submitted = table.moment("submit_time")
    begins = midnight(submitted)
    return gathered(
        table,
        "helios",
        skip_bad=skip_bad,
        ids=table.identifiers("job_id"),
        submitted_s=submitted - begins,
        begins_s=begins,
        duration_s=np.where(gpus > 0, duration, 0.0),
        units=gpus,
        assumed=(
            "The trace's seconds count from the midnight before its first submission; times are taken as UTC.",
            "gpu_num is the GPUs of the whole job. Failed and cancelled jobs count with the time they ran.",
        ),
        without=[
            (gpus == 0, "{} jobs without a GPU are left out."),
            ((gpus > 0) & (duration == 0), "{} jobs of no duration are left out."),
        ],
    )
