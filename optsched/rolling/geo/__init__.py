"""geo while time passes."""

from optsched.rolling.geo.policies import EXACT, POLICIES, RESCUE, TRUST, at, carry_over, cut, listed
from optsched.rolling.geo.simulator import GeoSimulator

SIMULATOR = GeoSimulator

__all__ = ["EXACT", "POLICIES", "RESCUE", "SIMULATOR", "TRUST", "GeoSimulator", "at", "carry_over", "cut", "listed"]
