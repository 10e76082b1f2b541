"""`optsched generate`: the papers' scenarios, and those of families that plug-ins add."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from optsched.cli._emit import check_output, emit
from optsched.cli._options import all_of, asked, files, given_options
from optsched.cli._verbs import Group
from optsched.errors import OptschedError, RecordError
from optsched.origins import Scenario, scenarios

if TYPE_CHECKING:
    from optsched.instances.base import Instance

ALWAYS = (
    click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of what is drawn."),
    click.option("--json", "as_json", is_flag=True, help="With -o, say what was written as one JSON object."),
    click.option("-o", "--output", metavar="FILE", type=click.Path(), help=".json or .json.gz; standard output if not given."),
)


class Scenarios(Group):
    """One command a scenario, of every family."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """By name."""
        return sorted(scenarios())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The scenario's command; its seed and where it goes are everybody's options."""
        scenario = scenarios().get(cmd_name)
        if scenario is None:
            return None
        options = all_of([*(asked(option) for option in scenario.options), *ALWAYS])
        return click.command(cmd_name, help=scenario.help)(options(_made(scenario)))


@click.group("generate", cls=Scenarios)
def command() -> None:
    """Generate an instance of a paper's scenario: same parameters, same seed, same file.

    It goes to standard output, or to the file of -o: optsched generate masac | optsched solve -
    """


def _made(scenario: Scenario[Instance]) -> Callable[..., None]:
    """Generate, and write; what makes no instance is told in one line."""

    def run(output: str | None, as_json: bool, seed: int, **given: object) -> None:
        check_output(output, files(given, scenario.options))
        try:
            made = scenario.load()(seed=seed, **given_options(given, scenario.options))
        except RecordError as error:
            place = f"{error.place}: " if error.place else ""
            raise OptschedError(f"these parameters make no valid instance: {place}{error.problem}") from None
        except (ValueError, OverflowError, ArithmeticError) as error:
            raise OptschedError(f"these parameters make no valid instance: {error}") from None
        emit(made, output, as_json)

    return run
