"""Where the results of a batch go, tried before the first solver starts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from optsched.cli._input import STDIN
from optsched.cli._output import JSON, RESULT, folder, tried
from optsched.errors import InputError, OptschedError


def result_files(
    files: Sequence[str], output: str | None, several: bool = False, start: str | None = None
) -> list[Path | None]:
    """A result file for each instance: the output itself, or files in it where it is a folder or `several` were asked for.

    Raises
    ------
    OptschedError
        A name that cannot be written, is an instance or the `start`, holds something that is no result, or is that of a file
        where a folder is needed: nothing is lost.
    """
    if output is None:
        return [None] * len(files)
    inputs = (*files, start)
    if len(files) == 1 and not several and not os.path.isdir(output) and not output.endswith("/"):
        return [tried(output, inputs=inputs, ends=JSON, replaces=RESULT)]
    if output.endswith(JSON) and not os.path.isdir(output):
        raise InputError(output, "", "is the name of one file; several results need a folder, e.g. -o results/")
    path = folder(output)
    stems = ["stdin" if file == STDIN else Path(file).name.removesuffix(".gz").removesuffix(".json") for file in files]
    twice = {stem for stem in stems if stems.count(stem) > 1}
    if twice:
        raise OptschedError(f"{', '.join(sorted(twice))}: equal file names would write the same result")
    return [tried(path / f"{stem}.result.json", inputs=inputs, ends=JSON, replaces=RESULT) for stem in stems]
