"""allocation: its method at scale, and what no history of a replay can undercut."""

from __future__ import annotations

from collections.abc import Callable

from optsched.decomposition.allocation.alone import lonely_bound
from optsched.decomposition.allocation.shared import shared_bound
from optsched.instances.allocation import AllocationInstance
from optsched.problems.allocation.patterns import model_size
from optsched.problems.size import ExactSize

EXACT_LIMIT = 40_000  # columns of the aggregated model


def exact_size(instance: AllocationInstance) -> ExactSize:
    """Columns of the aggregated model."""
    return ExactSize(model_size(instance)[1], "columns of the aggregated model", EXACT_LIMIT)


def clairvoyant(instance: AllocationInstance, spare: Callable[[], bool] | None = None) -> float:
    """A bound on the realised cost (energy and tardiness) of whoever knows everything.

    Every job as if alone, or all of them sharing GPUs, whichever is more; the latter as far as there is time.
    """
    return max(lonely_bound(instance), shared_bound(instance, spare=spare))
