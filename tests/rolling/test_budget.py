"""A budget ends what hangs, and nothing else: states survive, workers do not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from optsched.registry import family as family_named
from optsched.rolling.budget import Budgeted, OutOfTime
from optsched.rolling.loop import replay
from optsched.rolling.policy import Settings, policies
from tests.oracle import tiny

BUDGET = Settings(budget_s=0.3)
PROMPT = Settings(budget_s=30)


def batch() -> Any:
    """Three jobs, one a slot, that anybody can start at once."""
    jobs = [{"id": f"j{s}", "cores": 1.0, "duration": 1, "earliest": s, "latest": s, "submitted": s} for s in range(3)]
    return tiny.make("deferrable", slot_s=300, capacity=[2.0] * 4, delay_penalty=1, overload_penalty=9, jobs=jobs)


class Sane:
    """The greedy, and when it was asked."""

    def reset(self, seed: int) -> None:
        self.seen: list[int] = []

    def decide(self, snapshot: Any) -> Any:
        self.seen.append(snapshot.now)
        return family_named(snapshot.problem).heuristics()["greedy"](snapshot, 0)


class Hangs(Sane):
    def decide(self, snapshot: Any) -> Any:
        while True:
            pass


class HangsInOneSlot(Sane):
    def decide(self, snapshot: Any) -> Any:
        decision = super().decide(snapshot)
        while snapshot.now == 1:
            pass
        return decision


class Raises(Sane):
    def decide(self, snapshot: Any) -> Any:
        raise ZeroDivisionError("oops")


class Dies(Sane):
    def decide(self, snapshot: Any) -> Any:
        os._exit(3)


class Leaves(Sane):
    def decide(self, snapshot: Any) -> Any:
        sys.exit(3)


class SaysNothing(Sane):
    def decide(self, snapshot: Any) -> Any:
        return None


class SaysNonsense(Sane):
    def decide(self, snapshot: Any) -> Any:
        return "run them all"


ANOTHER: Any = tiny.geo(0)
ANOTHERS = family_named("geo").heuristics()["greedy"](ANOTHER, 0)  # made before a budget counts


class Confuses(Sane):
    """A schedule of another family."""

    def decide(self, snapshot: Any) -> Any:
        return ANOTHERS


class IsLate(Sane):
    """Starts that no job has."""

    def decide(self, snapshot: Any) -> Any:
        decision = super().decide(snapshot)
        return decision.model_copy(update={"starts": tuple(s.model_copy(update={"start": 99}) for s in decision.starts)})


BROKEN = [
    (Hangs, "took more than 0.3 s"),
    (Raises, "ZeroDivisionError: oops"),
    (Dies, "its worker died"),
    (Leaves, "SystemExit: 3"),
    (SaysNothing, ""),
    (SaysNonsense, ""),
    (Confuses, ""),
    (IsLate, "starts after its latest slot"),
]


@pytest.mark.timing
def test_nobody_waits_much_longer_than_the_budget() -> None:
    began = time.monotonic()
    replay(batch(), Hangs(), settings=BUDGET, on_failure="fallback")
    assert time.monotonic() - began < 3 * 0.3 + 4


@pytest.mark.parametrize(("policy", "word"), BROKEN)
def test_whatever_goes_wrong_is_caught_by_name(policy: type[Sane], word: str) -> None:
    """Every decision falls back on the greedy, which starts all three jobs."""
    rows: list[Any] = []
    settings = BUDGET if policy is Hangs else PROMPT
    result = replay(batch(), policy(), settings=settings, log=rows.append, on_failure="fallback")
    assert result.options["figures"]["fallbacks"] == 3
    assert result.options["figures"]["out_of_time"] == (3 if policy is Hangs else 0)
    assert result.message is not None
    assert policy.__name__ in result.message
    assert word in result.message
    assert all(policy.__name__ in row["fallback"] for row in rows)
    assert result.objective == pytest.approx(3)


@pytest.mark.parametrize("policy", [Raises, SaysNothing, SaysNonsense, Confuses, IsLate])
def test_the_same_without_a_budget(policy: type[Sane]) -> None:
    result = replay(batch(), policy(), on_failure="fallback")
    assert result.options["figures"]["fallbacks"] == 3
    assert policy.__name__ in (result.message or "")
    assert result.objective == pytest.approx(3)


def snapshots() -> list[Any]:
    """What the three decisions are about."""
    found: list[Any] = []

    class Keeps(Sane):
        def decide(self, snapshot: Any) -> Any:
            found.append(snapshot)
            return super().decide(snapshot)

    replay(batch(), Keeps())
    return found


def test_the_state_goes_on_across_decisions() -> None:
    kept = Budgeted(Sane(), 30)
    kept.reset(0)
    for snapshot in snapshots():
        kept.decide(snapshot)
    kept.close()
    assert kept.policy.seen == [0, 1, 2]  # type: ignore[attr-defined]


def test_a_policy_that_was_ended_goes_on_from_its_last_state() -> None:
    """What it did in the decision that was ended never happened."""
    kept = Budgeted(HangsInOneSlot(), 0.3)
    kept.reset(0)
    for snapshot in snapshots():
        if snapshot.now == 1:
            with pytest.raises(OutOfTime):
                kept.decide(snapshot)
            assert kept.process is None
        else:
            kept.decide(snapshot)
    kept.close()
    assert kept.policy.seen == [0, 2]  # type: ignore[attr-defined]


ALL = [(family, name) for family in tiny.TINY for name in policies(family)]


@pytest.mark.parametrize(
    ("family", "policy"),
    [pytest.param(*p, marks=pytest.mark.slow if nth % 2 and p[1] != "rolling" else ()) for nth, p in enumerate(ALL)],
)
def test_a_budget_that_is_kept_changes_nothing(family: str, policy: str) -> None:
    instance = tiny.TINY[family](3)
    if family == "allocation":
        instance = instance.model_copy(update={"use_all_nodes": True})
    runs = [replay(instance, policy, settings=s) for s in (Settings(), PROMPT)]
    assert runs[0].schedule == runs[1].schedule
    assert runs[0].message == runs[1].message
    assert not any(run.options["figures"]["fallbacks"] for run in runs)


ORPHAN = """
import os, sys, time
from optsched.rolling.loop import replay
from optsched.rolling.policy import Settings
from tests.rolling.test_budget import batch

class Hangs:
    def reset(self, seed): ...
    def decide(self, snapshot):
        print(os.getpid(), flush=True)
        {hang}

replay(batch(), Hangs(), settings=Settings(budget_s=600))
"""


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize(
    "hang",
    [
        "while True: pass",
        "time.sleep(600)",
        "sum(range(10**13))",  # one call into C that never lets the watching thread run
    ],
)
def test_a_worker_does_not_outlive_a_killed_parent(hang: str) -> None:
    root = Path(__file__).parents[2]
    parent = subprocess.Popen([sys.executable, "-c", ORPHAN.format(hang=hang)], stdout=subprocess.PIPE, text=True, cwd=root)
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    try:
        assert worker != parent.pid
        assert alive(worker)
        parent.kill()
        parent.wait()
        until = time.monotonic() + 60  # it takes no time, but on a busy machine
        while alive(worker) and time.monotonic() < until:
            time.sleep(0.02)
        assert not alive(worker)
    finally:
        parent.kill()
        if alive(worker):
            os.kill(worker, signal.SIGKILL)
        parent.stdout.close()


class Hurries(HangsInOneSlot):
    """It counts how often it was late, and hangs no more."""

    def reset(self, seed: int) -> None:
        super().reset(seed)
        self.late = 0

    def decide(self, snapshot: Any) -> Any:
        return Sane.decide(self, snapshot) if self.late else super().decide(snapshot)

    def hurry(self) -> None:
        self.late += 1


def test_who_was_late_is_told() -> None:
    kept = Budgeted(Hurries(), 2.0)
    kept.reset(0)
    first, second, third = snapshots()
    kept.decide(first)
    with pytest.raises(OutOfTime):
        kept.decide(second)
    kept.decide(second)
    kept.decide(third)
    kept.close()
    assert (kept.policy.late, kept.policy.seen) == (1, [0, 1, 2])  # type: ignore[attr-defined]


def test_who_was_late_is_told_in_a_replay() -> None:
    """A policy of one's own, too, whatever stands between."""
    result = replay(batch(), Hurries(), settings=Settings(budget_s=2.0))
    assert result.options["figures"]["out_of_time"] == 1
