"""Jobs that are alike: the same demand, duration and options. Priced, they all want the same, and one stands for them all."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from optsched.instances.base import Bools, Floats, Ints
from optsched.problems.time_indexed import CHUNK, TimeIndexedProblem


@dataclass(frozen=True)
class Alike:
    """A program with one job of each kind.

    Attributes
    ----------
    program : of one job a kind. count : jobs of each kind, shape (K,). kind : of each job, K for one without options, (J,).
    """

    program: TimeIndexedProblem
    count: Floats
    kind: Ints
    _begins: Ints  # of the options of each job, in the whole program
    _own: Ints  # the same in this one, by kind

    @classmethod
    def of(cls, whole: TimeIndexedProblem) -> Alike:
        """The kinds of a program's jobs."""
        jobs = len(whole.demand)
        begins = np.searchsorted(whole.job, np.arange(jobs + 1))
        some = np.flatnonzero(begins[1:] > begins[:-1])
        first, last = begins[some], begins[some + 1] - 1
        keys = (whole.demand[some], whole.duration[some], last - first, *(c[at] for at in (first, last) for c in _told(whole)))
        order = np.lexsort(keys)
        differs = np.append(True, np.logical_or.reduce([key[order][1:] != key[order][:-1] for key in keys]))
        stands = np.empty(len(some), dtype=np.int64)  # which of `some` stands for each
        stands[order] = order[np.maximum.accumulate(np.where(differs, np.arange(len(order)), 0))]
        stands = np.where(_same(whole, first, last - first + 1, first[stands]), stands, np.arange(len(some)))
        chosen, kind_of, count = np.unique(stands, return_inverse=True, return_counts=True)
        keep = np.zeros(len(whole), dtype=bool)
        length = (last - first + 1)[chosen]
        own = np.append(0, np.cumsum(length))
        keep[np.repeat(first[chosen] - own[:-1], length) + np.arange(own[-1])] = True
        kind = np.full(jobs, len(chosen), dtype=np.int64)
        kind[some] = kind_of
        job = np.repeat(np.arange(len(chosen)), length)
        one = some[chosen]
        program = replace(whole.where(keep), job=job, demand=whole.demand[one], duration=whole.duration[one])
        return cls(program, count.astype(float), kind, begins, own)

    def rows(self, option: Ints) -> Ints:
        """Options of this program, one a job (-1: none), as options of the whole, shape (J,)."""
        has = option >= 0
        shift = self._begins[:-1][has] - self._own[self.kind[has]]
        found = np.full(len(option), -1, dtype=np.int64)
        found[has] = option[has] + shift
        return found

    def spread(self, values: Ints) -> Ints:
        """What each option of this program has, for the options of the whole, shape (n,)."""
        length = np.diff(self._begins)
        some = length > 0
        shift = self._own[:-1][self.kind[some]] - self._begins[:-1][some]
        found = np.repeat(shift, length[some])
        found += np.arange(len(found))
        return np.asarray(values[found])


def _told(program: TimeIndexedProblem) -> tuple[Ints, Ints, Floats]:
    return program.start, program.place, program.value


def _same(program: TimeIndexedProblem, first: Ints, length: Ints, other: Ints) -> Bools:
    """Whether jobs, by the first of their options and how many they are, have the options that begin at `other`."""
    found = np.ones(len(first), dtype=bool)
    upto = np.append(0, np.cumsum(length))
    for chunk in np.array_split(np.arange(len(first)), max(1, int(upto[-1]) // CHUNK)):
        if not len(chunk):
            continue
        begin = upto[chunk] - upto[chunk[0]]
        step = np.arange(int(length[chunk].sum())) - np.repeat(begin, length[chunk])
        mine, its = (np.repeat(at[chunk], length[chunk]) + step for at in (first, other))
        equal = np.logical_and.reduce([column[mine] == column[its] for column in _told(program)])
        found[chunk] = np.logical_and.reduceat(equal, begin)
    return found
