"""OSDEC and its six ablations: the same parts, put together differently (section 5.2 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from optsched.errors import OptschedError
from optsched.instances.base import Instance
from optsched.instances.deferrable import DeferrableInstance
from optsched.rl.deferrable.modules import Shape
from optsched.rl.deferrable.split import SCENARIOS, Draw
from optsched.rolling.deferrable.learning.ppo import Osdec, Settings

SHAPES = {
    "osdec": Shape(),
    "osdec-reinforce": Shape(),
    "osdec-mlp": Shape("mlp", low=False, high=False),
    "osdec-pointer": Shape("pointer", low=False, high=False),
    "osdec-att": Shape(low=False, high=False),
    "osdec-auxh": Shape(low=False),
    "osdec-auxl": Shape(high=False),
}
FASTER = Settings(policy_rate=(1e-3, 1e-4), value_rate=(2e-3, 2e-4))
"""Table 3's learning rates need more decisions than two cores see in an hour: ten times as large."""
SLOWER = replace(FASTER, policy_rate=(2e-4, 2e-5))
"""REINFORCE has nothing that bounds a step: at ten times Table 3's rate it forgets what it knew."""
TOY = replace(FASTER, policy_rate=(3e-3, 3e-3), value_rate=(3e-3, 3e-3), decay=10**9, workers=8, validation=4)


def cases(scenario: str, instances: Sequence[Instance]) -> tuple[Draw, str]:
    """Where cases come from, and its name: a scenario, or one's own instances, the last for validation where there are two.

    Raises
    ------
    OptschedError : an instance is of another family.
    """
    if not instances:
        return SCENARIOS[scenario], scenario
    own = [instance for instance in instances if isinstance(instance, DeferrableInstance)]
    if len(own) < len(instances):
        raise OptschedError("deferrable agents learn from deferrable instances")

    def draw(part: str, number: int) -> DeferrableInstance:
        return own[-1] if part == "validation" else own[number % max(1, len(own) - 1)]

    return draw, ", ".join(instance.name for instance in own)


def made(name: str, scenario: str, instances: Sequence[Instance], seed: int) -> Osdec:
    """A learner of that configuration."""
    settings = {"toy": TOY, "osdec-table3": Settings()}.get(scenario, FASTER)
    if name == "osdec-reinforce" and settings is FASTER:
        settings = SLOWER
    draw, source = cases(scenario, instances)
    return Osdec(name, SHAPES[name], draw, source, seed, settings, name == "osdec-reinforce")


OSDEC, REINFORCE, MLP, POINTER, ATT, AUXH, AUXL = (partial(made, name) for name in SHAPES)
