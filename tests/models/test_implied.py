"""Which capacity rows are left out of the textbook form: only those that another one implies."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import optsched
from optsched.models.time_indexed import implied
from tests.oracle import tiny


def program_of(family: str, instance: Any) -> Any:
    model = import_module(f"optsched.models.{family}").FORMULATIONS["cover"](instance)
    program = model.options()
    return program.where(program.worthwhile()).in_units()


@pytest.mark.parametrize("family", ["geo", "deferrable"])
def test_a_row_is_left_out_only_where_another_says_as_much(family: str) -> None:
    left_out = 0
    for seed in range(150):
        p = program_of(family, tiny.TINY[family](seed))
        covers = np.zeros((*p.capacity.shape, len(p)), dtype=bool)
        for option, (place, start, length) in enumerate(zip(p.place, p.start, p.duration[p.job], strict=True)):
            covers[place, start : start + length, option] = True
        gone = implied(p)
        left_out += int(gone.sum())
        for place, slot in np.argwhere(gone & covers.any(axis=2)):
            stays = np.flatnonzero(~gone[place])
            within = (covers[place, slot] <= covers[place, stays]).all(axis=1)
            assert (within & (p.capacity[place, stays] <= p.capacity[place, slot])).any()
    assert left_out > 300


def test_few_rows_are_left_of_an_example(examples: Any) -> None:
    gone = implied(program_of("geo", optsched.load(examples / "geo-small.json")))
    assert gone.size - gone.sum() < 200  # of 1,800, and of the 855 slots in which something may start
