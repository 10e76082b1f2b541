"""geo while time passes."""

from optsched.rolling.geo.policies import POLICIES, at, carry_over, cut, listed
from optsched.rolling.geo.simulator import GeoSimulator

SIMULATOR = GeoSimulator

__all__ = ["POLICIES", "SIMULATOR", "GeoSimulator", "at", "carry_over", "cut", "listed"]
