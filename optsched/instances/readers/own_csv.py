"""A table of one's own: which column is which field, in which unit, and what is assumed where that is not said."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from optsched.errors import OptschedError
from optsched.instances.base import LARGEST, Floats
from optsched.instances.readers.gpus import KNOWN, MOST
from optsched.instances.readers.own_fields import Field, Kind
from optsched.instances.readers.table import FIRST_DAY, LAST_DAY, Table, read_csv
from optsched.instances.readers.trace import Times, Trace, gathered, midnight

UNITS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
SPELT = {
    "ms": "ms", "msec": "ms", "milliseconds": "ms", "s": "s", "sec": "s", "secs": "s", "seconds": "s",
    "min": "min", "mins": "min", "minutes": "min", "h": "h", "hr": "h", "hrs": "h", "hours": "h", "d": "d", "days": "d",
}  # fmt: skip
CLOCK = re.compile(r"(?:(\d+)-)?(\d+):(\d{2})(?::(\d{2}(?:\.\d+)?))?")  # as in Slurm: 1-02:03:04, 02:03:04, 02:03 (min:s)
UNIX = 1e9  # seconds; such a number is a date
TABLE_TIME = re.compile(r"time\.(\w+)\.(\d+)")


class Columns:
    """The mapped columns of a table as fields of a family; `assumed` gathers what was not said."""

    def __init__(
        self,
        table: Table,
        fields: Mapping[str, Field],
        mapping: Mapping[str, str],
        units: Mapping[str, str],
        time_format: str | None,
        timed: bool,
    ) -> None:
        self.table, self.mapping, self.units, self.time_format = table, dict(mapping), dict(units), time_format
        self.fields = fields
        self.assumed: list[str] = []
        self._midnight: float | None = None
        times = {name for name in mapping if TABLE_TIME.fullmatch(name)} if timed else set()
        for name in mapping:
            if name not in self.fields and name not in times:
                more = ", time.TYPE.GPUS (its time on so many GPUs of a type)" if timed else ""
                raise OptschedError(f"a job has no field {name!r} to map, it has: {', '.join(fields)}{more}")
        for name, unit in units.items():
            if unit not in UNITS or name not in mapping:
                raise OptschedError(f"--unit {name}={unit}: a mapped field, and one of {', '.join(UNITS)}")
        for column in mapping.values():
            table.text(column)  # a missing one is named
        for name, field in self.fields.items():
            if field.required and name not in mapping and not (times and name == "duration"):
                raise OptschedError(
                    f"a job needs {name} ({field.meaning}): --map {name}=COLUMN; the table has {', '.join(table.names)}"
                )

    def __contains__(self, name: str) -> bool:
        return name in self.mapping

    def unit(self, name: str) -> float:
        """Seconds of a unit: as given, or by the end of the column's name, or seconds."""
        column = self.mapping[name]
        if name in self.units:
            return UNITS[self.units[name]]
        words = re.split(r"[\s_.()\[\]/-]+", column.strip(" )]"))
        last = words[-1].lower()
        unit = SPELT.get(last) if len(words) > 1 or len(last) > 1 else None  # a column called d or s may be anything
        why = "by its name" if unit else f"--unit {name}=min says otherwise"
        self.assumed.append(f"Numbers of {column} ({name}) are in {unit or 's'} ({why}).")
        return UNITS[unit or "s"]

    def number(self, name: str, default: float | None = None) -> Floats:
        """A column of numbers; a constant where it is not mapped."""
        field = self.fields[name]
        if name not in self:
            self.assumed.append(f"Every job has {name} {default:g}: no column is mapped.")
            return np.full(len(self.table), float(default or 0.0))
        bounds = {Kind.WHOLE: {"least": 1.0}, Kind.POSITIVE: {"above": 0.0}}.get(field.kind, {"least": 0.0})
        return self.table.number(self.mapping[name], whole=field.kind is Kind.WHOLE, **bounds)

    def span(self, name: str) -> Floats:
        """A column of durations in seconds: numbers, or [D-]HH:MM:SS."""
        column = self.mapping[name]
        raw = [str(value).strip() for value in self.table.text(column)]
        clocks = np.array([":" in value for value in raw], dtype=bool)
        if not clocks.any():
            return self.table.number(column, above=0.0) * self.unit(name)
        numbers = pd.to_numeric(pd.Series(raw, dtype=object).mask(clocks), errors="coerce").to_numpy(dtype=float)
        unit = self.unit(name) if np.isfinite(numbers).any() else 1.0
        values = np.where(clocks, [_clock(value) for value in raw], numbers * unit)
        good = (values > 0) & (values <= LARGEST)
        told = f"expected a duration above 0 and up to {LARGEST:g} s: a number, or such as 02:30:00 or 1-02:30:00"
        self.table.fault(~good, column, told)
        spans: Floats = np.where(good, values, 1.0)
        return spans

    def moment(self, name: str) -> Floats:
        """A column of points in time in seconds: numbers, or dates, of which the midnight before the first submission is 0."""
        column = self.mapping[name]
        raw = pd.Series(self.table.text(column), dtype=object)
        numbers = pd.to_numeric(raw, errors="coerce")
        if self.time_format is None and numbers.notna().sum() * 2 >= len(raw):
            stamps = self.table.number(column) * self.unit(name)
            dated = bool(len(stamps)) and float(np.median(stamps)) >= UNIX
        else:
            dated = True
            stamps = self.table.moment(column) if self.time_format is None else self._formatted(column, raw)
        if self._midnight is None:  # the submission is read first
            self._midnight = midnight(stamps) if dated else 0.0
            if dated:
                self.assumed.append(
                    "The trace's seconds count from the midnight before its first submission; dates without a zone are UTC."
                )
        elif np.isfinite(stamps).any() and dated != (self._midnight > 0):  # of no readable cell each line is told
            raise OptschedError(
                f"{self.table.path}: {column} ({name}) and {self.mapping['submit']} (submit) are not on the same clock: "
                "dates in both, or numbers in both"
            )
        return stamps - self._midnight

    @property
    def begins_s(self) -> float | None:
        """When second 0 of the moments is, in seconds since 1970; None where these are no dates."""
        return self._midnight or None

    def _formatted(self, column: str, raw: pd.Series) -> Floats:
        try:
            stamps = pd.to_datetime(raw, format=self.time_format, errors="coerce", utc=True)
        except (ValueError, re.error) as error:  # what each row lacks is told below
            raise OptschedError(f"--time-format {self.time_format!r}: {error}; e.g. '%Y-%m-%d %H:%M:%S'") from None
        whole = stamps.dt.tz_localize(None).to_numpy().astype("datetime64[s]")
        known = ~np.isnat(whole) & (whole > FIRST_DAY) & (whole < LAST_DAY)
        self.table.fault(~known, column, f"expected a date and time like {self.time_format}")
        seconds: Floats = np.where(known, whole.astype(np.int64).astype(float), np.nan)
        return seconds

    def times(self) -> list[Times]:
        """Execution times by GPU type and number where columns give them (time.V100.2), a row each; else empty."""
        found: dict[tuple[str, int], Floats] = {}
        for name, column in self.mapping.items():
            if match := TABLE_TIME.fullmatch(name):
                kind, gpus = match[1], int(match[2])
                if kind not in KNOWN or not 1 <= gpus <= MOST:
                    raise OptschedError(f"--map {name}: types are {', '.join(KNOWN)}, GPUs 1 to {MOST}, e.g. time.V100.2")
                found[kind, gpus] = self.table.number(column, above=0.0, missing=np.nan) * self.unit(name)
        widest = {kind: max(g for k, g in found if k == kind) for kind, _ in found}
        if found:
            none = np.all([np.isnan(times) for times in found.values()], axis=0)
            self.table.fault(none, next(iter(self.mapping.values())), "the row has no execution time at all")
        return [
            {
                kind: tuple(
                    None if (kind, g) not in found or np.isnan(found[kind, g][i]) else float(found[kind, g][i])
                    for g in range(1, most + 1)
                )
                for kind, most in widest.items()
            }
            for i in range(len(self.table) if found else 0)
        ]


def _clock(text: str) -> float:
    match = CLOCK.fullmatch(text)
    if match is None:
        return float("nan")
    days, first, second, third = match.groups()
    if third is None:
        return 60.0 * int(first) + int(second)
    return 86400.0 * int(days or 0) + 3600.0 * int(first) + 60.0 * int(second) + float(third)


def read(
    path: str | Path,
    fields: Mapping[str, Field],
    mapping: Mapping[str, str],
    *,
    timed: bool = False,
    units: Mapping[str, str] | None = None,
    time_format: str | None = None,
    skip_bad: bool = False,
) -> Trace:
    """The jobs of a CSV file.

    Parameters
    ----------
    path
        The file.
    fields
        What a column may be.
    mapping
        Field: column.
    timed
        Whether fields may be times by GPU type and number besides, as ``time.V100.2``.
    units
        Field: unit of its numbers, one of `UNITS`; by the end of the column's name otherwise.
    time_format
        Of dates; ISO 8601 otherwise.
    skip_bad
        Leave broken rows out, and count them.

    Raises
    ------
    InputError
        A column that is not there, or a row that cannot be used, by line and column.
    OptschedError
        A field that there is not, or one that is missing.
    """
    table = read_csv(path)
    columns = Columns(table, fields, mapping, units or {}, time_format, timed)
    submitted = columns.moment("submit")
    times = columns.times()
    fastest = [min((t for row in job.values() for t in row if t is not None), default=1.0) for job in times]
    duration = columns.span("duration") if "duration" in columns else np.array(fastest)
    size = next(name for name in ("gpus", "cores", "ncu") if name in columns.fields)
    if "id" not in columns:
        columns.assumed.append("A job's id is its line in the file.")
    moments = {name: columns.moment(name) for name in ("due", "earliest", "latest") if name in columns}
    others: dict[str, np.ndarray] = {}
    for name in ("weight", "priority", "data_gb", "model_gb"):
        if name in columns:
            others[name] = columns.number(name)
    if "requested" in columns:
        others["requested_s"] = columns.span("requested")
    if "slack" in columns:
        others["slack_s"] = columns.span("slack")
    if "source" in columns:
        others["source"] = table.text(mapping["source"])
    return gathered(
        table,
        "csv",
        skip_bad=skip_bad,
        ids=table.identifiers(mapping["id"]) if "id" in columns else None,
        submitted_s=submitted,
        duration_s=duration,
        units=columns.number(size, 1.0),
        assumed=columns.assumed,
        time_s=times,
        begins_s=columns.begins_s,
        moments=moments,
        columns=others,
        mapped=mapping,
    )
