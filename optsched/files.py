"""Bytes in and out of files: plain or gzip, and written atomically so that nothing is lost half-way."""

from __future__ import annotations

import gzip
import os
import sys
import tempfile
import zlib
from pathlib import Path

from optsched.errors import InputError
from optsched.interrupts import heard

JSON = (".json", ".json.gz")
MAX_BYTES = 2**31  # a decompression bomb ends in one line, not in swap
DATA = "OPTSCHED_DATA"
LINKS = 40  # to follow, as Linux does


def read_bytes(path: str | Path) -> bytes:
    """Content of `path`, decompressed if its name ends in ``.gz``.

    Raises
    ------
    InputError : missing, unreadable, not a gzip file, or too large.
    """
    if not str(path):
        raise InputError(path, "", "the name of a file is empty")
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


def read_toml(path: str | Path) -> dict[str, object]:
    """Content of a TOML file.

    Raises
    ------
    InputError : it cannot be read, or is none.
    """
    import tomllib

    try:
        return tomllib.loads(read_bytes(path).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(path, "", f"is no TOML: {error}") from None


def traces() -> Path:
    """Where real traces are: $OPTSCHED_DATA, or shared/data beside the repository; whether they are there is not looked up."""
    return Path(os.environ.get(DATA, Path(__file__).parents[2] / "shared" / "data"))


def is_node(path: str | Path) -> bool:
    """Whether `path` is there and neither a file nor a folder: a device, a pipe, a socket, or an open descriptor."""
    path = Path(path)
    return _descriptor(path) is not None or (path.exists() and not path.is_file() and not path.is_dir())


def can_be_written(path: str | Path) -> bool:
    """Whether `write_bytes` would get through, as far as permissions tell."""
    path = Path(path)
    try:
        if is_node(path):
            return _descriptor(path) is not None or os.access(path, os.W_OK)
        return not path.is_dir() and os.access(path.resolve().parent, os.W_OK)
    except OSError:  # e.g. a name that is too long
        return False


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write `data` to `path` atomically (a temporary file beside it, then a rename), gzipped for ``.gz``.

    A symbolic link stays one: the file that it points to is written. What is no file (a device, a pipe, /dev/stdout) stays what
    it is, and is written through.

    Raises
    ------
    InputError : the folder is missing or not writable; an older file at `path` is then untouched.
    """
    path = Path(path)
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)  # no time stamp: equal content, equal bytes
    try:
        if path.is_dir():
            raise InputError(path, "", "is a folder, expected a file name")
        if is_node(path):
            _through(path, data)
        else:
            _replace(Path(os.path.realpath(path)), data)
    except BrokenPipeError:
        raise  # the reader left, e.g. `| head`
    except OSError as error:
        raise InputError(path, "", f"cannot be written ({error.strerror or error})") from None


def write_json(path: str | Path, text: str) -> None:
    """Write JSON to what is called so, or to a device or a pipe, which may be called as it likes.

    Raises
    ------
    InputError : another ending, or as `write_bytes`.
    """
    if not str(path).endswith(JSON) and not is_node(path):
        raise InputError(path, "", f"the name must end in {' or '.join(JSON)}")
    write_bytes(path, text.encode())


def _replace(path: Path, data: bytes) -> None:
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    finally:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)


def _through(path: Path, data: bytes) -> None:
    number = _descriptor(path)
    if number is None:
        with heard():  # a pipe without a reader blocks
            handle = os.open(path, os.O_WRONLY)
    else:  # opening it anew would begin at its start again, and truncate what has been printed
        sys.stdout.flush()
        sys.stderr.flush()
        handle = os.dup(number)
    with os.fdopen(handle, "wb") as stream:
        stream.write(data)


def _descriptor(path: Path) -> int | None:
    """The open descriptor that /dev/stdout, /dev/fd/3 or a link to one of them means, or None."""
    for _ in range(LINKS):
        parts = Path(os.path.abspath(path)).parts
        if parts[1:3] == ("dev", "fd") and len(parts) == 4 and parts[3].isdecimal():
            return int(parts[3])
        if parts[1:2] == ("proc",) and len(parts) == 5 and parts[2:4] in (("self", "fd"), (str(os.getpid()), "fd")):
            return int(parts[4]) if parts[4].isdecimal() else None
        if not path.is_symlink():
            return None
        path = path.parent / os.readlink(path)
    return None
