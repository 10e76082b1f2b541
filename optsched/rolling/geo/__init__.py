"""geo while time passes."""

from optsched.instances.geo import GeoInstance
from optsched.rolling.geo.policies import FALLBACK, POLICIES, shift_plan, truncate_window
from optsched.rolling.geo.served import of_starts
from optsched.rolling.geo.simulator import GeoSimulator
from optsched.rolling.online import Online
from optsched.schedules.geo import GeoSchedule

ONLINE = Online[GeoInstance, GeoSchedule](GeoSimulator, POLICIES, FALLBACK, shift_plan, truncate_window)

__all__ = ["ONLINE", "GeoSimulator", "of_starts"]
