"""How every learner is trained: in turns, with a curve, checkpoints that survive a kill, and the best on validation kept."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from io import BytesIO, StringIO
from pathlib import Path
from typing import Protocol

from optsched import interrupts
from optsched.errors import InputError, OptschedError
from optsched.files import read_bytes, write_bytes
from optsched.rl.trained import Card, Trained

Tell = Callable[[int, float | None, Mapping[str, float]], None]
"""Called after a turn with the steps so far, the best score so far, and the turn's figures."""


class Learner(Protocol):
    """What learns. Between two turns `state` is all that the next ones depend on: restored, it goes on as if never stopped."""

    name: str

    @property
    def steps(self) -> int:
        """Decisions seen so far."""

    def turn(self) -> Mapping[str, float]:
        """Collect experience, learn from it, and say how it went, by name."""

    def validate(self) -> float:
        """The mean score on the validation cases, without exploration; larger is better."""

    def trained(self) -> Trained:
        """What acts now."""

    def state(self) -> Mapping[str, object]:
        """Tensors, numbers, strings, and lists and dicts of them: what `torch.save` writes without pickling code."""

    def restore(self, state: Mapping[str, object]) -> None:
        """Go on from what `state` said."""


@dataclass
class Run:
    """A training run, and the files that it keeps up to date.

    Attributes
    ----------
    out
        ``.npz`` of the best weights so far; beside it ``.curve.csv``, a row a turn, and ``.checkpoint``.
    given
        Instances in place of the scenario's, by name and digest; the card tells them.
    """

    learner: Learner
    out: Path
    rows: list[dict[str, float]]  # of the curve
    scores: list[tuple[int, float]]
    seconds: float = 0.0
    best: Trained | None = None
    given: str = ""

    @classmethod
    def begin(cls, learner: Learner, out: str | Path, given: str = "") -> Run:
        """A new one.

        Raises
        ------
        InputError : a checkpoint or weights are there already.
        """
        if (left := checkpoint_of(out)).exists():
            raise InputError(left, "", "is there already: --resume goes on from it; else move it away, or name another output")
        if Path(out).exists():
            raise InputError(out, "", "is there already: training writes over nothing; move it away, or name another output")
        return cls(learner, Path(out), [], [], given=given)

    @classmethod
    def resume(cls, learner: Learner, out: str | Path, given: str = "") -> Run:
        """The one that the checkpoint beside `out` was written by.

        Raises
        ------
        InputError : there is none, or another learner's.
        """
        import torch

        path = checkpoint_of(out)
        try:
            held = torch.load(BytesIO(read_bytes(path)), weights_only=True)
            card = learner.trained().card
            if (wanted := _who(card, given)) != held["who"]:
                raise InputError(path, "", f"is a checkpoint of {held['who']}, expected one of {wanted}")
            if held["settings"] != card.settings:
                raise InputError(path, "settings", "are of another version of the learner, or of other forecasts")
            scores = [(int(n), float(s)) for n, s in held["scores"]]
            run = cls(learner, Path(out), held["rows"], scores, held["seconds"], given=given)
            learner.restore(held["learner"])
        except InputError:
            raise
        except Exception:  # whatever torch, or a learner of other settings, makes of it
            problem = "is no checkpoint of this training, or damaged: start anew, under another name of the output"
            raise InputError(path, "", problem) from None
        if run.scores:
            run.best = Trained.load(run.out, card.kind)
        return run

    @property
    def score(self) -> float | None:
        """The best so far."""
        return max((score for _, score in self.scores), default=None)

    def go(self, steps: int, every: int, tell: Tell | None = None) -> Trained:
        """Train until so many steps have been seen, validating and keeping a checkpoint every so many.

        Returns
        -------
        Trained
            The best on validation; after Ctrl-C the best until then.
        """
        learner = self.learner
        if not self.scores:
            self.rows.append({"steps": learner.steps})
            self._keep()
        elif self._is_due(steps, every):  # and was interrupted
            self._keep()
        whole = True  # whether the learner is between two turns
        try:
            while learner.steps < steps:
                began, before, whole = time.perf_counter(), learner.steps, False
                with interrupts.held():
                    figures = dict(learner.turn())
                    self.seconds += time.perf_counter() - began
                    if learner.steps == before:
                        raise OptschedError("there is nothing to learn from: none of the instances asks for a decision")
                    self.rows.append({"steps": learner.steps} | figures)
                    whole = True
                if self._is_due(steps, every):
                    self._keep()
                if tell is not None:
                    tell(learner.steps, self.score, figures)
        except KeyboardInterrupt:
            if whole and self.best is not None:
                self._checkpoint()
            if self.best is None:
                raise
        assert self.best is not None
        return self.best

    def _is_due(self, steps: int, every: int) -> bool:
        """Whether a validation is: a multiple of `every`, or the end, has been reached since the last one."""
        last, now = self.scores[-1][0], self.learner.steps
        return now // every > last // every or last < now >= steps

    def _keep(self) -> None:
        """Validate; write the weights if they are the best, the curve, and last the checkpoint, which vouches for them."""
        began, learner = time.perf_counter(), self.learner
        score, best = learner.validate(), self.score
        self.scores.append((learner.steps, score))
        if self.rows:
            self.rows[-1]["validation"] = score
        self.seconds += time.perf_counter() - began
        found = learner.trained()
        if best is None or score > best:
            update: dict[str, object] = {"best": learner.steps}
            if self.given:
                update |= {
                    "scenario": self.given,
                    "split": f"trained on {self.given}: what it does there says little of elsewhere",
                }
            self.best = replace(found, card=found.card.model_copy(update=update))
        assert self.best is not None
        update_card = {"curve": tuple(self.scores), "steps": learner.steps, "seconds": round(self.seconds, 1)}
        self.best = replace(self.best, card=self.best.card.model_copy(update=update_card))
        self.best.save(self.out)
        self._checkpoint()

    def _checkpoint(self) -> None:
        """The curve, and then what goes on from it."""
        import torch

        write_bytes(curve_of(self.out), _table(self.rows))
        card = self.learner.trained().card
        held = {
            "who": _who(card, self.given),
            "settings": dict(card.settings),
            "learner": dict(self.learner.state()),
            "rows": self.rows,
            "scores": [[n, s] for n, s in self.scores],
            "seconds": self.seconds,
        }
        packed = BytesIO()
        torch.save(held, packed)
        write_bytes(checkpoint_of(self.out), packed.getvalue())


def _who(card: Card, given: str) -> str:
    return f"{card.name}, {given or f'scenario {card.scenario}'}, seed {card.seed}"


def checkpoint_of(out: str | Path) -> Path:
    """Where the checkpoint of a run is."""
    return Path(out).with_suffix(".checkpoint")


def curve_of(out: str | Path) -> Path:
    """Where the curve of a run is."""
    return Path(out).with_suffix(".curve.csv")


def _table(rows: list[dict[str, float]]) -> bytes:
    text, names = StringIO(), list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()
