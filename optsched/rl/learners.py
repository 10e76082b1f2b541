"""What `optsched train` can train, by name; nothing is loaded until it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from optsched.errors import BackendUnavailable, OptschedError, meant
from optsched.registry import named

if TYPE_CHECKING:  # who lists what can be trained loads nothing else
    from optsched.instances.base import Instance
    from optsched.rl.learner import Learner

Make: TypeAlias = "Callable[..., Learner]"
"""From a scenario's name, instances to learn from in place of the scenario's, and a seed; `forecast` where a lesson has one."""


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
        Names of what cases may be drawn from, the default first; ``toy`` learns in seconds.
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


def _osdec(name: str, about: str) -> Lesson:
    make = f"optsched.rolling.deferrable.learning.configurations:{name}"
    return Lesson(make, "deferrable", about, 400_000, 20_000, ("osdec", "osdec-table3", "real-time", "toy"))


LESSONS: dict[str, Lesson] = {
    "osdec": _osdec("OSDEC", "OSDEC: PPO, a Transformer encoder, and auxiliary tasks whose features join the state."),
    "osdec-reinforce": _osdec("REINFORCE", "OSDEC's network trained by REINFORCE."),
    "osdec-mlp": _osdec("MLP", "Ablation PPO: a perceptron over a fixed number of jobs."),
    "osdec-pointer": _osdec("POINTER", "Ablation PointerNet: jobs through an LSTM, scored by what its last state asks."),
    "osdec-att": _osdec("ATT", "Ablation PPO+Att: no auxiliary tasks."),
    "osdec-auxh": _osdec("AUXH", "Ablation PPO+Att+AuxH: the tasks' own layer joins the state."),
    "osdec-auxl": _osdec("AUXL", "Ablation PPO+Att+AuxL: the layer that the tasks share joins the state."),
    "allocation-imitation": Lesson(
        "optsched.rolling.allocation.lesson:imitation",
        "allocation",
        "Prices of GPU time, taught by whichever price serves best on the true future.",
        1500,
        300,
        ("andreas", "papers", "wide", "toy"),
    ),
    "deferrable-imitation": Lesson(
        "optsched.rolling.deferrable.learning.imitation:made",
        "deferrable",
        "Imitation of the optimum, by what its prices make of starting each job now (DAgger).",
        100_000,
        10_000,
        ("osdec", "real-time", "toy"),
    ),
    "vcc-ppo": Lesson(
        "optsched.rolling.vcc.lessons:ppo",
        "vcc",
        "PPO of Stable-Baselines3: which share of the queue starts, over many months and loads.",
        1_000_000,
        40_320,
        ("months", "synthetic", "toy"),
        "fitted",
    ),
    "vcc-sac": Lesson(
        "optsched.rolling.vcc.lessons:sac",
        "vcc",
        "SAC of Stable-Baselines3: the same, from a replay buffer.",
        300_000,
        20_160,
        ("months", "synthetic", "toy"),
        "fitted",
    ),
    "deferrable-prices": Lesson(
        "optsched.rolling.deferrable.learning.pricing:made",
        "deferrable",
        "What the optimum charges for capacity, from what is seen; jobs start where they earn most after that.",
        100_000,
        10_000,
        ("osdec", "real-time", "toy"),
    ),
}


def lesson(name: str) -> Lesson:
    """What that name trains.

    Raises
    ------
    OptschedError : nothing.
    """
    if name not in LESSONS:
        raise OptschedError(f"there is no training {name!r}{meant(name, LESSONS, 'there is')}")
    return LESSONS[name]


def learner(
    name: str,
    scenario: str | None = None,
    instances: Sequence[Instance] = (),
    seed: int = 0,
    forecast: str | None = None,
) -> Learner:
    """A learner that has seen nothing yet.

    Raises
    ------
    BackendUnavailable : the `rl` extra is not installed.
    OptschedError : no such name or scenario, or instances of another family.
    """
    found = lesson(name)
    scenario = found.scenarios[0] if scenario is None else scenario
    if scenario not in found.scenarios:
        raise OptschedError(f"{name} has no scenario {scenario!r}{meant(scenario, found.scenarios, 'it has')}")
    for instance in instances:
        if instance.problem != found.problem:
            raise OptschedError(f"{name} learns from {found.problem} instances, {instance.name} is of {instance.problem}")
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise BackendUnavailable(f"training needs the rl extra (pip install 'optsched[rl]'): {error}") from None
    shown = {} if found.forecast is None else {"forecast": forecast or found.forecast}
    return cast("Make", named(found.make))(scenario, instances, seed, **shown)
