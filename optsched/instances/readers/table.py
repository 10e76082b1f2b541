"""Rows of a trace as columns, and what is wrong with them, by row."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd

from optsched.errors import InputError
from optsched.files import read_bytes
from optsched.instances.base import LARGEST, Bools, Floats

FIRST_DAY, LAST_DAY = np.datetime64("1900-01-01"), np.datetime64("2200-01-01")  # a date beyond these is a typing error
Skipped = tuple[tuple[int, str], ...]


class Table:
    """Columns of equally many rows; `lines` are the rows' numbers in the file, `row` is what the file calls a row.

    Every column that is read notes the rows that it cannot use; `sound` ends with the first of them, or leaves them out.
    """

    def __init__(self, path: str | Path, columns: Mapping[str, Sequence[Any]], lines: Sequence[int], row: str = "line") -> None:
        self.path, self.lines, self.row = path, np.array(lines, dtype=np.int64), row
        self._columns = {name: np.array(values, dtype=object) for name, values in columns.items()}
        self._faults: dict[int, tuple[str, str]] = {}

    def __len__(self) -> int:
        return len(self.lines)

    def __contains__(self, column: str) -> bool:
        return column in self._columns

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(self._columns)

    def text(self, column: str) -> np.ndarray:
        """The column as it stands in the file."""
        if column not in self._columns:
            raise InputError(self.path, column, f"no such column, the table has {', '.join(self._columns)}")
        return self._columns[column]

    def number(
        self,
        column: str,
        *,
        least: float | None = None,
        above: float | None = None,
        whole: bool = False,
        missing: float | None = None,
        most: float = LARGEST,
    ) -> Floats:
        """The column as numbers up to `most` in size; an empty field is `missing`, where that is given, and else a fault."""
        raw = self.text(column)
        values = pd.to_numeric(pd.Series(raw, dtype=object), errors="coerce").to_numpy(dtype=float, copy=True)
        bad = ~(np.abs(values) <= most)
        large = np.isfinite(values) & (values > most)
        if missing is not None:
            empty = (raw == "") | pd.isna(raw)
            values[empty] = missing
            bad &= ~empty
        if least is not None:
            bad |= values < least
        if above is not None:
            bad |= values <= above
        if whole:
            bad |= values != np.round(values)
        self.fault(large, column, f"expected a number of at most {most:g}")
        bound = f" of at least {least:g}" if least is not None else f" above {above:g}" if above is not None else ""
        self.fault(bad, column, f"expected a {'whole ' if whole else ''}number{bound}")
        usable: Floats = np.where(bad, 1.0, values)
        return usable

    def moment(self, column: str) -> Floats:
        """Dates and times as seconds since 1970 (NaN where faulty); without a zone they are UTC."""
        stamps = pd.to_datetime(pd.Series(self.text(column), dtype=object), errors="coerce", utc=True, format="ISO8601")
        whole = stamps.dt.tz_localize(None).to_numpy().astype("datetime64[s]")
        known = ~np.isnat(whole) & (whole > FIRST_DAY) & (whole < LAST_DAY)
        seconds: Floats = np.where(known, whole.astype(np.int64).astype(float), np.nan)
        self.fault(~np.isfinite(seconds), column, "expected a date and time such as 2022-12-01 06:00:00")
        return seconds

    def identifiers(self, column: str) -> np.ndarray:
        """The column as ids: not empty, and no two alike."""
        ids = pd.Series([str(value) for value in self.text(column)], dtype=object)
        self.fault(
            (ids == "").to_numpy() | (ids.str.len() > 200).to_numpy(), column, "expected an id of at most 200 characters"
        )
        self.fault(ids.duplicated().to_numpy(), column, "stands in an earlier row too")
        named: np.ndarray = ids.to_numpy(dtype=object)
        return named

    def fault(self, bad: Bools, column: str, problem: str) -> None:
        """Note rows that cannot be used; the first fault of a row is the one that is told."""
        shown = self._columns.get(column)
        for index in np.flatnonzero(bad).tolist():
            value = "" if shown is None else f"is {str(shown[index])[:40]!r}, "
            self._faults.setdefault(index, (column, value + problem))

    def sound(self, skip_bad: bool) -> tuple[Bools, Skipped]:
        """Which rows can be used, and the number and fault of the others.

        Raises
        ------
        InputError : the first faulty row, unless `skip_bad`.
        """
        faulty = sorted(self._faults)
        if faulty and not skip_bad:
            column, problem = self._faults[faulty[0]]
            more = f" (and {len(faulty) - 1} more such rows)" if len(faulty) > 1 else ""
            raise InputError(self.path, f"{self.row} {self.lines[faulty[0]]}, {column}", problem + more)
        good = np.ones(len(self), dtype=bool)
        good[faulty] = False
        return good, tuple((int(self.lines[i]), ": ".join(self._faults[i])) for i in faulty)


def read_csv(path: str | Path) -> Table:
    """A table from a CSV file, plain or ``.gz``, with a header; rows of the wrong length are noted as faults.

    The standard library's reader, not pandas', since it knows the line of every row.
    """
    lines, rows = _records(path)
    if not rows:
        raise InputError(path, "", "is empty, expected a CSV table with a header")
    header = [name.strip() for name in rows[0]]
    width = len(header)
    if len(set(header)) < width:
        raise InputError(path, "line 1", "names a column twice")
    wrong = np.array([len(row) != width for row in rows[1:]], dtype=bool)
    padded = ((row + [""] * width)[:width] if odd else row for row, odd in zip(rows[1:], wrong, strict=True))
    columns = list(zip(*padded, strict=True)) or [()] * width
    table = Table(path, dict(zip(header, columns, strict=True)), lines[1:])
    table.fault(wrong, "fields", f"has not the header's {width} fields")
    return table


def _records(path: str | Path) -> tuple[list[int], list[list[str]]]:
    reader = csv.reader(text_lines(path))
    lines, rows = [], []
    try:
        for row in reader:
            if row:
                lines.append(reader.line_num)
                rows.append(row)
    except csv.Error as error:
        raise InputError(path, f"line {reader.line_num}", f"not a readable CSV table ({error})") from None
    return lines, rows


def told(skipped: Skipped) -> dict[str, Any]:
    """What an instance's meta says of the rows that were left out: how many, and the first few."""
    first = [f"{number}, {fault}" for number, fault in skipped[:3]]
    return {"skipped_rows": len(skipped)} | ({"first_skipped": first} if first else {})


def text_lines(path: str | Path) -> TextIO:
    """The lines of a UTF-8 text, plain or ``.gz``."""
    try:
        return StringIO(read_bytes(path).decode("utf-8-sig"), newline="")
    except UnicodeDecodeError:
        raise InputError(path, "", "is not a UTF-8 text") from None
