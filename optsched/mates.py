"""A process that works beside this one: it is told what to be, then answers what it is asked, one thing at a time.

It is a program of its own (``python -m optsched.mates``) and no fork or spawn of the caller, which may have solver threads, or
be a script that nothing guards from being run again. It ends when nobody is there to talk to it.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any, BinaryIO


class Mate:
    """Such a process, and a thread that talks to it.

    Parameters
    ----------
    be
        What makes of `words` what answers; both can be pickled.

    Attributes
    ----------
    found : the answer to what was asked last, None until it is there, and for ever where the process has died.
    idle : whether there is nothing to wait for. dead : whether there never will be.
    """

    def __init__(self, be: Callable[..., Callable[..., object]], *words: object) -> None:
        self.found: Any = None
        self.idle, self.dead = True, False
        self._asked: queue.SimpleQueue[tuple[object, ...] | None] = queue.SimpleQueue()
        path = os.pathsep.join(entry for entry in sys.path if entry)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "optsched.mates"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
        )
        threading.Thread(target=self._talk, args=((be, words),), daemon=True).start()

    def ask(self, *words: object) -> None:
        """Off it goes."""
        self.found, self.idle = None, self.dead
        self._asked.put(words)

    def close(self) -> None:
        """End it, whatever it does."""
        self.process.kill()
        self._asked.put(None)
        self.process.wait()

    def _talk(self, first: object) -> None:
        inbox, outbox = self.process.stdin, self.process.stdout
        assert inbox is not None
        assert outbox is not None
        try:
            with inbox, outbox:
                _say(first, inbox)
                while (words := self._asked.get()) is not None:
                    _say(words, inbox)
                    self.found = pickle.load(outbox)
                    self.idle = True
        except (OSError, EOFError, pickle.UnpicklingError):
            self.dead = self.idle = True


def _say(what: object, to: Any) -> None:
    pickle.dump(what, to, protocol=pickle.HIGHEST_PROTOCOL)
    to.flush()


def _answer(inbox: BinaryIO, outbox: BinaryIO) -> None:
    """Whatever is asked, until nobody asks."""
    be, words = pickle.load(inbox)
    mate = be(*words)
    while True:
        _say(mate(*pickle.load(inbox)), outbox)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all; who asks decides
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever is printed is no answer
    with contextlib.suppress(EOFError, BrokenPipeError):
        _answer(sys.stdin.buffer, answers)
    os._exit(0)  # with an answer that nobody has read, Python would complain at its end
