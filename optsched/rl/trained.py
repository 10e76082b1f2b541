"""What training leaves: arrays that act with NumPy alone, and the card that says where they come from."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Self
from zipfile import BadZipFile

import numpy as np
from pydantic import Field, ValidationError

from optsched.errors import InputError, OptschedError
from optsched.files import read_bytes, write_bytes
from optsched.instances.base import Data

WEIGHTS = files("optsched.rl") / "weights"
UNREADABLE = (KeyError, ValueError, TypeError, AttributeError, BadZipFile, EOFError, OSError, NotImplementedError, zlib.error)


class Card(Data):
    """Where weights come from, and what may be expected of them.

    Attributes
    ----------
    name
        Of the learner, as in ``optsched train NAME``.
    kind
        What the arrays are, for whoever acts with them, e.g. ``"deferrable-scores"``.
    problem
        The family.
    scenario
        What the cases of training were drawn from.
    split
        What training, validation and test have seen, in words.
    seed, steps, seconds
        Of training; seconds of wall time.
    settings
        Hyper-parameters and the network's shape.
    curve
        (steps, score) of every validation, larger is better.
    best
        Steps after which these weights were kept.
    tested
        Test score by the name of what was tested; empty where nothing has been.
    failures
        What it is known to do badly.
    """

    name: str
    kind: str
    problem: str
    scenario: str
    split: str
    seed: int
    steps: int
    seconds: float = 0.0
    settings: dict[str, bool | int | float | str]
    curve: tuple[tuple[int, float], ...] = ()
    best: int = 0
    tested: dict[str, float] = Field(default_factory=dict)
    failures: str = ""


def told(settings: Mapping[str, object]) -> dict[str, bool | int | float | str]:
    """Settings as a card tells them: what is neither a number nor a word becomes one."""
    return {name: value if isinstance(value, int | float | str) else str(value) for name, value in settings.items()}


def refuse_other(own: str, kept: str) -> None:
    """Refuse to go on in another agent's place.

    Raises
    ------
    OptschedError : a checkpoint was made with the agent of that sha256, which is not this one.
    """
    if kept != own:
        raise OptschedError("the agent's file is not the one that the checkpoint was made with")


@dataclass(frozen=True)
class Trained:
    """Arrays by name, and their card."""

    arrays: Mapping[str, np.ndarray]
    card: Card

    @cached_property
    def sha256(self) -> str:
        """Of all that it acts by: settings tell some agents how."""
        found = hashlib.sha256(repr((self.card.kind, sorted(self.card.settings.items()))).encode())
        for name, array in sorted(self.arrays.items()):
            found.update(name.encode() + repr(array.shape).encode() + np.ascontiguousarray(array, dtype=float).tobytes())
        return found.hexdigest()

    def expect(self, sha256: str) -> None:
        """Refuse to go on in another's place.

        Raises
        ------
        OptschedError : a checkpoint was made with weights of that sha256, which are not these.
        """
        refuse_other(self.sha256, sha256)

    def save(self, path: str | Path) -> None:
        """Write an ``.npz`` without pickles, atomically: the arrays, and the card as JSON under the key ``card``."""
        packed = BytesIO()
        held = {"card": np.asarray(self.card.model_dump_json())} | {k: np.asarray(v) for k, v in self.arrays.items()}
        np.savez_compressed(packed, **held)  # type: ignore[arg-type]
        write_bytes(path, packed.getvalue())

    @classmethod
    def load(cls, path: str | Path, *kinds: str) -> Self:
        """Read what `save` wrote.

        Parameters
        ----------
        path
            The file.
        kinds
            What the card may say.

        Raises
        ------
        InputError : the file is missing, holds no weights, or weights of another kind.
        """
        try:
            with np.load(BytesIO(read_bytes(path)), allow_pickle=False) as held:
                card = Card.model_validate_json(str(held["card"]))
                arrays = {name: held[name] for name in held if name != "card"}
                sound = all(array.dtype.kind in "fiu" and np.isfinite(array).all() for array in arrays.values())
        except (*UNREADABLE, ValidationError):
            raise InputError(path, "", "holds no agent: expected an .npz that `optsched train` wrote") from None
        if card.kind not in kinds:
            raise InputError(path, "", f"holds an agent of {card.problem} ({card.kind}), expected {' or '.join(kinds)}")
        if not sound:
            raise InputError(path, "", "holds no agent: its numbers are none, or not finite")
        return cls(arrays, card)


def shipped(problem: str) -> tuple[str, ...]:
    """Names of the agents of a family that come with the package."""
    folder = WEIGHTS / problem
    if not folder.is_dir():
        return ()
    return tuple(sorted(entry.name.removesuffix(".npz") for entry in folder.iterdir() if entry.name.endswith(".npz")))


def file_of(problem: str, name: str) -> str:
    """The file of a shipped agent, or the ``.npz`` that is named.

    Raises
    ------
    OptschedError : neither.
    """
    if name in shipped(problem):
        return str(WEIGHTS / problem / f"{name}.npz")
    if name.endswith(".npz"):
        return name
    known = ", ".join(shipped(problem)) or "none"
    raise OptschedError(f"no agent {name!r}, there are: {known}, or the .npz of `optsched train`")
