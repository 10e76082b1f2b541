"""Decisions side by side: padded to one number of jobs, as a network takes them in training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from optsched.instances.base import Bools, Floats, Ints
from optsched.rl.deferrable.past import Past
from optsched.rl.deferrable.state import JOB, Seen, features


@dataclass(frozen=True)
class Sight:
    """One decision's numbers, the open jobs first.

    Attributes
    ----------
    order
        Which jobs they are, shape (J,): indices into what is seen.
    jobs, whole, past
        Shapes (J, F), (G,), (L, R).
    open
        Which of them may start, shape (J,).
    targets
        What the auxiliary tasks should have said a decision ago, shape (targets,).
    """

    order: Ints
    jobs: Floats
    whole: Floats
    past: Floats
    open: Bools
    targets: Floats

    @classmethod
    def of(cls, seen: Seen, past: Past) -> Sight:
        """What is seen after such a past."""
        targets, ready = past.look(seen), seen.open
        order = np.lexsort((-seen.waited, seen.earliest, ~ready))
        jobs, whole = features(seen)
        return cls(order, jobs[order], whole, past.seen(), ready[order], targets)

    def back(self, scores: Floats) -> Floats:
        """Scores in the order of what is seen; jobs that have none come last."""
        found = np.full(len(self.order), -1.0)
        held = min(len(scores), len(found))
        found[self.order[:held]] = scores[:held]
        return found


@dataclass(frozen=True)
class Batch:
    """B decisions: jobs (B, K, F), held (B, K), open (B, K), whole (B, G), past (B, L, R)."""

    jobs: np.ndarray
    held: np.ndarray
    open: np.ndarray
    whole: np.ndarray
    past: np.ndarray

    @classmethod
    def of(cls, sights: Sequence[Sight], most: int) -> Batch:
        """Those decisions, each with its first `most` jobs."""
        jobs = np.zeros((len(sights), most, JOB), np.float32)
        held, ready = np.zeros((len(sights), most), bool), np.zeros((len(sights), most), bool)
        for b, sight in enumerate(sights):
            n = min(most, len(sight.order))
            jobs[b, :n], held[b, :n], ready[b, :n] = sight.jobs[:n], True, sight.open[:n]
        whole = np.array([sight.whole for sight in sights], np.float32)
        return cls(jobs, held, ready, whole, np.array([sight.past for sight in sights], np.float32))
