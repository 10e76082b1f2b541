"""vcc at scale: the bound, schedules near it, and what no replay can undercut."""

from optsched.decomposition.vcc.method import VccDecomposition
from optsched.errors import OptschedError
from optsched.instances.vcc import VccInstance
from optsched.problems.size import ExactSize
from optsched.stop import Stop

EXACT_LIMIT = 600  # binaries of the job-level model
CLAIRVOYANT = 30  # evaluations of the bound


def exact_size(instance: VccInstance) -> ExactSize:
    """Binaries: a job and a slot from its submission on."""
    return ExactSize(int((instance.horizon - instance.columns.submitted).sum()), "binaries", EXACT_LIMIT)


def clairvoyant(instance: VccInstance) -> float:
    """A bound on the cost of whoever knows everything.

    Raises
    ------
    OptschedError : jobs may be evicted, for which there is none.
    """
    if instance.preempt:
        raise OptschedError("there is no clairvoyant bound where jobs are evicted (preempt)")
    result = VccDecomposition()(instance, stop=Stop(iterations=CLAIRVOYANT))
    if result.termination == "interrupted":
        raise KeyboardInterrupt
    return 0.0 if result.bound is None else result.bound  # no cost is negative
