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


def best_rows(values: Floats, first: Ints) -> Ints:
    """Where each group has its largest value, the first one of those that are equal; groups begin at `first`, none is empty."""
    if not len(values):
        return np.zeros(0, dtype=np.int64)
    group = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(values))))
    hits = np.flatnonzero(values == np.maximum.reduceat(values, first)[group])
    return np.asarray(hits[begins(group[hits])])


def rank(group: Ints) -> Ints:
    """Of each entry in its group, where equal ones stand together, shape (n,)."""
    new = begins(group)
    return np.arange(len(group)) - np.repeat(new, np.diff(np.append(new, len(group))))
