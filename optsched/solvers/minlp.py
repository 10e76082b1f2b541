"""MINLP in a process of its own: SCIP through Pyomo's direct interface to PySCIPOpt.

PySCIPOpt keeps the interpreter's lock while it solves, Pyomo redirects the process's output meanwhile, and with OR-Tools'
own SCIP loaded beside it one solve in some thousands ends in a segmentation fault. In a worker none of this reaches the
caller: it can be ended at once, and a crash is an answer. The worker is kept for the next solve.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from typing import NotRequired, TypedDict

import numpy as np
from pyomo.core.base.var import VarData

from optsched.instances.files import dumps
from optsched.models.base import PyomoModel, formulations
from optsched.monitor import POLL_S, Monitor
from optsched.reading import parse

MARGIN_S = 0.5  # SCIP ends a little after its limit


class Question(TypedDict):
    """What the worker needs: it builds the same model from the same instance."""

    instance: str
    formulation: str
    options: dict[str, object]
    until: float | None


class Answer(TypedDict):
    """What SCIP says, in the model's units; `values` are those of `variables`."""

    termination: str
    values: list[float | None] | None
    objective: NotRequired[float | None]
    bound: NotRequired[float | None]
    message: NotRequired[str]


class Worker:
    """A child process that answers one JSON line with one JSON line."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def ask(self, question: Question, monitor: Monitor) -> Answer | None:
        """The answer, or None when `monitor` asked to stop; a crashed worker is asked once more.

        The worker ends with the question it was stopped at.
        """
        with self._lock:
            for _ in range(2):
                answer = self._ask(json.dumps(question).encode() + b"\n", monitor)
                if answer is not None or monitor.stopping:
                    return answer
        return {"termination": "error", "message": "the MINLP solver crashed twice", "values": None}

    def _ask(self, line: bytes, monitor: Monitor) -> Answer | None:
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        told = False
        try:
            process.stdin.write(line)
            process.stdin.flush()
            while not select.select([process.stdout], [], [], POLL_S)[0]:
                if monitor.left_behind:  # past the deadline and its grace: nobody waits for the answer any more
                    self.end()
                    return None
                if monitor.stopping == "interrupted" and not told:
                    told = True
                    os.killpg(process.pid, signal.SIGINT)  # SCIP stops by itself, with what it has
            reply = process.stdout.readline()
        except BrokenPipeError:
            reply = b""
        if not reply:
            self.end()
            return None
        answer: Answer = json.loads(reply)
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-c", f"from {__name__} import serve; serve()"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
        return self._process

    def end(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None


WORKER = Worker()
atexit.register(WORKER.end)


def question(model: PyomoModel, options: dict[str, object], seconds: float | None) -> Question:
    """What to ask about a model."""
    instance = dumps(model.instance).decode()
    until = None if seconds is None else time.time() + seconds
    return {"instance": instance, "formulation": model.name, "options": options, "until": until}


def variables(model: PyomoModel) -> list[VarData]:
    """The model's variables, in the order in which their values travel."""
    import pyomo.environ as pyo

    return [data for variable in model.pyomo.component_objects(pyo.Var, active=True) for data in variable.values()]


def answer(asked: Question) -> Answer:
    """Build and solve; runs in the worker."""
    import pyomo.environ  # noqa: F401  (registers the solvers)
    from pyomo.contrib.solver.common.factory import SolverFactory
    from pyomo.contrib.solver.common.results import SolutionStatus

    instance = parse(asked["instance"].encode(), "worker")
    model = formulations(instance.problem)[asked["formulation"]].magnified(instance)
    left = None if asked["until"] is None else asked["until"] - time.time() - MARGIN_S
    if left is not None and left <= 0:
        return {"termination": "maxTimeLimit", "objective": None, "bound": None, "values": None}
    result = SolverFactory("scip_direct").solve(
        model.pyomo,
        load_solutions=False,
        raise_exception_on_nonoptimal_result=False,
        time_limit=left,
        solver_options=asked["options"],
        warmstart_discrete_vars=False,
    )
    found = result.solution_status in (SolutionStatus.feasible, SolutionStatus.optimal)
    if found:
        result.solution_loader.load_vars()
    bound = result.objective_bound
    return {
        "termination": result.termination_condition.name,
        "objective": float(result.incumbent_objective) / model.scale if found else None,
        "bound": None if bound is None or not np.isfinite(bound) or abs(bound) >= 1e20 else float(bound) / model.scale,
        "values": [data.value for data in variables(model)] if found else None,
    }


def _die_with_parent() -> None:
    """Go on in a child, and end that as soon as whoever asked is gone.

    A thread could not do it: PySCIPOpt keeps the interpreter's lock while it solves.
    """
    asker, solver = os.getppid(), os.fork()
    if solver == 0:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while os.waitpid(solver, os.WNOHANG)[0] == 0:
        if os.getppid() != asker:
            os.kill(solver, signal.SIGKILL)
            break
        time.sleep(0.1)
    os._exit(0)


def serve() -> None:
    """Answer questions from standard input until it closes."""
    _die_with_parent()
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # SCIP prints there
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line))
        except Exception as error:
            reply = {"termination": "error", "message": f"{type(error).__name__}: {error}", "values": None}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()
