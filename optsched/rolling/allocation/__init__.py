"""allocation while time passes."""

from optsched.rolling.allocation.policies import POLICIES, RESCUE, carry_over, cut
from optsched.rolling.allocation.simulator import AllocationSimulator

SIMULATOR = AllocationSimulator

__all__ = ["POLICIES", "RESCUE", "SIMULATOR", "AllocationSimulator", "carry_over", "cut"]
