"""deferrable while time passes."""

from optsched.rolling.deferrable.policies import EXACT, POLICIES, TRUST, at, carry_over, cut, listed
from optsched.rolling.deferrable.simulator import DeferrableSimulator

SIMULATOR = DeferrableSimulator

__all__ = ["EXACT", "POLICIES", "SIMULATOR", "TRUST", "DeferrableSimulator", "at", "carry_over", "cut", "listed"]
