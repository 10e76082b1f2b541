"""A solver at work, watched: incumbents and bounds as they come, a request to stop, and a deadline that holds.

Time limits of solvers are soft (HiGHS: 10 s for a limit of 3 s while it solves the root). So the solver runs in a thread
of its own; past the deadline it is asked to stop, and if it does not listen it is left behind with what it has told so far.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import logging
import sys
import threading
import time
from collections.abc import Callable, Set
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from optsched.instances.base import Floats
from optsched.interrupts import LeftBehind, heard, held
from optsched.stop import Clock

GRACE_S = 0.4
STEP_S = 0.15  # the same for what is no solver: a step of a search in arrays
AT_EXIT_S = 20.0
POLL_S = 0.05
TELL_S = 0.25
NATIVE = {f"optsched.solvers.{name}" for name in ("highs", "cp_sat", "mathopt", "minlp", "pdlp", "scip")}
IMPORTS = {"importlib._bootstrap"}


@dataclass(frozen=True)
class Progress:
    """What is known at a moment: seconds since the start, objective and bound in the model's own sense, or None."""

    seconds: float
    objective: float | None
    bound: float | None


class Monitor:
    """Incumbents and bounds of one run; thread-safe.

    Backends report as minimisers, in units `scale` times the model's; kept and shown are the model's own. Every bound is
    lowered by what the backend may have `overlooked`, in its units.
    """

    def __init__(self, clock: Clock, sign: int, report: Callable[[Progress], None] | None = None) -> None:
        self.clock, self.sign, self._report = clock, sign, report
        self.scale, self.overlooked = 1.0, 0.0
        self.x: Floats | None = None
        self.objective: float | None = None
        self.bound: float | None = None
        self.trace: list[Progress] = []
        self.stopping: str | None = None
        self._on_stop: Callable[[], object] | None = None
        self.left_behind = False
        self._lock = threading.Lock()
        self._shown = 0
        self._told = 0.0

    def stop(self, reason: str) -> None:
        """Ask the solver to stop; `reason` becomes the termination word."""
        self.stopping = reason
        if self._on_stop is not None:
            self._on_stop()

    def when_stopped(self, interrupt: Callable[[], object]) -> None:
        """How to interrupt the solver; done at once if the request came before the solver was ready for it."""
        self._on_stop = interrupt
        if self.stopping is not None:
            interrupt()

    def of_part(self, sign: int) -> Monitor:
        """A monitor of a part of this run, a minimisation where `sign` is 1, which is stopped when this one is."""
        part = Monitor(self.clock, sign)
        self.when_stopped(lambda: part.stop("interrupted"))
        return part

    def incumbent(self, objective: float, x: Floats | None = None) -> None:
        """A solution was found."""
        if not np.isfinite(objective):
            return
        objective /= self.scale
        with self._lock:
            if self.objective is None or objective < self.objective:
                self.objective = objective
                if x is not None:
                    self.x = x
                self._note()

    def bounded(self, bound: float) -> None:
        """A dual bound was proven, or none yet: not finite. Backends keep other words for that (1e20) to themselves."""
        lowered = bound - self.overlooked
        if np.isfinite(lowered):
            self.raised(lowered / self.scale)

    def raised(self, bound: float) -> None:
        """A bound in the model's own units, with everything counted against it that may be wrong with it."""
        with self._lock:
            if self.bound is None or bound > self.bound:
                self.bound = bound
                self._note()

    def withdraw(self, bound: float | None) -> None:
        """Go back to an earlier bound, since the present one was wrong; the trace forgets it too."""
        with self._lock:
            self.bound = bound
            shown = None if bound is None else self.sign * bound
            self.trace = [replace(p, bound=shown) if p.bound is not None and p.bound != shown else p for p in self.trace]

    def _note(self) -> None:
        own = [None if v is None else self.sign * v for v in (self.objective, self.bound)]
        self.trace.append(Progress(self.clock.elapsed_s(), *own))

    def show(self) -> None:
        """Tell the listener where the run stands; called from the waiting thread only, a few times a second."""
        now = self.clock.elapsed_s()
        if self._report is None or (len(self.trace) == self._shown and now - self._told < TELL_S):
            return
        with self._lock:
            last, self._shown, self._told = self.trace[-1:], len(self.trace), now
        for progress in last:
            self._report(Progress(now, progress.objective, progress.bound))


def run_with_deadline(work: Callable[[], None], monitor: Monitor, deadline_s: float | None) -> None:
    """Run `work` in a thread until it ends, or until shortly after `deadline_s` on the monitor's clock, Ctrl-C or SIGTERM.

    The first of them asks the solver to stop and gives it the same grace; a second one leaves at once.
    """
    failure: list[BaseException] = []
    done = threading.Event()  # a thread whose `join` is interrupted passes for ended (CPython 3.11)
    if _remains:  # now somebody has time for it
        _remains.clear()
        gc.unfreeze()

    def guarded() -> None:
        try:
            work()
        except BaseException as error:
            failure.append(error)
            if isinstance(error, LeftBehind):
                _remains.append(error)
        finally:
            _Unheard.threads.discard(threading.get_ident())
            done.set()

    thread = threading.Thread(target=guarded, daemon=True, name="optsched-solver")
    thread.start()
    leave_at = None if deadline_s is None else deadline_s + GRACE_S
    with held():  # a request counts while the solver is waited for, and never between that and what it has found
        while not done.is_set():
            try:
                with heard():
                    done.wait(POLL_S)
                    monitor.show()
                now = monitor.clock.elapsed_s()
                if deadline_s is not None and now >= deadline_s and monitor.stopping is None:
                    monitor.stop("time_limit")
                    leave_at = leave_at if _in_solver(thread) else deadline_s + STEP_S
                if leave_at is not None and now >= leave_at:
                    monitor.left_behind = not done.is_set()
                    _end(thread)
                    return
            except KeyboardInterrupt:
                again = monitor.stopping == "interrupted"
                monitor.stop("interrupted")
                leave_at = monitor.clock.elapsed_s() + (0 if again else GRACE_S)
        monitor.show()
    if failure:
        raise failure[0]


_remains: list[BaseException] = []
"""Of threads left behind: with what they have built, millions of objects, to free which would block everybody for seconds."""


class _Unheard(logging.Filter):
    """Pyomo reports whatever ends its building; of a thread that was left behind nobody wants to know."""

    threads: ClassVar[set[int]] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is told."""
        return record.thread not in self.threads


def _end(thread: threading.Thread) -> None:
    """End a thread that builds or searches in Python, so that it takes no time from what follows, and none at exit.

    One that is inside a solver has been asked to stop; an exception must not come into the solver's callbacks.
    """
    if _in_solver(thread):
        return
    _Unheard.threads.add(thread.ident or 0)
    for handler in logging.getLogger("pyomo").handlers:
        if not any(isinstance(known, _Unheard) for known in handler.filters):
            handler.addFilter(_Unheard())
    gc.freeze()  # the collector, paused while a model is built, would walk all of it
    _remains.append(LeftBehind())  # so that it is thawed, even if the thread ends before the exception comes
    if not isinstance(sys.unraisablehook, _SentAgain):
        sys.unraisablehook = _SentAgain(sys.unraisablehook)
    _send(thread)


def _send(thread: threading.Thread) -> None:
    """Not while it imports: of a module that is cut short parts stay behind, and nobody can import it again."""
    if not thread.is_alive() or _in_solver(thread):
        return
    if _inside(thread, IMPORTS):
        threading.Timer(POLL_S, _send, (thread,)).start()
    else:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(LeftBehind))


class _SentAgain:
    """What Python swallows, since it was raised in a destructor or a weak reference's callback: the thread is told again."""

    def __init__(self, others: Callable[[sys.UnraisableHookArgs], object]) -> None:
        self._others = others

    def __call__(self, unraisable: sys.UnraisableHookArgs) -> None:
        if unraisable.exc_type is LeftBehind:  # not at once: that would be raised here, where nobody hears it either
            threading.Timer(POLL_S, _send, (threading.current_thread(),)).start()
        else:
            self._others(unraisable)


def _in_solver(thread: threading.Thread) -> bool:
    return _inside(thread, NATIVE)


def _inside(thread: threading.Thread, modules: Set[str]) -> bool:
    """Whether one of these modules is at work there."""
    frame = sys._current_frames().get(thread.ident or 0)
    while frame is not None:
        if frame.f_globals.get("__name__") in modules:
            return True
        frame = frame.f_back
    return False


@atexit.register
def _let_left_behind_end() -> None:
    """Native threads must not outlive the interpreter: that would abort the process. They have been asked to stop."""
    until = time.monotonic() + AT_EXIT_S
    for thread in threading.enumerate():
        if thread.name == "optsched-solver":
            thread.join(max(0.0, until - time.monotonic()))
    for error in _remains:  # the process ends, and all of its memory with it
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(error))
