"""Sentences in lines that are no wider than where they go; words, names and paths are never cut."""

from __future__ import annotations

import os
import sys
import textwrap
from typing import TYPE_CHECKING, TextIO

import click

if TYPE_CHECKING:
    from rich.console import Console

UNLIMITED = 100_000  # columns of a file or a pipe: whoever reads those breaks lines himself


def width(stream: TextIO | None) -> int:
    """Columns of where a stream goes: COLUMNS where it is set, else the terminal's; a file or a pipe has no end.

    What is said on standard error without a terminal stays one line each: programs read those.
    """
    asked = os.environ.get("COLUMNS", "")
    try:
        there = 0 if stream is None else os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        there = 0
    if asked.isdecimal() and int(asked) and (there or stream is not sys.stderr):
        return int(asked)
    return there or UNLIMITED


def wrapped(text: str, columns: int) -> str:
    """Every line of a text, broken between words."""
    if columns >= UNLIMITED:
        return text
    made = []
    for line in text.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()))
        how = {"initial_indent": indent, "subsequent_indent": indent}
        made += textwrap.wrap(
            line.strip(),
            columns,
            break_long_words=False,
            break_on_hyphens=False,
            **how,  # type: ignore[arg-type]
        ) or [""]
    return "\n".join(made)


def say(out: Console, text: str, style: str = "") -> None:
    """Print sentences to a console."""
    from rich.text import Text

    out.print(Text(wrapped(text, out.width), style=style), soft_wrap=True)


def told(text: str) -> None:
    """Print sentences to standard output, without what a console takes to load."""
    click.echo(wrapped(text, width(sys.stdout)))


def warn(text: str) -> None:
    """Print sentences to standard error."""
    click.echo(wrapped(text, width(sys.stderr)), err=True)
