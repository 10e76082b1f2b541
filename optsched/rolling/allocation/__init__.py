"""allocation while time passes."""

from optsched.instances.allocation import AllocationInstance
from optsched.rolling.allocation.policies import FALLBACK, PARAMETRIC_POLICIES, POLICIES, shift_plan
from optsched.rolling.allocation.served import of_history
from optsched.rolling.allocation.simulator import AllocationSimulator
from optsched.rolling.online import Online
from optsched.schedules.allocation import AllocationHistory, AllocationSchedule

ONLINE = Online[AllocationInstance, AllocationSchedule | AllocationHistory](
    simulator=AllocationSimulator,
    policies=POLICIES,
    fallback=FALLBACK,
    shift_plan=shift_plan,
    parametric_policies=PARAMETRIC_POLICIES,
)

__all__ = ["ONLINE", "AllocationSimulator", "of_history"]
