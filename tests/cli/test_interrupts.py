"""Killed, terminated or interrupted at any moment: outputs are absent or whole, and a replay goes on as if nothing had been."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import optsched
from optsched.files import write_bytes
from optsched.instances.files import save
from optsched.instances.generators import osdec
from optsched.rolling.loop import Interrupted
from tests.cli.test_cli import one_line, run

ROOT = Path(__file__).parents[2]
POLICY = {"deferrable": "rolling:exact", "geo": "rolling:exact", "vcc": "rolling:exact", "allocation": "rolling"}


def start(words: list[Any]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "optsched", *map(str, words)]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, text=True, cwd=ROOT, **pipes)


def timed(words: list[Any]) -> float:
    """Seconds of the undisturbed command."""
    began = time.monotonic()
    _, err = (process := start(words)).communicate()
    assert process.returncode == 0, err
    return time.monotonic() - began


def stopped(words: list[Any], after_s: float, number: signal.Signals) -> tuple[int, str]:
    """Exit code and standard error of a command that gets a signal at a moment."""
    process = start(words)
    time.sleep(after_s)
    process.send_signal(number)
    _, err = process.communicate()
    assert "internal error" not in err
    if number == signal.SIGTERM:
        assert "Traceback" not in err
    return process.returncode, err


def codes(number: signal.Signals) -> tuple[int, ...]:
    """Of what was stopped: -number where it had no chance to answer, as while Python starts; 0 where it had ended before."""
    return (0, -number) if number == signal.SIGKILL else (0, -number, 128 + number)


def solved(tmp_path: Path, number: signal.Signals, times: int, rng: random.Random) -> None:
    """An output is absent, or whole and confirmed; an interrupted one is never taken for the end."""
    file, output = tmp_path / "x.json", tmp_path / "r.json"
    instance = osdec(1, 1, jobs=60, horizon=48, window=8, seed=3)
    save(instance, file)
    words = ["solve", file, "--method", "decomposition", "--option", "iterations=60", "-o", output]
    whole = timed(words)
    written = 0
    for _ in range(times):
        output.unlink(missing_ok=True)
        code, err = stopped(words, rng.uniform(0, 1.1 * whole), number)
        assert code in codes(number), err
        assert output.exists() or code != 0
        if output.exists():
            found = optsched.load_result(output)
            assert found.verify(instance) == []
            assert code == 143 or found.termination != "interrupted"
            written += code != 0
        if number != signal.SIGKILL:
            assert [path for path in tmp_path.iterdir() if path not in (file, output)] == []
    if times >= 10 and number == signal.SIGTERM:
        assert written
    for left in tmp_path.glob(".*.part"):  # what a kill in the middle of writing may leave
        left.unlink()
    assert run(*words).returncode == 0
    assert run("check", file, output).returncode == 0


def replayed(examples: Path, tmp_path: Path, family: str, number: signal.Signals, times: int, rng: random.Random) -> None:
    """Stopped and resumed until it is through, over and over: log and schedule are those of a replay left alone."""
    file = examples / ("armida.json" if family == "allocation" else f"{family}-small.json")
    instance = optsched.load(file)
    alone = tmp_path / "alone"
    alone.mkdir()
    words = ["replay", file, "--policy", POLICY[family], "--seed", 4]
    whole = timed([*words, "-o", alone / "r.json", "--log", alone / "log"])
    expected, log = optsched.load_result(alone / "r.json"), (alone / "log").read_text()
    life = stops = 0
    while stops < times:
        life += 1
        folder = tmp_path / f"life{life}"
        folder.mkdir()
        output, told, state = folder / "r.json", folder / "log", folder / "state"
        keep = [*words, "-o", output, "--log", told, "--checkpoint", state, "--every", 3]
        while True:
            resume = ["--resume"] if (state / "header.json").exists() else []
            if stops == times:
                done = run(*keep, *resume)
                code, err = done.returncode, done.stderr
            else:
                code, err = stopped([*keep, *resume], rng.uniform(0, 1.1 * whole), number)
                stops += 1
            assert code in codes(number), err
            if told.exists():
                assert log.startswith(told.read_text())
            if output.exists():
                found = optsched.load_result(output)
                assert found.verify(instance) == []
                assert (found.termination == "interrupted") == (found.schedule != expected.schedule) or code
            if code == 0:
                break
        assert told.read_text() == log
        final = optsched.load_result(output)
        assert final.schedule == expected.schedule
        assert final.objective == expected.objective


def seeded(*words: object) -> random.Random:
    """Moments that differ from run to run; the seed is shown when a test fails."""
    seed = int(os.environ.get("OPTSCHED_SEED", time.time_ns() % 10**6))
    print(f"OPTSCHED_SEED={seed}")  # noqa: T201
    return random.Random(f"{seed} {words}")


def test_solve_stopped_anywhere(tmp_path: Path) -> None:
    solved(tmp_path, signal.SIGTERM, 2, seeded(signal.SIGTERM))


def test_replay_stopped_anywhere(examples: Path, tmp_path: Path) -> None:
    replayed(examples, tmp_path, "deferrable", signal.SIGKILL, 2, seeded(signal.SIGKILL))


@pytest.mark.slow
@pytest.mark.parametrize(("number", "times"), [(signal.SIGKILL, 16), (signal.SIGTERM, 8)])
def test_solve_stopped_everywhere(tmp_path: Path, number: signal.Signals, times: int) -> None:
    solved(tmp_path, number, times, seeded(number))


@pytest.mark.slow
@pytest.mark.parametrize("family", POLICY)
@pytest.mark.parametrize(("number", "times"), [(signal.SIGKILL, 5), (signal.SIGTERM, 3)])
def test_replay_stopped_everywhere(examples: Path, tmp_path: Path, number: signal.Signals, times: int, family: str) -> None:
    replayed(examples, tmp_path, family, number, times, seeded(number, family))


IN_THE_MIDDLE = """
import os, signal, sys
from optsched.cli import main
from optsched.{module} import {cls}
asked = {cls}.{method}
def ask(self, *words, **more):
    answer = asked(self, *words, **more)
    {cls}.{method} = asked
    os.kill(os.getpid(), signal.{name})
    return answer
{cls}.{method} = ask
main(sys.argv[1:])
"""


def in_the_middle(name: str, where: str, *words: object) -> subprocess.CompletedProcess[str]:
    """A command that gets a signal at a certain place."""
    module, cls, method = where.split(":")
    source = IN_THE_MIDDLE.format(name=name, module=module, cls=cls, method=method)
    command = [sys.executable, "-c", source, *map(str, words)]
    how: dict[str, Any] = {"capture_output": True, "text": True, "timeout": 120, "check": False}
    return subprocess.run(command, cwd=ROOT, **how)


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
@pytest.mark.parametrize(
    ("where", "method"),
    [
        ("monitor:Monitor:incumbent", "exact"),
        ("monitor:Monitor:bounded", "decomposition"),
        ("methods:HeuristicMethod:__call__", "greedy"),
        ("result:Result:sealed", "decomposition"),
        ("result:Result:save", "exact"),
    ],
)
def test_a_schedule_that_is_there_is_written(
    examples: Path, tmp_path: Path, name: str, code: int, where: str, method: str
) -> None:
    """From the first schedule on: while a solver works, while its schedule is judged, and while the result is written."""
    output = tmp_path / "r.json"
    done = in_the_middle(name, where, "solve", examples / "deferrable-small.json", "--method", method, "-o", output)
    assert done.returncode == code, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    assert "objective" in done.stdout
    assert run("check", examples / "deferrable-small.json", output).returncode == 0


def test_a_heuristic_ends_with_what_it_has(tmp_path: Path) -> None:
    """Asked while it draws, it draws no more."""
    file, output = tmp_path / "x.json", tmp_path / "r.json"
    assert run("generate", "andreas-1", "--nodes", 10, "--all-submitted", "-o", file).returncode == 0
    words = ["solve", file, "--method", "randomized-greedy", "--option", "iterations=100000", "-o", output]
    done = in_the_middle("SIGTERM", "stop:Spare:__call__", *words)
    assert done.returncode == 143, (done.stdout, done.stderr)
    assert optsched.load_result(output).termination == "interrupted"
    assert run("check", file, output).returncode == 0


SLEEPERS = """
import os, signal, time

def endless(instance):
    os.kill(os.getpid(), signal.{name})
    while True:
        time.sleep(0.01)

def endless_method(instance, *, stop=None, seed=0, start=None, progress=None):
    endless(instance)
"""


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
@pytest.mark.parametrize("method", ["endless", "endless_method"])
def test_the_first_request_ends_what_cannot_be_asked_to_end(
    examples: Path, tmp_path: Path, name: str, code: int, method: str
) -> None:
    """Somebody else's heuristic without `spare`, and a function that is a method."""
    (tmp_path / "sleepers.py").write_text(SLEEPERS.format(name=name))
    command = [sys.executable, "-m", "optsched", "solve", str(examples / "deferrable-small.json")]
    command += ["--method", f"sleepers:{method}"]
    how: dict[str, Any] = {"capture_output": True, "text": True, "timeout": 20, "check": False}
    assert one_line(subprocess.run(command, cwd=tmp_path, **how), code) == "interrupted"


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
@pytest.mark.parametrize("where", ["rolling.slots:SlotSimulator:apply", "rolling.slots:SlotSimulator:present"])
def test_a_replay_stops_between_two_decisions(examples: Path, tmp_path: Path, name: str, code: int, where: str) -> None:
    """In the first decision, or while it is carried out."""
    file, output, log = examples / "deferrable-small.json", tmp_path / "r.json", tmp_path / "log"
    words = ["replay", file, "--policy", "fifo", "-o", output, "--log", log]
    done = in_the_middle(name, where, *words)
    assert done.returncode == code, (done.stdout, done.stderr)
    decisions = 1 if where.endswith("apply") else 0
    assert done.stderr.startswith(f"interrupted in fifo after {decisions} decision")
    assert len(done.stderr.splitlines()) == 1
    assert output.exists() == log.exists() == (decisions > 0)
    if decisions:
        assert len(log.read_text().splitlines()) == decisions
        assert optsched.load_result(output).termination == "interrupted"
        assert run("check", file, output).returncode == 0


def test_an_unfinished_allocation_is_no_result(examples: Path, tmp_path: Path) -> None:
    """Work that is left makes no whole schedule: that is said, with how to go on; the log is kept."""
    output, log, state = tmp_path / "r.json", tmp_path / "log", tmp_path / "state"
    words = ["replay", examples / "armida.json", "--policy", "edf", "-o", output, "--log", log, "--checkpoint", state]
    done = in_the_middle("SIGTERM", "rolling.allocation.simulator:AllocationSimulator:apply", *words)
    told = one_line(done, 143)
    assert told.startswith("interrupted in edf after 1 decision; ")
    assert "r.json is not written" in told
    assert told.endswith(f"go on with --checkpoint {state} --resume")
    assert not output.exists()
    assert len(log.read_text().splitlines()) == 1
    assert run(*words, "--resume").returncode == 0
    assert run("check", examples / "armida.json", output).returncode == 0


def test_interrupted_is_a_keyboard_interrupt_with_what_happened(examples: Path) -> None:
    """For whoever calls `replay` from Python."""
    instance = optsched.load(examples / "deferrable-small.json")

    class Stops:
        def reset(self, seed: int) -> None:
            self.count = 0

        def decide(self, snapshot: Any) -> Any:
            self.count += 1
            if self.count == 4:
                raise KeyboardInterrupt
            return optsched.solve(snapshot, "greedy")

    with pytest.raises(KeyboardInterrupt) as stop:
        optsched.replay(instance, Stops())
    assert isinstance(stop.value, Interrupted)
    assert stop.value.decisions == 3
    assert stop.value.result is not None
    assert stop.value.result.verify(instance) == []


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["solve", "deferrable-small.json", "--method", "greedy"], "-o"),
        (["replay", "deferrable-small.json", "--policy", "fifo"], "-o"),
        (["replay", "deferrable-small.json", "--policy", "fifo"], "--log"),
    ],
)
def test_devices_and_pipes_are_written_through(examples: Path, tmp_path: Path, words: list[str], option: str) -> None:
    verb, file, *more = words
    command = [verb, examples / file, *more, option]
    whole, pipe, link = tmp_path / "whole.json", tmp_path / "pipe.json", tmp_path / "link.json"
    assert run(*command, whole).returncode == 0
    before = os.stat(os.devnull)
    assert run(*command, os.devnull).returncode == 0
    assert (os.stat(os.devnull).st_mode, os.stat(os.devnull).st_ino) == (before.st_mode, before.st_ino)
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    assert run(*command, pipe).returncode == 0
    reader.join()
    assert pipe.is_fifo()
    assert same(read[0], whole.read_bytes())
    link.symlink_to("target.json")
    assert run(*command, link).returncode == 0
    assert link.is_symlink()
    assert same((tmp_path / "target.json").read_bytes(), whole.read_bytes())
    done = run(*command, "/dev/stdout")
    assert done.returncode == 0, done.stderr
    begin = done.stdout.index('{\n "format"' if option == "-o" else '{"time_s"')
    assert done.stdout[begin:].startswith(whole.read_text()[:60])


def same(a: bytes, b: bytes) -> bool:
    """Two outputs of equal runs: results differ in seconds only."""
    if a.startswith(b'{"time_s"'):
        return a == b
    return bool(json.loads(a)["schedule"] == json.loads(b)["schedule"])


def test_standard_output_that_is_a_file_keeps_what_was_printed(examples: Path, tmp_path: Path) -> None:
    """Opened anew it would be truncated; replaced, it would be lost to whoever opened it."""
    out = tmp_path / "out"
    command = [sys.executable, "-m", "optsched", "replay", str(examples / "geo-small.json"), "--log", "/dev/stdout"]
    with out.open("w") as stream:
        assert subprocess.run([*command, "--policy", "greedy"], stdout=stream, check=False, cwd=ROOT).returncode == 0
    text = out.read_text()
    assert text.startswith("masac")
    assert '{"time_s"' in text
    assert "policy " in text


@pytest.mark.parametrize(
    ("make", "said"),
    [
        pytest.param(lambda path: path.mkdir(), "is a folder", id="folder"),
        pytest.param(lambda path: path.symlink_to(path.parent / "none" / "r.json"), "cannot be written", id="dangling"),
        pytest.param(lambda path: path.symlink_to("/dev/fd/99"), "cannot be written", id="closed"),
    ],
)
def test_what_cannot_be_written_is_one_line(tmp_path: Path, make: Callable[[Path], None], said: str) -> None:
    path = tmp_path / "r.json"
    make(path)
    with pytest.raises(optsched.InputError, match=said):
        write_bytes(path, b"x")
    assert not path.is_file()
