"""allocation: energy against tardiness, of what runs and of what is postponed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from optsched.errors import OptschedError
from optsched.instances.allocation import AllocationInstance, GpuType
from optsched.problems.allocation.options import options
from optsched.problems.terms.base import FAINT, PricedTerms, Term, Weighted
from optsched.schedules.allocation import AllocationHistory, Decided, evaluate


class AllocationTerms(PricedTerms[AllocationInstance, Decided]):
    """The components of the proxy."""

    axes: ClassVar[tuple[str, str]] = ("energy", "tardiness+postponement")

    def terms(self, instance: AllocationInstance) -> Mapping[str, Term]:
        """All in the instance's currency."""
        return {
            "energy": Term("energy of the first-ending jobs", instance.unit),
            "tardiness": Term("weighted tardiness of what runs", instance.unit),
            "postponement": Term("worst-case tardiness of what is postponed", instance.unit),
        }

    def values(self, instance: AllocationInstance, schedule: Decided) -> dict[str, float]:
        """The components of a snapshot.

        Raises
        ------
        OptschedError
            It is the history of a replay, which is judged by other terms.
        """
        if isinstance(schedule, AllocationHistory):
            raise OptschedError("a front is of a snapshot's decisions, not of the history of a replay")
        return evaluate(instance, schedule).components

    def weighted(self, instance: AllocationInstance, weights: Mapping[str, float]) -> Weighted[AllocationInstance]:
        """Other cost rates, tardiness weights and postponement penalty; this one is a factor on the weights."""
        largest = max(weights.values())
        energy, late, later = (weights[name] / largest for name in ("energy", "tardiness", "postponement"))
        slack = 0.0
        if not late and later:
            late, listed = FAINT, options(instance)
            worst = np.zeros(len(instance.known_jobs))
            np.maximum.at(worst, listed.job, listed.tardiness)
            slack = largest * late * float(worst.sum()) * (1 + FAINT)
        kinds = {
            name: GpuType(node_cost_per_h=tuple(energy * rate for rate in kind.node_cost_per_h))
            for name, kind in instance.gpu_types.items()
        }
        jobs = tuple(job.model_copy(update={"weight_per_s": late * job.weight_per_s}) for job in instance.jobs)
        penalty = instance.postponement_penalty * later / late if late else 0.0
        prices = {"gpu_types": kinds, "jobs": jobs, "postponement_penalty": penalty}
        return Weighted(instance.model_copy(update=prices), largest, slack)


TERMS = AllocationTerms()
