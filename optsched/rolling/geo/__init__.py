"""geo while time passes."""

from optsched.instances.geo import GeoInstance, Job
from optsched.rolling.geo.policies import (
    EXACT_LIMIT,
    FALLBACK,
    POLICIES,
    PRICE_DISCOUNT,
    options,
    resubmit,
    shift_plan,
    truncate_window,
)
from optsched.rolling.geo.served import of_starts
from optsched.rolling.geo.simulator import GeoSimulator
from optsched.rolling.online import BidPricing, Online
from optsched.schedules.geo import GeoSchedule

ONLINE = Online[GeoInstance, GeoSchedule](
    simulator=GeoSimulator,
    policies=POLICIES,
    fallback=FALLBACK,
    shift_plan=shift_plan,
    truncate_window=truncate_window,
    bid_pricing=BidPricing(Job, options, resubmit, PRICE_DISCOUNT, EXACT_LIMIT),
)

__all__ = ["ONLINE", "GeoSimulator", "of_starts"]
