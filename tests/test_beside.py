"""A method in a process beside this one: what it finds comes back in time, and nobody waits for one that cannot."""

from __future__ import annotations

import math
import os
import signal
import threading
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

import optsched
from optsched import beside as module
from optsched import mates
from optsched.beside import Beside, beside
from optsched.decomposition.method import Decomposition
from optsched.errors import CertificateError, OptschedError
from optsched.exact import Exact
from optsched.instances.generators import osdec
from optsched.result import Result
from optsched.scaffold import Call
from optsched.stop import Stop

INSTANCE: Any = osdec(jobs=30, horizon=48)
FAR = 1e9  # seconds of the machine's clock


def call(seconds: float | None) -> Call[Any]:
    return Call(INSTANCE, Stop(seconds=seconds), 0, None, None)


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mates, "cores", lambda: 2)
    monkeypatch.setattr(mates, "WORTH_S", 0.5)
    monkeypatch.setattr(module, "ON_ITS_WAY_S", 60.0)  # a busy machine


def test_what_it_finds_comes_back() -> None:
    with beside(Decomposition(), call(90.0), None) as working:
        assert working is not None
        found = working.result(lambda: False)
    assert found is not None
    assert found.verify(INSTANCE) == []
    assert (found.method, found.bound is not None) == ("decomposition", True)
    assert working.mate.process is not None
    assert working.mate.process.poll() is not None


class Told:
    """A mate that keeps what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.found: Any = None
        self.idle = False

    def ask(self, *words: Any) -> None:
        self.asked.append(words)
        self.found, self.idle = None, False


@pytest.fixture
def mate() -> Any:
    return Told()


def test_the_second_leg_begins_with_the_best_and_has_all_of_the_time(mate: Any) -> None:
    first, better = optsched.solve(INSTANCE, "greedy"), optsched.solve(INSTANCE, "exact")
    first = first.model_copy(update={"termination": "time_limit"})
    working = module.Working(mate, None, 20.0, 0.0)
    assert mate.asked == [(None, working.until, 3.0)]
    working.go_on(better)
    assert len(mate.asked) == 1  # it has not come back
    mate.found, mate.idle = first, True
    assert working.found is first
    working.go_on(better)
    assert mate.asked[1:] == [(better, working.until, math.inf)]
    assert working.found is first  # until there is news
    mate.found, mate.idle = better, True
    assert working.found is better
    working.go_on(first)
    assert len(mate.asked) == 2


@pytest.mark.parametrize(("left", "ended", "leg_s"), [(20.0, "completed", 3.0), (19.0, "time_limit", math.inf)])
def test_one_leg_where_it_has_ended_by_itself_or_time_is_short(left: float, ended: str, leg_s: float, mate: Any) -> None:
    working = module.Working(mate, None, left, 0.0)
    mate.found, mate.idle = optsched.solve(INSTANCE, "greedy").model_copy(update={"termination": ended}), True
    working.go_on(mate.found)
    assert mate.asked == [(None, working.until, leg_s)]


def test_nobody_goes_on_before_it_is_back(mate: Any) -> None:
    """What answers is there a moment before the mate is idle, and would take what is asked then for done."""
    working = module.Working(mate, None, 20.0, 0.0)
    mate.found = optsched.solve(INSTANCE, "greedy").model_copy(update={"termination": "time_limit"})
    working.go_on(mate.found)
    assert (len(mate.asked), working.found) == (1, None)


def test_nobody_goes_on_after_a_request(mate: Any) -> None:
    working = module.Working(mate, None, 20.0, 0.0)
    mate.found, mate.idle = optsched.solve(INSTANCE, "greedy").model_copy(update={"termination": "time_limit"}), True
    working.stop()
    working.go_on(mate.found)
    assert len(mate.asked) == 1


def test_who_waits_for_it_may_let_it_go_on_or_have_enough(mate: Any) -> None:
    """Exact has ended before the first leg has come back."""
    working = module.Working(mate, None, 20.0, 0.0)
    found = optsched.solve(INSTANCE, "greedy").model_copy(update={"termination": "time_limit"})
    answers: list[Any] = [found, "nothing"]

    def enough() -> bool:
        mate.found, mate.idle = answers.pop(0), True
        working.go_on(found)
        return False

    assert working.result(enough) is found
    assert mate.asked[1:] == [(found, working.until, math.inf)]
    mate.idle = False
    assert working.result(lambda: True) is found


def test_one_that_dies_has_found_nothing() -> None:
    with beside(Decomposition(), call(300.0), None) as working:
        assert working is not None
        assert working.mate.process is not None
        working.mate.process.kill()
        assert working.result(lambda: False) is None


@dataclass(frozen=True)
class Interrupted(Decomposition):
    """Ctrl-C comes while it works."""

    def __call__(self, *given: Any, **how: Any) -> Any:
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        return super().__call__(*given, **how)


def test_ctrl_c_keeps_what_it_has() -> None:
    """Of a mate, to which it is sent on, and which hears it in no other place; this instance it does not prove in minutes."""
    instance, before = osdec(2, 2, seed=1), signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        found = Beside(Interrupted(threads=1), (instance, Stop(), 0))(None, FAR, math.inf)
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert isinstance(found, Result)
    assert (found.termination, found.verify(instance)) == ("interrupted", [])


def test_a_mate_that_waits_hears_no_ctrl_c() -> None:
    """It has answered, and would die of it with a traceback."""
    with beside(Decomposition(), call(90.0), None) as working:
        assert working is not None
        assert working.result(lambda: False) is not None
        working.stop()
        assert working.stopped
        assert working.found is not None
        assert working.mate.process is not None
        assert working.mate.process.poll() is None


def test_what_it_cannot_take_is_nothing_and_a_contradiction_is_told() -> None:
    refused = Beside(Exact(backend="none"), (INSTANCE, Stop(), 0))(None, FAR, math.inf)
    assert type(refused) is OptschedError
    for told, raised in ((refused, False), (CertificateError("they disagree"), True)):
        mate: Any = SimpleNamespace(found=told, idle=True, ask=lambda *words: None)
        working = module.Working(mate, None, 0.0, 0.0)
        if raised:
            with pytest.raises(CertificateError, match="they disagree"):
                working.result(lambda: False)
        else:
            assert working.result(lambda: False) is None


@pytest.mark.parametrize(("method", "seconds"), [(Decomposition(), None), (Decomposition(), 0.1), (None, 60.0)])
def test_none_without_a_method_or_a_clock_or_time(method: Any, seconds: float | None) -> None:
    with beside(method, call(seconds), None) as working:
        assert working is None


def test_none_on_one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mates, "cores", lambda: 1)
    with beside(Decomposition(), call(60.0), None) as working:
        assert working is None


def test_nobody_is_beside_where_no_process_can_be_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.frozen", True, raising=False)
    with beside(Decomposition(), call(90.0), None) as working:
        assert working is None
