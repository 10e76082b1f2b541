"""Instance files: reading with errors that name the place, and writing without loss."""

from __future__ import annotations

import json
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar, get_args

import pydantic_core
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from optsched.errors import InputError
from optsched.files import write_json
from optsched.instances.base import Instance

GZIP = b"\x1f\x8b"
Model = TypeVar("Model", bound=BaseModel)


def parse_object(data: bytes, path: str | Path) -> dict[str, object]:
    """The JSON object in `data`."""
    if data.startswith(GZIP):
        raise InputError(path, "", "is compressed by gzip: its name must end in .gz")
    if not data.strip():
        raise InputError(path, "", "is empty, expected a JSON object")
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    try:
        raw = json.loads(data, object_pairs_hook=_without_repeats)
    except _RepeatedKey as error:
        raise InputError(path, str(error), "stands twice in one object") from None
    except (ValueError, RecursionError) as error:
        raise InputError(path, "", f"is not valid JSON ({error})") from None
    if not isinstance(raw, dict):
        raise InputError(path, "", f"expected a JSON object, got {shown(raw)}")
    return raw


class _RepeatedKey(Exception):
    """A key that stands twice in one object: one of the two values would be lost silently."""


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _RepeatedKey(next(key for key in keys if keys.count(key) > 1))
    return made


def expect_format(raw: dict[str, object], expected: str, path: str | Path) -> None:
    """Refuse a file of another format."""
    if raw.get("format") != expected:
        if "format" not in raw:
            raise InputError(path, "format", f'is missing, expected "{expected}": this is another kind of file')
        raise InputError(path, "format", f'expected "{expected}", got {shown(raw["format"])}')


def validated(model: type[Model], raw: dict[str, object], path: str | Path) -> Model:
    """`raw` as a `model`, or one line that names the first fault."""
    try:
        # JSON mode reads lists as tuples while everything else stays strict.
        return model.model_validate_json(pydantic_core.to_json(raw, inf_nan_mode="constants"))
    except ValidationError as error:
        raise refused(error, raw, path, model) from None
    except ValueError as error:
        raise InputError(path, "", str(error)) from None


def refused(error: ValidationError, raw: dict[str, object], path: str | Path, model: type[BaseModel]) -> InputError:
    """One line that names the first fault: an unknown key where there is one, for what is missing is often what it meant."""
    faults = error.errors(include_url=False, include_context=False)
    fault = next((fault for fault in faults if fault["type"] == "extra_forbidden"), faults[0])
    place, problem = describe(fault, raw)
    others = len(faults) - 1
    if fault["type"] == "extra_forbidden":
        *holder, key = fault["loc"]
        near = get_close_matches(str(key), _keys(model, holder), n=1)
        beside = [other for other in faults if other["type"] == "missing" and list(other["loc"][:-1]) == holder]
        if near:
            problem += f", did you mean {near[0]}?"
        elif beside:
            problem += f"; {beside[0]['loc'][-1]} is missing"
            others -= 1
    more = f" (and {others} more)" if others else ""
    return InputError(path, place, problem + more)


def _keys(model: type[BaseModel], place: Iterable[int | str]) -> list[str]:
    """What the record at a place may have."""
    for part in place:
        field = model.model_fields.get(str(part))
        for kind in (field.annotation, *get_args(field.annotation)) if field is not None else ():
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                model = kind
    return [field.alias or name for name, field in model.model_fields.items()]


def describe(fault: ErrorDetails, raw: object) -> tuple[str, str]:
    """Place and problem of a pydantic error: ``jobs[3].duration (job "J7")``, ``must be ...``."""
    place, value = "", raw
    holder = ""
    for part in fault["loc"]:
        if isinstance(part, int):
            place += f"[{part}]"
            value = value[part] if isinstance(value, list) and part < len(value) else None
            if isinstance(value, dict) and isinstance(value.get("id"), str):
                holder = f" (id {shown(value['id'])})"
        elif (isinstance(value, dict) and part in value) or fault["type"] == "missing":
            place += f".{part}" if place else str(part)
            value = value.get(part) if isinstance(value, dict) else None
    if fault["type"] == "optsched":
        return place, fault["msg"]
    if fault["type"] == "missing":
        return place + holder, "is missing"
    if fault["type"] == "extra_forbidden":
        return place + holder, "unknown key"
    message = (
        fault["msg"]
        .replace("Input should be", "must be")
        .replace("Tuple should have", "must have")
        .replace(" after validation", "")
        .replace("array", "list")
    )
    return place + holder, f"{message}, got {shown(fault['input'])}"


def shown(value: object) -> str:
    """A value as a short piece of JSON for a message."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    try:
        text = json.dumps(value)
    except (TypeError, ValueError):
        text = repr(value) if not isinstance(value, int) else "a huge integer"
    return text if len(text) <= 40 else text[:37] + "..."


def dumps(instance: Instance) -> bytes:
    """The instance as UTF-8 JSON: one field a line, one job or node a line, so that files diff well."""
    return _readable(instance.to_json()).encode()


def save(instance: Instance, path: str | Path) -> None:
    """Write the instance to ``.json`` or ``.json.gz``, atomically."""
    write_json(path, dumps(instance).decode())


def _readable(data: dict[str, object]) -> str:
    def compact(value: object) -> str:
        return json.dumps(value, ensure_ascii=False)

    def field(value: object) -> str:
        if isinstance(value, list) and value and isinstance(value[0], dict):
            return "[\n" + ",\n".join(f"    {compact(item)}" for item in value) + "\n  ]"
        return compact(value)

    return "{\n" + ",\n".join(f"  {compact(key)}: {field(value)}" for key, value in data.items()) + "\n}\n"
