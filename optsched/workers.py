"""Who carries tasks out: processes of this machine, or a Dask cluster; to a driver both are `concurrent.futures` executors."""

from __future__ import annotations

import gc
import multiprocessing
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from math import ceil
from operator import index
from pathlib import Path
from typing import Any, Protocol, SupportsIndex, cast

from optsched.errors import OptschedError
from optsched.interrupts import held

ADDRESS = re.compile(r"(\w+://)?(\[[0-9a-fA-F:.]+\]|[^\s:/\[\]]+):\d{1,5}/?")
MOST_THREADS = 64  # SCIP takes no more, and with many more CP-SAT ends with an error, HiGHS never
ANSWERS_S = 10  # a cluster that is there, or one of its workers


class Workers(Protocol):
    """Where tasks go.

    Attributes
    ----------
    count
        Tasks at once.
    """

    count: int

    def submit(self, task: Callable[..., Any], *words: Any) -> Future[Any]:
        """Hand a task out."""

    def lost(self, error: BaseException) -> bool:
        """Whether a task failed because its worker died; who asks may hand it out again."""

    def close(self) -> None:
        """Stop all of them, whatever they are doing."""


def _begin() -> None:
    """Leave Ctrl-C to the driver (a terminal sends it to all), and end when it is killed: the queue would never say so."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_outlive_nobody, daemon=True).start()


def _outlive_nobody() -> None:
    driver = multiprocessing.parent_process()
    if driver is not None:
        driver.join()
        os._exit(1)


class LocalWorkers:
    """Processes of this machine, begun anew where one of them has died.

    Parameters
    ----------
    count
        How many.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        sys.warnoptions.append("ignore:resource_tracker")  # of what killed workers leave, which it removes and complains of
        self.pool = self._begun()

    def _begun(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")  # a fork of a process with solver threads may hang
        return ProcessPoolExecutor(self.count, mp_context=context, initializer=_begin)

    def submit(self, task: Callable[..., Any], *words: Any) -> Future[Any]:
        """Hand a task out, to new processes where the old ones are broken."""
        with held():  # a process that is interrupted while it begins another leaves that one without its task, and a traceback
            try:
                return self.pool.submit(task, *words)
            except BrokenProcessPool:
                self.pool.shutdown(wait=False, cancel_futures=True)
                self.pool = self._begun()
                return self.pool.submit(task, *words)

    def lost(self, error: BaseException) -> bool:
        """Broken pools."""
        return isinstance(error, BrokenProcessPool | CancelledError)

    def close(self) -> None:
        """Kill them, idle ones too: a solver's thread that still runs would abort a process that leaves by itself."""
        for process in list((getattr(self.pool, "_processes", None) or {}).values()):
            process.kill()
        self.pool.shutdown(wait=True, cancel_futures=True)
        del self.pool
        gc.collect()  # its semaphores go with it; the command line may leave without Python's own end


class ClusterWorkers:
    """The workers of a running Dask cluster.

    Parameters
    ----------
    address
        Of its scheduler, as in ``tcp://127.0.0.1:8786``.

    Raises
    ------
    OptschedError
        Dask is not installed, nobody answers there, or no worker is there.
    """

    def __init__(self, address: str) -> None:
        read_address(address)  # of another Dask would look for a minute, and end with a traceback
        try:
            from distributed import Client
        except ImportError:
            raise OptschedError("--scheduler needs Dask: pip install 'optsched[cluster]'") from None
        try:
            self.client = Client(address, timeout=f"{ANSWERS_S}s", set_as_default=False)
        except (OSError, ValueError) as error:
            raise OptschedError(f"no Dask scheduler answers at {address} ({' '.join(str(error).split())[:200]})") from None
        try:
            self.client.wait_for_workers(1, timeout=f"{ANSWERS_S}s")
        except Exception:
            self.client.close()
            raise OptschedError(f"the Dask scheduler at {address} has no workers") from None
        self.count = sum(self.client.nthreads().values())
        self.pool: Executor = self.client.get_executor(pure=False)

    def submit(self, task: Callable[..., Any], *words: Any) -> Future[Any]:
        """Hand a task out; Dask hands it to another worker where one dies."""
        return self.pool.submit(task, *words)

    def lost(self, error: BaseException) -> bool:
        """What Dask has given up after several workers died of it, or lost on the way."""
        return type(error).__name__ in ("KilledWorker", "CancelledError", "FutureCancelledError", "CommClosedError")

    def close(self) -> None:
        """Leave the cluster as it is."""
        self.pool.shutdown(wait=False)
        self.client.close(timeout=5)


def read_address(text: str) -> str:
    """The address of a Dask scheduler.

    Raises
    ------
    OptschedError
        It is none.
    """
    if not ADDRESS.fullmatch(text):
        raise OptschedError(f"{text!r:.80} is no address of a Dask scheduler: write it as tcp://10.0.0.1:8786")
    return text


def read_threads(value: object, least: int = 1) -> int:
    """How many threads, at most `MOST_THREADS`.

    Parameters
    ----------
    value
        A whole number.
    least
        0 where that stands for all cores.

    Raises
    ------
    OptschedError
        It is none of these.
    """
    try:
        threads = index(cast(SupportsIndex, value))
    except TypeError:
        threads = -1
    if not least <= threads <= MOST_THREADS:
        cores = f"cores of this machine: {of_machine()}"
        raise OptschedError(f"threads are a whole number from {least} to {MOST_THREADS} ({cores}), got {value!r:.60}")
    return threads


def workers(count: int | None, address: str | None) -> Workers:
    """Those of a cluster where there is an address, else processes: as many as there are cores that this one may use."""
    if address is not None:
        return ClusterWorkers(address)
    return LocalWorkers(count or of_machine())


def of_machine() -> int:
    """Cores that this process may use, or all where the system does not say (macOS)."""
    seen = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(seen, _quota() or seen)


def _quota(root: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> int | None:
    """Cores that a container's or service's time comes to, rounded up; None without a limit.

    The least that this process's control group (version 2 or 1) and those above it allow, as far as they can be seen.
    """
    found = []
    for top, controller, files in ((root, "", ("cpu.max",)), (root / "cpu", "cpu", ("cpu.cfs_quota_us", "cpu.cfs_period_us"))):
        group = top / _group(own, controller)
        for place in (group, *(above for above in group.parents if above.is_relative_to(top))):
            with suppress(OSError, ValueError):
                most_us, each_us = (int(word) for file in files for word in (place / file).read_text().split())
                if min(most_us, each_us) > 0:
                    found.append(ceil(most_us / each_us))
    return min(found, default=None)


def _group(own: Path, controller: str) -> str:
    """Of a table of a process's groups (``number:controllers:/path`` a line) the one of a controller; version 2 names none."""
    with suppress(OSError):
        for line in own.read_text(errors="surrogateescape").splitlines():
            _, controllers, path = (*line.split(":", 2), "", "", "")[:3]
            if path and controller in controllers.split(",") and ".." not in path.split("/"):  # .. is outside what can be seen
                return path.strip("/")
    return ""


def cores() -> int:
    """Cores for one search: of a process that is one of several there is one."""
    return 1 if multiprocessing.parent_process() is not None else of_machine()


@contextmanager
def hired(threads: int, scheduler: str | None) -> Iterator[tuple[Executor, int]]:
    """An executor for work that releases the interpreter, and how many work at once.

    Parameters
    ----------
    threads
        Of this process; 0: as many as there are cores that it may use.
    scheduler
        Of a Dask cluster that works instead.
    """
    if scheduler is None:
        count = threads or of_machine()
        pool = ThreadPoolExecutor(count)
        try:
            yield pool, count
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        return
    cluster = ClusterWorkers(scheduler)
    try:
        yield cluster.pool, cluster.count
    finally:
        cluster.close()
