"""Tables that never cut a name or a figure: where the terminal is too narrow, rows are stacked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

GAP = 2  # blanks between two columns
PROSE = 24  # the least width of a column of sentences


@dataclass(frozen=True)
class Column:
    """A column: its name, whether it is of figures, and whether it is of sentences, which may be broken into lines."""

    name: str
    right: bool = False
    wraps: bool = False


def show(out: Console, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """Print rows side by side where they fit, else one below the other."""
    from rich.table import Table
    from rich.text import Text

    widths = [max(len(column.name), *(len(row[i]) for row in rows), 1) for i, column in enumerate(columns)]
    least = [min(width, PROSE) if column.wraps else width for width, column in zip(widths, columns, strict=True)]
    if sum(least) + GAP * (len(columns) - 1) > out.width:
        return _stack(out, columns, rows)
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0))
    for column in columns:
        justify = "right" if column.right else "left"
        table.add_column(Text(column.name), justify=justify, no_wrap=not column.wraps)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*map(Text, row))
    out.print(table)
    return None


def _stack(out: Console, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """A block a row: its first cell, and under it the names and values of the others."""
    from rich.text import Text

    indent = max((len(column.name) for column in columns[1:]), default=0)
    for row in rows:
        out.print(Text(row[0], style="bold"), soft_wrap=True)
        for column, cell in zip(columns[1:], row[1:], strict=True):
            if cell:
                out.print(Text(f"  {column.name:<{indent}}  {cell}"), soft_wrap=True)
