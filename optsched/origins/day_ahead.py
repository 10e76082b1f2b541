"""day_ahead: synthetic campuses, and a table with a row a cluster and hour."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from optsched.origins import Given, Option, Origins, Reading, Scenario, Target

if TYPE_CHECKING:
    from optsched.instances.day_ahead import DayAheadInstance


def _day_ahead() -> Callable[..., DayAheadInstance]:
    from optsched.instances.generators.day_ahead import day_ahead

    return day_ahead


class _Clusters(Target["DayAheadInstance"]):
    fields_told = (
        "CLUSTER, HOUR, INFLEXIBLE, CARBON, high, ratio, campus, flexible, reserved, capacity, usage_limit, idle_kw, "
        "kw_per_ncu: a row a cluster and hour"
    )
    options = (
        Option("share", "Flexible over inflexible usage, unless mapped. [default: 0.25]"),
        Option("contract_mw", "Of every campus. [default: a tenth above its even peak]"),
    )

    def from_table(self, path: str, reading: Reading, options: Given) -> DayAheadInstance:
        from optsched.instances.readers.own_day_ahead import read_day_ahead

        build: Callable[..., DayAheadInstance] = read_day_ahead
        return build(path, reading.mapping, skip_bad=reading.skip_bad, **options)


ORIGINS = Origins(
    {
        "day-ahead": Scenario(
            "Tomorrow's curves of many clusters (Radovanovic et al.): a day_ahead instance.",
            (
                Option("clusters", "In all.", int, 5),
                Option("campuses", "That they are on.", int, 2),
                Option("share", "Flexible usage over inflexible usage.", float, 0.25),
            ),
            _day_ahead,
        ),
    },
    _Clusters(),
)
