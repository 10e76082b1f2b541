"""Rounded capacity rows: no choice breaks one, with its overload or where it fits; and by hand, 8 cores twice in 15."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyomo.core as pyo
import pytest

from optsched.models.restricted import Choice, CoverMip
from optsched.problems.time_indexed import TimeIndexedProblem, windows


def drawn(rng: np.random.Generator, priced: bool) -> TimeIndexedProblem:
    jobs, places, slots = int(rng.integers(2, 7)), int(rng.integers(1, 3)), int(rng.integers(2, 7))
    duration = rng.integers(1, slots + 1, jobs)
    row, start = windows(np.zeros(jobs * places, dtype=np.int64), np.repeat(slots - duration, places))
    return TimeIndexedProblem(
        job=row // places,
        place=row % places,
        start=start,
        value=rng.uniform(1, 9, len(row)),
        demand=rng.choice([1, 2, 3, 5, 8], jobs).astype(float),
        duration=duration,
        capacity=rng.integers(0, 20, (places, slots)).astype(float),
        overload_price=0.01 if priced else None,
        constant=0.0,
    )


@pytest.mark.parametrize("priced", [False, True])
def test_no_choice_breaks_a_row(priced: bool) -> None:
    rng, rows, tight = np.random.default_rng(0), 0, 0
    for _ in range(150):
        program = drawn(rng, priced)
        model = CoverMip(program)
        for _ in range(20):
            chosen = []
            for job in np.unique(program.job).tolist():
                if rng.random() < 0.8:
                    chosen.append(int(rng.choice(np.flatnonzero(program.job == job))))
                    if not priced and (program.load(np.array(chosen)) > program.capacity).any():
                        chosen.pop()
            model.encode(Choice(options=tuple(chosen)))
            for row in model.pyomo.rounding.values():
                rows, left = rows + 1, pyo.value(row.upper) - pyo.value(row.body)
                assert left >= 0
                tight += left == 0
    assert rows > 5000
    assert tight > 100


def test_eight_cores_do_not_fit_twice_into_fifteen() -> None:
    both = TimeIndexedProblem(
        job=np.array([0, 1]),
        place=np.zeros(2, dtype=np.int64),
        start=np.zeros(2, dtype=np.int64),
        value=np.ones(2),
        demand=np.full(2, 8.0),
        duration=np.ones(2, dtype=np.int64),
        capacity=np.array([[15.0]]),
        overload_price=None,
        constant=0.0,
    )
    (row,) = CoverMip(both).pyomo.rounding.values()
    assert (list(row.body.coefficients), pyo.value(row.upper)) == ([1.0, 1.0], 1.0)  # one of the two
    assert not CoverMip(replace(both, capacity=np.array([[16.0]]))).pyomo.rounding
