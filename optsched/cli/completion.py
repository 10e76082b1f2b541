"""`optsched completion`: what a shell needs to complete verbs, options and files."""

from __future__ import annotations

import json

import click

VARIABLE = "_OPTSCHED_COMPLETE"
EPILOG = """\b
To keep it, add the line to what the shell reads when it starts:
  ~/.bashrc                   eval "$(optsched completion bash)"
  ~/.zshrc                    eval "$(optsched completion zsh)"
  ~/.config/fish/config.fish  optsched completion fish | source
"""


@click.command("completion", no_args_is_help=True, epilog=EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.option("--json", "as_json", is_flag=True, help="Print the script inside a JSON object.")
def command(shell: str, as_json: bool) -> None:
    """Print the completion script of a shell: verbs, options, choices and file names."""
    from click.shell_completion import get_completion_class

    from optsched.cli import cli

    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(cli, {}, "optsched", VARIABLE).source()
    click.echo(json.dumps({"shell": shell, "script": script}) if as_json else script)
