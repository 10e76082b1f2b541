"""Gymnasium environments: the simulators of the replay, one decision a step. Importing this module registers them."""

import gymnasium

VIRTUAL_CAPACITY = "optsched/VirtualCapacity-v0"

if VIRTUAL_CAPACITY not in gymnasium.registry:
    gymnasium.register(id=VIRTUAL_CAPACITY, entry_point="optsched.rolling.vcc.environment:VirtualCapacityEnv")
