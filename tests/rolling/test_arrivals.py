"""Arrivals by hour: which hours are drawn from, and whether more come of late than these hours have on other days."""

from __future__ import annotations

import numpy as np
import pytest

from optsched.instances.deferrable import Job
from optsched.rolling.arrivals import Arrivals, _nth


def arrivals(past: list[int], own: list[int], duration: int = 1) -> tuple[Arrivals[Job], range, range]:
    """So many jobs an hour, in slots of half an hour."""
    found: Arrivals[Job] = Arrivals(block=2, day=48)
    job = Job(id="j", cores=1.0, duration=duration, earliest=0, latest=9, submitted=0)
    for hours in (past, own):
        found.begin(2 * len(hours))
        for hour, count in enumerate(hours):
            for _ in range(count):
                found.add(2 * hour + 1, job)
    first = found.offset // 2
    return found, range(len(past)), range(first, first + len(own))


def test_numbers_of_several_ranges() -> None:
    ranges = [range(3, 3), range(5, 20, 7), range(100, 102)]
    assert [_nth(ranges, n) for n in range(5)] == [5, 12, 19, 100, 101]


@pytest.mark.parametrize(
    ("past", "own", "last", "unlike"),
    [
        (0, 10, 3, {7, 8, 9}),
        (0, 10, None, set(range(10))),
        (4, 10, 3, {7, 8, 9}),
        (4, 2, 3, {103, 0, 1}),
        (4, 2, 9, {100, 101, 102, 103, 0, 1}),
    ],
)
def test_hours_of_which_no_other_day_tells_are_like_the_last(past: int, own: int, last: int | None, unlike: set[int]) -> None:
    """Hour h has h jobs; of yesterday, with a hundred more, the first hours have been seen."""
    found, before, seen = arrivals([100 + hour for hour in range(past)], list(range(own)))
    came: dict[int, set[int]] = {}
    for seed in range(200):
        for slot, _, jobs in found.future([before, seen], 2 * own, 57, last, np.random.default_rng(seed)):
            came.setdefault(slot // 2, set()).add(len(jobs))
    for hour, counts in came.items():
        alike = {day + hour % 24 for day, hours in ((100, past), (0, own)) if hour % 24 < hours}
        assert counts == (alike or unlike), hour


def test_half_as_many_come_of_late() -> None:
    """Thirty in six hours, where sixty were usual and nothing else varied: by 25 that count as usual, 55 of 85."""
    found, past, own = arrivals([10] * 24, [5] * 6)
    assert found.level(past, own, 96)[0] == pytest.approx(55 / 85)
    assert found.level(past, own[:2], 96)[0] == pytest.approx(35 / 45)


def test_what_has_been_seen_makes_the_level_surer() -> None:
    """Twenty-five jobs' worth is believed before any is seen, and thirty come: 1 / sqrt(55), where the spread was a fifth."""
    found, past, own = arrivals([10] * 24, [5] * 6)
    assert found.level(past, own, 96)[1] == pytest.approx(55**-0.5)
    assert found.level(past, own[:2], 96)[1] == pytest.approx(35**-0.5)


def test_the_same_hours_of_other_days_are_what_is_usual() -> None:
    """Nights of 2 and days of 18, as ever: the variance of all hours is 64, 6.4 times the mean."""
    day = [2] * 12 + [18] * 12
    found, past, own = arrivals(day, day + [4] * 6)
    assert found.level(past, own[:24], 96)[0] == pytest.approx(1.0)
    assert found.level(past, own, 96)[0] == pytest.approx((24 + 160) / (12 + 160))


@pytest.mark.parametrize(("past", "own"), [([], []), ([], [3] * 6), ([3] * 24, []), ([0] * 24, [0] * 6)])
def test_where_nothing_can_be_compared_all_is_as_usual(past: list[int], own: list[int]) -> None:
    assert arrivals(past, own)[0].level(*arrivals(past, own)[1:], 96) == (1.0, 0.2)


def test_a_first_day_tells_nothing_without_a_history() -> None:
    """Two an hour for six hours, then eight: mornings are not nights; the second night is compared with the first."""
    found, past, own = arrivals([], [2] * 6 + [8] * 18 + [4] * 6)
    assert found.level(past, own[:12], 96) == (1.0, 0.2)
    scatter = 6.75 / 6.5
    assert found.level(past, own, 96)[0] == pytest.approx((24 + 25 * scatter) / (12 + 25 * scatter))


def test_who_comes_too_late_is_not_missed() -> None:
    """Jobs of five hours, in a stretch of eight: nobody is shown after the third hour, and nobody is expected there."""
    found, past, own = arrivals([10] * 24, [10, 10, 10, 0, 0, 0], duration=10)
    assert found.level(past, own, 16)[0] == pytest.approx(1.0)
    assert found.level(past, own, 96)[0] == pytest.approx(55 / 85)
