"""One name of `optsched train`: what makes its learner, and what is asked for where nothing is."""

from __future__ import annotations

from dataclasses import dataclass

TOY = "toy"
VALIDATIONS = 6  # on it, at least


@dataclass(frozen=True)
class Lesson:
    """One name of `optsched train`.

    Attributes
    ----------
    make
        ``module:function``, a `Make`.
    problem
        The family.
    about
        One line.
    steps, every
        Decisions to train for, and between two validations, where nothing is asked for.
    scenarios
        Names of what cases may be drawn from, the default first; ``toy`` is a first try.
    score
        What validation measures; larger is better.
    toy
        Decisions on ``toy`` that show that it learns, in a minute or two on one core.
    forecast
        Which forecasts are shown in training, where they may be chosen.
    """

    make: str
    problem: str
    about: str
    steps: int
    every: int
    scenarios: tuple[str, ...]
    forecast: str | None = None
    score: str = "share of the clairvoyant bound"
    toy: int = 20_000

    def steps_on(self, scenario: str) -> int:
        """For how many decisions it is trained there, where nothing is asked for."""
        return min(self.toy, self.steps) if scenario == TOY else self.steps

    def every_on(self, scenario: str, steps: int) -> int:
        """Decisions between two validations of so many steps there, where nothing is asked for."""
        return min(self.every, max(1, steps // VALIDATIONS)) if scenario == TOY else self.every
