"""A table as people have it: on standard input, separated by semicolons or tabs, with ids under a name of their own."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from optsched.cli import _input
from optsched.cli._lines import warn
from optsched.errors import InputError
from optsched.files import read_bytes

T = TypeVar("T")
Reader = Callable[[str, dict[str, str]], T]

DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "bars"}  # besides commas
IDS = ("id", "jobid")  # columns of ids, whatever their case, blanks and underscores


def read(file: str, mapping: Mapping[str, str], reader: Reader[T], ids: bool) -> T:
    """What `reader` makes of a file, or of standard input, with commas between its columns.

    Parameters
    ----------
    file
        A CSV file, or ``-``.
    mapping
        Which column is which field.
    reader
        Of a path and the mapping.
    ids
        Whether a column of ids is mapped where none is and the table has one.

    Raises
    ------
    InputError
        As the reader says it.
    """
    return _input.read(file, lambda path: _read(path, _input.shown(file), dict(mapping), reader, ids))


def _read(path: str, shown: str, mapping: dict[str, str], reader: Reader[T], ids: bool) -> T:
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        return reader(path, mapping)  # which says what is wrong
    first = text.split("\n", 1)[0]
    delimiter = max((",", *DELIMITERS), key=first.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        found = list(rows) if ids or delimiter != "," else []
    except csv.Error:
        return reader(path, mapping)
    if ids and found and "id" not in mapping and (column := _ids(found)):
        mapping["id"] = column
    if delimiter == ",":
        return reader(path, mapping)
    warn(f"{shown}: columns are separated by {DELIMITERS[delimiter]}")
    with tempfile.TemporaryDirectory(prefix="optsched-") as folder:
        kept = Path(folder) / Path(path).name.removesuffix(".gz")
        with kept.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream, lineterminator="\n").writerows(found)
        try:
            return reader(str(kept), mapping)
        except InputError as error:
            raise InputError(path, error.place, error.problem) from None


def _ids(rows: list[list[str]]) -> str | None:
    """The column that is named as ids are, and in which no two are alike; None where there is none."""
    for i, name in enumerate(rows[0]):
        if name.lower().replace("_", "").replace(" ", "") in IDS:
            values = [row[i].strip() if i < len(row) else "" for row in rows[1:] if row]
            if all(values) and len(set(values)) == len(values):
                return name.strip()
    return None
