"""The table of mutants fits the tree: what no longer does is a line here, not the last step of CI."""

import runpy
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]


def test_every_fault_can_be_put_in() -> None:
    """Each old text is there once, each expected test's file exists."""
    run = runpy.run_path(str(TOP / "tests" / "mutants" / "run.py"))
    mutants = run["read"](run["TABLE"])
    assert len(mutants) > 100
    assert list(run["faults"](mutants, TOP)) == []
