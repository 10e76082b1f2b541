"""Files of trained agents: which kind of actor one holds, and whether its networks fit what they are shown."""

from __future__ import annotations

import itertools
from typing import TypeAlias

from optsched.errors import InputError
from optsched.rl.geo.actors import AGENTS, Agents
from optsched.rl.geo.observation import joint_size
from optsched.rl.geo.prices import FEATURES, PRICES, BidPrices
from optsched.rl.trained import UNREADABLE, Trained

Acting: TypeAlias = Agents | BidPrices


def loaded(path: str) -> Acting:
    """The agent in a file.

    Raises
    ------
    InputError : it holds none.
    """
    held = Trained.load(path, PRICES, AGENTS)
    try:
        actor: Acting = BidPrices(held) if held.card.kind == PRICES else Agents(held)
        fits = _fits(actor)
    except (*UNREADABLE, IndexError):
        fits = False
    if not fits:
        raise InputError(path, "", "holds no agent: its network does not fit what it is shown")
    return actor


def _fits(actor: Acting) -> bool:
    """Whether every array has the shape that it is used in."""
    stack: tuple[int, ...] = ()
    if isinstance(actor, BidPrices):
        given, made, number = FEATURES, 1, actor.trained.arrays["discount"]
    else:
        stack, given, number = (actor.sites,), joint_size(actor.sites), actor.trained.arrays["residual"]
        made = 1 + actor.sites + actor.sized
    wide = [given, *(weights.shape[-1] for weights, _ in actor.layers)]
    shapes = itertools.pairwise(wide)
    layers = all(
        weights.shape == (*stack, before, after) and bias.shape in {(*stack, 1, after), (after,)}
        for (weights, bias), (before, after) in zip(actor.layers, shapes, strict=True)
    )
    return layers and wide[-1] == made and min(wide) > 0 and not number.shape
