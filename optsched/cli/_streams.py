"""Standard output that may be full, closed, or read by nobody any more."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Buffer

STDOUT = 1


class _Output(io.FileIO):
    """Standard output, which remembers why something could not be written: nobody else would, once that has been tried."""

    failed: OSError | None = None
    left = False
    none = False

    def write(self, data: Buffer) -> int:
        """Write to the descriptor."""
        try:
            if self.none:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            return super().write(data)
        except BrokenPipeError:  # the reader left, e.g. `| head`
            self.left = True
            raise
        except OSError as error:
            self.failed = error
            raise


class _Kept(io.TextIOWrapper):
    """A standard stream that stays open: of somebody else's code in this process, closing it would lose what follows."""

    def close(self) -> None:
        """Write what waits, and no more."""
        self.flush()


_output: _Output | None = None


def open_output() -> None:
    """Take the standard streams; where output is closed keep its descriptor, which the next file to be opened would get."""
    global _output
    if (err := sys.stderr) is sys.__stderr__ and err is not None:
        sys.stderr = _Kept(err.buffer, err.encoding, err.errors, line_buffering=True)
    if sys.stdout is not sys.__stdout__:  # somebody else's, a test's for instance
        return
    given = sys.stdout
    with contextlib.suppress(OSError, ValueError):
        if given is None:
            _to_nowhere()
        _output = _Output(STDOUT, "w", closefd=False)
        _output.none = given is None
        how = ("utf-8", None) if given is None else (given.encoding, given.errors)
        lines = given is not None and given.line_buffering
        sys.stdout = _Kept(io.BufferedWriter(_output), *how, line_buffering=lines)


def flushed() -> OSError | None:
    """Why what has been printed cannot be written; None where it is, or where its reader has left."""
    with contextlib.suppress(OSError, AttributeError, ValueError):
        sys.stderr.flush()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        give_up()
    except OSError as error:
        return error
    except ValueError:  # somebody else's code has closed what is below it
        return OSError(errno.EBADF, os.strerror(errno.EBADF))
    return None if _output is None else _output.failed


def aside(wanted: bool) -> AbstractContextManager[object]:
    """While somebody else's code runs: what it prints goes to standard error, where standard output is for JSON alone."""
    return contextlib.redirect_stdout(sys.stderr) if wanted else contextlib.nullcontext()


def left() -> bool:
    """Whether nobody reads standard output any more."""
    return _output is not None and _output.left


def give_up() -> None:
    """Nothing more comes out, also of what waits to be written when Python ends."""
    if _output is not None:
        _output.none = False
    with contextlib.suppress(OSError):
        _to_nowhere()


def _to_nowhere() -> None:
    handle = os.open(os.devnull, os.O_WRONLY)
    if handle != STDOUT:
        os.dup2(handle, STDOUT)
        os.close(handle)
