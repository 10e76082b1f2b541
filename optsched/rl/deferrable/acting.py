"""What a trained scorer does with what it sees: NumPy, no torch."""

from __future__ import annotations

import numpy as np

from optsched.rl.deferrable.batch import Sight
from optsched.rl.deferrable.network import Arrays, scored
from optsched.rl.deferrable.past import BACK, ROW, Past
from optsched.rl.deferrable.state import ALL, JOB, WHOLE, Seen, start_by_score

KIND = "deferrable-scores"


def fault(arrays: Arrays) -> str | None:
    """What keeps weights from scoring jobs."""
    try:
        found = scored(arrays, np.zeros((2, JOB)), np.zeros(WHOLE), np.zeros((BACK, ROW)))
    except (KeyError, ValueError, IndexError) as error:
        return f"they do not take {JOB} numbers a job and {WHOLE} of the whole ({error})"
    return None if found.shape == (2,) else "they do not make a number a job"


def chosen(arrays: Arrays, seen: Seen, past: Past) -> list[int]:
    """Jobs to start now, of those that are seen, without exploration; weights may have a `least` score that starts a job."""
    sight = Sight.of(seen, past)
    scores = scored(arrays, sight.jobs, sight.whole, sight.past)
    return start_by_score(seen, sight.back(scores), float(arrays.get("least", ALL)))
