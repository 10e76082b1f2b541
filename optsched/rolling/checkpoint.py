"""A replay kept on disk: killed at any moment, it goes on as if nothing had happened."""

from __future__ import annotations

import io
import json
import os
import pickle
from pathlib import Path
from typing import Any

from optsched.errors import InputError
from optsched.files import write_bytes

STATE, LOG = "state.pickle", "log.jsonl"


class _Pickler(pickle.Pickler):
    """Instances that are given again on resuming are not written."""

    def __init__(self, file: io.BytesIO, given: dict[str, Any]) -> None:
        super().__init__(file)
        self.named = {id(value): name for name, value in given.items() if value is not None}

    def persistent_id(self, obj: Any) -> str | None:
        return self.named.get(id(obj))


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, given: dict[str, Any]) -> None:
        super().__init__(file)
        self.given = given

    def persistent_load(self, name: str) -> Any:
        return self.given[name]


class Checkpoint:
    """A folder with the state after some decision, and the log up to and beyond it.

    The state is a Python pickle: resume only what you wrote yourself.

    Parameters
    ----------
    header : what must be the same on resuming, e.g. the instance's hash and the policy. given : objects that are not written.
    """

    def __init__(self, folder: str | Path, header: dict[str, Any], given: dict[str, Any]) -> None:
        self.folder, self.header, self.given = Path(folder), header, given

    def begin(self) -> None:
        """An empty log and no state.

        Raises
        ------
        InputError : the folder holds another checkpoint already, or cannot be made.
        """
        if (self.folder / STATE).exists():
            raise InputError(self.folder, "", "holds a checkpoint already: go on with --resume, or name another folder")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / LOG).write_bytes(b"")
        except OSError as error:
            raise InputError(self.folder, "", f"cannot be written ({error.strerror})") from None

    def append(self, row: dict[str, Any]) -> None:
        """One more row of the log."""
        with (self.folder / LOG).open("ab") as stream:
            stream.write((json.dumps(row) + "\n").encode())

    def save(self, state: Any) -> None:
        """Keep the state, atomically, and how much of the log belongs to it.

        Raises
        ------
        InputError : the policy cannot be pickled, or the folder cannot be written.
        """
        file = io.BytesIO()
        log = self.folder / LOG
        with log.open("rb+") as stream:
            os.fsync(stream.fileno())
        try:
            _Pickler(file, self.given).dump((self.header, log.stat().st_size, state))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise InputError(self.folder, "", f"the policy cannot be kept in a checkpoint ({error})") from None
        write_bytes(self.folder / STATE, file.getvalue())

    def resume(self) -> tuple[Any, list[dict[str, Any]]] | None:
        """The kept state and the log's rows up to it; None where the replay was killed before its first checkpoint.

        Raises
        ------
        InputError : there is no checkpoint, it is of another replay, or it cannot be read.
        """
        log = self.folder / LOG
        if not log.exists():
            raise InputError(self.folder, "", "holds no checkpoint")
        if not (self.folder / STATE).exists():
            log.write_bytes(b"")
            return None
        try:
            stored = io.BytesIO((self.folder / STATE).read_bytes())
            header, size, state = _Unpickler(stored, self.given).load()
            kept = {key: header.get(key) for key in self.header}
        except Exception as error:
            raise InputError(self.folder / STATE, "", f"is no readable checkpoint ({type(error).__name__})") from None
        for key, value in self.header.items():
            if kept[key] != value:
                raise InputError(self.folder, key, f"the checkpoint was made with {kept[key]!r}, this is {value!r}")
        if log.stat().st_size < size:
            raise InputError(log, "", f"has {log.stat().st_size} bytes, the checkpoint was made with at least {size}")
        with log.open("rb+") as stream:
            stream.truncate(size)
        return state, [json.loads(line) for line in log.read_text().splitlines()]
