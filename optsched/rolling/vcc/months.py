"""Weeks for agents to learn from and to be judged by: Google's jobs under the carbon of other months, or synthetic ones."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from optsched.errors import OptschedError
from optsched.files import traces
from optsched.instances.base import Floats
from optsched.instances.generators import vcc
from optsched.instances.readers.google2019 import MIDNIGHT, read
from optsched.instances.vcc import VccInstance
from optsched.rl.vcc.split import Part, apart

DAYS = 7
MONTH_DAYS = 26  # of each file, from its second local day on
DIGITS = 9


def data() -> Path | None:
    """Where Google's trace and the signals are: $OPTSCHED_DATA, or shared/data beside the repository; None where nowhere."""
    folder = traces()
    return folder if (folder / "google2019").is_dir() and (folder / "moer").is_dir() else None


def signal_of(month: str, folder: Path) -> Path:
    """The file of a month."""
    name = f"SGIP_CAISO_{month}.csv.gz"
    return next((path for path in (folder / "moer" / name, folder / "google2019" / name) if path.exists()), folder / name)


def laid_over(file: Path, first_day: int, folder: Path) -> Path:
    """The signal with other time stamps: its second local day becomes that of the trace; written into the folder."""
    import pandas as pd

    table = pd.read_csv(file)
    moments = pd.to_datetime(table["time"], utc=True)
    begins = moments.min().tz_convert(MIDNIGHT.tz).normalize() + pd.Timedelta(days=1)
    wanted = MIDNIGHT + pd.Timedelta(days=first_day)
    table["time"] = (moments + (wanted - begins)).dt.strftime("%Y-%m-%d %H:%M:%S+00:00")
    moved = folder / file.name.removesuffix(".gz")
    table.to_csv(moved, index=False)
    return moved


@cache
def carbon_of(month: str, folder: Path) -> tuple[Floats, tuple[tuple[float, ...], ...]]:
    """Carbon by hour of MONTH_DAYS days from the second local day on, and the forecasts issued then."""
    with tempfile.TemporaryDirectory() as held:
        found = read(folder / "google2019", moer=laid_over(signal_of(month, folder), 0, Path(held)), days=MONTH_DAYS)
    assert found.carbon_forecast is not None
    return found.carbon, found.carbon_forecast


@cache
def jobs_of(first_day: int, days: int, folder: Path) -> VccInstance:
    """The jobs of these days at their original size; its carbon is to be replaced."""
    month = signal_of("PGE_2019-05", folder)
    return read(folder / "google2019", moer=month, first_day=first_day, days=days)


def under(base: VccInstance, month: str, first: int, scale: float, folder: Path) -> VccInstance:
    """Some days' jobs at a load, under the carbon of a month from its day `first` (0: the second) on."""
    carbon, issued = carbon_of(month, folder)
    slots = slice(24 * first, 24 * first + base.horizon)
    jobs = tuple(job.model_copy(update={"ncu": round(job.ncu * scale, DIGITS)}) for job in base.jobs)
    return base.model_copy(
        update={
            "name": f"{base.name}-x{scale:g}-{month}-d{first}",
            "carbon_kg_per_kwh": tuple(carbon[slots].tolist()),
            "carbon_forecast": issued[slots],
            "inflexible_ncu": tuple(np.round(base.inflexible * scale, DIGITS).tolist()),
            "jobs": jobs,
        }
    )


def week(month: str, first: int, first_day: int, scale: float, folder: Path) -> VccInstance:
    """A week of jobs at a load, under the carbon of a month from its day `first` on."""
    return under(jobs_of(first_day, DAYS, folder), month, first, scale, folder)


def reordered(base: VccInstance, days: list[int]) -> VccInstance:
    """A week whose days are these days of `base`, in this order, each as often as it is named."""
    slots = base.day_slots
    jobs = [
        job.model_copy(update={"id": f"{job.id}@{k}", "submitted": job.submitted + (k - day) * slots})
        for k, day in enumerate(days)
        for job in base.jobs
        if job.submitted // slots == day
    ]
    inflexible = np.concatenate([base.inflexible[day * slots : (day + 1) * slots] for day in days])
    name, kept = f"google2019-days-{'-'.join(map(str, days))}", slice(len(inflexible))
    return base.model_copy(
        update={
            "name": name,
            "jobs": tuple(jobs),
            "inflexible_ncu": tuple(inflexible.tolist()),
            "carbon_kg_per_kwh": base.carbon_kg_per_kwh[kept],  # to be replaced, but as long as the days are
            "carbon_forecast": base.carbon_forecast and base.carbon_forecast[kept],
        }
    )


def drawn(part: Part, count: int, rng: np.random.Generator, folder: Path, mixed: bool = False) -> list[VccInstance]:
    """Weeks of a part, at loads between its least and most that are apart from those of the others.

    `mixed` ones are made of its days in any order: fourteen days are eight weeks as they came, and many more otherwise.
    """
    found: list[VccInstance] = []
    while len(found) < count:
        scale = float(np.exp(rng.uniform(*np.log([part.scales[0], part.scales[-1]]))))
        if not apart(scale):
            continue
        month, first = part.months[len(found) % len(part.months)], int(rng.integers(MONTH_DAYS - DAYS + 1))
        if mixed:
            days = part.days[1] - part.days[0] + 1
            base = reordered(jobs_of(part.days[0], days, folder), rng.integers(days, size=DAYS).tolist())
        else:
            base = jobs_of(int(rng.choice(part.starts(DAYS))), DAYS, folder)
        found.append(under(base, month, first, round(scale, 3), folder))
    return found


def every(part: Part, firsts: tuple[int, ...], folder: Path) -> list[VccInstance]:
    """Each month from these days on, at each load, with the part's first week of jobs."""
    day = part.starts(DAYS)[0]
    return [week(month, first, day, scale, folder) for month in part.months for first in firsts for scale in part.scales]


def synthetic(count: int, rng: np.random.Generator, days: int = DAYS) -> list[VccInstance]:
    """Generated weeks of any load and number of jobs, with carbon of another level, swing and phase."""
    found: list[VccInstance] = []
    while len(found) < count:
        load, jobs = float(np.exp(rng.uniform(*np.log([0.02, 0.6])))), int(rng.integers(60, 160)) * days
        try:
            made = vcc(days, jobs, load=load, penalty=float(rng.uniform(0.6, 2.0)), seed=int(rng.integers(2**31)))
        except OptschedError:  # so many jobs cannot ask for that load
            continue
        level, swing = float(rng.uniform(0.5, 2.0)), float(rng.uniform(0.3, 1.3))
        moved = np.roll(made.carbon, int(rng.integers(-3, 4)))
        carbon = np.maximum(0.01, level * (moved.mean() + swing * (moved - moved.mean())))
        found.append(made.model_copy(update={"carbon_kg_per_kwh": tuple(np.round(carbon, 6).tolist())}))
    return found
