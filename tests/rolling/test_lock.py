"""One process writes to a checkpoint's folder; whoever has ended, however, is in nobody's way."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import asdict, replace
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest

import optsched
from optsched.rolling.lock import Lock, Owner
from tests.cli.test_cli import one_line, run
from tests.rolling.test_checkpoint import FILES, words

ROOT = Path(__file__).parents[2]


def refused(path: Path) -> str:
    """Why a lock cannot be taken; the file says the same as before."""
    before = path.read_bytes()
    with pytest.raises(optsched.OptschedError) as error:
        Lock(path).acquire()
    assert path.read_bytes() == before
    assert "\n" not in str(error.value)
    return str(error.value)


def said(owner: Owner) -> str:
    return json.dumps(asdict(owner)) + "\n"


def ended() -> Owner:
    """A process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = Owner.of(process.pid)
    process.communicate()
    return owner


def test_one_at_a_time(tmp_path: Path) -> None:
    first, second = Lock(tmp_path / "lock"), Lock(tmp_path / "lock")
    first.acquire()
    assert f"is in use by process {os.getpid()} on" in refused(tmp_path / "lock")
    first.release()
    second.acquire()
    second.release()
    second.release()


def test_a_stale_lock_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.write_text(said(ended()) + "and what an older, longer text left")
    lock = Lock(path)
    lock.acquire()
    assert path.read_text() == said(Owner.of(os.getpid()))
    lock.release()
    assert path.read_bytes() == b""


def test_a_recycled_number_is_another_process(tmp_path: Path) -> None:
    """The number of a process that runs, with another beginning; with its own, the kernel's silence is not believed."""
    path, parent = tmp_path / "lock", Owner.of(os.getppid())
    path.write_text(said(parent))
    assert f"is in use by process {parent.pid}" in refused(path)
    path.write_text(said(replace(parent, began="another boot:17")))
    lock = Lock(path)
    lock.acquire()
    lock.release()


def test_another_host_is_not_judged_from_here(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.write_text(said(replace(ended(), host="elsewhere")))
    told = refused(path)
    assert str(path) in told
    assert "on elsewhere" in told
    assert "remove it" in told


@pytest.mark.parametrize("rubbish", [b"rubbish", b"{}\n", b"\x00\xff", b'{"pid": "1", "host": "x", "began": null}\n'])
def test_a_file_that_is_no_lock(tmp_path: Path, rubbish: bytes) -> None:
    (tmp_path / "lock").write_bytes(rubbish)
    assert "is no lock of a replay" in refused(tmp_path / "lock")


def test_a_worker_does_not_keep_the_lock_of_its_parent(tmp_path: Path) -> None:
    """The parent is killed while the worker lives."""
    source = """
import os, signal, sys, time
from pathlib import Path
from optsched.rolling.lock import Lock
Lock(Path(sys.argv[1])).acquire()
if os.fork() == 0:
    print("ready", flush=True)
    sys.stdin.read()
else:
    time.sleep(600)
"""
    command = [sys.executable, "-c", source, str(tmp_path / "lock")]
    parent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)
    assert parent.stdout is not None
    assert parent.stdout.readline() == b"ready\n"
    assert "is in use" in refused(tmp_path / "lock")
    parent.kill()
    parent.wait()
    lock = Lock(tmp_path / "lock")
    lock.acquire()
    lock.release()
    assert parent.stdin is not None
    parent.stdin.close()
    parent.stdout.close()


def _race(path: Path, start: Barrier, won: Any, over: Barrier) -> None:
    start.wait()
    try:
        Lock(path).acquire()
        won.put(os.getpid())
    except optsched.OptschedError:
        won.put(None)
    over.wait()


def test_a_stale_lock_has_one_heir(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    (tmp_path / "lock").write_text(said(ended()))
    start, over, won = context.Barrier(8), context.Barrier(8), context.Queue()
    racers = [context.Process(target=_race, args=(tmp_path / "lock", start, won, over)) for _ in range(8)]
    for racer in racers:
        racer.start()
    results = [won.get() for _ in racers]
    for racer in racers:
        racer.join()
    (winner,) = (pid for pid in results if pid is not None)
    assert json.loads((tmp_path / "lock").read_text())["pid"] == winner
    assert json.loads((tmp_path / "lock").read_text())["host"] == socket.gethostname()


@pytest.mark.parametrize("family", ["deferrable", pytest.param("vcc", marks=pytest.mark.slow)])
def test_two_replays_in_one_folder(examples: Path, tmp_path: Path, family: str) -> None:
    """While the first is in the middle, the second is refused, whatever it wants; the first ends as if alone."""
    alone, first, state = tmp_path / "alone", tmp_path / "first", tmp_path / "state"
    for folder in (alone, first):
        folder.mkdir()
    assert run(*words(examples, family, alone)).returncode == 0
    command = [sys.executable, "-m", "optsched", *words(examples, family, first), "--checkpoint", str(state)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=ROOT)
    log = state / "log.jsonl"
    while process.poll() is None and not (log.exists() and log.read_bytes().count(b"\n") >= 3):
        time.sleep(0.001)
    process.send_signal(signal.SIGSTOP)
    try:
        assert process.poll() is None
        before = {path: path.read_bytes() for path in state.iterdir()}
        for more in ([], ["--resume"]):
            told = one_line(run("replay", examples / FILES[family], "--policy", "rolling:exact", "--checkpoint", state, *more))
            assert f"is in use by process {process.pid}" in told
        assert {path: path.read_bytes() for path in state.iterdir()} == before
    finally:
        process.send_signal(signal.SIGCONT)
    assert process.wait() == 0
    assert (first / "log").read_bytes() == (alone / "log").read_bytes()
    again = run(*words(examples, family, first), "--checkpoint", state, "--resume")
    assert again.returncode == 0, again.stderr
    assert (first / "log").read_bytes() == (alone / "log").read_bytes()
