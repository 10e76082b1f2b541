"""deferrable while time passes."""

from optsched.instances.deferrable import DeferrableInstance, Job
from optsched.rolling.deferrable.policies import (
    EXACT_LIMIT,
    FALLBACK,
    POLICIES,
    PRICE_DISCOUNT,
    options,
    resubmit,
    shift_plan,
    truncate_window,
)
from optsched.rolling.deferrable.served import of_starts
from optsched.rolling.deferrable.simulator import DeferrableSimulator
from optsched.rolling.online import BidPricing, Online
from optsched.schedules.deferrable import DeferrableSchedule

ONLINE = Online[DeferrableInstance, DeferrableSchedule](
    simulator=DeferrableSimulator,
    policies=POLICIES,
    fallback=FALLBACK,
    shift_plan=shift_plan,
    truncate_window=truncate_window,
    bid_pricing=BidPricing(Job, options, resubmit, PRICE_DISCOUNT, EXACT_LIMIT),
)

__all__ = ["ONLINE", "DeferrableSimulator", "of_starts"]
