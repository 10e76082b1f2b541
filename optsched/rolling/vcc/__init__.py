"""vcc while time passes."""

from optsched.instances.vcc import VccInstance
from optsched.rolling.online import Online
from optsched.rolling.vcc.policies import FALLBACK, PARAMETRIC_POLICIES, POLICIES, shift_plan, truncate_window
from optsched.rolling.vcc.served import of_pieces
from optsched.rolling.vcc.simulator import VccSimulator
from optsched.schedules.vcc import VccSchedule

ONLINE = Online[VccInstance, VccSchedule](
    simulator=VccSimulator,
    policies=POLICIES,
    fallback=FALLBACK,
    shift_plan=shift_plan,
    truncate_window=truncate_window,
    parametric_policies=PARAMETRIC_POLICIES,
)

__all__ = ["ONLINE", "VccSimulator", "of_pieces"]
