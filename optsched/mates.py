"""A process that works beside this one: it is told what to be, then answers what it is asked, one thing at a time.

It is a program of its own (``python -m optsched.mates``) and no fork or spawn of the caller, which may have solver threads, or
be a script that nothing guards from being run again. It ends when nobody is there to talk to it.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

from optsched.stop import Clock, Stop
from optsched.workers import cores

WORTH_S = 5.0  # left
READY = b"optsched mate\n"  # after whatever somebody's sitecustomize prints


class Mate:
    """Such a process, and a thread that talks to it; where none can be begun, one that is dead.

    Parameters
    ----------
    be
        What makes of `words` what answers; both can be pickled.

    Attributes
    ----------
    found : the answer to what was asked last, None until it is there, and for ever where the process has died.
    dead : whether there will be no more answers.
    """

    def __init__(self, be: Callable[..., Callable[..., object]], *words: object) -> None:
        self.found: Any = None
        self.dead = self._waits = False
        self.process: subprocess.Popen[bytes] | None = None
        self._asked: queue.SimpleQueue[tuple[object, ...] | None] = queue.SimpleQueue()
        if not sys.executable or getattr(sys, "frozen", False):  # that would be the application once more
            self.dead = True
            return
        path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry)
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "optsched.mates"],  # nothing of the working directory
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
                process_group=0,  # a terminal's Ctrl-C goes to who asks
            )
            threading.Thread(target=self._talk, args=(self.process, (be, words)), daemon=True).start()
        except (OSError, RuntimeError):  # no room for another
            self.close()
            self.dead = True

    @property
    def idle(self) -> bool:
        """Whether there is nothing to wait for."""
        return self.dead or not self._waits

    def ask(self, *words: object) -> None:
        """Off it goes."""
        self.found, self._waits = None, True
        self._asked.put(words)

    def interrupt(self) -> None:
        """Ctrl-C, which it does not hear unless what it is listens."""
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)

    def close(self) -> None:
        """End it, whatever it does."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self._asked.put(None)

    def _talk(self, process: subprocess.Popen[bytes], first: object) -> None:
        inbox, outbox = process.stdin, process.stdout
        assert inbox is not None
        assert outbox is not None
        try:
            with inbox, outbox:
                _say(first, inbox)
                while not outbox.readline().endswith(READY):
                    if process.poll() is not None:
                        return
                while (words := self._asked.get()) is not None:
                    _say(words, inbox)
                    self.found = pickle.load(outbox)
                    self._waits = False
        except Exception:  # it has died, or cannot be told, or says what nobody understands: one does without
            process.kill()
        finally:
            self.dead = True


def mates_worth(stop: Stop, clock: Clock, threads: int) -> int:
    """How many processes are worth beginning beside this one: under a clock only, as what they do depends on who is how fast.

    Parameters
    ----------
    threads
        In all; 0: as many as there are cores.
    """
    if stop.seconds is None or stop.seconds - clock.elapsed_s() < WORTH_S:
        return 0
    return max(0, (threads or cores()) - 1)


def _say(what: object, to: Any) -> None:
    pickle.dump(what, to, protocol=pickle.HIGHEST_PROTOCOL)
    to.flush()


def _listen(inbox: BinaryIO, heard: queue.SimpleQueue[Any]) -> None:
    """Whatever is said; with the last word, wherever the work is, all ends."""
    try:
        while True:
            heard.put(pickle.load(inbox))
    finally:
        os._exit(0)


def _answer(outbox: BinaryIO, heard: queue.SimpleQueue[Any]) -> None:
    """What is asked."""
    be, words = heard.get()
    mate = be(*words)
    while True:
        _say(mate(*heard.get()), outbox)


def main() -> None:
    """Be a mate."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY) if sys.stderr is None else 2, 1)  # whatever is printed from here on is no answer
    answers.write(READY)
    answers.flush()
    heard: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, heard), daemon=True).start()
    try:
        _answer(answers, heard)
    except BrokenPipeError:
        os._exit(0)  # with an answer that nobody has read, Python would complain at its end


if __name__ == "__main__":
    main()
