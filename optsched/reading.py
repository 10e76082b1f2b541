"""Instances from files, whatever the family."""

from __future__ import annotations

from pathlib import Path

from optsched.errors import InputError
from optsched.files import read_bytes
from optsched.instances.base import INSTANCE_FORMAT, Instance
from optsched.instances.files import expect_format, parse_object, shown, validated
from optsched.registry import families, family


def load(path: str | Path) -> Instance:
    """Read an instance from ``.json`` or ``.json.gz``.

    Raises
    ------
    InputError
        One line with the file, the place and what would be right.
    """
    return parse(read_bytes(path), path)


def parse(data: bytes, path: str | Path) -> Instance:
    """The instance in `data`; `path` is only for the messages."""
    raw = parse_object(data, path)
    expect_format(raw, INSTANCE_FORMAT, path)
    problem = raw.get("problem")
    if not isinstance(problem, str) or problem not in families():
        raise InputError(path, "problem", f"expected one of {', '.join(families())}, got {shown(problem)}")
    del raw["problem"]
    return validated(family(problem).instance, raw, path)


def schema(problem: str) -> dict[str, object]:
    """JSON Schema of a family's instance files."""
    described = family(problem).instance.model_json_schema(by_alias=True)
    described["properties"] = {"problem": {"const": problem, "type": "string"}} | described["properties"]
    described["required"] = ["format", "problem", *described.get("required", [])]
    described["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return described
