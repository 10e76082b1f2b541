"""Training runs beside the shipped one, so that a table of a learned policy speaks of the learner and not of one run.

`benchmarks/seeds/<family>/<name>-<seed>.npz`, made by `optsched train <name> --seed <seed>` with the steps of its card. Which
of them is shipped has been chosen by validation, never by test.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "seeds"


def runs(row: str) -> list[str]:
    """The rows of all training runs of a row's agent, the shipped one's first: `masac`, `masac bare`; any other row alone."""
    name, space, how = row.partition(" ")
    return [row, *(f"agent:{file}{space}{how}" for file in sorted(FOLDER.glob(f"*/{name}-[0-9].npz")))]


def each_mean(shares: np.ndarray) -> str:
    """The mean of each training run, where there are several; shares of shape (runs, cases)."""
    return " ".join(f"{share:.4f}" for share in shares.mean(axis=1)) if len(shares) > 1 else ""
