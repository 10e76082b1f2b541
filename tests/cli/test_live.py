"""What is shown while work goes on, and tables in narrow terminals."""

from __future__ import annotations

import io
import json
import logging
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

import optsched
from optsched.cli import _live, cli
from optsched.cli._live import live
from optsched.cli._logging import verbose
from optsched.cli._table import Column, show


def beats(capsys: pytest.CaptureFixture[str], silent: bool) -> list[str]:
    with live("solve", silent=silent, every_s=0.01) as tell:
        tell("bound 7")
        for _ in range(6000):
            time.sleep(0.01)
            if silent or "bound 7" in capsys.readouterr().err:
                break
        else:
            pytest.fail("no line in a minute")
        time.sleep(0.05)
    return capsys.readouterr().err.splitlines()


def test_without_a_terminal_a_line_every_so_often(capsys: pytest.CaptureFixture[str]) -> None:
    lines = beats(capsys, silent=False)
    assert all(line.startswith("solve: 0 s, bound 7") for line in lines)
    time.sleep(0.05)
    assert capsys.readouterr().err == ""  # it ends with the work


def test_silent_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    assert beats(capsys, silent=True) == []


def test_solve_has_a_heartbeat(monkeypatch: pytest.MonkeyPatch, examples: Path) -> None:
    true = optsched.solve

    def slow(*words: object, **how: object) -> object:
        time.sleep(0.2)
        return true(*words, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(_live, "EVERY_S", 0.02)
    monkeypatch.setattr(optsched, "solve", slow)
    words = ["solve", str(examples / "deferrable-small.json"), "--method", "greedy"]
    assert CliRunner().invoke(cli, words).stderr.count("solve: 0 s") >= 1
    assert CliRunner().invoke(cli, [*words, "-q"]).stderr == ""


def test_verbose_shows_what_loggers_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    logger = logging.getLogger("optsched")
    kept = (logger.handlers[:], logger.level, logger.propagate)
    try:
        verbose()
        logging.getLogger("optsched.solvers.highs").debug("Presolving model\n  3 rows")
        assert capsys.readouterr().err.splitlines() == [
            f"optsched.solvers.highs: {line}" for line in ("Presolving model", "  3 rows")
        ]
    finally:
        logger.handlers[:], logger.level, logger.propagate = kept


def test_verbose_is_silent_about_the_line_that_it_would_break(examples: Path) -> None:
    logger = logging.getLogger("optsched")
    kept = (logger.handlers[:], logger.level, logger.propagate)
    try:
        words = ["solve", str(examples / "deferrable-small.json"), "--method", "exact", "--backend", "highs", "-v", "--json"]
        done = CliRunner().invoke(cli, words)
        assert json.loads(done.stdout)["solution"] == "optimal"
        assert all(line.startswith("optsched") for line in done.stderr.splitlines())
    finally:
        logger.handlers[:], logger.level, logger.propagate = kept


@pytest.mark.parametrize("columns", [80, 60])
def test_a_certificate_in_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch, examples: Path, columns: int) -> None:
    solve = __import__("optsched.cli.solve", fromlist=["command"])
    monkeypatch.setattr(
        solve, "console", lambda stderr=False: Console(stderr=stderr, highlight=False, width=columns, no_color=True)
    )
    files = [str(examples / f"{name}.json") for name in ("deferrable-small", "armida-snapshot")]
    shown = CliRunner().invoke(cli, ["solve", *files, "--method", "exact"]).stdout
    assert "…" not in shown
    for word in ("244.422", "proven optimal", "postponement", "by the referee"):
        assert word in shown
    assert shown.count(files[1]) == 1  # in the summary, whole


COLUMNS = [Column("policy"), Column("objective", right=True), Column("what it does", wraps=True)]
ROWS = [["rolling:a-long-name", "1,234,567.8", "plans " * 12], ["fifo", "2", "first come"]]


@pytest.mark.parametrize("width", [200, 80, 60, 40, 20])
def test_no_terminal_cuts_names_or_figures(width: int) -> None:
    out = io.StringIO()
    show(Console(file=out, width=width, highlight=False), COLUMNS, ROWS)
    text = out.getvalue()
    for word in ("rolling:a-long-name", "1,234,567.8", "first come", "objective"):
        assert word in text
    assert "…" not in text
    if width >= 60:
        assert max(map(len, text.splitlines())) <= width
        assert text.count("objective") == 1  # a table
    else:
        assert text.count("objective") == len(ROWS)  # stacked


@pytest.mark.parametrize("columns", [100, 80, 60])
def test_methods_and_examples_in_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    from optsched.cli import _show

    true = Console

    def narrow(stderr: bool = False) -> Console:
        return true(stderr=stderr, highlight=False, width=columns, no_color=True)

    monkeypatch.setattr(_show, "console", narrow)
    for verb in ("methods", "example"):
        module = __import__(f"optsched.cli.{verb}", fromlist=["command"])
        monkeypatch.setattr(module, "console", narrow)
        shown = CliRunner().invoke(cli, [verb]).stdout
        assert "…" not in shown
        for word in {
            "methods": ("randomized-greedy", "decomposition", "aggregated (default)"),
            "example": ("deferrable-small",),
        }[verb]:
            assert word in shown
