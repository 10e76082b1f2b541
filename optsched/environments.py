"""Gymnasium's environments by name: import this module, then ``gymnasium.make("optsched/VirtualCapacity-v0")``."""

import gymnasium

PLACES = {
    "optsched/VirtualCapacity-v0": "optsched.rolling.vcc.environment:VirtualCapacityEnv",
    "optsched/Deferrable-v0": "optsched.rolling.deferrable.environment:DeferrableEnv",
    "optsched/GeoSingle-v0": "optsched.rolling.geo.single:GeoSingleEnv",
    "optsched/Allocation-v0": "optsched.rolling.allocation.environment:AllocationEnv",
}

for _name, _place in PLACES.items():
    if _name not in gymnasium.registry:
        gymnasium.register(id=_name, entry_point=_place)
