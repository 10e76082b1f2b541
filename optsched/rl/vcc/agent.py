"""A trained agent of vcc: a small multilayer perceptron, as plain arrays, that says which share of the queue starts now."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from itertools import count as count_from
from pathlib import Path
from typing import Protocol, Self

import numpy as np
from pydantic import ValidationError

from optsched.errors import InputError
from optsched.files import read_bytes
from optsched.instances.base import Floats
from optsched.instances.vcc import VccInstance
from optsched.rl.perceptron import forward
from optsched.rl.trained import UNREADABLE, Card, Trained, file_of
from optsched.rl.trained import shipped as shipped_of
from optsched.rl.vcc.absolute import AbsoluteAgent
from optsched.rl.vcc.action import cap_of, to_share
from optsched.rl.vcc.carbon import Regression
from optsched.rl.vcc.layers import ACTIVATIONS, fault_of
from optsched.rl.vcc.observation import SIZE, Past, observe

KIND = "vcc-cap"
PROBLEM = "vcc"
ARRAYS = ("mean", "scale", "w0", "b0")
CARBON = ("carbon_scale", "carbon_weights")  # of its forecast, where it has one
SETTINGS = ("activation", "squash", "least_load", "most_load", "slot_s", "forecast")
NEAR = 1e-3  # relative: what a card says of loads is rounded
FAR = 8.0  # standard deviations of what it was trained on, beyond which it has never been


class CapAgent(Protocol):
    """What decides a cap: an agent of today's, or one that knows a month in absolute numbers."""

    @property
    def sha256(self) -> str:
        """Of all that it acts by."""

    def expect(self, sha256: str) -> None:
        """Refuse to go on in another agent's place."""

    def believed(self, snapshot: VccInstance, past: Past) -> VccInstance:
        """The snapshot with what it believes of the hours to come; `past` has seen it."""

    def cap(self, snapshot: VccInstance, past: Past, last: float) -> float:
        """The cap of the present slot, from 0 to 1, after the last one; the snapshot is what it believes."""

    def at_home(self, snapshot: VccInstance, past: Past, last: float) -> bool:
        """Whether what it sees is like what it was trained on."""

    def doubt(self, instance: VccInstance, forecast: str) -> str | None:
        """Why its decisions mean little here, and what to type; None where there is no doubt."""


@dataclass(frozen=True)
class Agent:
    """Normalise what is seen, go through the layers, and make a share, and of that a cap, of what comes out.

    Attributes
    ----------
    trained
        ``mean`` and ``scale`` of what is seen, ``w0``, ``b0``, ``w1``, ...; its card says between which loads it was trained,
        on which forecasts, whether tanh ends it (SAC) or clipping does (PPO), and what is between layers.
    """

    trained: Trained

    @cached_property
    def layers(self) -> tuple[tuple[Floats, Floats], ...]:
        """Weights and bias of each, shapes (out, in) and (out,)."""
        held = self.trained.arrays
        count = next(i for i in count_from(0) if f"w{i}" not in held or f"b{i}" not in held)
        return tuple((held[f"w{i}"].astype(float), held[f"b{i}"].astype(float)) for i in range(count))

    @cached_property
    def normal(self) -> tuple[Floats, Floats]:
        """Mean and scale of what is seen."""
        return self.trained.arrays["mean"].astype(float), self.trained.arrays["scale"].astype(float)

    def shares(self, seen: Floats) -> Floats:
        """Of the waiting load, without exploration, shape (B,), for what is seen, shape (B, SIZE)."""
        settings, (mean, scale) = self.trained.card.settings, self.normal
        x = np.clip((seen - mean) / scale, -FAR, FAR)
        between = ACTIVATIONS[str(settings["activation"])]
        out = forward(x, [(weights.T, bias) for weights, bias in self.layers], between)[:, 0]
        return to_share(np.tanh(out) if settings["squash"] else out, seen)

    @cached_property
    def carbon(self) -> Regression | None:
        """By which it foretells carbon; None where it believes what it is shown."""
        held = self.trained.arrays
        return Regression(*(held[name].astype(float) for name in CARBON)) if any(name in held for name in CARBON) else None

    def believed(self, snapshot: VccInstance, past: Past) -> VccInstance:
        """With the hours that it foretells, where it does and slots are its own."""
        if self.carbon is None or snapshot.slot_s != self.trained.card.settings["slot_s"]:
            return snapshot
        return self.carbon.believed(snapshot, past)

    def cap(self, snapshot: VccInstance, past: Past, last: float) -> float:
        """The highest that starts no more than its share."""
        return cap_of(float(self.shares(observe(snapshot, past)[None, :])[0]), snapshot)

    def at_home(self, snapshot: VccInstance, past: Past, last: float) -> bool:
        """Within so many deviations in every number."""
        mean, scale = self.normal
        return bool((np.abs((observe(snapshot, past) - mean) / scale) <= FAR).all())

    @property
    def sha256(self) -> str:
        """Of all that it acts by."""
        return self.trained.sha256

    def expect(self, sha256: str) -> None:
        """Refuse to go on in another agent's place.

        Raises
        ------
        OptschedError : a checkpoint was made with the agent of that sha256, which is not this one.
        """
        self.trained.expect(sha256)

    def doubt(self, instance: VccInstance, forecast: str) -> str | None:
        """Where the load, the slots or the forecasts are none that it was trained on."""
        card = self.trained.card
        told = card.settings
        least, most, load = float(told["least_load"]), float(told["most_load"]), load_of(instance)
        learn = f"`optsched train {card.name} --instance INSTANCE -o mine.npz` trains one here, for --policy agent:mine.npz"
        if instance.slot_s != told["slot_s"]:
            hours = f"trained on slots of {told['slot_s']:g} s, and these are of {instance.slot_s:g} s"
            return f"{hours}: look before you trust it; {learn}"
        if not least * (1 - NEAR) <= load <= most * (1 + NEAR):
            span = f"trained at flexible loads from {least:.1%} to {most:.1%} of what the inflexible leaves"
            return f"{span}, and this is {load:.1%}: look before you trust it; {learn}"
        if forecast != told["forecast"]:
            known = told["forecast"]
            return (
                f"trained on {known} forecasts, and shown {forecast} ones: look before you trust it, or type --forecast {known}"
            )
        return None

    def save(self, path: str | Path) -> None:
        """Write an ``.npz`` without pickles, atomically."""
        self.trained.save(path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote.

        Raises
        ------
        InputError : the file is missing, or holds no agent of this kind.
        """
        found = cls(Trained.load(path, KIND))
        if (fault := found._fault()) is not None:
            raise InputError(path, "", f"holds no agent: {fault}")
        return found

    def _fault(self) -> str | None:
        """What keeps it from acting on SIZE numbers."""
        told, arrays = self.trained.card.settings, self.trained.arrays
        lacking = [name for name in ARRAYS if name not in arrays] + [name for name in SETTINGS if name not in told]
        if lacking:
            return f"it lacks {', '.join(lacking)}"
        if arrays["mean"].shape != (SIZE,) or arrays["scale"].shape != (SIZE,) or not (arrays["scale"] > 0).all():
            return f"it does not look at {SIZE} numbers"
        numbers = [told[name] for name in ("least_load", "most_load", "slot_s")]
        if not all(isinstance(number, int | float) for number in numbers):
            return "its loads or its slots are no numbers"
        if told["activation"] not in ACTIVATIONS:
            return f"activation {told['activation']!r} is unknown"
        if len(arrays) - sum(name in arrays for name in CARBON) != 2 + 2 * len(self.layers):
            return "a layer lacks its weights or its bias"
        if any(name in arrays for name in CARBON):
            if lacking := [name for name in CARBON if name not in arrays]:
                return f"it lacks {', '.join(lacking)}"
            if self.carbon is not None and (fault := self.carbon.fault()) is not None:
                return f"of its forecast, {fault}"
        return fault_of(self.layers, SIZE)


def load_of(instance: VccInstance) -> float:
    """Flexible work within the horizon, over what the inflexible load leaves."""
    jobs = instance.columns
    asked = float((jobs.ncu * np.minimum(jobs.duration, instance.horizon - jobs.submitted)).sum())
    return asked / max(1e-9, float(np.maximum(0.0, instance.capacity_ncu - instance.inflexible).sum()))


def shipped() -> tuple[str, ...]:
    """Names of the agents that come with the package."""
    return shipped_of(PROBLEM)


def agent(name: str) -> CapAgent:
    """The shipped agent of that name, or the one in the file, whatever it sees.

    Raises
    ------
    OptschedError : neither.
    """
    path = file_of(PROBLEM, name)
    return AbsoluteAgent.load(path) if kind_of(path) is None else Agent.load(path)


def kind_of(path: str | Path) -> str | None:
    """What the file's card says that it holds; None where it has none, as files of before."""
    try:
        with np.load(BytesIO(read_bytes(path)), allow_pickle=False) as held:
            return Card.model_validate_json(str(held["card"])).kind if "card" in held else None
    except (*UNREADABLE, ValidationError):
        return KIND  # whose reader says what is wrong
