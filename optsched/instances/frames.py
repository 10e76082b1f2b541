"""Records as pandas frames and back: a row a record, a column a field.

A field that holds a list or an object is spread over columns: ``carbon_kg_per_kwh.0``, ``carbon_kg_per_kwh.1``, ...; and
``time_s.V100.1``, ``time_s.V100.2``, ... in `allocation`, where positions count GPUs. An empty cell is an absent value; where
lists of a column differ in length the shorter end in empty cells, which are left out again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

import pandas as pd
from pydantic.fields import FieldInfo

from optsched.errors import InputError
from optsched.instances.base import Data
from optsched.instances.plain import plain

WHOLE = 2**53  # up to here a float is a whole number for sure


def to_frame(records: Iterable[Data], kind: type[Data], first: int = 0) -> pd.DataFrame:
    """Records as a frame.

    Parameters
    ----------
    records
        Of one kind.
    kind
        Theirs: it has the columns of a frame without rows.
    first
        What positions in a list count from.
    """
    rows = [_spread(record.model_dump(mode="json", by_alias=True), first) for record in records]
    order = {info.alias or name: at for at, (name, info) in enumerate(_fields(kind))}
    # a later record may spread an earlier field further
    names = sorted(dict.fromkeys(name for row in rows for name in row) or order, key=lambda name: order[name.partition(".")[0]])
    return pd.DataFrame({name: _column([row.get(name) for row in rows]) for name in names})


def from_frame(frame: pd.DataFrame, kind: type[Data], where: str, first: int = 0) -> list[dict[str, object]]:
    """The rows of a frame as JSON objects, to be validated as such.

    Whole floats count as integers, and numbers as text where the field is text (``id``): pandas makes both of the other.

    Parameters
    ----------
    frame
        A row a record; the index is read where it has a field's name.
    kind
        What a row is.
    where
        Named in messages.
    first
        What positions in a list count from.

    Raises
    ------
    InputError
        A column that is no field or there twice, or a field that must be there and is not.
    """
    infos = {info.alias or name: info for name, info in _fields(kind)}
    if frame.index.name in infos:
        frame = frame.reset_index()
    there = [str(name).partition(".")[0] for name in frame.columns]
    for name, base in zip(frame.columns, there, strict=True):
        last = str(name).rpartition(".")[2]
        if list(frame.columns).count(name) > 1:
            raise InputError(where, f"column {str(name)!r}", "is there twice")
        if base in infos and base != name and last.isdigit() and int(last) < first:
            raise InputError(where, f"column {str(name)!r}", f"positions count from {first}")
        if base not in infos:
            raise InputError(where, f"column {str(name)!r}", f"is no field of a {kind.__name__}, which has: {', '.join(infos)}")
    for name, info in infos.items():
        if info.is_required() and name not in there:
            said = f"is missing; columns are {', '.join(map(str, frame.columns))} (frame.rename(columns=...) renames one)"
            raise InputError(where, f"column {name!r}", said)
    text = {name for name, info in infos.items() if str in (info.annotation, *get_args(info.annotation))}
    needed = {name for name, info in infos.items() if info.is_required()}
    columns = {str(name): _cells(frame[name], str(name) in text) for name in frame.columns}
    return [_gather(dict(zip(columns, row, strict=True)), needed, first) for row in zip(*columns.values(), strict=True)]


def _fields(kind: type[Data]) -> Iterable[tuple[str, FieldInfo]]:
    return kind.model_fields.items()


def _spread(value: dict[str, object], first: int) -> dict[str, object]:
    """An object whose lists and objects are spread over names with dots."""
    found: dict[str, object] = {}
    for name, item in value.items():
        if isinstance(item, dict):
            found |= {f"{name}.{inner}": leaf for inner, leaf in _spread(item, first).items()}
        elif isinstance(item, list):
            found |= {f"{name}.{i}": leaf for i, leaf in enumerate(item, first)}
        else:
            found[name] = item
    return found


def _column(values: list[object]) -> pd.Series:
    """A column in which whole numbers stay whole beside empty cells."""
    known = {type(value) for value in values if value is not None}
    if known == {int} and None in values:
        return pd.Series(values, dtype="Int64")
    return pd.Series(values, dtype=object if known in (set(), {str}) else None)


def _cells(column: pd.Series, text: bool) -> list[object]:
    """The cells of a column as what JSON has."""
    found: list[object] = []
    for value in column.tolist():
        value = plain(value)
        if isinstance(value, float):
            if value != value:
                value = None
            elif abs(value) < WHOLE and value.is_integer():
                value = int(value)
        if text and isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        found.append(value)
    return found


def _gather(row: dict[str, object], needed: set[str], first: int) -> dict[str, object]:
    """The object of a row: what was spread comes together, and empty cells are absent values."""
    made: dict[str, object] = {}
    spread: dict[tuple[str, str], dict[int, object]] = {}
    for name, value in row.items():
        base, _, rest = name.partition(".")
        key, _, position = rest.rpartition(".")
        if position.isdigit():
            spread.setdefault((base, key), {})[int(position) - first] = value
        elif rest:
            _within(made, base)[rest] = value
        elif value is not None or name in needed:
            made[name] = value
    for (base, key), values in spread.items():
        most = max((place for place, value in values.items() if value is not None), default=-1)
        listed = [values.get(place) for place in range(most + 1)]
        if key and listed:
            _within(made, base)[key] = listed
        elif not key:
            made[base] = listed
    return made


def _within(made: dict[str, object], name: str) -> dict[str, object]:
    """The object under a name, there or new."""
    held = made.get(name)
    if not isinstance(held, dict):
        held = made[name] = {}
    return held
