"""Gymnasium environments: the simulators of the replay, one decision a step."""

VIRTUAL_CAPACITY = "optsched/VirtualCapacity-v0"


def register() -> None:
    """Make the environments known to Gymnasium, which calls this itself (an entry point of pyproject.toml)."""
    import gymnasium

    if VIRTUAL_CAPACITY not in gymnasium.registry:
        gymnasium.register(id=VIRTUAL_CAPACITY, entry_point="optsched.rolling.vcc.environment:VirtualCapacity")
