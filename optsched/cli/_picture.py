"""A figure goes to a file, atomically."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from optsched.cli._output import tried
from optsched.errors import InputError
from optsched.files import write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".png", ".pdf", ".svg")


def picture(output: str, inputs: Iterable[str | None] = ()) -> Path:
    """The path of a picture that can be written.

    Parameters
    ----------
    output
        Its name.
    inputs
        Files that are read, none of which may be written over.

    Raises
    ------
    InputError
        Its name ends in something else, or nothing can be written there.
    """
    path = Path(output)
    if path.suffix not in FORMATS:
        raise InputError(path, "", f"a picture ends in {', '.join(FORMATS)}")
    return tried(path, inputs=inputs)


def save(figure: Figure, path: Path) -> None:
    """Write the figure."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix[1:], dpi=150)
    write_bytes(path, buffer.getvalue())
