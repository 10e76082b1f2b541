"""A replay kept on disk: killed at any moment, it goes on as if nothing had happened.

A folder holds `header.json` (which replay this is), `log.jsonl` (a line a decision: what is logged, and what the simulator
carried out) and `state.json` (what the policy remembers after so many lines). The simulator is not kept: what was carried out
is carried out again. All three are JSON, so that a checkpoint from elsewhere can be opened without running it.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Literal

from optsched.errors import InputError, OptschedError
from optsched.files import read_bytes, write_bytes
from optsched.instances.base import Data, Natural, NonNegative
from optsched.instances.files import expect_format, parse_object, shown, validated
from optsched.result import versions

FORMAT: Literal["optsched-checkpoint/2"] = "optsched-checkpoint/2"
HEADER, LOG, STATE, LOCK = "header.json", "log.jsonl", "state.json", "lock"
PICKLE = "state.pickle"  # of versions before 2
SINCE = ("estimates", "events")  # of a header: older ones do not say


class _Written(Data):
    """What `state.json` says besides the policy's memory: which part of the log it belongs to, and seconds spent so far."""

    format: Literal["optsched-checkpoint/2"] = FORMAT
    log_lines: Natural
    log_bytes: Natural
    log_sha256: str
    spent_s: NonNegative


@dataclass(frozen=True)
class Kept:
    """What a checkpoint gives back: the log's lines, the policy's memory after them, and the seconds spent until then."""

    lines: list[dict[str, object]]
    memory: object
    spent_s: float


class Checkpoint:
    """A folder with a replay. `begin` or `resume` locks it, `close` unlocks it.

    Parameters
    ----------
    header : what must be the same on resuming, as JSON: the instance's hash, policy, seed. The program's version is added.
    """

    def __init__(self, folder: str | Path, header: dict[str, object]) -> None:
        try:
            from optsched.rolling.lock import Lock
        except ImportError:
            raise OptschedError("a checkpoint needs a system that can lock files (flock)") from None
        self.folder = Path(folder)
        self.header: dict[str, object] = {"format": FORMAT, "optsched": versions().get("optsched")} | header
        self.lock = Lock(self.folder / LOCK)
        self._log: FileIO | None = None
        self._lines = self._bytes = 0
        self._digest = hashlib.sha256(_begun(self.header))

    def begin(self, memory: object) -> None:
        """An empty log, and the policy's memory before its first decision.

        Raises
        ------
        InputError : the folder holds a checkpoint or is in use, or it cannot be written; or the memory is no JSON.
        """
        self._json(memory)
        self._refuse_foreign()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(self.folder, "", f"cannot be made ({error.strerror})") from None
        self.lock.acquire()
        if (self.folder / HEADER).exists():
            raise InputError(self.folder, "", "holds a checkpoint already: go on with --resume, or name another folder")
        write_bytes(self.folder / HEADER, (json.dumps(self.header, indent=1) + "\n").encode())
        self._open()
        self.save(memory, 0.0)

    def append(self, line: dict[str, object]) -> None:
        """One more line of the log."""
        assert self._log is not None
        text = (json.dumps(line) + "\n").encode()
        try:
            written = self._log.write(text)
        except OSError as error:
            raise InputError(self.folder / LOG, "", f"cannot be written ({error.strerror})") from None
        if written != len(text):
            raise InputError(self.folder / LOG, "", "cannot be written to its end: is the disk full?")
        self._digest.update(text)
        self._lines, self._bytes = self._lines + 1, self._bytes + len(text)

    def save(self, memory: object, spent_s: float) -> None:
        """Keep the policy's memory, and which part of the log it belongs to: both or nothing.

        Raises
        ------
        InputError : the memory is no JSON, or the folder cannot be written.
        """
        assert self._log is not None
        kept = self._json(memory)
        os.fsync(self._log.fileno())  # the log is there before a state speaks of it
        written = _Written(log_lines=self._lines, log_bytes=self._bytes, log_sha256=self._digest.hexdigest(), spent_s=spent_s)
        text = f'{written.model_dump_json()[:-1]},"policy":{kept}'
        write_bytes(self.folder / STATE, f"{text}{_seal(text)}".encode())

    def resume(self) -> Kept | None:
        """What was kept; None where the replay was killed before anything was. Nothing is written until `go_on`.

        Raises
        ------
        InputError : there is no checkpoint, it is of another replay or in use, or a file of it is damaged.
        """
        self._refuse_foreign()
        if not (self.folder / HEADER).exists():
            raise InputError(self.folder, "", f"holds no checkpoint: there is no {HEADER}; without resume one is begun")
        self.lock.acquire()
        found = parse_object(read_bytes(self.folder / HEADER), self.folder / HEADER)
        self._compare(found)
        self._digest = hashlib.sha256(_begun(found))
        log, path = self.folder / LOG, self.folder / STATE
        if not path.exists():
            self._read(read_bytes(log) if log.exists() else b"")
            return None
        state, memory = self._state(path)
        data = read_bytes(log)
        if len(data) < state.log_bytes:
            raise InputError(log, "", f"has {len(data)} bytes, the state was made with at least {state.log_bytes}")
        lines = self._read(data)[: state.log_lines]
        self._digest.update(data[: state.log_bytes])
        if self._digest.hexdigest() != state.log_sha256:
            raise InputError(log, "", f"was changed after it was written, or {path} is of another replay")
        self._lines, self._bytes = state.log_lines, state.log_bytes
        return Kept(lines, memory, state.spent_s)

    def _state(self, path: Path) -> tuple[_Written, object]:
        data = read_bytes(path)
        raw = parse_object(data, path)
        expect_format(raw, FORMAT, path)
        memory = raw.pop("policy", None)
        raw.pop("digest", None)
        state = validated(_Written, raw, path)
        text = data.decode(errors="replace")
        if _seal(text[:-SEALED]) != text[-SEALED:]:
            raise InputError(path, "digest", "does not fit: the file was changed after it was written")
        return state, memory

    def go_on(self) -> None:
        """Continue the log behind what was resumed: lines after it are decided again."""
        self._open()

    def close(self) -> None:
        """Let others in."""
        if self._log is not None:
            self._log.close()
        self.lock.release()

    def _open(self) -> None:
        try:
            for half in self.folder.glob(f".{STATE}.*.part"):  # of a process that was killed while it wrote
                half.unlink()
            self._log = (self.folder / LOG).open("ab", buffering=0)
            self._log.truncate(self._bytes)
        except OSError as error:
            raise InputError(self.folder / LOG, "", f"cannot be written ({error.strerror})") from None

    def _refuse_foreign(self) -> None:
        """A pickle is never opened: that would run whatever it says."""
        if (self.folder / PICKLE).exists():
            said = "was made by an older version and cannot be opened safely: begin anew in another folder"
            raise InputError(self.folder / PICKLE, "", said)
        for name in (LOG, STATE):
            if (self.folder / name).exists() and not (self.folder / HEADER).exists():
                raise InputError(self.folder / name, "", f"is there without a {HEADER}: name another folder")

    def _compare(self, found: dict[str, object]) -> None:
        expect_format(found, FORMAT, self.folder / HEADER)
        for key in self.header | found:
            ours, theirs = self.header.get(key), found.get(key)
            if ours != theirs and (key in found or key not in SINCE):
                was, now = ("no such setting" if value is None else shown(value) for value in (theirs, ours))
                raise InputError(self.folder / HEADER, key, f"the checkpoint was made with {was}, this is {now}")

    def _read(self, data: bytes) -> list[dict[str, object]]:
        """The whole lines of a log; half a line at its end is what a kill leaves."""
        lines = []
        for number, text in enumerate(data.split(b"\n")[:-1], 1):
            try:
                line = json.loads(text)
            except (ValueError, RecursionError):
                line = None
            if not isinstance(line, dict):
                raise InputError(self.folder / LOG, f"line {number}", "is no JSON object: the log was damaged")
            lines.append(line)
        return lines

    def _json(self, memory: object) -> str:
        try:
            return json.dumps(memory)
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(self.folder, "", f"the policy's state() cannot be written as JSON ({error})") from None


def _begun(header: dict[str, object]) -> bytes:
    """What the log's hash begins with, so that a log fits one header only."""
    return json.dumps(header, sort_keys=True).encode()


def _seal(text: str) -> str:
    """The end of a state file: its hash, so that a later edit shows."""
    return f',"digest":"{hashlib.sha256(text.encode()).hexdigest()}"}}\n'


SEALED = len(_seal(""))
