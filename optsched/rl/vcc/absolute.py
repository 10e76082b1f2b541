"""Agents of before: they see 27 absolute numbers and know the instance that they were trained on. Read, never written."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from optsched.errors import InputError
from optsched.files import read_bytes
from optsched.instances.base import Floats
from optsched.instances.vcc import VccInstance
from optsched.rl.perceptron import forward
from optsched.rl.trained import UNREADABLE, refuse_other
from optsched.rl.vcc.layers import ACTIVATIONS, fault_of
from optsched.rl.vcc.observation import Past
from optsched.rl.vcc.page import SIZE, observe

FAR = 8.0  # standard deviations of what it was trained on


class Lesson(NamedTuple):
    """What it has learned from: an instance, by its name and by a digest of what is given, and a kind of forecast."""

    name: str
    digest: str
    forecast: str


@dataclass(frozen=True)
class AbsoluteAgent:
    """Normalise the 27 numbers, go through the layers; a cubed [-1, 1] is the cap.

    Attributes
    ----------
    mean, scale : of the observation, shape (27,). clip : of the normalised one. layers : (weights, bias), shapes (out, in),
    (out,). activation : between layers. squash : whether tanh ends it (SAC) or clipping does (PPO). lesson : what it was
    trained on; None where nobody knows.
    """

    mean: Floats
    scale: Floats
    clip: float
    layers: tuple[tuple[Floats, Floats], ...]
    activation: str
    squash: bool
    lesson: Lesson | None = None

    def act(self, observation: Floats) -> float:
        """The cap, from 0 to 1."""
        x = np.clip((observation - self.mean) / self.scale, -self.clip, self.clip)
        out = float(forward(x, [(weights.T, bias) for weights, bias in self.layers], ACTIVATIONS[self.activation])[0])
        out = float(np.tanh(out)) if self.squash else min(1.0, max(-1.0, out))
        return ((out + 1) / 2) ** 3

    def believed(self, snapshot: VccInstance, past: Past) -> VccInstance:
        """As it is shown."""
        return snapshot

    def cap(self, snapshot: VccInstance, past: Past, last: float) -> float:
        """What it says to the 27 numbers."""
        return self.act(observe(last, snapshot))

    def at_home(self, snapshot: VccInstance, past: Past, last: float) -> bool:
        """Within so many deviations in every number; the last cap may be its rule's, and is left out."""
        return bool((np.abs((observe(last, snapshot) - self.mean) / self.scale)[1:] <= FAR).all())

    def doubt(self, instance: VccInstance, forecast: str) -> str | None:
        """Why its decisions mean little here; None where it has learned from this, or nobody knows."""
        if self.lesson is None:
            return None
        if self.lesson.digest != digest(instance):
            learn = f"optsched train vcc-{'sac' if self.squash else 'ppo'} --instance INSTANCE -o mine.npz"
            other = f"trained on another instance, {self.lesson.name}: look before you trust it"
            return f"{other}; `{learn}` trains one here, for --policy agent:mine.npz"
        if self.lesson.forecast != forecast:
            known = self.lesson.forecast
            return (
                f"trained on {known} forecasts, and shown {forecast} ones: look before you trust it, or type --forecast {known}"
            )
        return None

    @property
    def sha256(self) -> str:
        """Of all that it acts by."""
        found = hashlib.sha256(repr((self.clip, self.activation, self.squash)).encode())
        for array in (self.mean, self.scale, *(array for pair in self.layers for array in pair)):
            found.update(np.ascontiguousarray(array, dtype=float).tobytes())
        return found.hexdigest()

    def expect(self, sha256: str) -> None:
        """Refuse to go on in another agent's place.

        Raises
        ------
        OptschedError : a checkpoint was made with the agent of that sha256, which is not this one.
        """
        refuse_other(self.sha256, sha256)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Of a file without a card.

        Raises
        ------
        InputError : the file is missing, or holds no agent.
        """
        try:
            with np.load(BytesIO(read_bytes(path)), allow_pickle=False) as held:
                count = sum(name.startswith("w") for name in held)
                layers = tuple((held[f"w{i}"].astype(float), held[f"b{i}"].astype(float)) for i in range(count))
                mean, scale = held["mean"].astype(float), held["scale"].astype(float)
                lesson = Lesson(*map(str, held["lesson"])) if "lesson" in held else None
                activation, squash = str(held["activation"]), bool(held["squash"])
                found = cls(mean, scale, float(held["clip"]), layers, activation, squash, lesson)
        except UNREADABLE:
            raise InputError(path, "", "holds no agent: expected an .npz that `optsched train` wrote") from None
        if (fault := found._fault()) is not None:
            raise InputError(path, "", f"holds no agent: {fault}")
        return found

    def _fault(self) -> str | None:
        """What keeps it from acting on 27 numbers."""
        if self.mean.shape != (SIZE,) or self.scale.shape != (SIZE,) or self.activation not in ACTIVATIONS:
            return f"it does not look at {SIZE} numbers, or its activation is unknown"
        arrays = [self.mean, self.scale, *(array for pair in self.layers for array in pair)]
        if not all(np.isfinite(array).all() for array in arrays) or not (self.scale > 0).all() or not self.clip > 0:
            return "its numbers are not finite, or a scale is not positive"
        return fault_of(self.layers, SIZE)


def digest(instance: VccInstance) -> str:
    """Of what is given, whatever it is called."""
    return instance.model_copy(update={"name": "any", "meta": {}}).sha256
