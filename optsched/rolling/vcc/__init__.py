"""vcc while time passes."""

from optsched.rolling.vcc.policies import FROM_FILE, POLICIES, RESCUE, carry_over, cut
from optsched.rolling.vcc.simulator import VccSimulator

SIMULATOR = VccSimulator

__all__ = ["FROM_FILE", "POLICIES", "RESCUE", "SIMULATOR", "VccSimulator", "carry_over", "cut"]
