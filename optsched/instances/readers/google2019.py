"""Google cluster data 2019 as sampled by SustainGym (branch datacenter), with the MOER of the SGIP signal -> vcc."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from optsched.errors import InputError, OptschedError
from optsched.instances.base import Floats
from optsched.instances.readers.table import Skipped, read_csv, text_lines, told
from optsched.instances.vcc import Job, VccInstance, occupied

BEGINS_S = 600  # of the trace's clock: the first second of its first day
FLEXIBLE = 120  # priorities below are flexible
MIDNIGHT = pd.Timestamp("2019-05-01 00:00", tz="America/Los_Angeles")
HOUR_S, STEP_S, STEPS = 3600, 300, 12
MOST_US = 1e14  # three years
SMALLEST_NCU = 1e-6  # the trace rounds to six digits
DIGITS = 9  # of sums of them, so that they stay on a grid
REFERENCE_BEGIN = "2019-04-30 00:00"


@dataclass(frozen=True)
class _Rows:
    """Tasks of all days as columns: submission and duration in seconds from the first midnight on, NCU, flexible or not."""

    ids: np.ndarray
    submitted_s: Floats
    duration_s: Floats
    ncu: Floats
    flexible: np.ndarray
    skipped: Skipped


def read(
    folder: str | Path,
    *,
    moer: str | Path | None = None,
    machines: str | Path | None = None,
    first_day: int = 0,
    days: int = 28,
    scale: float = 1.0,
    capacity: float | None = None,
    delay_penalty: float = 1.0,
    daily_penalty: float = 1.0,
    unfinished_penalty: float = 1.0,
    reference_alignment: bool = False,
    skip_bad: bool = False,
) -> VccInstance:
    """A vcc instance of hourly slots.

    Parameters
    ----------
    folder : holds ``daily_events/day_0.csv`` ..., a ``SGIP*.csv`` or ``.csv.gz`` and ``machine_events*.json``. moer, machines :
        other files for the latter two. scale : of every task's NCU. capacity : NCU, instead of the machines'.
    reference_alignment : as the published program reads it: the signal from its padding day on (31 h before the tasks), its
        value at the hour instead of the hour's mean, durations of one hour more than the whole ones, no inflexible load.

    Raises
    ------
    InputError : a file or an hour is missing, or a row is broken (unless `skip_bad`).
    """
    if first_day < 0 or days < 1 or not 0 < scale < 1e6:
        raise OptschedError(
            f"days count from 0, one at least is read, the scale is from 0 to 1e6; got {first_day}, {days}, {scale}"
        )
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(folder, "", "is no folder")
    rows = _tasks(folder, first_day, days, skip_bad)
    slots = 24 * days
    begin = MIDNIGHT + pd.Timedelta(days=first_day)
    if reference_alignment:
        begin = pd.Timestamp(REFERENCE_BEGIN, tz="UTC") + pd.Timedelta(days=first_day)
    signal, skipped = _signal(moer or _one(folder, ("SGIP*.csv.gz", "SGIP*.csv")), begin.tz_convert("UTC"), slots, skip_bad)
    carbon = signal[:, 0].reshape(slots, STEPS)
    ahead = signal[::STEPS, 1:]
    if reference_alignment:
        hourly = carbon[:, 0]
        beliefs = np.column_stack([hourly, ahead[:, STEPS - 1 :: STEPS]])
        length = rows.duration_s // HOUR_S + 1
    else:
        hourly = carbon.mean(axis=1)
        steps = np.column_stack([carbon[:, 0], ahead[:, :-1]])
        beliefs = steps.reshape(slots, -1, STEPS).mean(axis=2)
        length = np.maximum(1, np.ceil(rows.duration_s / HOUR_S))
    slot = np.floor(rows.submitted_s / HOUR_S).astype(int) - 24 * first_day
    ncu = np.round(np.maximum(rows.ncu, SMALLEST_NCU) * scale, DIGITS)
    inside = (slot >= 0) & (slot < slots)
    size = capacity if capacity is not None else _machines(machines or _one(folder, ("machine_events*.json",)))
    inflexible = np.zeros(slots)
    fixed = inside & ~rows.flexible
    if not reference_alignment:
        load = occupied(slot[fixed], slot[fixed] + length[fixed].astype(int), ncu[fixed], slots)
        inflexible = np.maximum(0.0, np.round(load, DIGITS))
    chosen = np.flatnonzero(inside & rows.flexible)
    chosen = chosen[np.lexsort((rows.submitted_s[chosen], slot[chosen]))]
    columns = (rows.ids, slot, length.astype(int), ncu)
    jobs = zip(*(column[chosen].tolist() for column in columns), strict=True)
    at = "the value at the hour" if reference_alignment else "the mean of each hour"
    assumed = [
        f"Tasks of priority below {FLEXIBLE} are flexible; the others run at once; those of earlier days are not known.",
        f"Slot 0 is {begin:%Y-%m-%d %H:%M %Z}; carbon is {at}, what was forecast {STEPS}, 24 and 36 steps ahead is kept.",
        f"Durations are {'whole hours and one more' if reference_alignment else 'rounded up to hours'}; an NCU takes 1 kW.",
        f"{int((rows.ncu[chosen] <= 0).sum())} flexible tasks of 0 NCU take {SMALLEST_NCU:g}.",
        f"Of an NCU-hour in kg: {delay_penalty:g} late, {unfinished_penalty:g} unfinished, {daily_penalty:g} that a day lacks.",
    ]
    if reference_alignment:
        assumed.append("There is no inflexible load, as in the published program.")
    name = ["google2019", f"d{first_day}", str(first_day + days)]
    name += [f"x{scale:g}"] * (scale != 1) + ["ref"] * reference_alignment
    return VccInstance(
        name="-".join(name),
        meta={
            "source": "google2019",
            "start": begin.isoformat(),
            "scale": scale,
            "assumed": assumed,
            **told(rows.skipped + skipped),
        },
        capacity_ncu=float(size),
        carbon_kg_per_kwh=tuple(hourly.tolist()),
        carbon_forecast=tuple(map(tuple, beliefs.tolist())),
        inflexible_ncu=tuple(inflexible.tolist()),
        delay_penalty_per_ncu_h=delay_penalty,
        daily_penalty_per_ncu_h=daily_penalty,
        unfinished_penalty_per_ncu_h=unfinished_penalty,
        jobs=tuple(Job(id=str(i), submitted=s, duration=d, ncu=n) for i, s, d, n in jobs),
    )


def _one(folder: Path, patterns: tuple[str, ...]) -> Path:
    found = [path for pattern in patterns for path in sorted(folder.glob(pattern))]
    if not found:
        raise InputError(folder, "", f"has no {' or '.join(patterns)}")
    return found[0]


def _tasks(folder: Path, first_day: int, days: int, skip_bad: bool) -> _Rows:
    parts: list[list[np.ndarray]] = []
    skipped: Skipped = ()
    for day in range(first_day, first_day + days):
        path = folder / "daily_events" / f"day_{day}.csv"
        table = read_csv(path)
        submitted = table.number("time", least=BEGINS_S * 1e6, most=MOST_US) / 1e6 - BEGINS_S
        duration = table.number("duration", least=0, most=MOST_US) / 1e6
        ncu, priority = table.number("cpu", least=0), table.number("priority", least=0)
        ids = table.identifiers("task_id")
        good, bad = table.sound(skip_bad)
        if not good.any():
            raise InputError(path, "", "holds no task")
        skipped += tuple((number, f"{fault} ({path.name})") for number, fault in bad)
        parts.append([column[good] for column in (ids, submitted, duration, ncu, priority < FLEXIBLE)])
    joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
    ids, submitted_s, duration_s, sizes, flexible = joined
    return _Rows(ids, submitted_s, duration_s, sizes, flexible, skipped)


def _signal(path: str | Path, begin: pd.Timestamp, slots: int, skip_bad: bool) -> tuple[Floats, Skipped]:
    """MOER and its forecasts by five minutes, shape (12 slots, 37); the file may be in any order."""
    table = read_csv(path)
    moment = table.moment("time")
    names = ["moer", *(f"f{i}" for i in range(1, 37))]
    values = np.column_stack([table.number(name, least=0) for name in names])
    good, skipped = table.sound(skip_bad)
    frame = pd.DataFrame(values[good], index=moment[good])
    frame = frame[~frame.index.duplicated()]
    wanted = begin.timestamp() + STEP_S * np.arange(slots * STEPS)
    found = frame.reindex(wanted).to_numpy()
    holes = np.isnan(found).any(axis=1)
    if holes.any():
        first = pd.Timestamp(wanted[int(holes.argmax())], unit="s")
        lacking = f"lacks {int(holes.sum())} of {len(wanted)} steps of 5 min, the first {first:%Y-%m-%d %H:%M} UTC"
        raise InputError(path, "time", lacking)
    return found, skipped


def _machines(path: str | Path) -> float:
    """NCU of all machines of a file of machine events, one JSON object a line."""
    sizes: dict[str, float] = {}
    for number, line in enumerate(text_lines(path), start=1):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
            sizes[str(event["machine_id"])] = float(event["capacity"]["cpus"])
        except (ValueError, KeyError, TypeError):
            raise InputError(path, f"line {number}", "expected an object with machine_id and capacity.cpus") from None
    if not sizes:
        raise InputError(path, "", "names no machine")
    return sum(sizes.values())
