"""Interchangeable nodes by how many GPUs they have free."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush


class Nodes:
    """Nodes of one class; the best fit in a few steps, however many nodes there are.

    Parameters
    ----------
    most : GPUs of a node of the class. nodes : (free GPUs, node).
    """

    def __init__(self, most: int, nodes: Iterable[tuple[int, int]]) -> None:
        self.by_room: list[list[int]] = [[] for _ in range(most + 1)]
        for left, node in nodes:
            self.put(left, node)

    def put(self, left: int, node: int) -> None:
        """A node with so many free GPUs."""
        heappush(self.by_room[left], node)

    def take(self, gpus: int) -> tuple[int, int] | None:
        """The node with the least room that is enough, the first of those, and its room; None if there is none."""
        for left in range(gpus, len(self.by_room)):
            if self.by_room[left]:
                return left, heappop(self.by_room[left])
        return None
