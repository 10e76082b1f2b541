"""The command line in processes of their own that need not import everything again: a third of the time of its tests.

A server, one a process of the tests, has imported what verbs load when they are typed; each command is a fork of it, with its
own folder, environment and streams. The server solves nothing, so that a fork misses no thread of a solver.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

OURS = ("analysis", "cli", "instances", "models", "heuristics", "rolling", "solvers")
THEIRS = ("highspy", "networkx", "ortools.sat.python.cp_model", "pandas", "pyomo.environ", "rich.table", "scipy.optimize")
EXTRAS = ("torch", "gymnasium", "pettingzoo", "stable_baselines3")  # left to those commands that need them


def completed(words: list[str], cwd: Path | None, env: dict[str, str], timeout: float) -> subprocess.CompletedProcess[str]:
    """A command run to its end, as by `subprocess.run` with its output captured.

    Raises
    ------
    subprocess.TimeoutExpired
        It took longer than `timeout` seconds, and was killed.
    """
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder) / "out", Path(folder) / "err"
        request = {"words": words, "cwd": str(cwd or Path.cwd()), "env": env, "timeout": timeout}
        to, by = _server().stdin, _server().stdout
        assert to is not None
        assert by is not None
        to.write(json.dumps(request | {"out": str(out), "err": str(err)}) + "\n")
        to.flush()
        code = json.loads(by.readline())
        if code is None:
            raise subprocess.TimeoutExpired(words, timeout)
        return subprocess.CompletedProcess(words, code, out.read_text(), err.read_text())


@cache
def _server() -> subprocess.Popen[str]:
    """It begins with the first command, and ends when nobody asks any more."""
    code = "from tests.cli.forks import serve; serve()"
    server = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(server.kill)
    return server


def serve() -> None:
    """Fork for each line of standard input; answer the exit code, null after the time limit."""
    for name in THEIRS:
        importlib.import_module(name)
    sys.modules |= dict.fromkeys(EXTRAS)  # type: ignore[arg-type]  # an import of these fails
    for room in OURS:
        package = importlib.import_module(f"optsched.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.", onerror=lambda _: None):
            with suppress(ModuleNotFoundError):
                importlib.import_module(module.name)
    for name in EXTRAS:
        del sys.modules[name]
    gc.freeze()  # a fork's collections leave alone what it shares
    for line in sys.stdin:
        request = json.loads(line)
        if not (child := os.fork()):
            _command(**request)
        sys.stdout.write(json.dumps(_awaited(child, request["timeout"])) + "\n")
        sys.stdout.flush()


def _awaited(child: int, timeout: float) -> int | None:
    """The exit code of a process, as `subprocess` gives it; None where it had to be killed."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _command(words: list[str], cwd: str, env: dict[str, str], timeout: float, out: str, err: str) -> None:
    """What ``python -m optsched`` does; never returns."""
    write = os.O_WRONLY | os.O_CREAT
    for stream, path, flags in ((0, os.devnull, os.O_RDONLY), (1, out, write), (2, err, write)):
        os.dup2(os.open(path, flags, 0o600), stream)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115  the server's has been read ahead
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["optsched", *words]
    code: object = 1
    try:
        importlib.import_module("optsched.cli").main()
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else int(code is not None))
