"""A table of one's own, a row a cluster and hour, as a day_ahead instance."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from optsched.errors import InputError, OptschedError, RecordError
from optsched.instances.base import Floats
from optsched.instances.day_ahead import Campus, Cluster, DayAheadInstance
from optsched.instances.readers.table import Table, read_csv, told

REQUIRED = {
    "cluster": "its name",
    "hour": "of the day, from 0 on",
    "inflexible": "forecast inflexible usage, NCU",
    "carbon": "carbon intensity, kg/kWh",
}
HOURLY = {"high": "a high quantile of inflexible", "ratio": "reservations over usage"}
CLUSTER = {
    "campus": "its name",
    "flexible": "flexible usage of the day, NCU-hours",
    "reserved": "reservations of the day, NCU-hours",
    "capacity": "of reservations, NCU",
    "usage_limit": "what the power allows, NCU",
    "idle_kw": "power of the idle cluster",
    "kw_per_ncu": "power of a busy NCU",
}
FIELDS = REQUIRED | HOURLY | CLUSTER
HIGH, RATIO, IDLE, ERROR, SPARE = 1.04, 1.2, 0.3, 0.03, 1.1
ASSUMED = {
    "high": f"The high quantile of inflexible usage is {HIGH:g} times the usage.",
    "ratio": f"Reservations are {RATIO:g} times the usage.",
    "campus": "All clusters are on one campus.",
    "flexible": "Flexible usage is {share:g} of inflexible usage (--share).",
    "reserved": "A day's reservations are usage, flexible usage included, times the ratio.",
    "capacity": "The capacity holds 1.45 times the largest usage, flexible usage spread 2.2 times as high as evenly.",
    "usage_limit": "The power allows 1.06 times the largest usage, flexible usage spread 2.2 times as high as evenly.",
    "idle_kw": f"An idle cluster takes {IDLE:g} kW for each NCU of its largest inflexible usage.",
    "kw_per_ncu": "A busy NCU takes 1 kW.",
}


def read_day_ahead(
    path: str | Path,
    mapping: Mapping[str, str],
    *,
    share: float = 0.25,
    contract_mw: float | None = None,
    skip_bad: bool = False,
) -> DayAheadInstance:
    """The clusters of a CSV file, columns as `mapping` says (field: column).

    Parameters
    ----------
    share
        Flexible over inflexible usage, where no column gives the former.
    contract_mw
        Of every campus; by default a tenth more than its clusters' peak with flexible usage spread evenly.

    Raises
    ------
    InputError
        A column that is not there, a row that cannot be used, or a cluster that has not one row an hour.
    OptschedError
        A field that is not there or missing.
    """
    if not 0 <= share <= 1 or not 0 < (contract_mw or 1.0) < 1e6:
        raise OptschedError("the share is from 0 to 1, the contract above 0 MW")
    for name in mapping:
        if name not in FIELDS:
            raise OptschedError(f"day_ahead has no field {name!r} to map, it has: {', '.join(FIELDS)}")
    table = read_csv(path)
    for name, meaning in REQUIRED.items():
        if name not in mapping:
            named = ", ".join(table.names)
            raise OptschedError(f"day_ahead needs {name} ({meaning}): --map {name}=COLUMN; the table has {named}")
    owner = np.array([str(value) for value in table.text(mapping["cluster"])], dtype=object)
    hour = table.number(mapping["hour"], least=0, whole=True)
    numbers = {n: table.number(c, least=0) for n, c in mapping.items() if n not in ("cluster", "hour", "campus")}
    campus = table.text(mapping["campus"]) if "campus" in mapping else None
    good, skipped = table.sound(skip_bad)
    clusters = []
    for name in dict.fromkeys(owner[good].tolist()):
        rows = np.flatnonzero(good & (owner == name))
        rows = rows[np.argsort(hour[rows], kind="stable")]
        _complete(table, name, hour[rows], len(set(hour[good].tolist())))
        place = "campus" if campus is None else str(campus[rows[0]])
        try:
            clusters.append(_cluster(str(name), place, {n: column[rows] for n, column in numbers.items()}, share))
        except RecordError as error:
            raise InputError(path, f"cluster {name}", f"{error.place}: {error.problem}") from None
    assumed = [sentence.format(share=share) for name, sentence in ASSUMED.items() if name not in mapping]
    assumed.append(f"The 97th percentile of the errors of reservations is {ERROR:g}.")
    assumed.append(
        f"Every campus has a contract of {contract_mw:g} MW."
        if contract_mw is not None
        else "A campus has a contract of a tenth more than its peak with flexible usage spread evenly."
    )
    return DayAheadInstance(
        name=f"csv-{Path(path).name.split('.')[0][:100]}-C{len(clusters)}",
        meta={"reader": "csv", "files": [Path(path).name], "columns": dict(mapping), "assumed": assumed} | told(skipped),
        campuses=_campuses(clusters, contract_mw),
        clusters=tuple(clusters),
    )


def _complete(table: Table, name: str, hours: Floats, expected: int) -> None:
    if hours.tolist() != list(range(expected)):
        found = ", ".join(f"{h:g}" for h in hours[:30])
        raise InputError(table.path, f"cluster {name}", f"has the hours {found}; expected each of 0..{expected - 1} once")


def _cluster(name: str, campus: str, given: Mapping[str, Floats], share: float) -> Cluster:
    """A cluster; what is one number for it stands in its first row."""
    usage, hours = given["inflexible"], len(given["inflexible"])
    ratio = given.get("ratio", np.full(hours, RATIO))
    flexible = float(given["flexible"][0]) if "flexible" in given else share * float(usage.sum())
    largest = float(usage.max()) + 2.2 * flexible / hours

    def one(field: str, otherwise: float) -> float:
        return round(float(given[field][0]) if field in given else otherwise, 6)

    return Cluster(
        id=name,
        campus=campus,
        inflexible_ncu=tuple(usage.round(6).tolist()),
        inflexible_high_ncu=tuple(given.get("high", HIGH * usage).round(6).tolist()),
        flexible_ncu_h=round(flexible, 6),
        reserved_ncu_h=one("reserved", float(((usage + flexible / hours) * ratio).sum())),
        reserved_error=ERROR,
        reservation_ratio=tuple(ratio.round(6).tolist()),
        carbon_kg_per_kwh=tuple(given["carbon"].round(6).tolist()),
        idle_kw=one("idle_kw", IDLE * float(usage.max())),
        kw_per_ncu=one("kw_per_ncu", 1.0),
        capacity_ncu=one("capacity", 1.45 * largest),
        usage_limit_ncu=one("usage_limit", 1.06 * largest),
    )


def _campuses(clusters: list[Cluster], contract_mw: float | None) -> tuple[Campus, ...]:
    peaks: dict[str, float] = {}
    for cluster in clusters:
        even = cluster.reserved_ncu_h * (1 + ERROR) / sum(cluster.reservation_ratio)  # usage, flexible usage spread evenly
        peak = max(cluster.inflexible_ncu) + max(0.0, even - sum(cluster.inflexible_ncu) / len(cluster.inflexible_ncu))
        kw = cluster.idle_kw + cluster.kw_per_ncu * peak
        peaks[cluster.campus] = peaks.get(cluster.campus, 0.0) + SPARE * kw / 1000
    return tuple(Campus(id=name, contract_mw=contract_mw or round(mw, 6)) for name, mw in peaks.items())
