"""Which of many come first: of all, or in their groups."""

from __future__ import annotations

import numpy as np

from optsched.instances.base import Floats, Ints


def least(values: Floats, most: int) -> Ints:
    """Where the least values are, `most` of them or all, in no order."""
    return np.arange(len(values)) if len(values) <= most else np.argpartition(values, most)[:most]


def begins(group: Ints) -> Ints:
    """Where groups begin, of which equal entries stand together."""
    return np.flatnonzero(np.diff(group, prepend=-1))


class Groups:
    """Entries in groups, of which equal ones stand together.

    Attributes
    ----------
    first : where each group begins, shape (G,). of : the number of each entry's group, shape (n,).
    """

    def __init__(self, group: Ints) -> None:
        self.first = begins(group)
        self.of = np.repeat(np.arange(len(self.first)), np.diff(np.append(self.first, len(group))))

    def best(self, values: Floats) -> Floats:
        """The largest value of each group, shape (G,)."""
        return np.maximum.reduceat(values, self.first) if len(values) else values

    def best_rows(self, values: Floats) -> Ints:
        """Where that is, the first of those that are equal, shape (G,)."""
        hits = np.flatnonzero(values == self.best(values)[self.of])
        return np.asarray(hits[begins(self.of[hits])])


def rank(group: Ints) -> Ints:
    """Of each entry in its group, where equal ones stand together, shape (n,)."""
    new = begins(group)
    return np.arange(len(group)) - np.repeat(new, np.diff(np.append(new, len(group))))
