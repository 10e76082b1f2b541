"""deferrable: OSDEC's scenarios, and jobs of CPU clusters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from optsched.origins import Given, JobTarget, Option, Origins, Reading, Scenario

if TYPE_CHECKING:
    from optsched.instances.deferrable import DeferrableInstance
    from optsched.instances.readers.own_fields import Field
    from optsched.instances.readers.trace import Trace


def _osdec() -> Callable[..., DeferrableInstance]:
    from optsched.instances.generators.osdec import osdec

    return osdec


class _Jobs(JobTarget["DeferrableInstance"]):
    fields_told = "SUBMIT, DURATION, cores, earliest, latest (start) or due (end), requested, id"
    traces = ("cpu",)
    options = (
        Option("slot_s", "Length of a slot. [default: 5m]", timedelta),
        Option("slack", "Latest - earliest start, in durations. [default: 1]"),
        Option("capacity", "Constant capacity in cores. [default: by --load]"),
        Option("busy", "What else is busy, as timestamp (s), cpu_usage (1/100 core): capacity is its peak less that.", Path),
        Option("load", "Core-slots asked for over those there are, unless --capacity. [default: 1]"),
        Option("truncate", "Cut jobs off at the horizon instead of leaving them out.", bool),
    )

    def fields(self) -> Mapping[str, Field]:
        from optsched.instances.readers.to_deferrable import FIELDS

        return FIELDS

    def from_trace(self, trace: Trace, reading: Reading, options: Given) -> DeferrableInstance:
        from optsched.instances.readers.to_deferrable import to_deferrable  # it draws nothing: the seed was the sample's

        build: Callable[..., DeferrableInstance] = to_deferrable
        return build(trace, hours=reading.hours, **options)


ORIGINS = Origins(
    {
        "osdec": Scenario(
            "OSDEC core cases 1-3 x duration cases 1-3: a deferrable instance.",
            (
                Option("core_case", "Core distribution of Table 4.", range(1, 4), 1),
                Option("duration_case", "Duration distribution of Table 4.", range(1, 4), 1),
                Option("jobs", "In all.", int, 200),
                Option("horizon", "Slots of 5 min.", int, 144),
                Option("load", "Core-slots asked for over core-slots there are.", float, 1.1),
                Option("window", "Mean slots between earliest and latest start.", int, 24),
                Option("lead", "Mean slots between submission and earliest start.", int, 12),
                Option("real_time", "Shrink every window to its earliest slot.", bool, False),
            ),
            _osdec,
        ),
    },
    _Jobs(),
)
