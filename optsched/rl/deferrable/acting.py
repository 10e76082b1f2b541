"""What trained weights do with what they see: NumPy, no torch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from optsched.rl.deferrable.batch import Sight
from optsched.rl.deferrable.charges import SLOT, charged, slots
from optsched.rl.deferrable.gains import gain
from optsched.rl.deferrable.network import Arrays, scored
from optsched.rl.deferrable.past import BACK, ROW, Past
from optsched.rl.deferrable.state import ALL, JOB, WHOLE, Seen, start_by_score

Act = Callable[[Arrays, Seen, Past], list[int]]
ZERO = np.zeros(())
SCORES, CHARGES = "deferrable-scores", "deferrable-charges"


def by_scores(arrays: Arrays, seen: Seen, past: Past) -> list[int]:
    """Jobs to start now, of those that are seen, by confidence; weights may have a `least` score that starts a job."""
    sight = Sight.of(seen, past)
    scores = scored(arrays, sight.jobs, sight.whole, sight.past)
    return start_by_score(seen, sight.back(scores), float(arrays.get("least", ALL)))


def by_charges(arrays: Arrays, seen: Seen, past: Past) -> list[int]:
    """Jobs to start now: those that lose nothing by it where capacity costs a `share` of what it is thought to be worth."""
    past.look(seen)
    prices = charged(arrays, slots(seen, past))
    return start_by_score(seen, gain(seen, float(arrays["share"]) * prices), 0.0)


ACTS: dict[str, Act] = {SCORES: by_scores, CHARGES: by_charges}
"""By the kind that a card tells."""


def fault(kind: str, arrays: Arrays) -> str | None:
    """What keeps weights from acting."""
    try:
        if kind == CHARGES:
            fits = charged(arrays, np.zeros((2, SLOT))).shape == (2,) and arrays["share"].shape == ()
        else:
            fits = scored(arrays, np.zeros((2, JOB)), np.zeros(WHOLE), np.zeros((BACK, ROW))).shape == (2,)
            layers = sum(name.endswith(".query.weight") for name in arrays)
            fits &= all(f"layers.{k}.query.weight" in arrays for k in range(layers)) and arrays.get("least", ZERO).shape == ()
            fits &= layers > 0 or "fixed.0.weight" in arrays or "lstm.weight_hh_l0" in arrays
    except (KeyError, ValueError, IndexError) as error:
        return f"its weights do not take what is seen ({error})"
    return None if fits else "its weights do not make a number a job or slot"
