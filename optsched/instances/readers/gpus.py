"""GPU types and nodes for traces that know neither: ANDREAS' measured nodes, and board powers for the others."""

from __future__ import annotations

import re

from optsched.errors import OptschedError
from optsched.instances.allocation import GpuType, Node
from optsched.instances.generators.andreas import COSTS

EUR_PER_KWH = 0.17168313 * 1.33  # ANDREAS, section V-A: price times PUE
MOST, MOST_NODES = 64, 10**6
# node kW with no GPU, and kW a GPU, for types that ANDREAS did not measure: its V100 server with other boards
BOARD_KW = {"K80": (0.36, 0.15), "P100": (0.36, 0.25), "A100": (0.36, 0.4)}
ASSUMED_COSTS = (
    "Node costs are ANDREAS' for V100 and T4, extended linearly in the number of GPUs; for K80, P100 and A100 its V100 "
    "server's 0.36 kW plus 0.15, 0.25 and 0.4 kW a GPU at the same price (0.2283 EUR/kWh, PUE included)."
)


def parse_nodes(text: str) -> tuple[Node, ...]:
    """Nodes of ``TYPE:GPUSxCOUNT,...``, e.g. ``V100:4x10,T4:2x5``: ten nodes with four V100 each, five with two T4."""
    nodes: list[Node] = []
    for part in text.split(","):
        found = re.fullmatch(r"(\w+):(\d{1,18})x(\d{1,18})", part.strip())
        if found is None:
            raise OptschedError(f"nodes are written TYPE:GPUSxCOUNT, e.g. V100:4x10,T4:2x5, got {part!r}")
        kind, gpus, count = found[1], int(found[2]), int(found[3])
        if kind not in KNOWN or not 1 <= gpus <= MOST or not 1 <= count <= MOST_NODES:
            ends = f"1 to {MOST} GPUs a node, and 1 to {MOST_NODES:,} nodes"
            raise OptschedError(f"nodes {part!r:.60}: types are {', '.join(KNOWN)}, with {ends}")
        nodes += [Node(id=f"n{len(nodes) + i + 1}", gpu_type=kind, gpus=gpus) for i in range(count)]
    return tuple(nodes)


def most_gpus(nodes: tuple[Node, ...]) -> dict[str, int]:
    """The largest node of each type, in the order in which the types were named."""
    largest: dict[str, int] = {}
    for node in nodes:
        largest[node.gpu_type] = max(node.gpus, largest.get(node.gpu_type, 0))
    return largest


def priced(nodes: tuple[Node, ...]) -> dict[str, GpuType]:
    """The types of these nodes with their costs per hour."""
    return {kind: GpuType(node_cost_per_h=_costs(kind, most)) for kind, most in most_gpus(nodes).items()}


def _costs(kind: str, most: int) -> tuple[float, ...]:
    if kind in COSTS:
        measured = COSTS[kind]
        step = measured[1] - measured[0]
        return tuple(
            measured[g - 1] if g <= len(measured) else measured[-1] + step * (g - len(measured)) for g in range(1, most + 1)
        )
    idle_kw, gpu_kw = BOARD_KW[kind]
    return tuple(round(EUR_PER_KWH * (idle_kw + gpu_kw * g), 9) for g in range(1, most + 1))


KNOWN = (*COSTS, *BOARD_KW)
