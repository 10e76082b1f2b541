"""What the commands of `optsched import` share: their options, and the way from a file to an instance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TypedDict, cast

import click

from optsched.cli._durations import HOURS
from optsched.cli._emit import emit
from optsched.cli._live import live
from optsched.cli._options import Decorator, all_of
from optsched.errors import OptschedError, RecordError, meant
from optsched.origins import Option, Target, Window, origins

if TYPE_CHECKING:
    from optsched.instances.base import Instance


class Told(TypedDict, total=False):
    """What an instance's meta says of where it comes from."""

    warnings: list[str]
    assumed: list[str]
    skipped_rows: int
    first_skipped: list[str]


class Families(click.Choice[str]):
    """The name of a family, and which was probably meant where it is none."""

    def get_invalid_choice_message(self, value: object, ctx: click.Context | None) -> str:
        """In one line."""
        return f"no family {value!r} is made of it{meant(str(value), self.choices)}"


class Second(click.ParamType[float | str]):
    """A second of the trace's clock, or the word busiest."""

    name = "second"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        """The number, or the word."""
        if value == "busiest":
            return "busiest"
        try:
            return float(str(value))
        except ValueError:
            self.fail(f"{value!r} is neither a second of the trace nor the word busiest", param, ctx)


COMMON: Decorator = all_of(
    [
        click.option(
            "-o", "--output", metavar="FILE", type=click.Path(), help=".json or .json.gz; standard output if not given."
        ),
        click.option("--json", "as_json", is_flag=True, help="With -o, say what was written and assumed as one JSON object."),
        click.option("--skip-bad", is_flag=True, help="Leave broken rows out, and count them."),
    ]
)
WINDOW: Decorator = all_of(
    [
        click.option("--limit", type=click.IntRange(min=1), help="At most so many jobs, the first submitted."),
        click.option("--sample", type=click.IntRange(min=1), help="So many jobs of the window, drawn at random."),
        click.option(
            "--from-s",
            type=Second(),
            metavar="SECOND|busiest",
            help="Second of the trace to begin at, or where its busiest --hours begin. [default: the hour of the first "
            "submission, or the busiest hours where hardly a job is submitted in those]",
        ),
        click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of what is drawn."),
        click.option(
            "--hours",
            type=HOURS,
            metavar="HOURS",
            help="Length of the window, e.g. 24 or 2d, and the horizon where there is one. [default: all]",
        ),
    ]
)


def targets() -> dict[str, Target[Instance]]:
    """Families of which a table becomes an instance."""
    return {name: of.target for name, of in origins().items() if of.target is not None}


def refuse_foreign(
    target: str, allowed: Iterable[Option], others: Iterable[Target[Instance]], given: Mapping[str, object]
) -> None:
    """Refuse options of other families.

    Parameters
    ----------
    target
        The family.
    allowed
        Its own options.
    others
        Whose options the command has.
    given
        What click hands on.

    Raises
    ------
    UsageError
        One is given that is of another family only.
    """
    own = {option.name for option in allowed}
    foreign = {option.name: option for of in others for option in of.options if option.name not in own}
    for name, option in sorted(foreign.items()):
        if given.get(name) not in (None, ()):
            raise click.UsageError(f"{option.flag} is not an option of --to {target}")


def window_of(given: Mapping[str, object]) -> Window:
    """The options of the window.

    Parameters
    ----------
    given
        What click hands on.
    """
    return cast(Window, {name: given[name] for name in ("limit", "sample", "from_s", "hours")})


def made(build: Callable[[], Instance], output: str | None, as_json: bool, place: str | None = None) -> None:
    """Build and write; print what the instance's meta (or the entry `place` of it) says was assumed and left out."""
    try:
        with live("import"):
            instance = build()
    except RecordError as error:
        place = f"{error.place}: " if error.place else ""
        raise OptschedError(f"these files and options make no valid instance: {place}{error.problem}") from None
    told = cast(Told, instance.meta if place is None else instance.meta[place])
    remarks = [f"  warning: {sentence}" for sentence in told.get("warnings", ())]
    remarks += [f"  assumed: {sentence}" for sentence in told.get("assumed", ())]
    if count := told.get("skipped_rows", 0):
        first = told["first_skipped"]
        remarks.append(f"  skipped: {count} broken rows: {'; '.join(first)}{'; ...' if count > len(first) else ''}")
    emit(instance, output, as_json, remarks)
