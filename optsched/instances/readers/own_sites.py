"""Sites of one's own: a row a data centre, its prices and carbon left to the signals."""

from __future__ import annotations

from pathlib import Path

from optsched.errors import OptschedError
from optsched.instances.geo import Site
from optsched.instances.readers.table import read_csv

PUE = 1.2


def read_sites(path: str | Path) -> tuple[Site, ...]:
    """Sites of a CSV file with the columns id, gpus and, where known, pue (1.2 otherwise).

    Raises
    ------
    InputError
        A column that is not there, or a row that cannot be used.
    OptschedError
        There is no row.
    """
    table = read_csv(path)
    names, gpus = table.identifiers("id"), table.number("gpus", least=0, whole=True)
    pue = table.number("pue", least=1.0, missing=PUE).tolist() if "pue" in table else [PUE] * len(table)
    table.sound(skip_bad=False)
    if not len(table):
        raise OptschedError(f"{path}: has no site")
    rows = zip(names.tolist(), gpus.astype(int).tolist(), pue, strict=True)
    return tuple(Site(id=i, gpus=g, pue=p, price_usd_per_mwh=(), carbon_g_per_kwh=()) for i, g, p in rows)
