"""vcc while time passes."""

from optsched.rolling.vcc.policies import POLICIES, RESCUE, WITH_ARGUMENT, carry_over, cut
from optsched.rolling.vcc.simulator import VccSimulator

SIMULATOR = VccSimulator

__all__ = ["POLICIES", "RESCUE", "SIMULATOR", "WITH_ARGUMENT", "VccSimulator", "carry_over", "cut"]
