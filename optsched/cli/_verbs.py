"""The verbs, and groups of commands that load only the one that was typed and know what was probably meant."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module

import click

WHOLE = 1000  # characters of a command's first sentence
# a module of this package each; told here, so that the list of them loads none
VERBS = {
    "example": "List or write the instances that come along.",
    "generate": "Generate a paper's scenario.",
    "import": "Make an instance from a real trace, or from your own CSV.",
    "validate": "Check instance files.",
    "solve": "Solve with a certificate.",
    "check": "Recheck a result independently.",
    "plot": "Draw a result.",
    "report": "Put results on one page, to be hovered and zoomed.",
    "prices": "Tell where and when one more unit of capacity pays.",
    "pareto": "Trade two parts of the objective against each other.",
    "replay": "Replay online under policies.",
    "events": "Draw what goes wrong in a replay.",
    "compare": "Compare methods and policies on the same instances.",
    "sweep": "Run a grid of instances, methods and policies.",
    "tune": "Search options of a method or policy.",
    "bench": "Run the benchmark library against the best known.",
    "train": "Train an agent (needs the rl extra).",
    "methods": "List methods, formulations and backends, or the options of one.",
    "export": "Write a model as MPS or LP.",
    "schema": "Print a JSON Schema.",
    "completion": "Print a shell's completion script.",
    "versions": "Print versions.",
}


def meant(word: str, known: list[str]) -> str:
    """What was probably meant, as the end of a message; else what there is."""
    near = get_close_matches(word, known, n=2, cutoff=0.5)
    return f", did you mean {' or '.join(near)}?" if near else f", there are: {', '.join(known)}"


class Group(click.Group):
    """A group whose bare name prints its help, and that names the nearest command for a word that is none."""

    def __init__(self, *words: object, **settings: object) -> None:
        super().__init__(*words, **({"no_args_is_help": True} | settings))  # type: ignore[arg-type]

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Refuse a word that is no command."""
        known = self.list_commands(ctx)
        if args and not args[0].startswith("-") and args[0] not in known:
            ctx.fail(f"no command {args[0]!r}{meant(args[0], known)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands with the whole first sentence of each, in as many lines as it takes."""
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(WHOLE)) for name, command in commands if command])


class Verbs(Group):
    """The verbs of `optsched`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which they are used."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The `command` of the verb's module."""
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(f"optsched.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of verbs, none of them loaded."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[click.shell_completion.CompletionItem]:
        """Verbs that begin so, none of them loaded."""
        from click.shell_completion import CompletionItem

        found = [CompletionItem(name, help=text) for name, text in VERBS.items() if name.startswith(incomplete)]
        return found + click.Command.shell_complete(self, ctx, incomplete)
