"""deferrable while time passes."""

from optsched.rolling.deferrable.policies import EXACT, POLICIES, RESCUE, TRUST, at, carry_over, cut, listed
from optsched.rolling.deferrable.simulator import DeferrableSimulator

SIMULATOR = DeferrableSimulator

__all__ = ["EXACT", "POLICIES", "RESCUE", "SIMULATOR", "TRUST", "DeferrableSimulator", "at", "carry_over", "cut", "listed"]
