"""A trained agent: a small multilayer perceptron, as plain arrays, that says a cap for what it sees."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import NamedTuple, TypeVar
from zipfile import BadZipFile

import numpy as np

from optsched.errors import InputError, OptschedError
from optsched.files import read_bytes, write_bytes
from optsched.instances.base import Instance
from optsched.rl.observation import SIZE

ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {"tanh": np.tanh, "relu": lambda x: np.maximum(0.0, x)}
WEIGHTS = files("optsched.rl") / "weights" / "vcc"


Action = TypeVar("Action", float, np.ndarray)


def to_cap(action: Action) -> Action:
    """From an agent's [-1, 1] to a cap: cubed, since what matters happens far below the capacity."""
    return ((action + 1) / 2) ** 3


class Lesson(NamedTuple):
    """What an agent has learned from: an instance, by its name and by a digest of what is given, and a kind of forecast."""

    name: str
    digest: str
    forecast: str


@dataclass(frozen=True)
class Agent:
    """Normalise the observation, go through the layers, and make a cap of what comes out.

    Attributes
    ----------
    mean, scale : of the observation, shape (n,). clip : of the normalised one. layers : (weights, bias), shapes (out, in),
    (out,). activation : between layers. squash : whether tanh ends it (SAC) or clipping does (PPO). lesson : what it was
    trained on; None where nobody knows.
    """

    mean: np.ndarray
    scale: np.ndarray
    clip: float
    layers: tuple[tuple[np.ndarray, np.ndarray], ...]
    activation: str
    squash: bool
    lesson: Lesson | None = None

    def act(self, observation: np.ndarray) -> float:
        """The cap, from 0 to 1, without exploration."""
        x = np.clip((observation - self.mean) / self.scale, -self.clip, self.clip)
        for weights, bias in self.layers[:-1]:
            x = ACTIVATIONS[self.activation](weights @ x + bias)
        weights, bias = self.layers[-1]
        out = float((weights @ x + bias)[0])
        out = float(np.tanh(out)) if self.squash else min(1.0, max(-1.0, out))
        return float(to_cap(out))

    def trained(self, instance: Instance, forecast: str) -> Agent:
        """The agent, which remembers what it was trained on."""
        return replace(self, lesson=Lesson(instance.name, _digest(instance), forecast))

    def doubt(self, instance: Instance, forecast: str) -> str | None:
        """Why its decisions mean little here, and what to type; None where it has learned from this, or nobody knows."""
        if self.lesson is None:
            return None
        if self.lesson.digest != _digest(instance):
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
        if sha256 != self.sha256:
            raise OptschedError("the agent's file is not the one that the checkpoint was made with")

    def save(self, path: str | Path) -> None:
        """Write an ``.npz`` without pickles, atomically."""
        layers = {f"{kind}{i}": array for i, pair in enumerate(self.layers) for kind, array in zip("wb", pair, strict=True)}
        packed = BytesIO()
        settings = {
            "clip": self.clip,
            "activation": self.activation,
            "squash": self.squash,
            "mean": self.mean,
            "scale": self.scale,
        }
        if self.lesson is not None:
            settings["lesson"] = self.lesson
        np.savez_compressed(packed, **{k: np.asarray(v) for k, v in (settings | layers).items()})  # type: ignore[arg-type]
        write_bytes(path, packed.getvalue())

    @classmethod
    def load(cls, path: str | Path) -> Agent:
        """Read what `save` wrote.

        Raises
        ------
        InputError : the file is missing, or holds no agent.
        """
        try:
            with np.load(BytesIO(read_bytes(path)), allow_pickle=False) as held:
                count = sum(name.startswith("w") for name in held)
                layers = tuple((held[f"w{i}"].astype(float), held[f"b{i}"].astype(float)) for i in range(count))
                mean, scale = held["mean"].astype(float), held["scale"].astype(float)
                found = cls(mean, scale, float(held["clip"]), layers, str(held["activation"]), bool(held["squash"]))
                if "lesson" in held:
                    found = replace(found, lesson=Lesson(*map(str, held["lesson"])))
        except (
            KeyError,
            ValueError,
            TypeError,
            AttributeError,
            BadZipFile,
            EOFError,
            OSError,
            NotImplementedError,
            zlib.error,
        ):
            raise InputError(path, "", "holds no agent: expected an .npz that `optsched train` wrote") from None
        if (fault := found._fault()) is not None:
            raise InputError(path, "", f"holds no agent: {fault}")
        return found

    def _fault(self) -> str | None:
        """What keeps it from acting on 27 numbers."""
        sizes = [SIZE]
        for weights, bias in self.layers:
            if weights.ndim != 2 or weights.shape[1] != sizes[-1] or bias.shape != weights.shape[:1]:
                return f"layer {len(sizes)} does not take {sizes[-1]} numbers"
            sizes.append(len(bias))
        if not self.layers or sizes[-1] != 1 or self.mean.shape != (SIZE,) or self.scale.shape != (SIZE,):
            return f"it does not make one number of {SIZE}"
        arrays = [self.mean, self.scale, *(array for pair in self.layers for array in pair)]
        if not all(np.isfinite(array).all() for array in arrays) or not (self.scale > 0).all() or not self.clip > 0:
            return "its numbers are not finite, or a scale is not positive"
        return None if self.activation in ACTIVATIONS else f"activation {self.activation!r} is unknown"


def _digest(instance: Instance) -> str:
    """A digest of what is given, whatever it is called."""
    return instance.model_copy(update={"name": "any", "meta": {}}).sha256


def shipped() -> tuple[str, ...]:
    """Names of the agents that come with the package."""
    return tuple(sorted(entry.name.removesuffix(".npz") for entry in WEIGHTS.iterdir() if entry.name.endswith(".npz")))


def agent(name: str) -> Agent:
    """The shipped agent of that name, or the one in the file.

    Raises
    ------
    OptschedError : neither.
    """
    if name in shipped():
        return Agent.load(str(WEIGHTS / f"{name}.npz"))
    if name.endswith(".npz"):
        return Agent.load(name)
    raise OptschedError(f"no agent {name!r}, there are: {', '.join(shipped()) or 'none'}, or the .npz of `optsched train`")
