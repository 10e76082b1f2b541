"""geo: MASAC's scenario, and jobs of GPU clusters under real prices and carbon."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from optsched.errors import OptschedError
from optsched.origins import Given, JobTarget, Option, Origins, Reading, Scenario

if TYPE_CHECKING:
    from optsched.instances.geo import GeoInstance
    from optsched.instances.readers.own_fields import Field
    from optsched.instances.readers.trace import Trace

ZONE = Option(
    "zone",
    "Zone of a site; ZONE,ZONE: of its price and of its carbon. [default: of the same name]",
    str,
    many=True,
    metavar="SITE=ZONE",
)
START = Option(
    "start",
    "First hour of the signals, UTC. [default: that of dated jobs, else the first that has all]",
    str,
    metavar="TIME",
    word="from",
)


def _masac() -> Callable[..., GeoInstance]:
    from optsched.instances.generators.masac import masac

    return masac


class _Jobs(JobTarget["GeoInstance"]):
    fields_told = "SUBMIT, DURATION, --SIGNALS, gpus, source, due or slack, data_gb, model_gb, requested, id"
    traces = ("gpu",)
    options = (
        Option(
            "signals",
            "Needed: hourly prices (USD/MWh) and carbon (g/kWh); price=FILE and carbon=FILE name a wide file's content.",
            Path,
            many=True,
        ),
        Option("sites", "Sites as id, gpus, pue. [default: Table I's five]", Path),
        ZONE,
        START,
        Option("scale", "Of the GPUs of Table I's sites. [default: 1]"),
        Option("gpu_power_kw", "Of a GPU in use. [default: 0.07]"),
    )

    def fields(self) -> Mapping[str, Field]:
        from optsched.instances.readers.to_geo import FIELDS

        return FIELDS

    def from_trace(self, trace: Trace, reading: Reading, options: Given) -> GeoInstance:
        from optsched.instances.readers.own_sites import read_sites
        from optsched.instances.readers.signals import read_signals
        from optsched.instances.readers.to_geo import to_geo

        files = cast(Sequence[str], options.get("signals", ()))
        if not files:
            raise OptschedError("--to geo needs --signals FILE, a CSV of hourly prices and carbon")
        more = {name: value for name, value in options.items() if name not in ("signals", "sites", "zone")}
        build: Callable[..., GeoInstance] = to_geo
        if "sites" in options:
            trace = replace(trace, files=(*trace.files, Path(str(options["sites"])).name))
        return build(
            trace,
            read_signals(files, skip_bad=reading.skip_bad),
            hours=reading.hours,
            sites=read_sites(str(options["sites"])) if "sites" in options else (),
            zones=zones_of(cast(Sequence[str], options.get("zone", ()))),
            seed=reading.seed,
            **more,
        )


def zones_of(pairs: Sequence[str]) -> dict[str, str]:
    """Zones by site.

    Parameters
    ----------
    pairs
        As ``AU-SA=AU-VIC``.

    Raises
    ------
    OptschedError
        Something else.
    """
    zones = dict(pair.partition("=")[::2] for pair in pairs)
    if not all(site and zone for site, zone in zones.items()):
        raise OptschedError("a zone is written SITE=ZONE, e.g. AU-SA=AU-VIC")
    return zones


ORIGINS = Origins(
    {
        "masac": Scenario(
            "MASAC Table I, five sites over two days: a geo instance.",
            (
                Option("jobs", "In all.", int, 1500),
                Option("days", "The horizon.", float, 2.0),
                Option("load", "GPU-minutes asked for over GPU-minutes there are.", float, 1.0),
                Option("scale", "Of the sites' GPUs, for smaller instances.", float, 1.0),
                Option("gpu_power_kw", "One T4 board; at 0.25 PL and SG lose money.", float, 0.07),
                Option("throughput_gb_per_s", "Of a link.", float, 0.02),
                Option("network_kwh_per_gb", "Energy of a transfer.", float, 0.06),
                Option("transfer_usd_per_gb", "One price for all links. [default: AWS rates by origin]"),
                Option("trace", "Real jobs: arrival_time (s), length (s), cpus. [default: synthetic]", Path),
                Option("signals", "Real prices: datetime_utc, region, price_usd_per_mwh, carbon_gco2_per_kwh.", Path),
            ),
            _masac,
        ),
    },
    _Jobs(),
)
