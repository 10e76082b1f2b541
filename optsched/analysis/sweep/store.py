"""The file that keeps a sweep: one SQLite database that several drivers may write to, and that a kill leaves whole.

A row is written once, and changed only where it had failed; whoever starts the same sweep again finds it by its key. A driver
claims a task before it hands it out, and shows every few seconds that it is alive: what a dead one had claimed is anybody's.
"""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import time
import uuid
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from optsched.analysis.sweep.trial import Identity, Told, Trial, own_version
from optsched.errors import InputError, OptschedError

if TYPE_CHECKING:
    import pandas as pd

FORMAT = "optsched-sweep/1"
HEAD = b"SQLite format 3\0"
WAIT_S = 30.0  # for another driver's transaction
RESCUE = "name another --store, where the sweep begins anew; `sqlite3 FILE .recover` shows what can still be read"
DEAD_S = 30.0  # without a sign of life
SCHEMA = """
create table if not exists about (format text);
create table if not exists instances (
  recipe text, version text, sha256 text, name text, problem text, jobs integer, primary key (recipe, version));
create table if not exists rows (
  key text primary key, sha256 text, recipe text, instance text, kind text, name text, options text, seed integer,
  time_limit_s real, version text, status text, told text);
create table if not exists claims (key text primary key, driver text);
create table if not exists drivers (id text primary key, host text, pid integer, beat real);
"""


class Store:
    """Rows of a sweep by key.

    Parameters
    ----------
    path
        The file; made where it is not there.

    Raises
    ------
    InputError
        It is something else, or cannot be written.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.driver = uuid.uuid4().hex
        if self.path.is_dir() or (self.path.exists() and self.path.stat().st_size and not is_store(self.path)):
            raise InputError(self.path, "", "exists and keeps no sweep; give the store another name")
        try:
            self.db = sqlite3.connect(self.path, timeout=WAIT_S, isolation_level=None)
            tables = {row[0] for row in self.db.execute("select name from sqlite_master where type = 'table'")}
            if tables and "about" not in tables:
                raise InputError(self.path, "", "is a database that keeps no sweep; give the store another name")
            if tables and self.db.execute("select format from about").fetchone() != (FORMAT,):
                raise InputError(self.path, "", f"is no {FORMAT} file")
        except sqlite3.Error as error:
            raise InputError(self.path, "", f"cannot be used as a store ({error})") from None
        with self._told():
            self.db.execute("pragma journal_mode=wal")
            self.db.execute("pragma synchronous=normal")
            if not tables:
                self.db.executescript(SCHEMA)
                self.db.execute("insert into about select ? where not exists (select 1 from about)", (FORMAT,))
            self.beat()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What SQLite cannot do, in one line; what has been committed stays."""
        try:
            yield
        except sqlite3.Error as error:
            if type(error) is sqlite3.DatabaseError or "no such" in str(error):
                raise InputError(self.path, "", f"is damaged ({error}): {RESCUE}") from error
            why = "is the disk full? " if "full" in str(error) or "I/O" in str(error) else ""
            raise OptschedError(f"{self.path}: {error}; {why}all rows so far are kept, and the same command goes on") from error

    def beat(self) -> None:
        """Show that this driver is alive."""
        with self._told():
            row = (self.driver, platform.node(), os.getpid(), time.time())
            self.db.execute("insert or replace into drivers values (?, ?, ?, ?)", row)

    def identities(self, recipes: Iterable[str]) -> dict[str, Identity]:
        """What is known of recipes that this version has been asked for."""
        with self._told():
            rows = self.db.execute(
                "select recipe, sha256, name, problem, jobs from instances where version = ?", (own_version(),)
            )
            known = {row[0]: Identity(*row) for row in rows}
        return {recipe: known[recipe] for recipe in recipes if recipe in known}

    def identified(self, found: Iterable[Identity]) -> None:
        """Remember them."""
        told = [(i.recipe, own_version(), i.sha256, i.name, i.problem, i.jobs) for i in found]
        with self._told(), self._transaction():
            self.db.executemany("insert or replace into instances values (?, ?, ?, ?, ?, ?)", told)

    def done(self, failed_too: bool = True) -> set[str]:
        """Keys of the rows that are there."""
        condition = "" if failed_too else " where status = 'done'"
        with self._told():
            return {row[0] for row in self.db.execute(f"select key from rows{condition}")}

    def claim(self, trials: Sequence[Trial], again: bool = False) -> list[Trial]:
        """Those that nobody has done or is doing; they are this driver's now.

        Parameters
        ----------
        again : whether what has failed may be done again.
        """
        keys = [trial.key for trial in trials]
        among = f"key in ({', '.join('?' * len(keys))})"
        with self._told(), self._transaction():
            rows = self.db.execute(f"select key from rows where {among}" + " and status = 'done'" * again, keys)
            taken, alive = {row[0] for row in rows}, self._alive()
            claims = self.db.execute(f"select key, driver from claims where {among}", keys)
            taken |= {key for key, driver in claims if driver in alive}
            free = [trial for trial in trials if trial.key not in taken]
            mine = [(trial.key, self.driver) for trial in free]
            self.db.executemany("insert or replace into claims values (?, ?)", mine)
        return free

    def _alive(self) -> set[str]:
        """Drivers that are not known to be dead, this one apart."""
        found = set()
        for driver, host, pid, beat in self.db.execute("select id, host, pid, beat from drivers").fetchall():
            gone = host == platform.node() and not _runs(pid)
            if driver != self.driver and not gone and time.time() - beat < DEAD_S:
                found.add(driver)
        return found

    def keep(self, found: Sequence[tuple[Trial, Identity, Told]]) -> None:
        """Write rows, all at once; a key that is there already keeps its row, unless that had failed."""
        rows = [
            (
                trial.key,
                trial.sha256,
                trial.recipe,
                identity.name,
                trial.kind,
                trial.name,
                json.dumps(trial.options, sort_keys=True),
                trial.seed,
                trial.time_limit_s,
                own_version(),
                told["status"],
                json.dumps(told),
            )
            for trial, identity, told in found
        ]
        said = "insert into rows values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (key) do update set"
        said += " status = excluded.status, told = excluded.told where rows.status != 'done'"
        with self._told(), self._transaction():
            self.db.executemany(said, rows)
            self.db.executemany("delete from claims where key = ?", [(trial.key,) for trial, _, _ in found])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self.db.execute("begin immediate")
        try:
            yield
        except BaseException:
            if self.db.in_transaction:
                self.db.execute("rollback")
            raise
        self.db.execute("commit")

    def rows(self) -> list[Told]:
        """All of them, in the order in which they came, as flat JSON."""
        words = ("key", "sha256", "recipe", "instance", "kind", "name", "options", "seed", "time_limit_s", "version", "status")
        with self._told():
            found = self.db.execute(f"select {', '.join(words)}, told from rows order by rowid").fetchall()
        try:
            return [json.loads(row[-1]) | dict(zip(words, row[:-1], strict=True)) for row in found]
        except (TypeError, ValueError) as error:
            raise InputError(self.path, "", f"is damaged (a row is no JSON: {error}): {RESCUE}") from None

    def table(self, keys: Container[str] | None = None) -> pd.DataFrame:
        """The rows of methods and policies as `compare` has them, each against the best bound of its instance.

        Parameters
        ----------
        keys
            Of the trials that are wanted; all where None.
        """
        from optsched.analysis.sweep.table import table_of

        return table_of([row for row in self.rows() if keys is None or row["key"] in keys])

    @property
    def bare(self) -> bool:
        """Whether nothing is kept in it, and no other driver is at work on it."""
        with self._told():
            kept = (self.db.execute(f"select 1 from {table} limit 1").fetchone() for table in ("rows", "claims", "instances"))
            return not any(kept) and not self._alive()

    def close(self) -> None:
        """Leave; claims that are left are anybody's."""
        with self._told():
            self.db.execute("delete from claims where driver = ?", (self.driver,))
            self.db.execute("delete from drivers where id = ?", (self.driver,))
            self.db.close()


def is_store(path: Path) -> bool:
    """Whether the file is a database."""
    try:
        with path.open("rb") as stream:
            return stream.read(len(HEAD)) == HEAD
    except OSError:
        return False


def _runs(pid: int) -> bool:
    """Whether there is such a process on this machine."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
