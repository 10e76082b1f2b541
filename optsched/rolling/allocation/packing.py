"""How many nodes jobs take: by their sizes alone, vectorised, for playouts that name no nodes."""

from __future__ import annotations

import numpy as np

from optsched.instances.base import Floats, Ints


def nodes_needed(sizes: Ints, most: int) -> Ints:
    """Nodes of `most` GPUs for so many jobs of each size.

    Exact up to four GPUs a node; with more, jobs of up to half a node count by their GPUs alone.

    Parameters
    ----------
    sizes
        Jobs of 1, 2, ... GPUs, shape (`most` at least, ...).

    Returns
    -------
    Shape (...).
    """
    half = most // 2  # two larger jobs never share a node
    filled = volume = np.zeros(sizes.shape[1:], dtype=sizes.dtype)
    for left in range(1, max(half, most - half - 1) + 1):
        if left <= half:
            volume = volume + left * sizes[left - 1]
        if left < most - half:  # beside a larger job
            filled = np.minimum(filled + left * sizes[most - left - 1], volume)
    return np.asarray(sizes[half:most].sum(axis=0) - (volume - filled) // -most)


def cost_of(nodes: Ints, used: Ints, node_per_s: Floats) -> Floats:
    """What nodes cost a second that share so many GPUs in use evenly; `node_per_s` by GPUs of one, from none."""
    share = used / np.maximum(nodes, 1)
    low = np.minimum(share.astype(int), len(node_per_s) - 2)
    return np.asarray(nodes * (node_per_s[low] + (share - low) * (node_per_s[low + 1] - node_per_s[low])))
