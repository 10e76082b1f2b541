"""What agents of geo are trained, validated and tested on: cases of MASAC's generator, told apart by their seeds.

Training and validation see nothing but this module's synthetic signals and the generator's synthetic jobs, with levels, swings
and loads of their own in every case; real prices, carbon and job shapes are for the test alone. So are the seeds that the
benchmarks use, which all lie below `FIRST`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from optsched.instances.base import Floats
from optsched.instances.generators import masac
from optsched.instances.generators.masac import CARBON, PRICE
from optsched.instances.geo import GeoInstance, Link, Site

Part = Literal["train", "validation", "test"]
PARTS: tuple[Part, ...] = ("train", "validation", "test")
FIRST = 1_000_000  # of all seeds drawn here
STRIDE = 1_000_000  # seeds of a part; training has all above the parts too
PAPER_GPUS = 540
JOBS_PER_GPU_DAY = 1500 / PAPER_GPUS / 2  # as in Table I
ROUNDED = 4  # GPUs, half of one at each site
FADE = 0.8  # of a signal's noise from hour to hour
THROUGHPUT_GB_PER_S = 0.02


@dataclass(frozen=True)
class Scenario:
    """What cases are drawn from; a pair is a range.

    Attributes
    ----------
    strange
        Share of the cases on other sites than the paper's five.
    sites
        How many those have.
    scale
        Of the sites' GPUs, Table I being 1.
    days, load
        As in `masac`.
    """

    name: str
    strange: float
    sites: tuple[int, int]
    scale: tuple[float, float]
    days: tuple[float, float]
    load: tuple[float, float]

    @property
    def least_gpus(self) -> int:
        """In all, of the smallest case, up to rounding."""
        return math.floor(PAPER_GPUS * self.scale[0]) - ROUNDED


SCENARIOS = {
    found.name: found
    for found in (
        Scenario("small", 0.0, (5, 5), (0.25, 0.35), (2.0, 2.0), (0.6, 1.6)),
        Scenario("many", 0.5, (2, 8), (0.2, 0.5), (1.0, 2.0), (0.5, 1.8)),
        Scenario("table-1", 0.0, (5, 5), (1.0, 1.0), (2.0, 2.0), (0.6, 1.8)),
        Scenario("toy", 0.0, (5, 5), (0.2, 0.2), (0.5, 0.5), (1.5, 2.0)),
    )
}


def seed_of(part: Part, number: int) -> int:
    """The seed of a part's so manieth case: no two parts share one."""
    assert number >= 0
    if number < STRIDE:
        return FIRST + STRIDE * PARTS.index(part) + number
    assert part == "train"
    return FIRST + STRIDE * (len(PARTS) - 1) + number


def case(scenario: Scenario, part: Part, number: int) -> GeoInstance:
    """The so manieth case of a part: jobs, signals, sizes and load of its own."""
    seed = seed_of(part, number)
    rng = np.random.default_rng(seed)
    sites, strange = int(rng.integers(scenario.sites[0], scenario.sites[1] + 1)), rng.random() < scenario.strange
    scale, days, load = (float(rng.uniform(*between)) for between in (scenario.scale, scenario.days, scenario.load))
    jobs = max(8, round(JOBS_PER_GPU_DAY * PAPER_GPUS * scale * days * rng.uniform(0.7, 1.3)))
    found = masac(jobs=jobs, days=days, load=load, scale=scale, seed=seed)
    hours = len(found.sites[0].price_usd_per_mwh)
    if not strange:
        price, carbon = (np.array(levels, dtype=float) for levels in (PRICE, CARBON))
        update: dict[str, object] = {"sites": _signalled(rng, found.sites, price, carbon, hours)}
        return found.model_copy(update=update | {"name": f"{scenario.name}-{part}-{number}"})
    return _elsewhere(rng, found, sites, load, hours).model_copy(update={"name": f"{scenario.name}-{part}-{number}"})


def _signalled(
    rng: np.random.Generator, sites: tuple[Site, ...], price: Floats, carbon: Floats, hours: int
) -> tuple[Site, ...]:
    """The sites with signals around levels (mean, daily swing, hour of the peak), shape (P, 3)."""
    usd, grams = _waves(rng, price, 0.15, hours), np.maximum(1.0, _waves(rng, carbon, 0.08, hours))
    return tuple(
        site.model_copy(
            update={
                "price_usd_per_mwh": tuple(usd[n].round(3).tolist()),
                "carbon_g_per_kwh": tuple(grams[n].round(2).tolist()),
            }
        )
        for n, site in enumerate(sites)
    )


def _waves(rng: np.random.Generator, levels: Floats, noise: float, hours: int) -> Floats:
    """Daily waves whose level and swing differ from case to case, with noise that fades."""
    sites = len(levels)
    mean = levels[:, 0] * rng.uniform(0.5, 1.5, sites)
    swing = levels[:, 1] * rng.uniform(0.3, 1.7, sites)
    peak = levels[:, 2] + rng.normal(0, 1.5, sites)
    error = np.zeros((sites, hours))
    for t in range(hours):
        error[:, t] = FADE * error[:, t - 1] + np.sqrt(1 - FADE**2) * rng.normal(0, 1, sites)
    wave = np.cos(2 * np.pi * (np.arange(hours) - peak[:, None]) / 24)
    return np.asarray(mean[:, None] + swing[:, None] * wave + noise * (mean + swing)[:, None] * error)


def _elsewhere(rng: np.random.Generator, found: GeoInstance, sites: int, load: float, hours: int) -> GeoInstance:
    """The same jobs on other sites: any number, with sizes, levels and links of their own."""
    total = sum(int(site.gpus) for site in found.sites if isinstance(site.gpus, int))
    share = rng.dirichlet(np.full(sites, 4.0))
    gpus = [max(16, round(total * float(s))) for s in share]
    names = [f"site-{n}" for n in range(sites)]
    kept = (found.sites[0].price_usd_per_mwh, found.sites[0].carbon_g_per_kwh)
    plain = tuple(
        Site(id=name, gpus=g, pue=float(rng.uniform(1.05, 1.5)), price_usd_per_mwh=kept[0], carbon_g_per_kwh=kept[1])
        for name, g in zip(names, gpus, strict=True)
    )
    price = np.column_stack([rng.lognormal(4.2, 0.8, sites), rng.uniform(5, 90, sites), rng.uniform(0, 24, sites)])
    carbon = np.column_stack([rng.uniform(30, 900, sites), rng.uniform(5, 120, sites), rng.uniform(0, 24, sites)])
    rates = rng.uniform(0.01, 0.1, sites)
    source = rng.choice(sites, len(found.jobs), p=rng.dirichlet(np.full(sites, 4.0)))
    links = tuple(
        Link(from_=a, to=b, throughput_gb_per_s=THROUGHPUT_GB_PER_S, cost_usd_per_gb=float(rates[i]))
        for i, a in enumerate(names)
        for b in names
        if a != b
    )
    return found.model_copy(
        update={
            "sites": _signalled(rng, plain, price, carbon, hours),
            "links": links,
            "jobs": tuple(job.model_copy(update={"source": names[int(s)]}) for job, s in zip(found.jobs, source, strict=True)),
        }
    )
