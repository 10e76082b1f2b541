"""`optsched plot`: a result or a schedule as a picture."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

import click

from optsched.cli import _input
from optsched.cli._picture import picture, save
from optsched.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from optsched.instances import Instance
    from optsched.result import Result

EPILOG = """\b
Examples:
  optsched plot x.result.json -o x.png
  optsched plot my-schedule.json --instance x.json -o mine.svg
  optsched plot x.result.json --convergence -o progress.png
"""


@click.command("plot", no_args_is_help=True, epilog=EPILOG)
@click.argument("result_file", metavar="RESULT", type=_input.FILE)
@click.option("-o", "--output", required=True, metavar="out.png", help="Picture: .png, .pdf or .svg.")
@click.option(
    "--instance",
    "instance_file",
    metavar="FILE",
    type=_input.FILE,
    help="The instance. [default: the file that the result names]",
)
@click.option("--convergence", is_flag=True, help="Draw objective and bound over the seconds of solving instead.")
@click.option("--json", "as_json", is_flag=True, help="Say what was drawn as one JSON object.")
def command(result_file: str, output: str, instance_file: str | None, convergence: bool, as_json: bool) -> None:
    """Draw a schedule: nodes over time for allocation, load against capacity, price and carbon over time for the others.

    RESULT is a result file, or with --instance a bare schedule such as {"starts": [...]}; the referee judges either first.
    Where the instance's meta has a "start", such as "2026-03-28T00:00:00+01:00", the axis shows dates.
    """
    path = picture(output, inputs=[result_file, instance_file])
    _input.once(result_file, instance_file)
    from optsched.result import Result

    given = _input.read(result_file, _input.result_or_schedule)
    if not isinstance(given, Result):
        figure, name = _schedule(given, result_file, instance_file, convergence)
    elif convergence:
        figure, name = _convergence(given, result_file, instance_file), given.instance.name
    else:
        figure, name = _result(given, result_file, instance_file), given.instance.name
    save(figure, path)
    if as_json:
        click.echo(json.dumps({"file": output, "instance": name, "title": figure.get_suptitle()}))
    else:
        click.echo(f"{path}: {name}", err=True)


def _result(result: Result, result_file: str, instance_file: str | None) -> Figure:
    if result.schedule is None:
        raise InputError(_input.shown(result_file), "schedule", "is null, there is nothing to draw")
    return result.plot(_sound(result, result_file, instance_file))


def _sound(result: Result, result_file: str, instance_file: str | None) -> Instance:
    """The instance of a result that the referee confirms."""
    from optsched.cli._instance import instance_of

    instance = instance_of(result, result_file, instance_file)
    if found := result.verify(instance):
        raise InputError(_input.shown(result_file), "", f"does not pass the referee: {found[0]}; see `optsched check`")
    return instance


def _schedule(raw: dict[str, object], file: str, instance_file: str | None, convergence: bool) -> tuple[Figure, str]:
    """A schedule by hand, and its instance's name."""
    from optsched.referee import check, read
    from optsched.registry import family_of

    shown = _input.shown(file)
    if convergence:
        raise InputError(shown, "incumbents", "are not there: a bare schedule has no trace of how it was found")
    if instance_file is None:
        raise InputError(shown, "", "is no result; if it is a bare schedule, give its instance with --instance FILE")
    instance = _input.instance(instance_file)
    schedule = read(instance, raw, shown)
    if found := check(instance, schedule):
        raise InputError(shown, "", f"does not pass the referee: {found[0]}; see `optsched check`")
    return family_of(instance).draw(instance, schedule), instance.name


def _convergence(result: Result, result_file: str, instance_file: str | None) -> Figure:
    from optsched.analysis import convergence

    if not result.incumbents:
        raise InputError(
            _input.shown(result_file),
            "incumbents",
            f"are empty: {result.method} keeps no trace of objective and bound, methods that prove one do",
        )
    unit = ""
    with contextlib.nullcontext() if instance_file else contextlib.suppress(InputError):  # only the unit would be missing
        unit = _sound(result, result_file, instance_file).unit
    return convergence.draw(result, unit=unit)
