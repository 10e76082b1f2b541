"""Pollux and Sia workloads (Qiao et al., OSDI 2021): real step times make real time tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from optsched.errors import InputError, OptschedError
from optsched.instances.base import Floats
from optsched.instances.readers import gavel
from optsched.instances.readers.table import read_csv
from optsched.instances.readers.trace import Times, Trace, gathered

# samples of a whole training: iterations of the last epoch x batch size in the validation traces of Pollux' own simulator
# (petuum/adaptdl, branch osdi21-artifact, simulator/traces): batch sizes 384, 2048, 320, 800, 16384, 64
SAMPLES = {
    "bert": 480 * 384,
    "cifar10": 3178 * 2048,
    "deepspeech2": 2264 * 320,
    "imagenet": 150231 * 800,
    "ncf": 3069 * 16384,
    "yolov3": 14577 * 64,
}
ASSUMED = (
    "A job trains to the end of its application's last epoch at its submitted total batch size, whatever its number of GPUs; "
    "samples in all: "
    + ", ".join(f"{name} {count:,}" for name, count in SAMPLES.items())
    + ". num_replicas, its own wish, is not used: the schedule chooses; geo, which has one size a job, takes the fastest."
)
POLLUX = (
    "Times are Pollux' measured step times on one node of T4s (1 to 4 GPUs), linear between profiled local batch sizes; larger "
    "local batches accumulate gradients, smaller ones than were profiled cannot run.",
)


def read(path: str | Path, *, skip_bad: bool = False, profiles: str | Path | None = None) -> Trace:
    """Jobs of name, time, application, num_replicas, batch_size.

    `profiles` is a folder of ``pollux_<application>_placements.csv`` (or ``<application>/placements.csv``), or Gavel's table of
    throughputs; if not given, the folder ``profiles`` beside the workload's own.
    """
    table = read_csv(path)
    ids, submitted = table.identifiers("name"), table.number("time", least=0)
    application, batch = table.text("application"), table.number("batch_size", least=1, whole=True)
    table.number("num_replicas", least=1, whole=True)
    table.fault(
        np.array([name not in SAMPLES for name in application], dtype=bool), "application", f"known are {', '.join(SAMPLES)}"
    )
    good, _ = table.sound(skip_bad)
    source = Path(path).parent.parent / "profiles" if profiles is None else Path(profiles)
    profile = _Folder(source) if source.is_dir() else gavel.read_profile(source)
    jobs = list(zip(application.tolist(), batch.tolist(), strict=True))
    known: dict[tuple[str, float], Times] = {
        job: profile.times(*job, SAMPLES[job[0]]) for job, sound in zip(jobs, good, strict=True) if sound
    }
    tables = [known.get(job, {}) for job in jobs]
    fastest = np.array([_fastest(times) for times in tables]).reshape(-1, 2)
    trace = gathered(
        table,
        "pollux",
        skip_bad=skip_bad,
        ids=ids,
        submitted_s=submitted,
        duration_s=fastest[:, 0],
        units=fastest[:, 1],
        assumed=(ASSUMED, *profile.assumed),
        without=[(np.isinf(fastest[:, 0]), "{} jobs have no time at their batch size and are left out.")],
    )
    by_id = {i: times for i, times, sound in zip(ids.tolist(), tables, good, strict=True) if sound}
    return replace(trace, time_s=tuple(by_id[i] for i in trace.ids))


def _fastest(times: Times) -> tuple[float, float]:
    """Seconds and GPUs of the fastest configuration."""
    return min(((t, float(g)) for row in times.values() for g, t in enumerate(row, 1) if t is not None), default=(np.inf, 0.0))


class _Folder:
    """Pollux' profiles: step and synchronisation time by placement and local batch size."""

    assumed = POLLUX

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[str, dict[int, Floats]] = {}

    def times(self, application: str, batch: float, samples: float) -> Times:
        """Seconds for `samples` with 1..4 T4s of one node."""
        by_gpus = self._profile(application)
        return {"T4": tuple(_seconds(by_gpus.get(g), batch, g, samples) for g in range(1, max(by_gpus) + 1))}

    def _profile(self, application: str) -> dict[int, Floats]:
        if application not in self._known:
            names = (f"pollux_{application}_placements.csv", f"{application}_placements.csv", f"{application}/placements.csv")
            found = [self.folder / name for name in names if (self.folder / name).is_file()]
            if not found:
                raise OptschedError(f"{self.folder}: no profile of {application}, expected a file {names[0]} there")
            table = read_csv(found[0])
            columns = [table.number("placement", least=1, whole=True)]
            columns += [table.number(name, above=0) for name in ("local_bsz", "step_time")] + [
                table.number("sync_time", least=0)
            ]
            table.sound(skip_bad=False)
            rows = np.array(columns).T
            # a placement lists the replicas of each node, digit by digit: one digit is one node
            alone = {g: rows[rows[:, 0] == g, 1:] for g in range(1, 10)}
            self._known[application] = {g: part[np.argsort(part[:, 0])] for g, part in alone.items() if len(part)}
            if not self._known[application]:
                raise InputError(found[0], "placement", "has no placement on a single node")
        return self._known[application]


def _seconds(profile: Floats | None, batch: float, gpus: int, samples: float) -> float | None:
    if profile is None:
        return None
    local_sizes, steps, syncs = profile.T
    local = np.ceil(batch / gpus)
    if local < local_sizes[0]:
        return None
    accumulated = np.ceil(local / local_sizes[-1]) - 1
    atomic = np.ceil(local / (accumulated + 1))
    step, sync = np.interp(atomic, local_sizes, steps), np.interp(atomic, local_sizes, syncs)
    return round(float(samples / batch * (step + accumulated * (step - sync))), 3)
