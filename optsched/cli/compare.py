"""`optsched compare`: methods and policies on the same instances, beside the best proven bound."""

from __future__ import annotations

import click

from optsched.cli import _input
from optsched.cli._compared import Runs, Wanted, compared
from optsched.cli._durations import DURATION
from optsched.errors import OptschedError
from optsched.quantities import read_seeds

OF_POLICIES = {"forecasts": "--forecast", "budget": "--budget", "no_guard": "--no-guard"}
EPILOG = """\b
Examples:
  optsched example deferrable-small -o x.json
  optsched compare x.json --methods exact,greedy,fifo --policies fifo,rolling
  for s in 0 1 2 3 4; do
    optsched generate osdec --jobs 40 --seed $s -o case$s.json; done
  optsched compare case*.json --methods auto,greedy --time-limit 10s
      --policies fifo,rolling,osdec -o table.csv --profile profile.png
  optsched compare case*.json --methods mymodule:heuristic,auto --seeds 0-4
"""


@click.command("compare", epilog=EPILOG, no_args_is_help=True)
@click.argument("files", nargs=-1, required=True, metavar="INSTANCE...", type=_input.FILE)
@click.option(
    "--methods", metavar="A,B", help="Names of `optsched methods`, or module:object. [default: auto, without --policies]"
)
@click.option("--policies", metavar="A,B", help="Names that `optsched replay` takes.")
@click.option("--seeds", default="0", show_default=True, metavar="0-9", help="Of methods, policies and noise: 0-9, or 1,5,7.")
@click.option(
    "--forecast", "forecasts", multiple=True, default=("perfect",), show_default=True, help="Of policies; may be repeated."
)
@click.option("--time-limit", type=DURATION, metavar="TIME", default="60s", show_default=True, help="Of each run of a method.")
@click.option("--budget", type=DURATION, metavar="TIME", help="Of each decision of a policy.")
@click.option("--no-guard", is_flag=True, help="Show what has been learned bare.")
@click.option(
    "--on-failure",
    type=click.Choice(["fallback", "raise"]),
    default="fallback",
    show_default=True,
    help="Say in its row that something failed, and go on, or end.",
)
@click.option(
    "-o", "--output", "outputs", multiple=True, metavar="FILE", help="The table, a row a run: .csv, .parquet, .md or .json."
)
@click.option("--profile", "profile_file", metavar="FILE", help="Draw performance profiles (Dolan and Moré): .png, .pdf, .svg.")
@click.option("--trace", "trace_file", metavar="FILE", help="Draw gaps against time: .png, .pdf or .svg.")
@click.option("--results", "folder", metavar="DIR", help="Keep every result there, for `optsched check`, `plot` and `report`.")
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON, and nothing else.")
def command(
    files: tuple[str, ...],
    methods: str | None,
    policies: str | None,
    seeds: str,
    forecasts: tuple[str, ...],
    time_limit: float,
    budget: float | None,
    no_guard: bool,
    on_failure: str,
    outputs: tuple[str, ...],
    profile_file: str | None,
    trace_file: str | None,
    folder: str | None,
    as_json: bool,
) -> int:
    """Run methods offline and policies online on the same instances, each against the best bound that any of them proves.

    The mean, its 95 % interval (a paired bootstrap over instances), the worst and the mean rank tell them apart; what failed or
    has no bound is said and in no mean. Where `rolling` is among the policies, a second table says where the gap comes from:
    the solver, not knowing what comes, forecasts, the policy.
    Ctrl-C ends it with the table so far.
    """
    from optsched.rolling.forecast import forecast as named_forecast

    chosen, players = _names(methods), _names(policies)
    for forecast in forecasts:
        named_forecast(forecast)
    if not players and (idle := [flag for name, flag in OF_POLICIES.items() if _input.typed(name)]):
        raise OptschedError(f"{idle[0]} is of policies, and there are no --policies")
    if players and not chosen and _input.typed("time_limit"):
        raise OptschedError("--time-limit is of methods, and there are no --methods")
    how: dict[str, object] = {"time_limit": time_limit, "budget_s": budget, "guard": not no_guard, "on_failure": on_failure}
    runs = Runs(files, chosen if chosen or players else ["auto"], players, read_seeds(seeds), forecasts)
    return compared("compare", runs, how, Wanted(outputs, as_json, profile_file, trace_file, folder))


def _names(text: str | None) -> list[str]:
    """Of a list with commas."""
    names = [] if text is None else list(dict.fromkeys(name for part in text.split(",") if (name := part.strip())))
    if text is not None and not names:
        raise OptschedError(f"a list of names with commas between them was expected, got {text!r}")
    return names
