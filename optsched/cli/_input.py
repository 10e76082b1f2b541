"""What a verb is given: files, `-` is standard input; and whether an option was typed."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
from click.core import ParameterSource

from optsched.errors import InputError, OptschedError

if TYPE_CHECKING:
    from optsched.instances import Instance
    from optsched.instances.events import Events
    from optsched.result import Result

T = TypeVar("T")

STDIN = "-"
SHOWN = "standard input"
GZIP = b"\x1f\x8b"
FILE = click.Path(allow_dash=True, readable=False)  # whether it can be read is for the reader to say; shells complete it
TYPE = "pipe an instance into it, as in `optsched example armida-snapshot | optsched solve -`, or name its file"


def typed(name: str) -> bool:
    """Whether an option of the verb was given, and is not its default."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def shown(file: str) -> str:
    """The file's name in a message."""
    return SHOWN if file == STDIN else file


def read(file: str, reader: Callable[[str], T]) -> T:
    """What `reader` makes of a file, or of standard input.

    Raises
    ------
    InputError
        As the reader says it.
    """
    if file != STDIN:
        return reader(file)
    data = sys.stdin.buffer.read()
    with tempfile.TemporaryDirectory(prefix="optsched-") as folder:
        kept = Path(folder) / ("stdin.json.gz" if data.startswith(GZIP) else "stdin.json")
        kept.write_bytes(data)
        try:
            return reader(str(kept))
        except InputError as error:
            hint = "" if data.strip() else f": {TYPE}"
            raise InputError(SHOWN, error.place, error.problem + hint) from None


def instance(file: str) -> Instance:
    """The instance in a file."""
    import optsched

    return read(file, lambda path: of_kind(path, optsched.load))


def events(file: str) -> Events:
    """The events in a file."""
    from optsched.instances.events import Events

    return read(file, Events.load)


def result(file: str) -> Result:
    """The result in a file."""
    import optsched

    return read(file, lambda path: of_kind(path, optsched.load_result))


def result_or_schedule(file: str) -> Result | dict[str, object]:
    """A result, or a bare schedule as it stands in the file."""
    from optsched.files import read_bytes
    from optsched.instances.files import parse_object
    from optsched.result import load_result

    raw = parse_object(read_bytes(file), file)
    return of_kind(file, load_result) if "format" in raw or "schedule" in raw else raw


def of_kind(path: str, reader: Callable[[str], T]) -> T:
    """What a reader makes of a file.

    Raises
    ------
    InputError
        As the reader says it; where it is of another kind, which kind that is.
    """
    try:
        return reader(path)
    except InputError as error:
        if error.place != "format":
            raise
        from optsched.files import read_bytes
        from optsched.instances.files import parse_object

        raw = parse_object(read_bytes(path), path)
        kind = str(raw.get("format"))
        if kind.startswith("optsched-result/") and "optsched-instance/" in error.problem:
            about = raw.get("instance")
            file = about.get("file") if isinstance(about, dict) else None
            beside = f"; its instance is {Path(path).parent / str(file)}" if file else ""
            raise InputError(path, "", f"is a result, expected an instance{beside}") from None
        if kind.startswith("optsched-instance/") and "optsched-result/" in error.problem:
            raise InputError(path, "", "is an instance, expected a result: `optsched solve INSTANCE -o RESULT`") from None
        raise


def once(*files: str | None) -> None:
    """Refuse to read standard input twice.

    Raises
    ------
    OptschedError
        It is named more than once.
    """
    if files.count(STDIN) > 1:
        raise OptschedError("standard input (-) can be read only once")


def same(a: str | Path, b: str | Path) -> bool:
    """Whether two names are one file, also through links."""
    with contextlib.suppress(OSError):
        if Path(a).samefile(b):
            return True
    return Path(a).resolve() == Path(b).resolve()
