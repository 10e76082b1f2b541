"""allocation: a plan of whoever knows everything, which floors are held against.

A history that can be reached, so that the loss of a policy splits into what it did not know and what it did not decide well.
"""

from __future__ import annotations

from optsched.instances.allocation import AllocationInstance
from optsched.rolling.allocation.offline.improve import Improvement
from optsched.rolling.allocation.offline.search import PARENTS, PlanSearch
from optsched.schedules.allocation import AllocationHistory

GENERATIONS = 10


def offline_plan(instance: AllocationInstance, generations: int = GENERATIONS, seed: int = 0) -> AllocationHistory:
    """The history of the best plan that is found: rules with weights at first, then linear programs, unless moves lose work.

    Parameters
    ----------
    generations
        Of 64 to 200 plans each; with 100 jobs on 40 GPUs one takes about a second.
    seed
        Of the search.

    Raises
    ------
    OptschedError : something goes wrong in the instance (`events`), or a job can run nowhere.
    """
    search = PlanSearch(instance, seed)
    for _ in range(1 + generations):
        search.advance()
    found = search.history(most=carried_out(instance))
    assert found is not None  # no clock
    better = list(Improvement(instance, found)()) if can_improve(instance) else []
    return better[-1] if better else found


def can_improve(instance: AllocationInstance) -> bool:
    """Whether linear programs can follow: there are jobs, and moves lose no work."""
    return bool(instance.jobs) and not instance.migration_cost_s


def carried_out(instance: AllocationInstance) -> int:
    """Of how many bids histories are made: the best one's will do where linear programs follow."""
    return 1 if can_improve(instance) else PARENTS
