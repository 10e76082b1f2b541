"""Which of many come first: of all, or in their groups."""

from __future__ import annotations

import numpy as np

from optsched.instances.base import Floats, Ints


def least(values: Floats, most: int) -> Ints:
    """Where the least values are, `most` of them or all, in no order."""
    return np.arange(len(values)) if len(values) <= most else np.argpartition(values, most)[:most]


def rank(group: Ints) -> Ints:
    """Of each entry in its group, where equal ones stand together, shape (n,)."""
    new = np.flatnonzero(np.diff(group, prepend=-1))
    return np.arange(len(group)) - np.repeat(new, np.diff(np.append(new, len(group))))
