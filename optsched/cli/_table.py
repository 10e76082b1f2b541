"""Tables that never cut a name or a figure: where the terminal is too narrow, rows are stacked."""

from __future__ import annotations

import textwrap
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


def show(out: Console, columns: Sequence[Column], rows: Sequence[Sequence[str]], head: bool = True) -> None:
    """Print rows side by side where they fit, else one below the other; without blanks at the ends of lines."""
    from rich.text import Text

    shown = [[column.name for column in columns], *rows] if head else list(rows)
    widths = [max(1, *(_cells(row[i]) for row in shown)) for i in range(len(columns))]
    if not _shrink(widths, columns, out.width):
        return _stack(out, columns, rows)
    for number, row in enumerate(shown):
        cells = [
            textwrap.wrap(cell, width, break_long_words=False, break_on_hyphens=False) if column.wraps else [cell]
            for cell, width, column in zip(row, widths, columns, strict=True)
        ]
        for i in range(max(1, *map(len, cells))):
            parts = [lines[i] if i < len(lines) else "" for lines in cells]
            line = (" " * GAP).join(map(_padded, parts, widths, (column.right for column in columns)))
            out.print(Text(line.rstrip(), style="bold" if head and not number else ""), soft_wrap=True)
    return None


def _cells(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)


def _padded(text: str, width: int, right: bool) -> str:
    blanks = " " * (width - _cells(text))
    return blanks + text if right else text + blanks


def _shrink(widths: list[int], columns: Sequence[Column], most: int) -> bool:
    """Narrow the columns of sentences until all fit, the widest first; whether they do."""
    over = sum(widths) + GAP * (len(widths) - 1) - most
    while over > 0:
        can = [i for i, column in enumerate(columns) if column.wraps and widths[i] > PROSE]
        if not can:
            return False
        widest = max(can, key=lambda i: widths[i])
        widths[widest] -= 1
        over -= 1
    return True


def _stack(out: Console, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """A block a row: its first cell, and under it the names and values of the others."""
    from rich.text import Text

    from optsched.cli._lines import say

    indent = max((len(column.name) for column in columns[1:]), default=0)
    for row in rows:
        out.print(Text(row[0], style="bold"), soft_wrap=True)
        for column, cell in zip(columns[1:], row[1:], strict=True):
            if cell:
                line = f"  {column.name:<{indent}}  {cell}"
                say(out, line) if column.wraps else out.print(Text(line), soft_wrap=True)
