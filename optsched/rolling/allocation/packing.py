"""How many nodes jobs take: by their sizes alone, vectorised, for playouts that name no nodes."""

from __future__ import annotations

import numpy as np

from optsched.instances.base import Bools, Floats, Ints


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
    large, rest = _beside(sizes, most)
    return np.asarray(large - rest // -most)


def fit_on(nodes: int, sizes: Ints, most: int) -> Bools:
    """Whether so many nodes are as many as jobs need (`nodes_needed`), shape (...)."""
    large, rest = _beside(sizes, most)
    return np.asarray(rest <= (nodes - large) * most)


def _beside(sizes: Ints, most: int) -> tuple[Ints, Ints]:
    """Nodes of larger jobs, and the GPUs of others that find no room beside them, shape (...) each."""
    half = most // 2  # two larger jobs never share a node
    large = sizes[half:most].sum(axis=0)
    filled = volume = np.zeros((), dtype=int)
    for left in range(1, max(half, most - half - 1) + 1):
        if left <= half:
            volume = volume + left * sizes[left - 1]
        if left < most - half:  # beside a larger job
            filled = np.minimum(filled + left * sizes[most - left - 1], volume)
    return large, volume - filled


def cost_of(nodes: Ints, used: Ints, node_per_s: Floats) -> Floats:
    """What nodes cost a second that share so many GPUs in use evenly; `node_per_s` by GPUs of one, from none."""
    share = used / np.maximum(nodes, 1)
    low = np.minimum(share.astype(int), len(node_per_s) - 2)
    return np.asarray(nodes * (node_per_s[low] + (share - low) * (node_per_s[low + 1] - node_per_s[low])))
