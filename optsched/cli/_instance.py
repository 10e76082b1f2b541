"""The instance that a result is about: what the result calls it, and found from there."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from optsched.cli import _input
from optsched.errors import InputError

if TYPE_CHECKING:
    from optsched.instances import Instance
    from optsched.result import Result


def naming(result: Result, file: str, target: Path | None) -> Result:
    """The result with the name of its instance's file, as seen from where it is written; standard input has none."""
    beside = file if target is None else os.path.relpath(file, target.parent)
    reference = result.instance.model_copy(update={"file": None if file == _input.STDIN else beside})
    return result.model_copy(update={"instance": reference})


def instance_of(result: Result, result_file: str, instance_file: str | None) -> Instance:
    """The instance given, or found where the result says: from here, or beside the result.

    Raises
    ------
    InputError
        It is another one, or not there.
    """
    from optsched.reading import load

    named = result.instance.file
    folder = Path(result_file).parent
    beside = [] if named is None else [folder / named, Path(named), folder / Path(named).name]
    if instance_file:
        instance = result.instance.restored(_input.instance(instance_file))
        if instance.sha256 != result.instance.sha256:
            raise InputError(_input.shown(instance_file), "", "is not the instance of this result: its sha256 differs")
        return instance
    others = []
    for candidate in beside:
        with contextlib.suppress(InputError):
            instance = result.instance.restored(load(candidate))
            if instance.sha256 == result.instance.sha256:
                return instance
            others.append(candidate)
    name = result.instance.name
    if named is None:
        said = f"names no file of its instance {name!r} (read from standard input, or built in Python)"
    elif others:
        said = f"instance {name!r} has changed since, or {_input.shown(str(others[0]))} is another"
    else:
        said = f"instance {name!r} is not at {named}"
    raise InputError(_input.shown(result_file), "", f"{said}: give it with --instance FILE")
