"""Instances and schedules from mappings and frames, and their lists as frames; validated as files are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from optsched.errors import InputError, OptschedError
from optsched.files import read_bytes
from optsched.instances.base import INSTANCE_FORMAT, D, Data, I
from optsched.instances.files import expect_format, parse_object, validated
from optsched.instances.plain import is_frame, plain, row_kind

if TYPE_CHECKING:
    import pandas as pd


def read(kind: type[I], path: str | Path) -> I:
    """An instance of a family from a file.

    Raises
    ------
    InputError
        One line with the file, the place and what would be right.
    """
    raw = parse_object(read_bytes(path), path)
    expect_format(raw, INSTANCE_FORMAT, path)
    return instance_from(kind, {"problem": None, **raw}, path)


def instance_from(kind: type[I], fields: Mapping[str, object], where: str | Path) -> I:
    """An instance from the fields of its file, in which lists of records may be frames.

    Raises
    ------
    InputError
        One line with the place, what is wrong and what would be right.
    """
    raw = {"format": INSTANCE_FORMAT, **fields}
    expect_format(raw, INSTANCE_FORMAT, where)
    problem = raw.pop("problem", kind.problem)
    if problem != kind.problem:
        raise InputError(where, "problem", f"is {problem!r}, expected {kind.problem!r}")
    return record_from(kind, raw, where, kind.first_position)


def record_from(kind: type[D], fields: Mapping[str, object], where: str | Path, first: int = 0) -> D:
    """A record from its fields, in which lists of records may be frames.

    Raises
    ------
    InputError
        One line with the place, what is wrong and what would be right.
    """
    raw = dict(fields)
    for name, value in raw.items():
        rows = row_kind(kind, name)
        if rows is not None and is_frame(value):
            from optsched.instances.frames import from_frame  # here: pandas takes 0.4 s to load

            raw[name] = from_frame(value, rows, f"{where}: {name}", first)
        else:
            raw[name] = plain(value)
    return validated(kind, raw, where)


def table_of(record: Data, field: str, first: int = 0) -> pd.DataFrame:
    """A list of records as a frame.

    Raises
    ------
    OptschedError
        The field is no such list.
    """
    kind = row_kind(type(record), field)
    if kind is None:
        lists = ", ".join(name for name in type(record).model_fields if row_kind(type(record), name)) or "none"
        raise OptschedError(f"{type(record).__name__} has no table {field!r}, it has: {lists}")
    from optsched.instances.frames import to_frame

    return to_frame(getattr(record, field), kind, first)
