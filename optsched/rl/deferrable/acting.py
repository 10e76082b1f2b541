"""What a trained scorer does with what it sees: NumPy, no torch."""

from __future__ import annotations

from optsched.rl.deferrable.batch import Sight
from optsched.rl.deferrable.network import Arrays, scored
from optsched.rl.deferrable.past import Past
from optsched.rl.deferrable.state import Seen, start_by_score

KIND = "deferrable-scores"


def chosen(arrays: Arrays, seen: Seen, past: Past) -> list[int]:
    """Jobs to start now, of those that are seen, without exploration."""
    sight = Sight.of(seen, past)
    return start_by_score(seen, sight.back(scored(arrays, sight.jobs, sight.whole, sight.past)), "hold" in arrays)
