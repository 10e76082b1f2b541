"""A lock file: one process writes to a folder, and a process that has ended, however it ended, locks nothing.

The kernel holds the lock (`flock`) and drops it with the process, so that nobody has to judge whether an old one is stale. What
the file says is for people, and for hosts and file systems between which the kernel's lock does not reach.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
from dataclasses import asdict, dataclass
from pathlib import Path

from optsched.errors import InputError

_held: set[int] = set()  # open descriptors; a forked worker must not keep the lock of a parent that was killed


def _let_go() -> None:
    for handle in _held:
        os.close(handle)
    _held.clear()


os.register_at_fork(after_in_child=_let_go)


@dataclass(frozen=True)
class Owner:
    """A process: its number may be used again, but not with the same beginning.

    Attributes
    ----------
    began : clock ticks from the system's start to the process's, and which start; None where the system does not tell.
    """

    pid: int
    host: str
    began: str | None

    @classmethod
    def of(cls, pid: int) -> Owner:
        """A process of this host."""
        return cls(pid, socket.gethostname(), _began(pid))

    @property
    def runs(self) -> bool:
        """Whether a process of this host still runs."""
        return self.began is not None and self.began == _began(self.pid)

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


def _began(pid: int) -> str | None:
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None
    return None if state in "ZX" else f"{boot}:{fields[18]}"  # one that has ended may wait to be collected


class Lock:
    """A file that is locked from `acquire` to `release`, or to the end of the process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: int | None = None

    def acquire(self) -> None:
        """Take the lock, also where its owner ended without giving it back.

        Raises
        ------
        InputError : somebody has it, perhaps on another host, or the file is no lock or cannot be locked.
        """
        try:
            handle = self._locked()
        except OSError as error:
            raise InputError(self.path, "", f"cannot be locked ({error.strerror}): name another folder") from None
        try:
            self._refuse_other(handle)
            text = (json.dumps(asdict(Owner.of(os.getpid()))) + "\n").encode()
            os.pwrite(handle, text, 0)
            os.ftruncate(handle, len(text))
        except BaseException:
            os.close(handle)
            raise
        self._handle = handle
        _held.add(handle)

    def _locked(self) -> int:
        while True:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.samestat(os.fstat(handle), os.stat(self.path)):
                    return handle
            except BlockingIOError:
                owner = _said(handle)
                os.close(handle)
                who = "another process" if owner is None else str(owner)
                raise InputError(
                    self.path.parent, "", f"is in use by {who}: wait for its end, or name another folder"
                ) from None
            except FileNotFoundError:
                pass
            except BaseException:
                os.close(handle)
                raise
            os.close(handle)  # somebody has removed the file meanwhile: lock the new one

    def _refuse_other(self, handle: int) -> None:
        """The kernel's word is enough on this host; another host, or a file system that forgets locks, is not heard by it."""
        owner = _said(handle)
        if owner is None:
            if os.fstat(handle).st_size:
                raise InputError(self.path, "", "is no lock of a replay: remove it if nothing writes to its folder")
            return
        if owner.host != socket.gethostname():
            raise InputError(self.path, "", f"is held by {owner}, seen from here as another host: remove it if that has ended")
        if owner.pid != os.getpid() and owner.runs:
            raise InputError(self.path.parent, "", f"is in use by {owner}: wait for its end, or name another folder")

    def release(self) -> None:
        """Give it back. The file stays: whoever waits for a file that is then removed would hold a lock on nothing."""
        if self._handle is not None:
            _held.discard(self._handle)
            os.ftruncate(self._handle, 0)
            os.close(self._handle)
            self._handle = None


def _said(handle: int) -> Owner | None:
    """Who wrote the file; None where it is empty or nobody did."""
    try:
        said = json.loads(os.pread(handle, 4096, 0).partition(b"\n")[0])
        pid, host, began = said["pid"], said["host"], said["began"]
    except (ValueError, TypeError, KeyError):
        return None
    fitting = isinstance(pid, int) and isinstance(host, str) and isinstance(began, str | None)
    return Owner(pid, host, began) if fitting else None
