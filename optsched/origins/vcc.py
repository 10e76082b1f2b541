"""vcc: a synthetic data centre, and jobs under a carbon signal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from optsched.errors import OptschedError
from optsched.origins import Given, JobTarget, Option, Origins, Reading, Scenario

if TYPE_CHECKING:
    from optsched.instances.readers.own_fields import Field
    from optsched.instances.readers.trace import Trace
    from optsched.instances.vcc import VccInstance


def _vcc() -> Callable[..., VccInstance]:
    from optsched.instances.generators.vcc import vcc

    return vcc


class _Jobs(JobTarget["VccInstance"]):
    fields_told = "SUBMIT, DURATION, --SIGNALS, ncu, requested, id"
    options = (
        Option("signals", "Needed: hourly carbon (g/kWh).", Path, many=True),
        Option("zone", "Whose carbon. [default: the only one]", str, many=True, metavar="ZONE"),
        Option(
            "start",
            "First hour of the signal, UTC. [default: that of dated jobs, else its first]",
            str,
            metavar="TIME",
            word="from",
        ),
        Option("capacity", "NCU. [default: by --load]"),
        Option("load", "NCU-hours asked for over what the inflexible load leaves. [default: 0.7]"),
        Option("inflexible", "NCU that run always. [default: 0]"),
        Option("penalty", "kg for a late, unfinished or missing NCU-hour. [default: 1]"),
    )

    def fields(self) -> Mapping[str, Field]:
        from optsched.instances.readers.to_vcc import FIELDS

        return FIELDS

    def from_trace(self, trace: Trace, reading: Reading, options: Given) -> VccInstance:
        from optsched.instances.readers.signals import read_signals
        from optsched.instances.readers.to_vcc import to_vcc

        files, zones = cast(Sequence[str], options.get("signals", ())), cast(Sequence[str], options.get("zone", ()))
        if not files:
            raise OptschedError("--to vcc needs --signals FILE, a CSV of hourly carbon")
        if len(zones) > 1:
            raise OptschedError("--to vcc takes one --zone")
        more = {name: value for name, value in options.items() if name not in ("signals", "zone")}
        signals = read_signals(files, skip_bad=reading.skip_bad)
        build: Callable[..., VccInstance] = to_vcc
        return build(trace, signals, hours=reading.hours, zone=next(iter(zones), None), **more)


ORIGINS = Origins(
    {
        "vcc": Scenario(
            "A data centre under an hourly cap (DatacenterEnv): a vcc instance.",
            (
                Option("days", "The horizon.", int, 7),
                Option("jobs", "In all.", int, 1000),
                Option("capacity", "NCU.", float, 42.0),
                Option("load", "Flexible NCU-hours over what the inflexible leaves.", float, 0.7),
                Option("penalty", "Of a late, unfinished or missing NCU-hour, kg.", float, 1.0),
                Option("preempt", "Evict running jobs above the cap.", bool, False),
            ),
            _vcc,
        ),
    },
    _Jobs(),
)
