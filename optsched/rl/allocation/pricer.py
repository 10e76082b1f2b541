"""The learned scheduler as arrays: a perceptron that says what GPU time is worth now, for the rule that pays for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np

from optsched.errors import InputError
from optsched.instances.allocation import AllocationInstance
from optsched.rl.allocation.scores import carried_out
from optsched.rl.allocation.view import SIZE, View, see
from optsched.rl.perceptron import Layers, forward, layers_of
from optsched.rl.trained import Trained
from optsched.schedules.allocation import AllocationSchedule

KIND = "allocation-prices"


def bids(view: View, price: float) -> np.ndarray:
    """Scores above 0 of every way that make the dispatch by that price, shape (n,).

    The urgent job first, each in the way whose energy, tardiness and price of its GPU time are least.

    Parameters
    ----------
    view
        Of the snapshot.
    price
        Of a GPU-second, as a share of what it costs those who wait (`Urgency.price`).
    """
    listed, measured, jobs = view.listed, view.measured, len(view.of_job)
    gpu_time = listed.time_s * listed.gpus * measured.speed[listed.node_class]
    pays = listed.energy + listed.tardiness + price * measured.price * gpu_time
    ranked = np.lexsort((pays, listed.job))
    place = np.empty(len(listed))
    place[ranked] = np.arange(len(listed)) - np.searchsorted(listed.job, listed.job)
    rank = np.zeros(jobs)
    rank[view.order] = np.arange(len(view.order))
    return np.asarray(1 - (rank[listed.job] + place / (1 + place.max(initial=0.0))) / max(1, jobs))


@dataclass(frozen=True)
class Pricer:
    """Acts by arrays: ``prices``, shape (K,), ``mean``, ``scale``, (19,), layers ``w0``, ``b0``, ..., (in, out), (out,)."""

    trained: Trained

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read the file.

        Raises
        ------
        InputError : it is missing, or holds no scheduler of this family.
        """
        found = cls(Trained.load(path, KIND))
        if (fault := found._fault()) is not None:
            raise InputError(path, "", f"holds no agent: {fault}")
        return found

    @cached_property
    def _layers(self) -> Layers:
        return layers_of(self.trained.arrays)

    def price(self, view: View) -> float:
        """What it thinks best: the mean of the prices' logarithms, by how likely each is to be the best."""
        held = self.trained.arrays
        x = (view.summary - held["mean"]) / held["scale"]
        said = forward(x, self._layers)
        likely = np.exp(said - said.max())
        return float(np.exp(likely @ np.log(held["prices"]) / likely.sum()))

    def decide(self, snapshot: AllocationInstance) -> AllocationSchedule:
        """What it runs now."""
        view = see(snapshot)
        return carried_out(snapshot, view.listed, bids(view, self.price(view)))

    def distance(self, view: View) -> float:
        """How far what is seen lies from what was trained on: the largest distance of a number, in standard deviations."""
        held = self.trained.arrays
        return float((np.abs(view.summary - held["mean"]) / held["scale"]).max())

    def _fault(self) -> str | None:
        held, size = self.trained.arrays, SIZE
        if any(name not in held or held[name].shape != (SIZE,) for name in ("mean", "scale")):
            return f"it does not take {SIZE} numbers"
        count = sum(name.startswith("w") for name in held)
        for i in range(count):
            shape = held[f"w{i}"].shape if f"w{i}" in held else ()
            if len(shape) != 2 or shape[0] != size or f"b{i}" not in held or held[f"b{i}"].shape != shape[1:]:
                return f"layer {i} does not take {size} numbers"
            size = shape[1]
        if count == 0 or "prices" not in held or held["prices"].shape != (size,):
            return "it does not say how likely each price is"
        if not (held["scale"] > 0).all() or not (held["prices"] > 0).all():
            return "a scale or a price is not positive"
        return None
