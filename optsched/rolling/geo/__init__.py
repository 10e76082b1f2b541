"""geo while time passes."""

from optsched.instances.geo import GeoInstance
from optsched.rolling.geo.policies import FALLBACK, PARAMETRIC_POLICIES, POLICIES, shift_plan, truncate_window
from optsched.rolling.geo.served import of_starts
from optsched.rolling.geo.simulator import GeoSimulator
from optsched.rolling.online import Online
from optsched.schedules.geo import GeoSchedule

ONLINE = Online[GeoInstance, GeoSchedule](
    simulator=GeoSimulator,
    policies=POLICIES,
    fallback=FALLBACK,
    shift_plan=shift_plan,
    truncate_window=truncate_window,
    parametric_policies=PARAMETRIC_POLICIES,
)

__all__ = ["ONLINE", "GeoSimulator", "of_starts"]
