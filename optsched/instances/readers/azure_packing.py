"""Azure trace for packing 2020 (Hadary et al., OSDI 2020): SQLite tables vm and vmType, in days and shares of a machine."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import numpy as np

from optsched.errors import InputError, OptschedError
from optsched.instances.base import LARGEST
from optsched.instances.readers.table import Table
from optsched.instances.readers.trace import Trace, gathered

DAY_S = 86400.0
COLUMNS = ("vmId", "starttime", "endtime", "priority", "core")
# a type stands once a machine it can run on; the largest share is the one that fits everywhere
QUERY = """
    SELECT vm.vmId, vm.starttime, vm.endtime, vm.priority, type.core
    FROM vm LEFT JOIN (SELECT vmTypeId, MAX(core) AS core FROM vmType GROUP BY vmTypeId) AS type USING (vmTypeId)
    WHERE vm.starttime IS NULL OR vm.starttime < ? ORDER BY vm.starttime, vm.vmId
"""


def read(path: str | Path, *, skip_bad: bool = False, machine_cores: float = 64.0, days: float | None = None) -> Trace:
    """Virtual machines requested in the first `days`; a whole machine has `machine_cores` cores."""
    if not 0 < machine_cores < 1e6:
        raise OptschedError("a machine has a positive number of cores")
    rows = _rows(path, np.inf if days is None else days)
    columns = list(zip(*rows, strict=True)) or [()] * len(COLUMNS)
    table = Table(path, dict(zip(COLUMNS, columns, strict=True)), range(1, len(rows) + 1), row="vm")
    start = table.number("starttime")
    end = table.number("endtime", missing=LARGEST)
    table.fault(end < start, "endtime", "expected at least starttime")
    early = start < 0
    alive = np.array([value is None for value in table.text("endtime")], dtype=bool)
    return gathered(
        table,
        "azure-packing",
        skip_bad=skip_bad,
        ids=[f"vm{identifier}" for identifier in table.identifiers("vmId")],
        submitted_s=np.where(early, 0.0, start * DAY_S),
        duration_s=(end - start) * DAY_S,
        units=table.number("core", above=0) * machine_cores,
        assumed=(
            f"A machine has {machine_cores:g} cores; a type that runs on several machines takes the largest share of any.",
            "A virtual machine is a deferrable job that keeps its cores for its whole life, whatever its priority.",
        ),
        without=[
            (early, "{} machines that already ran when the trace began are left out."),
            (alive & ~early, "{} machines without an end are left out."),
            ((end == start) & ~early & ~alive, "{} machines of no duration are left out."),
        ],
    )


def _rows(path: str | Path, before_day: float) -> list[tuple[object, ...]]:
    if not Path(path).is_file():
        raise InputError(path, "", "no such file")
    try:
        # read-only, so that a wrong name makes no empty database
        with closing(sqlite3.connect(f"file:{quote(str(Path(path).resolve()))}?mode=ro", uri=True)) as base:
            return base.execute(QUERY, (before_day,)).fetchall()
    except sqlite3.Error as error:
        raise InputError(path, "", f"is not the SQLite file of the packing trace ({error})") from None
