"""What a certificate advises where no bound was proven."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

import optsched
from optsched.cli._show import show_certificate


@pytest.mark.parametrize(
    ("message", "termination", "advice"),
    [
        (None, "completed", "none proven: --method auto looks for one"),
        ("auto chose greedy", "time_limit", "none proven: a longer --time-limit may find one"),
        ("auto chose greedy", "completed", "none proven"),
        ("auto chose greedy", "interrupted", "none proven"),
    ],
)
def test_more_time_is_advised_only_where_time_ended_it(
    examples: Path, message: str | None, termination: str, advice: str
) -> None:
    instance = optsched.load(examples / "deferrable-small.json")
    result = optsched.solve(instance, "greedy").model_copy(update={"message": message, "termination": termination})
    text = io.StringIO()
    show_certificate(Console(file=text, width=200), instance, result)
    (line,) = (line for line in text.getvalue().splitlines() if line.startswith("bound"))
    assert line.endswith(f"-  {advice}")
