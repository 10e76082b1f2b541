"""Rows of a sweep as one tidy table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from optsched.analysis.across import contradicted, held_together
from optsched.analysis.sweep.trial import Told

if TYPE_CHECKING:
    import pandas as pd

FIRST = ("instance", "name", "kind", "seed", "objective", "bound", "gap", "seconds", "termination", "status")
NEEDED = ("sense", "objective_kind", "message")
LATER = ("components", "incumbents")  # not columns of their own


def table_of(rows: Sequence[Told]) -> pd.DataFrame:
    """A row a method or policy, each against the best bound that any row of its instance has.

    Parameters
    ----------
    rows
        As `Store.rows` returns them.

    Returns
    -------
    pandas.DataFrame
        As `compare_all` returns it, with ``sha256``, ``recipe``, ``options``, ``status``, ``message`` and components.
    """
    import pandas as pd

    from optsched.analysis.table import Table

    flat = []
    for row in rows:
        parts = {name: value for name, value in row.get("components", {}).items() if name not in row}
        options = json.loads(row["options"])
        told = {name: value for name, value in row.items() if name not in LATER} | parts
        told["forecast"] = options.pop("forecast", "perfect") if row["kind"] == "online" else None
        told["options"] = ", ".join(f"{name}={value}" for name, value in options.items())
        told.setdefault("seconds", row.get("wall_s"))
        flat.append(told)
    if not flat:
        return Table()
    columns = list(dict.fromkeys([*FIRST, *NEEDED, *(name for row in flat for name in row)]))
    frame = pd.DataFrame(flat, columns=columns)
    if frame["sense"].isna().any():  # of what failed before it could tell
        known = frame.dropna(subset=["sense"]).groupby("sha256")["sense"].first()
        frame["sense"] = [
            sense if isinstance(sense, str) else known.get(sha256, "minimize")
            for sense, sha256 in zip(frame["sense"], frame["sha256"], strict=True)
        ]
    frame = frame.astype({"bound": float, "gap": float})
    for _, part in frame.groupby("sha256", sort=False):
        if said := contradicted(part):  # one of them is wrong: none of them has a gap, and all are there to be looked at
            frame.loc[part.index, ["status", "message", "gap"]] = ["wrong", said, None]
        else:
            frame.loc[part.index, ["bound", "gap"]] = held_together(part)[["bound", "gap"]]
    return Table(frame[frame["kind"] != "bound"].reset_index(drop=True))
