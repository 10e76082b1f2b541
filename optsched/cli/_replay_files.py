"""The files of a replay, tried before it begins, and against each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from optsched.cli._frames import refuse_ours, table_tried
from optsched.cli._input import same
from optsched.cli._output import JSON, RESULT, apart, tried
from optsched.cli._replayed import COMPARISON
from optsched.errors import InputError, OptschedError
from optsched.files import is_node


def refuse_clashes(
    inputs: Sequence[str | None], output: str | None, log: str | None, checkpoint: str | None, policies: int
) -> None:
    """Refuse to begin where a file could not be written, or would replace something that is read or wanted.

    Parameters
    ----------
    inputs
        Files that are read.
    output
        A result file of one policy, a table of several.
    log
        A log of one policy.
    checkpoint
        A folder.
    policies
        How many there are.

    Raises
    ------
    OptschedError
        One line that says what is wrong; nothing has been changed.
    """
    if policies > 1 and (log or checkpoint):
        raise OptschedError("--log and --checkpoint go with a single --policy")
    if output is not None and policies == 1:
        tried(output, inputs=inputs, ends=JSON, replaces=RESULT)
    elif output is not None:
        if not is_node(output) and not output.endswith(COMPARISON):
            raise InputError(
                output,
                "",
                f"a table of several policies ends in {', '.join(COMPARISON)}; -o r.json with one --policy is its result",
            )
        table_tried(output, inputs)
    if log is not None:
        tried(log, inputs=inputs)
        refuse_ours(log)
    apart(o=output, log=log)
    if checkpoint == "":
        raise InputError("--checkpoint", "", "the name of a folder is empty")
    written = [(name, file) for name, file in (("-o", output), ("--log", log)) if file is not None and not is_node(file)]
    for name, file in written if checkpoint is not None else ():
        assert checkpoint is not None
        if same(file, checkpoint) or same(Path(file).parent, checkpoint):
            raise InputError(file, "", f"{name} would write into the --checkpoint folder; give it another name")
    for read in inputs if checkpoint is not None else ():
        if read is not None and checkpoint is not None and same(read, checkpoint):
            raise InputError(checkpoint, "", "is a file that is read here; --checkpoint names a folder")
