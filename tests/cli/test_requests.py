"""Requests to stop before anything is decided, two signals at once, and policies that are not in time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_cli import one_line, run
from tests.cli.test_interrupts import ROOT

IN_THE_BOUND = """
import os, signal, sys, time
from optsched.analysis import bounds
from optsched.cli import main
def ask(*words):
    os.kill(os.getpid(), signal.{name})
    time.sleep(60)
bounds.quick_bound = ask
main(sys.argv[1:])
"""


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_stopped_before_the_first_decision(examples: Path, tmp_path: Path, name: str, code: int) -> None:
    """While a bound is sought: that is said, and that neither file is there."""
    output, log = tmp_path / "r.json", tmp_path / "l.jsonl"
    words = ["replay", examples / "geo-small.json", "--policy", "greedy", "-o", output, "--log", log]
    command = [sys.executable, "-c", IN_THE_BOUND.format(name=name), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=ROOT)
    said = one_line(done, code)
    assert "nothing has been decided yet" in said
    assert f"{output} and {log} are not written" in said
    assert list(tmp_path.iterdir()) == []


TWICE = """
import os, signal, sys, time
from optsched import interrupts
interrupts.listen()
try:
    with interrupts.held():
        os.kill(os.getpid(), signal.SIGTERM)
        if sys.argv[1] == "later":
            interrupts._requests.at_s -= 2 * interrupts.TOGETHER_S
        os.kill(os.getpid(), signal.SIGTERM)
        print("kept")
except interrupts.Terminated:
    print("stopped")
print(interrupts.exit_code())
"""


@pytest.mark.parametrize(("when", "lines"), [("at once", ["kept", "stopped", "143"]), ("later", ["stopped", "143"])])
def test_signals_that_come_together_are_one_request(when: str, lines: list[str]) -> None:
    """As `timeout` sends them, to its child and to the group; who asks again later does not want to wait."""
    done = subprocess.run([sys.executable, "-c", TWICE, when], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split("\n")[:-1] == lines


POLICY = """
import time
import optsched
class Slow:
    def reset(self, seed): pass
    def decide(self, snapshot):
        if snapshot.now_s == 0:
            time.sleep(60)
        return optsched.solve(snapshot, "greedy")
class Always(Slow):
    def decide(self, snapshot): time.sleep(60)
"""


@pytest.mark.slow
def test_who_is_out_of_time_is_marked(tmp_path: Path) -> None:
    """`+` where it was now and then, and the row ranks; `*` and last where nothing is the policy's own."""
    (tmp_path / "mine.py").write_text(POLICY)
    assert run("generate", "andreas-1", "--nodes", 2, "--jobs", 3, "-o", tmp_path / "x.json").returncode == 0
    words = ["replay", "x.json", "--budget", "1.5", "--no-bound"]
    words += [word for name in ("mine:Always", "mine:Slow", "fifo") for word in ("--policy", name)]
    done = run(*words, "-o", "table.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    marked = [line.split()[:2] for line in done.stdout.splitlines() if line.startswith(("mine:", "fifo "))][:3]
    assert marked[0] == ["mine:Slow", "+"]
    assert marked[1][0] == "fifo"
    assert marked[2] == ["mine:Always", "*"]
    assert "\n+ mine:Slow took longer than its budget in 1 of" in done.stdout
    assert "\n* mine:Always took longer than its budget in" in done.stdout
    assert done.stdout.count("its row does not rank") == 1
    rows = {row["name"]: row for row in json.loads((tmp_path / "table.json").read_text())}
    assert rows["mine:Always"]["objective"] is None
    assert rows["mine:Slow"]["objective"] is not None
