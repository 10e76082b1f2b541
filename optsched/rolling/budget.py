"""A hard time budget for every decision: the policy lives in a worker that can be ended."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import multiprocessing.process
import os
import pickle
import signal
import sys
import threading
import time
from multiprocessing.connection import Connection

from optsched.errors import OptschedError, raised
from optsched.instances.base import Instance
from optsched.rolling.policy import Guarded, Hurried, Lasting, Policy
from optsched.schedules.base import Schedule
from optsched.stop import Clock

PR_SET_PDEATHSIG = 1


class OutOfTime(Exception):
    """A decision took longer than its budget."""


class Raised(RuntimeError):
    """What a policy raised in its worker, as it is told."""


class Budgeted:
    """A policy that decides within `seconds`, or is ended and goes on at the next snapshot from its state before.

    The worker is forked, so that a policy defined anywhere can be used; it sends its state back with every decision.
    """

    def __init__(self, policy: Policy[Instance, Schedule], seconds: float) -> None:
        if not hasattr(os, "fork"):
            raise OptschedError("a budget needs a system that can fork")
        self.policy, self.seconds = policy, seconds
        self.process: multiprocessing.process.BaseProcess | None = None
        self.pipe: Connection | None = None

    @property
    def name(self) -> str:
        """Of the policy, for messages."""
        return type(self.policy).__name__

    @property
    def overruled(self) -> bool:
        """Whether the policy's guard decided the last snapshot."""
        return isinstance(self.policy, Guarded) and self.policy.overruled

    def reset(self, seed: int) -> None:
        """Start again with a new worker."""
        self.close()
        self.policy.reset(seed)

    def decide(self, snapshot: Instance) -> Schedule:
        """The policy's decision.

        Raises
        ------
        OutOfTime : the budget is spent; the worker is gone. What the policy raises comes as a `Raised` or an OptschedError.
        """
        clock = Clock()
        if self.pipe is None:
            self._fork()
        assert self.pipe is not None
        try:
            self.pipe.send_bytes(pickle.dumps(snapshot))
            if not self.pipe.poll(max(0.0, self.seconds - clock.elapsed_s())):
                if isinstance(self.policy, Hurried):
                    self.policy.hurry()
                raise OutOfTime(f"took more than {self.seconds:g} s")
            decision, failure, state = pickle.loads(self.pipe.recv_bytes())
        except (EOFError, BrokenPipeError, ConnectionResetError):
            self.close()
            raise RuntimeError("its worker died") from None
        except BaseException:
            self.close()
            raise
        if state is not None:
            self.policy = pickle.loads(state)
        if failure is not None:
            raise failure
        chosen: Schedule = decision
        return chosen

    def _fork(self) -> None:
        context = multiprocessing.get_context("fork")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(self.policy, theirs, self.pipe, os.getpid()), daemon=True)
        self.process.start()
        theirs.close()

    def close(self) -> None:
        """End the worker."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
        if self.pipe is not None:
            self.pipe.close()
        self.process = self.pipe = None

    def state(self) -> object:
        """What the policy remembers of the decisions that came in time."""
        assert isinstance(self.policy, Lasting)
        return self.policy.state()

    def restore(self, state: object) -> None:
        """Go on with a new worker."""
        assert isinstance(self.policy, Lasting)
        self.close()
        self.policy.restore(state)


def _work(policy: Policy[Instance, Schedule], pipe: Connection, other_end: Connection, parent: int) -> None:
    other_end.close()
    for request in (signal.SIGINT, signal.SIGTERM):  # sent to the whole group; the parent decides what to do about it
        signal.signal(request, signal.SIG_IGN)
    _ask_kernel_to_end_with_parent()
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    while True:
        try:
            snapshot = pickle.loads(pipe.recv_bytes())
        except EOFError:
            os._exit(0)
        decision: Schedule | None = None
        failure: Exception | None = None
        try:
            decision = policy.decide(snapshot)
        except OptschedError as error:
            failure = error
        except BaseException as error:
            failure = Raised(raised(error))
        try:
            answer = pickle.dumps((decision, failure, pickle.dumps(policy)))
        except BaseException as error:
            answer = pickle.dumps((None, RuntimeError(f"cannot be pickled, as a budget needs: {error}"), None))
        pipe.send_bytes(answer)


def _ask_kernel_to_end_with_parent() -> None:
    """On Linux even a policy that holds the interpreter's lock ends with its parent; elsewhere the thread has to do."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _end_with(parent: int) -> None:
    """A policy in an endless loop does not outlive a parent that was killed."""
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(1)
