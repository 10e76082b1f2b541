"""A method in a process beside this one: what it finds comes back in time, and nobody waits for one that cannot."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import pytest

from optsched import beside as module
from optsched import mates
from optsched.beside import Beside, beside
from optsched.decomposition.method import Decomposition
from optsched.exact import Exact
from optsched.instances.generators import osdec
from optsched.scaffold import Call
from optsched.stop import Stop

INSTANCE: Any = osdec(jobs=60, horizon=72)
FAR = 1e9  # seconds of the machine's clock


def call(seconds: float | None) -> Call[Any]:
    return Call(INSTANCE, Stop(seconds=seconds), 0, None, None)


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mates, "cores", lambda: 2)
    monkeypatch.setattr(mates, "WORTH_S", 0.5)
    monkeypatch.setattr(module, "GRACE_S", 60.0)  # a busy machine


def test_what_it_finds_comes_back() -> None:
    with beside(Decomposition(), call(8.0), None) as working:
        assert working is not None
        found = working.result(stopped=False)
    assert found is not None
    assert found.verify(INSTANCE) == []
    assert (found.method, found.bound is not None) == ("decomposition", True)
    assert working.mate.process is not None
    assert working.mate.process.poll() is not None


def test_one_that_dies_has_found_nothing() -> None:
    with beside(Decomposition(), call(300.0), None) as working:
        assert working is not None
        assert working.mate.process is not None
        working.mate.process.kill()
        assert working.result(stopped=False) is None


def test_ctrl_c_keeps_what_it_has() -> None:
    """Of a mate, for which it is sent on; this instance it does not prove in minutes."""
    instance, before = osdec(2, 2, seed=1), signal.getsignal(signal.SIGINT)
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        found = Beside(Decomposition(threads=1), (instance, Stop(), 0, None), FAR)()
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    assert found is not None
    assert (found.termination, found.verify(instance)) == ("interrupted", [])


def test_what_it_cannot_take_is_nothing() -> None:
    assert Beside(Exact(backend="none"), (INSTANCE, Stop(), 0, None), FAR)() is None


@pytest.mark.parametrize(("method", "seconds"), [(Decomposition(), None), (Decomposition(), 0.1), (None, 60.0)])
def test_none_without_a_method_or_a_clock_or_time(method: Any, seconds: float | None) -> None:
    with beside(method, call(seconds), None) as working:
        assert working is None


def test_none_on_one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mates, "cores", lambda: 1)
    with beside(Decomposition(), call(60.0), None) as working:
        assert working is None
