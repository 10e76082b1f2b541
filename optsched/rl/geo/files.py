"""Files of trained agents: which kind of actor one holds, and whether its networks fit what they are shown."""

from __future__ import annotations

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
    try:
        held = Trained.load(path, PRICES)
    except InputError:
        held = Trained.load(path, AGENTS)
    try:
        actor: Acting = BidPrices(held) if held.card.kind == PRICES else Agents(held)
        given, made = (FEATURES, 1) if isinstance(actor, BidPrices) else (joint_size(actor.sites), 1 + actor.sites)
        wide = [given, *(weights.shape[-1] for weights, _ in actor.layers)]
        fits = wide[-1] == made and all(w.shape[-2] == n for (w, _), n in zip(actor.layers, wide, strict=False))
    except (*UNREADABLE, IndexError):
        fits = False
    if not fits:
        raise InputError(path, "", "holds no agent: its network does not fit what it is shown")
    return actor
