"""`optsched events`: what goes wrong in a replay, drawn."""

from __future__ import annotations

import json

import click
from click.core import ParameterSource

from optsched.cli import _input
from optsched.cli._durations import DURATION
from optsched.cli._lines import warn
from optsched.cli._output import EVENTS, JSON, tried

EPILOG = """\b
Examples:
  optsched generate masac -o x.json
  optsched events x.json --mtbf 12h --repair 1h --cancelled 0.05 -o e.json
  optsched replay x.json --events e.json --policy rolling --policy greedy
  optsched events x.json --mtbf 6h | optsched replay x.json --events -

\b
A file of your own (seconds from the beginning; fields: docs/events.md):
  {"format": "optsched-events/1",
   "outages":
     [{"place": "PL", "kind": "fails", "at_s": 3600, "back_s": 7200}],
   "cancellations": [{"job": "j7", "at_s": 5400}], "estimates": "noisy:0.3"}
"""


@click.command("events", no_args_is_help=True, epilog=EPILOG)
@click.argument("instance_file", metavar="INSTANCE", type=_input.FILE)
@click.option(
    "--mtbf", type=DURATION, metavar="TIME", default="24h", show_default=True, help="Mean time until a place has one."
)
@click.option("--repair", type=DURATION, metavar="TIME", default="2h", show_default=True, help="Mean time that one takes.")
@click.option(
    "--cancelled", type=click.FloatRange(0, 1), default=0.02, show_default=True, help="Share of the jobs that is cancelled."
)
@click.option("--estimates", metavar="LAW", default="true", show_default=True, help="true, user, or noisy:0.3.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of what is drawn.")
@click.option("--json", "as_json", is_flag=True, help="With -o, say what was written as one JSON object.")
@click.option("-o", "--output", metavar="FILE", help=".json or .json.gz; standard output if not given.")
def command(
    instance_file: str,
    mtbf: float,
    repair: float,
    cancelled: float,
    estimates: str,
    seed: int,
    as_json: bool,
    output: str | None,
) -> None:
    """Draw what goes wrong in a replay of an instance: places that fail, drain or have less, jobs that are cancelled.

    Half of the outages are failures, which nobody knows the end of; the others are announced. `optsched replay --events FILE`
    plays them; policies see them when they happen.
    """
    from optsched.errors import OptschedError
    from optsched.files import write_json
    from optsched.instances.events import Disturbed
    from optsched.instances.generators.events import draw_events

    path = None if output is None else tried(output, inputs=[instance_file], ends=JSON, replaces=EVENTS)
    instance = _input.instance(instance_file)
    typed = click.get_current_context().get_parameter_source("cancelled") is ParameterSource.COMMANDLINE
    if typed and cancelled and isinstance(instance, Disturbed) and "cancelled" not in instance.troubles:
        raise OptschedError(f"--cancelled {cancelled:g}: no job of {instance.problem} can be cancelled, expected 0")
    made = draw_events(instance, mtbf_s=mtbf, repair_s=repair, cancelled=cancelled, estimates=estimates, seed=seed)
    text = json.dumps(made.to_json(), indent=1, ensure_ascii=False) + "\n"
    if path is None:
        click.echo(text, nl=False)
        return
    write_json(path, text)
    if as_json:
        said = {"file": output, "outages": len(made.outages), "cancelled": len(made.cancellations)}
        click.echo(json.dumps(said | {"estimates": made.estimates}, ensure_ascii=False))
        return
    warn(f"{output}: {len(made.outages)} outages, {len(made.cancellations)} cancelled jobs, estimates {made.estimates}")
