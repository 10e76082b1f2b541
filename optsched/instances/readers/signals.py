"""Hourly prices (USD/MWh) and carbon intensities (g/kWh) by zone: one column a zone, or rows of time, zone and values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from optsched.errors import InputError, OptschedError
from optsched.instances.base import Floats, Ints
from optsched.instances.geo import GeoInstance, Site
from optsched.instances.readers.table import Skipped, Table, read_csv, told
from optsched.instances.readers.trace import dated

HOUR_S = 3600
# quantity -> what its column, or the name of a wide file, may be called
WORDS = {"price": ("price",), "carbon": ("carbon", "co2", "ci")}
LEAST = {"price": None, "carbon": 0.0}
FIELDS = {"price": "price_usd_per_mwh", "carbon": "carbon_g_per_kwh"}
TIMES, ZONES = ("datetime", "timestamp", "time", "date"), ("region", "zone", "zone id", "zone_id")


@dataclass
class Signals:
    """Means by hour since 1970 and zone, of each quantity that was given."""

    files: list[str] = field(default_factory=list)
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    skipped: Skipped = ()

    def add(self, quantity: str, table: pd.DataFrame, path: str | Path) -> None:
        """One more quantity; two files may not give the same one."""
        if quantity in self.tables:
            raise InputError(path, "", f"gives the {quantity} that another file gave already")
        self.tables[quantity] = table

    def sound(self, table: Table, skip_bad: bool) -> np.ndarray:
        """The rows of a file that can be used."""
        good, skipped = table.sound(skip_bad)
        self.skipped += tuple((number, f"{fault} ({self.files[-1]})") for number, fault in skipped)
        return good

    def take(self, quantity: str, zones: Sequence[str], first: int, hours: int) -> Floats:
        """Values by zone and hour, shape (zones, hours), or one line about all that is missing."""
        table, where = self.tables[quantity], ", ".join(self.files)
        if absent := sorted({zone for zone in zones if zone not in table}):
            raise InputError(where, quantity, f"lacks {', '.join(absent)}; there are {', '.join(map(str, table.columns))}")
        values = table.reindex(range(first, first + hours))[list(zones)].to_numpy(dtype=float)
        holes = np.isnan(values)
        if holes.any():
            hour = int(np.argwhere(holes)[0, 0])
            lacking = ", ".join(f"{zones[z]} {n}" for z, n in enumerate(holes.sum(axis=0).tolist()) if n)
            raise InputError(
                where,
                quantity,
                f"lacks hours of {stamp(first)} to {stamp(first + hours)}: {lacking} (first {stamp(first + hour)}): "
                "take fewer hours, or say by --from which others count",
            )
        found: Floats = values.T
        return found

    def period(
        self, zones: Mapping[str, Sequence[str]], hours: int, start: str | None = None, begins_s: float | None = None
    ) -> tuple[int, list[str]]:
        """The first of so many hours, and warnings about it.

        That is `start`. If not given, it is the hour of `begins_s` (seconds since 1970), when second 0 of dated jobs is; where
        the signals are of other days, the first of the same hour of the day from which on they have all; for jobs without a
        date, the first hour for which every quantity and zone has a value.
        """
        if start is not None:
            return hour(start), []
        known = self._known(zones)
        if begins_s is None or not len(known):
            return int(known[0]) if len(known) else 0, []
        dated = int(begins_s // HOUR_S)
        if known[0] < dated + hours and dated <= known[-1]:
            late = begins_s - dated * HOUR_S
            return dated, [f"Second 0 is {late:g} s after {stamp(dated)}, from which on signals count."] if late else []
        whole = known[: len(known) - hours + 1] if hours <= len(known) else known[:0]
        whole = whole[known[hours - 1 :] == whole + hours - 1]
        alike = whole[whole % 24 == dated % 24]
        first = int(next(iter(alike), known[0]))
        return first, [
            f"The jobs are of {stamp(dated)} to {stamp(dated + hours)} UTC, of which {', '.join(self.files)} has no hour: "
            f"{' and '.join(zones)} from {stamp(first)} UTC on stand for them (--from names another hour)."
        ]

    def _known(self, zones: Mapping[str, Sequence[str]]) -> Ints:
        """Hours for which every quantity and zone has a value, where there are any; else those that some quantity has."""
        each = [self.tables[q][[z for z in wanted if z in self.tables[q]]].dropna().index for q, wanted in zones.items()]
        shared = each[0]
        for index in each[1:]:
            shared = shared.intersection(index)
        found = shared if len(shared) else next((index for index in each if len(index)), shared)
        return np.sort(found.to_numpy(dtype=np.int64))


def stamp(hour: int) -> str:
    """An hour since 1970 as a date."""
    return f"{pd.Timestamp(hour * HOUR_S, unit='s'):%Y-%m-%d %H:00}"


def read_signals(files: Sequence[str | Path], *, skip_bad: bool = False) -> Signals:
    """Signals of CSV files; ``price=FILE`` and ``carbon=FILE`` say what a wide file holds where its name does not."""
    signals = Signals()
    for given in files:
        quantity, _, rest = str(given).partition("=")
        told, path = (quantity, rest) if quantity in WORDS else (None, str(given))
        signals.files.append(Path(path).name)
        table = read_csv(path)
        time, zone = _named(table, TIMES), _named(table, ZONES, exact=True)
        if time is None:
            raise InputError(path, "line 1", f"has no column of times (named {', '.join(TIMES)} ...)")
        (_wide if zone is None else _long)(signals, table, time, zone or "", told, skip_bad)
    return signals


def _named(table: Table, words: Sequence[str], exact: bool = False) -> str | None:
    return next((c for c in table.names if c.lower() in words or (not exact and c.lower().startswith(tuple(words)))), None)


def _quantity(text: str) -> str | None:
    parts = text.lower().replace("(", " ").replace("_", " ").replace("-", " ").split()
    return next(
        (q for q, words in WORDS.items() if any(p.startswith(w) and (w != "ci" or p == w) for p in parts for w in words)), None
    )


def _long(signals: Signals, table: Table, time: str, zone: str, told: str | None, skip_bad: bool) -> None:
    columns = {q: c for c in reversed(table.names) if (q := _quantity(c)) is not None and told in (None, q)}
    if not columns:
        raise InputError(table.path, "line 1", "has no column of a price or a carbon intensity")
    hours, zones = table.moment(time) // HOUR_S, table.text(zone)
    values = {q: table.number(c, least=LEAST[q], missing=np.nan) for q, c in columns.items()}
    good = signals.sound(table, skip_bad)
    for quantity, column in sorted(values.items()):
        frame = pd.DataFrame({"hour": hours[good].astype(np.int64), "zone": zones[good], "value": column[good]})
        signals.add(quantity, frame.pivot_table(index="hour", columns="zone", values="value", aggfunc="mean"), table.path)


def _wide(signals: Signals, table: Table, time: str, _: str, told: str | None, skip_bad: bool) -> None:
    quantity = told or _quantity(Path(table.path).name.split(".")[0])
    if quantity is None:
        raise InputError(table.path, "", "does its name say price or carbon? if not, give it as price=FILE or carbon=FILE")
    hours = table.moment(time) // HOUR_S
    # an empty field is a missing hour, which only matters where it is needed
    zones = {c: table.number(c, least=LEAST[quantity], missing=np.nan) for c in table.names if c != time}
    good = signals.sound(table, skip_bad)
    frame = pd.DataFrame({c: values[good] for c, values in zones.items()}).groupby(hours[good].astype(np.int64)).mean()
    signals.add(quantity, frame, table.path)


class Placed(NamedTuple):
    """Sites with hourly signals, the date of the first hour, a sentence about them, and warnings."""

    sites: tuple[Site, ...]
    start: str
    said: str
    warnings: list[str]


def placed(
    sites: Sequence[Site],
    signals: Signals,
    hours: int,
    zones: Mapping[str, str] | None = None,
    start: str | None = None,
    begins_s: float | None = None,
) -> Placed:
    """The sites with hourly signals from `start` on (UTC; if not given, by `begins_s`: see `Signals.period`).

    `zones` maps a site to its zone, or to two, ``price zone,carbon zone``; a site without an entry is a zone itself.
    """
    mapped = dict(zones or {})
    if unknown := sorted(set(mapped) - {site.id for site in sites}):
        raise OptschedError(f"no site {', '.join(unknown)}; the sites are {', '.join(site.id for site in sites)}")
    wanted = {
        q: [mapped.get(site.id, site.id).split(",")[0 if q == "price" else -1] for site in sites]
        for q in sorted(signals.tables)
    }
    first, warnings = signals.period(wanted, hours, start, begins_s)
    values = {q: signals.take(q, names, first, hours) for q, names in wanted.items()}
    made = [
        site.model_copy(update={FIELDS[q]: tuple(rows[n].round(3).tolist()) for q, rows in values.items()})
        for n, site in enumerate(sites)
    ]
    others = [
        f"{site.id} = {zone}"
        for site, *pair in zip(sites, *wanted.values(), strict=True)
        if (zone := "/".join(dict.fromkeys(pair))) != site.id
    ]
    said = f"{' and '.join(wanted)} of {', '.join(signals.files)}, {hours} hours from {stamp(first)} UTC on, means of an hour"
    said = said[0].upper() + said[1:] + (f"; {', '.join(others)}." if others else ".")
    return Placed(tuple(made), dated(first * HOUR_S), said, warnings)


def hour(text: str) -> int:
    """A date and time as hours since 1970."""
    try:
        given = pd.Timestamp(text)
        return int((given.tz_localize("UTC") if given.tz is None else given).timestamp() // HOUR_S)
    except (ValueError, TypeError, OverflowError):
        raise OptschedError(f"from: {text!r} is no date and time such as 2022-12-01T06:00") from None


def rebuilt(instance: GeoInstance, **update: object) -> GeoInstance:
    """The instance with some fields replaced, validated anew."""
    return GeoInstance(**({name: getattr(instance, name) for name in GeoInstance.model_fields} | update))


def replace_signals(
    instance: GeoInstance, signals: Signals, zones: Mapping[str, str] | None = None, start: str | None = None
) -> GeoInstance:
    """The instance with other prices, or carbon, or both; its meta says which, and that second 0 is their first hour."""
    hours = int(np.ceil(instance.horizon * instance.slot_s / HOUR_S - 1e-9))
    told_start = instance.meta.get("start")
    begins_s = None if told_start is None else float(hour(str(told_start)) * HOUR_S)
    sites, begins, said, warnings = placed(instance.sites, signals, hours, zones, start, begins_s)
    if set(signals.tables) < set(FIELDS) and instance.signal_slot_s != HOUR_S:
        raise OptschedError(
            f"the instance's signals are for {instance.signal_slot_s:g} s, the files' for an hour: give both price and carbon"
        )
    origin = {"files": signals.files} | ({"warnings": warnings} if warnings else {}) | {"assumed": [said]}
    meta = instance.meta | {"start": begins, "signals": origin | told(signals.skipped)}
    return rebuilt(instance, sites=sites, signal_slot_s=float(HOUR_S), meta=meta)
