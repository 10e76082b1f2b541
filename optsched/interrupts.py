"""Requests to stop: Ctrl-C and SIGTERM (`timeout`, Slurm and containers send it), and stretches of work in which they wait.

Both raise a KeyboardInterrupt, so that whoever keeps what it has on Ctrl-C keeps it on SIGTERM too. Without `listen`, as in a
program that imports optsched, nothing here has any effect.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

INTERRUPTED = 128 + signal.SIGINT  # exit code
TOGETHER_S = 0.5  # two signals that close are one request: `timeout` sends SIGTERM to its child, and to the group as well


class Terminated(KeyboardInterrupt):
    """SIGTERM came."""


class LeftBehind(SystemExit):
    """Raised in a thread of ours whose result nobody waits for."""


@dataclass
class _Requests:
    """What has come: the first signal and when, how many, whether one waits; how many stretches of work make it wait."""

    first: int | None = None
    at_s: float = 0.0
    count: int = 0
    waiting: bool = False
    holds: int = 0
    listening: bool = False
    deaf: bool = False


_requests = _Requests()


def listen() -> None:
    """Take Ctrl-C and SIGTERM as requests, unless whoever started the process has them ignored or handled."""
    if threading.current_thread() is not threading.main_thread():  # Python takes signals in the main thread only
        return
    vars(_requests).update(vars(_Requests(listening=True)))
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _come)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _come)


def _come(number: int, frame: FrameType | None) -> None:
    now_s = time.monotonic()
    if _requests.first is None:
        _requests.first, _requests.at_s = number, now_s
    elif now_s - _requests.at_s < TOGETHER_S:
        return
    _requests.count += 1
    if _requests.deaf:
        return
    if _requests.holds and _requests.count == 1:  # whoever asks twice does not want to wait
        _requests.waiting = True
        return
    _raise()


def _raise() -> None:
    _requests.waiting = False
    raise Terminated if _requests.first == signal.SIGTERM else KeyboardInterrupt


def listening() -> bool:
    """Whether requests are taken here at all."""
    return _requests.listening


def asked() -> bool:
    """Whether one has come."""
    return _requests.count > 0


def check() -> None:
    """Raise again what has come, in case that somebody has caught it on the way."""
    if asked():
        _raise()


def ours(error: BaseException) -> bool:
    """Whether what came out of somebody else's code ends a thread of ours or, as far as is known, is a request to stop."""
    return isinstance(error, LeftBehind) or (isinstance(error, KeyboardInterrupt) and (asked() or not listening()))


def exit_code() -> int | None:
    """130 after Ctrl-C, 143 after SIGTERM, None where nothing has come; later ones change nothing any more."""
    _requests.deaf = True
    return None if _requests.first is None else 128 + _requests.first


@contextmanager
def held() -> Iterator[None]:
    """A request waits until the end of the block; a second one does not."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _requests.holds += 1
    try:
        yield
    finally:
        _requests.holds -= 1
        if _requests.waiting and not _requests.holds:
            _raise()


@contextmanager
def heard() -> Iterator[None]:
    """Within a block that is `held`: here a request counts at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    holds, _requests.holds = _requests.holds, 0
    try:
        if _requests.waiting:
            _raise()
        yield
    finally:
        _requests.holds = holds


@contextmanager
def keeping() -> Iterator[None]:
    """A request counts only where it is `heard` or `asked` for; what is in here ends, and keeps what it has found."""
    _requests.holds += 1
    try:
        yield
    finally:
        _requests.holds -= 1
