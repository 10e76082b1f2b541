"""A figure goes to a file, atomically."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from optsched.errors import InputError
from optsched.files import write_bytes

FORMATS = (".png", ".pdf", ".svg")


def picture(output: str) -> Path:
    """The path of a picture.

    Raises
    ------
    InputError : its name ends in something else.
    """
    path = Path(output)
    if path.suffix not in FORMATS:
        raise InputError(path, "", f"a picture ends in {', '.join(FORMATS)}")
    return path


def save(figure: Any, path: Path) -> None:
    """Write the figure."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix[1:], dpi=150)
    write_bytes(path, buffer.getvalue())
