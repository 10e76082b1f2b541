"""Files that a verb will write: tried before the work begins, and never over what they must not replace."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path

from optsched.cli._input import STDIN, same
from optsched.errors import InputError
from optsched.files import JSON as JSON
from optsched.files import can_be_written, is_node, read_bytes

RESULT, INSTANCE, EVENTS = (
    "optsched-result/",
    "optsched-instance/",
    "optsched-events/",
)  # how the formats begin that a file may hold
WORDS = {RESULT: "result", INSTANCE: "instance", EVENTS: "events"}
ARTICLES = {RESULT: "a", INSTANCE: "an", EVENTS: "an"}
HEAD = 400  # bytes in which a file says its format


def tried(
    output: str | Path, *, inputs: Iterable[str | None] = (), ends: tuple[str, ...] = (), replaces: str | None = None
) -> Path:
    """The path of an output that can be written.

    Parameters
    ----------
    inputs
        Files that are read, none of which may be written over.
    ends
        What its name must end in; anything where empty. A device or a pipe may be called as it likes.
    replaces
        The format (`RESULT`, `INSTANCE`, `EVENTS`) of what may lie there already; anything where None.

    Raises
    ------
    InputError
        It is an input, has another ending, is something else, or cannot be written. Nothing has been changed.
    """
    _refuse_empty(output)
    path = Path(output)
    try:
        if is_node(path):  # /dev/null, a pipe: reading it to see what it holds would block
            if not can_be_written(path):
                raise InputError(path, "", "cannot be written to")
            return path
        if ends and not path.name.endswith(ends):
            word = "the name must end" if replaces is None else f"{ARTICLES[replaces]} {WORDS[replaces]} file ends"
            raise InputError(path, "", f"{word} in {' or '.join(ends)}")
        for read in inputs:
            if read is not None and read != STDIN and same(path, read):
                raise InputError(
                    path, "", f"is a file that is read here; give the {WORDS.get(replaces or '', 'output')} another name"
                )
        if path.is_dir():
            raise InputError(path, "", "is a folder, expected a file name")
        _written(path)
        if replaces is not None and path.exists() and path.stat().st_size and replaces.encode() not in read_bytes(path)[:HEAD]:
            raise InputError(
                path,
                "",
                f"exists and is not {ARTICLES[replaces]} {WORDS[replaces]} file; give the {WORDS[replaces]} another name",
            )
    except OSError as error:
        raise InputError(path, "", f"cannot be used as output ({error.strerror or error})") from None
    return path


def apart(**named: str | Path | None) -> None:
    """Refuse outputs of which one would replace another.

    Parameters
    ----------
    named
        Their names, by the option without its dashes; None for what is not wanted. Devices and pipes may be shared.

    Raises
    ------
    InputError
        Two of them are one file.
    """
    written = [
        (f"-{'-' * (len(word) > 1)}{word}", name) for word, name in named.items() if name is not None and not is_node(name)
    ]
    for (first, one), (second, other) in combinations(written, 2):
        if same(one, other):
            raise InputError(other, "", f"{first} and {second} would write the same file")


def folder(output: str | Path) -> Path:
    """A folder for outputs, made where it is not there.

    Raises
    ------
    InputError
        It is a file, or cannot be made.
    """
    _refuse_empty(output)
    path = Path(output)
    try:
        if path.exists() and not path.is_dir():
            raise InputError(path, "", "is a file; several outputs need a folder")
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(path, "", f"cannot be made ({error.strerror})") from None
    return path


def _refuse_empty(output: str | Path) -> None:
    if not str(output):
        raise InputError("an output", "", "the name of a file is empty")  # Path("") is the current folder


def _written(path: Path) -> None:
    """Try it, with a file beside that is gone again: permissions alone do not tell of /proc or a full table of files."""
    parent = Path(os.path.realpath(path)).parent
    if not parent.is_dir():
        raise InputError(path.parent, "", "no such folder")
    try:
        handle, beside = tempfile.mkstemp(dir=parent, prefix=f".{path.name}.", suffix=".part")
    except OSError as error:
        if error.filename is None or len(path.name) > 200:
            raise
        raise InputError(path, "", f"cannot be written: its folder takes no file ({error.strerror})") from None
    os.close(handle)
    os.unlink(beside)
