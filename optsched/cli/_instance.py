"""The instance that a result is about, from where the result says."""

from __future__ import annotations

import contextlib
from pathlib import Path

from optsched.errors import InputError
from optsched.instances import Instance
from optsched.reading import load
from optsched.result import Result


def instance_of(result: Result, result_file: str, instance_file: str | None) -> Instance:
    """The instance given, or found where the result says: from here, or beside the result.

    Raises
    ------
    InputError : it is another one, or not there.
    """
    named = result.instance.file
    folder = Path(result_file).parent
    beside = [] if named is None else [folder / named, Path(named), folder / Path(named).name]
    if instance_file:
        instance = load(instance_file)
        if instance.sha256 != result.instance.sha256:
            raise InputError(instance_file, "", "is not the instance of this result: its sha256 differs")
        return instance
    for candidate in beside:
        with contextlib.suppress(InputError):
            instance = load(candidate)
            if instance.sha256 == result.instance.sha256:
                return instance
    raise InputError(result_file, "", f"instance {result.instance.name!r} is not at {named}: give it with --instance FILE")
