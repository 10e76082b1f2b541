"""deferrable while time passes."""

from optsched.rolling.deferrable.policies import POLICIES, at, carry_over, cut, listed
from optsched.rolling.deferrable.simulator import DeferrableSimulator

SIMULATOR = DeferrableSimulator

__all__ = ["POLICIES", "SIMULATOR", "DeferrableSimulator", "at", "carry_over", "cut", "listed"]
