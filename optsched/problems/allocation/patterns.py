"""Packing patterns of a node: the multisets of GPU counts that its jobs can have."""

from __future__ import annotations

from functools import cache

import numpy as np

from optsched.instances.allocation import AllocationInstance

Pattern = tuple[int, ...]


@cache
def patterns(gpus: int, sizes: tuple[int, ...]) -> tuple[Pattern, ...]:
    """Non-empty multisets of `sizes` (ascending) that fit into `gpus`; entry i counts jobs of ``sizes[i]``."""
    if not sizes:
        return ()
    found: list[Pattern] = [()]
    for size in sizes:
        found = [
            (*head, count)
            for head in found
            for count in range((gpus - sum(c * s for c, s in zip(head, sizes, strict=False))) // size + 1)
        ]
    return tuple(pattern for pattern in found if any(pattern))


def count_patterns(gpus: int, sizes: tuple[int, ...]) -> int:
    """How many patterns there are, without listing them."""
    ways = [1] + [0] * gpus
    for size in sizes:
        for total in range(size, gpus + 1):
            ways[total] += ways[total - size]
    return sum(ways) - 1


def sizes_of(instance: AllocationInstance, k: int) -> tuple[int, ...]:
    """Numbers of GPUs with which some known job runs on class k."""
    runs = np.isfinite(instance.columns.time_s[:, k, :]).any(axis=0)
    return tuple(int(g) + 1 for g in np.flatnonzero(runs))


def model_size(instance: AllocationInstance) -> tuple[int, int]:
    """Packing patterns, and columns of the first-ending jobs in `aggregated`, without building either."""
    total = columns = 0
    for k, c in enumerate(instance.node_classes):
        sizes = sizes_of(instance, k)
        total += count_patterns(c.gpus, sizes)
        for size in sizes:
            options_of_size = int(np.isfinite(instance.columns.time_s[:, k, size - 1]).sum())
            holding = count_patterns(c.gpus - size, sizes) + 1
            columns += options_of_size * (holding if instance.first_ending == "earliest" else 1)
    return total, columns
