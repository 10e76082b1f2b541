"""Gavel's table of throughputs (Narayanan et al., OSDI 2020) as a profile: steps per second on K80, P100 and V100."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from optsched.errors import InputError
from optsched.instances.base import Floats
from optsched.instances.readers.table import read_csv
from optsched.instances.readers.trace import Times

# the model of Gavel's that is nearest to an application of Pollux'
MODELS = {
    "bert": "Transformer",
    "cifar10": "ResNet-18",
    "deepspeech2": "LM",
    "imagenet": "ResNet-50",
    "ncf": "Recommendation",
    "yolov3": "CycleGAN",
}
ASSUMED = (
    "Times are Gavel's throughputs of consolidated workers for the nearest model: "
    + ", ".join(f"{a} as {m}" for a, m in MODELS.items())
    + ".",
    "steps_per_s sums the steps of all workers; the profiled local batch size nearest to the job's (in logarithm) stands for "
    "it; CycleGAN lists no batch size and counts as 1. Numbers of GPUs that were not profiled cannot run.",
)


class Profile:
    """Samples per second by GPU type, model, local batch size and number of GPUs."""

    assumed = ASSUMED

    def __init__(self, path: str | Path, rates: dict[tuple[str, str, int], Floats]) -> None:
        self.path, self._rates = path, rates

    def times(self, application: str, batch: float, samples: float) -> Times:
        """Seconds for `samples` by GPU type, with 1 to the most profiled GPUs."""
        model = MODELS[application]
        found: dict[str, dict[int, float]] = {}
        for (kind, name, gpus), rows in self._rates.items():
            if name == model:
                nearest = np.argmin(np.abs(np.log(rows[:, 0]) - np.log(batch / gpus)))
                found.setdefault(kind, {})[gpus] = round(float(samples / (rows[nearest, 0] * rows[nearest, 1])), 3)
        if not found:
            raise InputError(self.path, "model", f"has no throughput of {model}, which stands for {application}")
        return {kind: tuple(seconds.get(g) for g in range(1, max(seconds) + 1)) for kind, seconds in sorted(found.items())}


def read_profile(path: str | Path) -> Profile:
    """The profile in a CSV of gpu_type, consolidated, model, batch_size, scale_factor, steps_per_s."""
    table = read_csv(path)
    together = table.number("consolidated", least=0, whole=True) == 1
    gpus, steps = table.number("scale_factor", least=1, whole=True), table.number("steps_per_s", least=0)
    batch = table.number("batch_size", least=1, missing=1)
    kinds, models = table.text("gpu_type"), table.text("model")
    table.sound(skip_bad=False)
    rates: dict[tuple[str, str, int], list[tuple[float, float]]] = {}
    for i in np.flatnonzero(together & (steps > 0)).tolist():
        rates.setdefault((kinds[i].upper(), models[i], int(gpus[i])), []).append((float(batch[i]), float(steps[i])))
    return Profile(path, {key: np.array(rows) for key, rows in rates.items()})
