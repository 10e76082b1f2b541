"""Training runs beside the shipped one, so that a table of a learned policy speaks of the learner and not of one run.

`benchmarks/seeds/<family>/<name>-<seed>.npz`, made by `optsched train <name> --seed <seed>` with the steps of its card. Which
of them is shipped has been chosen by validation, never by test.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "seeds"


def runs(policy: str) -> list[str]:
    """The policies of all training runs of an agent, the shipped one first; any other policy alone."""
    return [policy, *(f"agent:{file}" for file in sorted(FOLDER.glob(f"*/{policy}-[0-9].npz")))]
