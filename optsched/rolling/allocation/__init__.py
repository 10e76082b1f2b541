"""allocation while time passes."""

from optsched.rolling.allocation.policies import POLICIES, carry_over, cut
from optsched.rolling.allocation.simulator import AllocationSimulator

SIMULATOR = AllocationSimulator

__all__ = ["POLICIES", "SIMULATOR", "AllocationSimulator", "carry_over", "cut"]
