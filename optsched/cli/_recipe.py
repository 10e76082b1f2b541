"""Instances from what is typed: a file, or the words of `optsched generate`, `import` or `example`."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import tempfile
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from optsched.analysis.sweep.driver import lasting
from optsched.errors import OptschedError
from optsched.files import DATA, JSON, traces

if TYPE_CHECKING:
    from optsched.instances.base import Instance

MAKERS = ("generate", "import", "example")
REMEMBERED = 8  # instances a process keeps: the tasks of one come one after the other


def find_data() -> str | None:
    """Where the traces are: $OPTSCHED_DATA, which is set where it is not and they lie beside the repository."""
    if traces().is_dir():
        os.environ.setdefault(DATA, str(traces()))  # workers inherit it
    return os.environ.get(DATA)


def built(recipe: str) -> Instance:
    """The instance, kept for the next task that asks for it where nothing but the recipe decides what it is.

    Parameters
    ----------
    recipe
        The name of a file, or e.g. ``generate masac --jobs 40 --seed 3``; ``$OPTSCHED_DATA`` is where the traces are.

    Raises
    ------
    OptschedError
        It makes none; says why.
    """
    import optsched

    if Path(recipe).is_file() or recipe.split(maxsplit=1)[:1] not in [[maker] for maker in MAKERS]:
        if not Path(recipe).exists() and (len(recipe.split()) > 1 or not recipe.endswith(JSON)):
            raise OptschedError(f"recipe {recipe!r} is neither a file nor begins with {', '.join(MAKERS)}")
        return optsched.load(recipe)
    return _remembered(recipe) if lasting(recipe) else _made(recipe)


@lru_cache(maxsize=REMEMBERED)
def _remembered(recipe: str) -> Instance:
    return _made(recipe)


def _made(recipe: str) -> Instance:
    import optsched

    try:
        words = shlex.split(recipe)
    except ValueError as error:
        raise OptschedError(f"recipe {recipe!r}: {error}") from None
    if any(word in ("-o", "--output", "--json") or word.startswith("--output=") for word in words):
        raise OptschedError(f"recipe {recipe!r}: where it goes is not its affair: leave -o and --json out")
    with tempfile.TemporaryDirectory(prefix="optsched-") as folder:
        made = Path(folder) / "made.json"
        typed = [os.path.expandvars(word) for word in words[1:]]
        group = import_module(f"optsched.cli.{words[0]}").command
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                group.main([*typed, "-o", str(made)], prog_name=f"optsched {words[0]}", standalone_mode=False)
        except click.ClickException as error:
            raise OptschedError(f"recipe {recipe!r}: {' '.join(error.format_message().split())}") from None
        except OptschedError as error:
            raise OptschedError(f"recipe {recipe!r}: {error}") from None
        if not made.exists():
            raise OptschedError(f"recipe {recipe!r} makes no instance")
        return optsched.load(made)
