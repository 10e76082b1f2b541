"""Bytes in and out of files: plain or gzip, and written atomically so that nothing is lost half-way."""

from __future__ import annotations

import gzip
import os
import tempfile
import zlib
from pathlib import Path

from optsched.errors import InputError

MAX_BYTES = 2**31  # a decompression bomb ends in one line, not in swap


def read_bytes(path: str | Path) -> bytes:
    """Content of `path`, decompressed if its name ends in ``.gz``.

    Raises
    ------
    InputError : missing, unreadable, not a gzip file, or too large.
    """
    path = Path(path)
    try:
        if path.suffix != ".gz":
            return path.read_bytes()
        with gzip.open(path) as stream:
            data = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise InputError(path, "", "no such file") from None
    except IsADirectoryError:
        raise InputError(path, "", "is a folder, expected a file") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(path, "", f"not a readable gzip file ({error})") from None
    except OSError as error:
        raise InputError(path, "", f"cannot be read ({error.strerror or error})") from None
    if len(data) > MAX_BYTES:
        raise InputError(path, "", f"holds more than {MAX_BYTES} bytes when decompressed")
    return data


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write `data` to `path` atomically (a temporary file beside it, then a rename), gzipped for ``.gz``.

    Raises
    ------
    InputError : the folder is missing or not writable; an older file at `path` is then untouched.
    """
    path = Path(path)
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)  # no time stamp: equal content, equal bytes
    temporary = None
    try:
        if path.is_dir():
            raise InputError(path, "", "is a folder, expected a file name")
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except OSError as error:
        raise InputError(path, "", f"cannot be written ({error.strerror or error})") from None
    finally:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)
