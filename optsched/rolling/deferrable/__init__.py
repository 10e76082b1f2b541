"""deferrable while time passes."""

from optsched.instances.deferrable import DeferrableInstance
from optsched.rolling.deferrable.policies import FALLBACK, PARAMETRIC_POLICIES, POLICIES, shift_plan, truncate_window
from optsched.rolling.deferrable.served import of_starts
from optsched.rolling.deferrable.simulator import DeferrableSimulator
from optsched.rolling.online import Online
from optsched.schedules.deferrable import DeferrableSchedule

ONLINE = Online[DeferrableInstance, DeferrableSchedule](
    DeferrableSimulator, POLICIES, FALLBACK, shift_plan, truncate_window, PARAMETRIC_POLICIES
)

__all__ = ["ONLINE", "DeferrableSimulator", "of_starts"]
