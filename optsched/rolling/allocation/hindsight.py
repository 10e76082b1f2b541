"""A teacher who knows what will come: which price of GPU time serves best from here on, by trying each on the future."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

import numpy as np

from optsched.instances.allocation import AllocationInstance
from optsched.referee import evaluate
from optsched.rl.allocation.labels import PRICES, Labelled
from optsched.rl.allocation.pricer import bids
from optsched.rl.allocation.scores import carried_out
from optsched.rl.allocation.view import see
from optsched.rolling.allocation.ledger import Ledger
from optsched.rolling.allocation.rollout import Rollout
from optsched.rolling.allocation.simulator import AllocationSimulator
from optsched.schedules.allocation import AllocationSchedule

Decide = Callable[[AllocationInstance], AllocationSchedule]

EVENTS = 30  # with each price; of what is left then a rollout says what it costs
TEMPERATURE = 0.02  # of the cost still to come: prices within it share the label, what follows is partly luck
EVEN = 0.05  # the least weight of a state, where all prices turn out the same


def at_price(snapshot: AllocationInstance, price: float) -> AllocationSchedule:
    """The dispatch by that price."""
    view = see(snapshot)
    return carried_out(snapshot, view.listed, bids(view, price))


def played(simulator: AllocationSimulator, decide: Decide) -> float:
    """The realised cost when that policy decides from here on; the simulator is at its end then."""
    while (snapshot := simulator.snapshot()) is not None:
        simulator.apply(decide(snapshot))
    return evaluate(simulator.truth, simulator.history()).objective


def forked(simulator: AllocationSimulator) -> AllocationSimulator:
    """Another one in the same state."""
    other = copy(simulator)
    other.left, other.started = dict(simulator.left), set(simulator.started)
    other.running = {job: copy(run) for job, run in simulator.running.items()}
    other.runs, other.known = list(simulator.runs), list(simulator.known)
    return other


def tried(simulator: AllocationSimulator, ledger: Ledger, price: float) -> float:
    """What some events at a price cost, and what is left then; both the simulator and the ledger go on."""
    for _ in range(EVENTS):
        snapshot = simulator.snapshot()
        if snapshot is None:
            return ledger.spent
        decision = at_price(snapshot, price)
        ledger.begin(snapshot, decision)
        simulator.apply(decision)
        ledger.end(simulator.now_s)
    snapshot = simulator.snapshot()
    if snapshot is None:
        return ledger.spent
    return ledger.settled(snapshot) + Rollout(snapshot).cost(at_price(snapshot, price))


def labelled(simulator: AllocationSimulator, snapshot: AllocationInstance, ledger: Ledger) -> Labelled:
    """How good each price is from here on; neither the simulator nor the ledger is changed.

    Parameters
    ----------
    simulator, snapshot
        The state.
    ledger
        Of the time until now.
    """
    costs = np.array([tried(forked(simulator), ledger.copy(), price) for price in PRICES]) - ledger.spent
    least = max(float(costs.min()), 1e-12)
    best = np.exp((least - costs) / (TEMPERATURE * least))
    weight = EVEN + min(1.0, (float(costs.mean()) - least) / least)
    return Labelled(see(snapshot).summary, (best / best.sum()).astype(np.float32), weight)
