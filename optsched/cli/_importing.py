"""What the commands of `optsched import` share: their options, and the way from a file to an instance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from optsched.cli._durations import DURATION, HOURS
from optsched.cli._emit import check_output, emit
from optsched.cli._live import live
from optsched.errors import OptschedError

if TYPE_CHECKING:
    from optsched.instances import Instance
    from optsched.instances.readers import Trace

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class Second(click.ParamType[float | str]):
    """A second of the trace's clock, or the word busiest."""

    name = "second"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        """The number, or the word."""
        if value == "busiest":
            return "busiest"
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is neither a second of the trace nor the word busiest", param, ctx)


def all_of(*decorators: Decorator) -> Decorator:
    """Several options as one decorator, in the order of the help page."""

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorated


COMMON = all_of(
    click.option("-o", "--output", metavar="FILE", type=click.Path(), help=".json or .json.gz; standard output if not given."),
    click.option("--json", "as_json", is_flag=True, help="With -o, say what was written and assumed as one JSON object."),
    click.option("--skip-bad", is_flag=True, help="Leave broken rows out, and count them."),
)
WINDOW = all_of(
    click.option("--limit", type=click.IntRange(min=1), help="At most so many jobs, the first submitted."),
    click.option("--sample", type=click.IntRange(min=1), help="So many jobs of the window, drawn at random."),
    click.option(
        "--from-s",
        type=Second(),
        metavar="SECOND|busiest",
        help="Second of the trace to begin at, or where its busiest --hours begin. [default: the hour of the first submission, "
        "or the busiest hours where hardly a job is submitted in those]",
    ),
    click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of what is drawn."),
    click.option(
        "--hours",
        type=HOURS,
        metavar="HOURS",
        help="Length of the window, e.g. 24 or 2d, and the horizon where there is one. [default: all]",
    ),
)
ZONES = click.option(
    "--map", "mapping", multiple=True, metavar="SITE=ZONE", help="Zone of a site; ZONE,ZONE: of its price and of its carbon."
)
START = click.option(
    "--from", "start", metavar="TIME", help="First hour of the signals, UTC. [default: the first that has all]"
)
ALLOCATION = all_of(
    click.option(
        "--nodes", metavar="TYPE:GPUSxCOUNT,...", help="The cluster. [default: V100:4x10, or T4:4x10 where times are for T4]"
    ),
    click.option(
        "--all-submitted", is_flag=True, default=None, help="Set now to the last submission, so that `solve` sees every job."
    ),
)
GEO = all_of(
    click.option(
        "--signals",
        multiple=True,
        metavar="CSV",
        help="Prices and carbon; price=FILE and carbon=FILE name a wide file's content.",
    ),
    click.option("--scale", type=float, help="Of the sites' GPUs. [default: 1]"),
    click.option("--gpu-power-kw", type=float, help="[default: 0.07]"),
    ZONES,
    START,
)
DEFERRABLE = all_of(
    click.option("--slot-s", type=DURATION, metavar="SECONDS", default=300.0, show_default=True),
    click.option("--slack", type=float, default=1.0, show_default=True, help="Latest - earliest start, in durations."),
    click.option("--capacity", type=float, help="Constant capacity in cores."),
    click.option(
        "--busy", metavar="CSV", help="timestamp (s), cpu_usage (1/100 core): capacity is the peak less what is busy."
    ),
    click.option(
        "--load",
        type=float,
        default=1.0,
        show_default=True,
        help="Core-slots asked for over those there are, unless --capacity.",
    ),
    click.option("--truncate", is_flag=True, help="Cut jobs off at the horizon instead of leaving them out."),
)


def pairs(mapping: Sequence[str]) -> dict[str, str]:
    pairs = dict(pair.partition("=")[::2] for pair in mapping)
    if not all(site and zone for site, zone in pairs.items()):
        raise OptschedError("a mapping is written SITE=ZONE, e.g. AU-SA=AU-VIC")
    return pairs


def signals_of(files: Sequence[str], skip_bad: bool) -> Any:
    from optsched.instances.readers import read_signals

    return read_signals(files, skip_bad=skip_bad)


def _to_allocation(trace: Trace, hours: float | None, skip_bad: bool, **options: Any) -> Instance:
    from optsched.instances.readers import to_allocation

    return to_allocation(trace, **options)


def _to_geo(
    trace: Trace, hours: float | None, skip_bad: bool, signals: Sequence[str] = (), mapping: Sequence[str] = (), **options: Any
) -> Instance:
    from optsched.instances.readers import to_geo

    if not signals:
        raise click.UsageError("--to geo needs --signals: files of prices and carbon")
    return to_geo(trace, signals_of(signals, skip_bad), hours=hours, zones=pairs(mapping), **options)


def _to_deferrable(trace: Trace, hours: float | None, skip_bad: bool, seed: int, **options: Any) -> Instance:
    from optsched.instances.readers import to_deferrable  # it draws nothing: the seed was the sample's

    return to_deferrable(trace, hours=hours, **options)


# what makes an instance of each family, and the options that are its own
TARGETS: dict[str, tuple[Callable[..., Instance], tuple[str, ...]]] = {
    "allocation": (_to_allocation, ("nodes", "all_submitted")),
    "geo": (_to_geo, ("signals", "scale", "gpu_power_kw", "mapping", "start")),
    "deferrable": (_to_deferrable, ("slot_s", "slack", "capacity", "busy", "load", "truncate")),
}
OPTIONS = {"mapping": "map", "start": "from"}


def made(build: Callable[[], Instance], output: str | None, as_json: bool, place: str | None = None) -> None:
    """Build and write; print what the instance's meta (or the entry `place` of it) says was assumed and left out."""
    from pydantic import ValidationError

    try:
        with live("import"):
            instance = build()
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        raise OptschedError(f"these files and options make no valid instance: {where}: {fault['msg']}") from None
    told = instance.meta if place is None else instance.meta[place]
    remarks = [f"  assumed: {sentence}" for sentence in told["assumed"]]
    if count := told["skipped_rows"]:
        first = "; ".join(told["first_skipped"])
        remarks.append(f"  skipped: {count} broken rows: {first}{'; ...' if count > len(told['first_skipped']) else ''}")
    emit(instance, output, as_json, remarks)


def cut(given: dict[str, Any]) -> dict[str, Any]:
    """The options of the window, taken out of those given."""
    return {name: given.pop(name) for name in ("limit", "sample", "from_s", "hours")}


def from_trace(kind: str, target: str, own: Sequence[str], given: dict[str, Any]) -> None:
    """Read the trace with the options of its own, cut the window, and make an instance of the target with the others."""
    file, output, skip_bad, as_json = (given.pop(name) for name in ("file", "output", "skip_bad", "as_json"))
    check_output(output, [file, given.get("busy"), *given.get("signals", ())])
    from optsched.instances.readers import READERS

    build, wanted = TARGETS[target]
    reading = {name: given.pop(name) for name in own}
    window = cut(given)
    options = {name: value for name, value in given.items() if value not in (None, ())}
    foreign = {name for _, names in TARGETS.values() for name in names} - set(wanted)
    for name in sorted(foreign & set(options)):
        raise click.UsageError(f"--{OPTIONS.get(name, name).replace('_', '-')} is not an option of --to {target}")
    with live("import"):
        trace = READERS[kind](file, skip_bad=skip_bad, **reading).window(**window, seed=given["seed"])
    made(lambda: build(trace, window["hours"], skip_bad, **options), output, as_json)
