"""`optsched generate`: the papers' scenarios."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from optsched.cli._emit import check_output, emit
from optsched.cli._verbs import Group
from optsched.errors import OptschedError

if TYPE_CHECKING:
    from optsched.instances import Instance


@click.group("generate", cls=Group)
def command() -> None:
    """Generate an instance of a paper's scenario: same parameters, same seed, same file.

    It goes to standard output, or to the file of -o: optsched generate masac | optsched solve -
    """


def _output(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that every scenario has: where it goes, and the seed; what makes no instance is told in one line."""

    @functools.wraps(function)
    def guarded(output: str | None, as_json: bool, **parameters: Any) -> None:
        check_output(output, [parameters.get("trace"), parameters.get("signals")])
        from pydantic import ValidationError

        try:
            made = function(**parameters)
        except OptschedError:
            raise
        except (ValueError, OverflowError, ArithmeticError) as error:  # pydantic's errors are ValueErrors
            where = ".".join(map(str, error.errors()[0]["loc"])) if isinstance(error, ValidationError) else ""
            text = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
            raise OptschedError(f"these parameters make no valid instance: {where}{': ' if where else ''}{text}") from None
        emit(made, output, as_json)

    options = (
        click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True),
        click.option("--json", "as_json", is_flag=True, help="With -o, say what was written as one JSON object."),
        click.option(
            "-o", "--output", metavar="FILE", type=click.Path(), help=".json or .json.gz; standard output if not given."
        ),
    )
    decorated: Callable[..., Any] = guarded
    for option in options:
        decorated = option(decorated)
    return decorated


def _andreas(case: int) -> click.Command:
    @click.command(f"andreas-{case}")
    @click.option("--nodes", type=int, default=10, show_default=True, help="N; half V100, half T4.")
    @click.option("--jobs", type=int, help="J. [default: 10 N]")
    @click.option(
        "--rate",
        type=click.Choice(["high", "mixed"]),
        default="high",
        show_default=True,
        help="Arrival rate.",
    )
    @click.option(
        "--all-submitted",
        is_flag=True,
        help="Set now to the last submission, so that `solve` sees every job.",
    )
    @click.option("--first-ending", type=click.Choice(["earliest", "cheapest"]), default="earliest", show_default=True)
    @click.option("--use-all-nodes/--no-use-all-nodes", default=True, show_default=True)
    @_output
    def made(**parameters: Any) -> Instance:
        from optsched.instances.generators import andreas

        return andreas(case, **parameters)

    gpus = {1: "2 GPUs a V100 node, 1 a T4 node", 2: "4 GPUs a V100 node, 2 a T4 node"}[case]
    made.help = f"ANDREAS case {case} ({gpus}): an allocation instance."
    return made


command.add_command(_andreas(1))
command.add_command(_andreas(2))


@command.command("osdec")
@click.option(
    "--core-case",
    type=click.IntRange(1, 3),
    default=1,
    show_default=True,
    help="Core distribution of Table 4.",
)
@click.option(
    "--duration-case",
    type=click.IntRange(1, 3),
    default=1,
    show_default=True,
    help="Duration distribution of Table 4.",
)
@click.option("--jobs", type=int, default=200, show_default=True)
@click.option("--horizon", type=int, default=144, show_default=True, help="Slots of 5 min.")
@click.option(
    "--load",
    type=float,
    default=1.1,
    show_default=True,
    help="Core-slots asked for over core-slots there are.",
)
@click.option("--window", type=int, default=24, show_default=True, help="Mean slots between earliest and latest start.")
@click.option(
    "--lead",
    type=int,
    default=12,
    show_default=True,
    help="Mean slots between submission and earliest start.",
)
@click.option("--real-time", is_flag=True, help="Shrink every window to its earliest slot.")
@_output
def osdec_command(**parameters: Any) -> Instance:
    """OSDEC core cases 1-3 x duration cases 1-3: a deferrable instance."""
    from optsched.instances.generators import osdec

    return osdec(**parameters)


@command.command("masac")
@click.option("--jobs", type=int, default=1500, show_default=True)
@click.option("--days", type=float, default=2, show_default=True)
@click.option(
    "--load",
    type=float,
    default=1.0,
    show_default=True,
    help="GPU-minutes asked for over GPU-minutes there are.",
)
@click.option("--scale", type=float, default=1.0, show_default=True, help="Of the sites' GPUs, for smaller instances.")
@click.option(
    "--gpu-power-kw",
    type=float,
    default=0.07,
    show_default=True,
    help="One T4 board; at 0.25 PL and SG lose money.",
)
@click.option("--throughput-gb-per-s", type=float, default=0.02, show_default=True)
@click.option("--network-kwh-per-gb", type=float, default=0.06, show_default=True)
@click.option("--transfer-usd-per-gb", type=float, help="One price for all links. [default: AWS rates by origin]")
@click.option("--trace", metavar="CSV", help="Real jobs: arrival_time (s), length (s), cpus. [default: synthetic]")
@click.option(
    "--signals",
    metavar="CSV",
    help="Real prices: datetime_utc, region, price_usd_per_mwh, carbon_gco2_per_kwh.",
)
@_output
def masac_command(**parameters: Any) -> Instance:
    """MASAC Table I, five sites over two days: a geo instance."""
    from optsched.instances.generators import masac

    return masac(**parameters)


@command.command("wide-nodes")
@click.option("--nodes", type=int, default=20, show_default=True, help="N; with 8 A100, V100, P100 or T4 each, in turn.")
@click.option("--jobs", type=int, help="J. [default: 5 N]")
@_output
def wide_nodes_command(**parameters: Any) -> Instance:
    """Beyond the papers: ANDREAS's jobs, all submitted, on nodes with 8 GPUs of four types: an allocation instance."""
    from optsched.instances.generators import wide_nodes

    return wide_nodes(**parameters)


@command.command("vcc")
@click.option("--days", type=int, default=7, show_default=True)
@click.option("--jobs", type=int, default=1000, show_default=True)
@click.option("--capacity", type=float, default=42.0, show_default=True, help="NCU.")
@click.option("--load", type=float, default=0.7, show_default=True, help="Flexible NCU-hours over what the inflexible leaves.")
@click.option("--penalty", type=float, default=1.0, show_default=True, help="Of a late, unfinished or missing NCU-hour, kg.")
@click.option("--preempt", is_flag=True, help="Evict running jobs above the cap.")
@_output
def vcc_command(**parameters: Any) -> Instance:
    """A data centre under an hourly cap (DatacenterEnv): a vcc instance."""
    from optsched.instances.generators import vcc

    return vcc(**parameters)


@command.command("day-ahead")
@click.option("--clusters", type=int, default=5, show_default=True)
@click.option("--campuses", type=int, default=2, show_default=True)
@click.option("--share", type=float, default=0.25, show_default=True, help="Flexible usage over inflexible usage.")
@_output
def day_ahead_command(**parameters: Any) -> Instance:
    """Tomorrow's curves of many clusters (Radovanovic et al.): a day_ahead instance."""
    from optsched.instances.generators import day_ahead

    return day_ahead(**parameters)
