"""Small faults put into a copy of the package, one at a time: the fast tests must notice each.

    python tests/mutants/run.py                    # all of mutants.toml; make mutants
    python tests/mutants/run.py --only geo         # those whose name or file holds the word
    python tests/mutants/run.py --at HEAD          # of a commit, while the working tree is being edited
    python tests/mutants/run.py --expected         # without the whole fast suite after the expected tests

After that the tests that killed must pass without a fault. Exit code 1: a mutant survived; 2: the table is wrong.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import importlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue
from typing import NoReturn

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_name("mutants.toml")
FAST = "not slow and not timing and not rl and not browser"
WHOLE = ("--deselect=tests/test_mutants.py",)  # which sees any fault: its text is gone
PASSED, FAILED = 0, 1  # pytest's exit codes; all others say that it could not run as asked
ENDLESS_S = 900  # a fault that makes a loop endless is noticed by nobody else
THEIRS = ("highspy", "hypothesis", "ortools.sat.python.cp_model", "pandas", "pyomo.environ", "pytest", "scipy.optimize")
FORKING = threading.Lock()  # one thread at a time


@dataclass(frozen=True)
class Mutant:
    """One fault: in `file`, the text `old`, which is there exactly once, becomes `new`; `tests` are expected to fail.

    `equivalent` says why no test can: such a one is listed, not run.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...] = ()
    equivalent: str = ""


@dataclass(frozen=True)
class Killer:
    """What is said of it, and the tests that must pass without the fault."""

    name: str
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: who killed it, or None, and whether they were expected to."""

    mutant: Mutant
    killer: Killer | None
    expected: bool
    seconds: float
    error: str = field(default="")


class Wrong(Exception):
    """The table or the copy is wrong, so that nothing would be learnt."""


def read(table: Path) -> list[Mutant]:
    """The mutants of a table."""
    rows = tomllib.loads(table.read_text())["mutant"]
    return [Mutant(**row | {"tests": tuple(row.get("tests", ()))}) for row in rows]


def faults(mutants: list[Mutant], top: Path) -> Iterator[str]:
    """Why the table is wrong: a text that is gone or not alone, a test that is not there."""
    for m in mutants:
        path = top / m.file
        found = path.read_text().count(m.old) if path.is_file() else 0
        if found != 1:
            yield f"{m.name}: the old text occurs {found} times in {m.file}, it must be there once"
        if m.old == m.new:
            yield f"{m.name}: nothing changes"
        if not m.tests and not m.equivalent:
            yield f"{m.name}: no test is expected to kill it"
        for test in m.tests:
            if not (top / test.split("::")[0]).is_file():
                yield f"{m.name}: there is no {test.split('::')[0]}"
    names = [m.name for m in mutants]
    yield from (f"two mutants are called {name!r}" for name in sorted(set(names)) if names.count(name) > 1)


def copy(to: Path, commit: str | None) -> None:
    """A clone of the commit, or with what is edited and not committed."""
    subprocess.run(["git", "clone", "--quiet", "--shared", str(ROOT), str(to)], check=True)
    if commit is not None:
        subprocess.run(["git", "checkout", "--quiet", commit], cwd=to, check=True)
        return
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")[:-1]:
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)
        else:
            (to / name).unlink(missing_ok=True)


def environment(copied: Path) -> dict[str, str]:
    """The copy before the installed package."""
    data = os.environ.get("OPTSCHED_DATA", str(ROOT.parent / "shared" / "data"))
    return os.environ | {"PYTHONPATH": str(copied), "OPTSCHED_DATA": data}


def outcome(copied: Path, tests: tuple[str, ...]) -> tuple[int, str] | None:
    """Exit code and output of the tests in a copy, up to the first that fails; None if they do not end.

    In a fork of this process, which has imported what is not ours: as long again for every fault otherwise.
    """
    told = copied.with_suffix(".out")
    with FORKING:
        child = os.fork()
    if not child:
        _run(copied, ["-p", "no:cacheprovider", "-x", "-q", "--rootdir", str(copied), "-m", FAST, *tests], told)
    end = time.monotonic() + ENDLESS_S
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status), told.read_text(errors="replace")
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _run(copied: Path, words: list[str], told: Path) -> NoReturn:
    """What ``python -m pytest`` does there."""
    code = 1
    try:
        os.setsid()  # what it has started goes with it
        for stream, path, flags in ((0, os.devnull, os.O_RDONLY), (1, told, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)):
            os.dup2(os.open(path, flags, 0o600), stream)
        os.dup2(1, 2)
        os.chdir(copied)
        os.environ.update(environment(copied))
        sys.path[0] = str(copied)
        code = int(importlib.import_module("pytest").main(words))
        threading._shutdown()  # type: ignore[attr-defined]  # a thread that was left running keeps a process, too
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def is_the_copy(copied: Path) -> bool:
    """Whether tests would import the copy and not what is installed."""
    words = [sys.executable, "-c", "import optsched; print(optsched.__file__)"]
    told = subprocess.run(words, cwd=copied, env=environment(copied), capture_output=True, text=True, check=True).stdout
    return Path(told.strip()).is_relative_to(copied)


def killer(copied: Path, tests: tuple[str, ...]) -> Killer | None:
    """The first test that fails, or None; all of them if they do not end.

    Raises
    ------
    Wrong : pytest could not run them.
    """
    told = outcome(copied, tests)
    if told is None:
        return Killer(f"{' '.join(tests)} does not end", tests)
    code, output = told
    if code == PASSED:
        return None
    named = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", output, re.MULTILINE)
    if code != FAILED or named is None:
        raise Wrong(f"pytest ended with {code}:\n{output[-2000:]}")
    return Killer(named[1], (named[1],))


def write(path: Path, text: str) -> None:
    """Change a module; its byte code goes, for it may look younger than the change."""
    path.write_text(text)
    for old in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        old.unlink()


def judge(mutant: Mutant, copied: Path, whole: bool) -> Verdict:
    """Put the fault into a copy, run the expected tests, then all fast ones, and take it out again."""
    began, path = time.perf_counter(), copied / mutant.file
    text = path.read_text()
    write(path, text.replace(mutant.old, mutant.new))
    try:
        found = killer(copied, mutant.tests)
        expected = found is not None
        if found is None and whole:
            found = killer(copied, WHOLE)
        return Verdict(mutant, found, expected, time.perf_counter() - began)
    except Wrong as error:
        return Verdict(mutant, None, False, time.perf_counter() - began, str(error))
    finally:
        write(path, text)


def healthy(copies: list[Path], verdicts: list[Verdict]) -> None:
    """Without a fault the tests that killed pass; each copy has some files of them.

    Raises
    ------
    Wrong : one of them fails.
    """
    killers = sorted({test for v in verdicts if v.killer for test in v.killer.tests})
    files = sorted({test.split("::")[0] for test in killers})
    shares = [tuple(t for t in killers if t.split("::")[0] in files[k :: len(copies)]) for k in range(len(copies))]
    with ThreadPoolExecutor(len(copies)) as pool:
        found = list(pool.map(lambda copied, share: killer(copied, share) if share else None, copies, shares))
    for failed in filter(None, found):
        raise Wrong(f"{failed.name}: fails without any mutant")


def run(mutants: list[Mutant], folder: Path, jobs: int, commit: str | None, whole: bool) -> list[Verdict]:
    """Every mutant in one of `jobs` copies.

    Raises
    ------
    Wrong : the table or a copy is, or a test that killed fails without a fault too.
    """
    running = [m for m in mutants if not m.equivalent]
    jobs = max(1, min(jobs, len(running)))
    copies: Queue[Path] = Queue()
    made = [folder / str(i) for i in range(jobs)]
    for copied in made:
        copy(copied, commit)
        copies.put(copied)
    wrong = list(faults(mutants, made[0]))
    if wrong:
        raise Wrong("\n".join(wrong))
    if not is_the_copy(made[0]):
        raise Wrong("the tests import another optsched than the copy")
    console = Console(stderr=True, markup=False)

    def one(mutant: Mutant) -> Verdict:
        copied = copies.get()
        try:
            verdict = judge(mutant, copied, whole)
        finally:
            copies.put(copied)
        console.print(
            f"{verdict.seconds:5.0f} s  {'killed' if verdict.killer else 'SURVIVED'}  {mutant.name}",
            highlight=False,
            soft_wrap=True,
        )
        return verdict

    with ThreadPoolExecutor(jobs) as pool:
        verdicts = list(pool.map(one, running))
    healthy(made, verdicts)
    return verdicts


def shown(verdicts: list[Verdict], mutants: list[Mutant]) -> Table:
    """The table: killed, by which test, survived."""
    table = Table("mutant", "", "by", "s", title=f"{sum(v.killer is not None for v in verdicts)} of {len(verdicts)} killed")
    for v in verdicts:
        word = "killed" if v.expected else "killed, not by the expected" if v.killer else "SURVIVED"
        table.add_row(v.mutant.name, word, v.killer.name if v.killer else v.error, f"{v.seconds:.0f}")
    for m in mutants:
        if m.equivalent:
            table.add_row(m.name, "equivalent", m.equivalent, "")
    return table


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="mutants whose name or file holds this")
    parser.add_argument("--at", metavar="COMMIT", help="of this commit instead of the working tree")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--expected", action="store_true", help="do not go on to the whole fast suite")
    given = parser.parse_args()
    mutants = [m for m in read(TABLE) if given.only in m.name or given.only in m.file]
    began = time.perf_counter()
    folder = tempfile.mkdtemp()  # not one that a fork would clear away at its end
    # one thread a process, since two run at a time: read once, by who is imported first
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "HYPOTHESIS_STORAGE_DIRECTORY": f"{folder}/hypothesis"}
    for name in THEIRS:
        importlib.import_module(name)
    assert "optsched" not in sys.modules, "forks would test what is installed"
    gc.freeze()  # a fork's collections leave alone what it shares
    try:
        verdicts = run(mutants, Path(folder).resolve(), given.jobs, given.at, not given.expected)
    except Wrong as error:
        Console(stderr=True).print(str(error), highlight=False, markup=False, soft_wrap=True)
        return 2
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    console = Console(width=None if sys.stdout.isatty() else 200, markup=False)
    console.print(shown(verdicts, mutants))
    console.print(f"{time.perf_counter() - began:.0f} s")
    return 2 if any(v.error for v in verdicts) else int(any(v.killer is None for v in verdicts))


if __name__ == "__main__":
    sys.exit(main())
