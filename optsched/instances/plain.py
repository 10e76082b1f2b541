"""Values of NumPy, pandas and our own records as what JSON has; without loading pandas."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import get_args, overload

from optsched.instances.base import Data


@overload
def plain(value: Mapping[str, object]) -> dict[str, object]: ...
@overload
def plain(value: object) -> object: ...
def plain(value: object) -> object:
    """Lists, objects, numbers and text for arrays, series and records; None for the empty cells of pandas."""
    if isinstance(value, Data):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    pandas = sys.modules.get("pandas")
    return None if pandas is not None and (value is pandas.NA or value is pandas.NaT) else value


def counted(count: int, noun: str) -> str:
    """So many of something: ``1 job``, ``3 jobs``; of a noun that ends in s, ``2 campuses``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}{'es' if noun.endswith('s') else 's'}"


def is_frame(value: object) -> bool:
    """Whether a value is a pandas frame; where pandas is not loaded there is none."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def row_kind(model: type[Data], field: str) -> type[Data] | None:
    """Of what records a field is a list; None for any other field."""
    info = model.model_fields.get(field)
    for kind in get_args(info.annotation) if info is not None else ():
        if isinstance(kind, type) and issubclass(kind, Data):
            return kind
    return None
