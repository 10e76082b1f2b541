"""A policy that knows the replay's seed, the house's code and all that it is shown must not get behind a noisy forecast."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from optsched.instances.base import Floats, Instance
from optsched.rolling.forecast import noise_seed, noisy
from optsched.rolling.loop import replay
from optsched.schedules.deferrable import DeferrableSchedule
from optsched.schedules.geo import GeoSchedule
from optsched.schedules.vcc import VccSchedule
from tests.oracle import tiny

SLOTS = 48
NOTHING = {
    "deferrable": DeferrableSchedule(starts=()),
    "geo": GeoSchedule(starts=()),
    "vcc": VccSchedule(cap=(0.0,), starts=()),
}
SIGNALS = {"deferrable": ["capacity"], "geo": ["price_usd_per_mwh", "carbon_g_per_kwh"], "vcc": ["inflexible", "carbon"]}


def hourly(family: str) -> Instance:
    """Two days by hours, signals far from zero and unlike each other, and a job that may wait to the end."""
    rng = np.random.default_rng(9)
    one, two = (100 + 10 * rng.random((2, SLOTS))).round(3).tolist()
    if family == "deferrable":
        job = {"id": "j", "cores": 1.0, "duration": 1, "earliest": 0, "latest": SLOTS - 1, "submitted": 0}
        return tiny.make(family, slot_s=3600, capacity=one, delay_penalty=0.0, overload_penalty=1.0, jobs=[job])
    if family == "geo":
        site = {"id": "a", "gpus": 1, "pue": 1, "price_usd_per_mwh": one, "carbon_g_per_kwh": two}
        job = {"id": "j", "source": "a", "submitted": 0, "gpus": 1, "duration": 1, "slack": SLOTS - 1}
        fields: dict[str, Any] = {"gpu_power_kw": 1, "idle_power_ratio": 0, "carbon_price_usd_per_t": 0}
        more = {"slot_s": 3600, "signal_slot_s": 3600, "horizon": SLOTS, "gpu_revenue_usd_per_h": 1, "network_kwh_per_gb": 0}
        return tiny.make(family, **fields, **more, sites=[site], links=[], jobs=[job | {"data_gb": 0.0, "model_gb": 0.0}])
    job = {"id": "j", "submitted": 0, "duration": 1, "ncu": 1.0}
    return tiny.make(family, slot_s=3600.0, capacity_ncu=500.0, carbon_kg_per_kwh=two, inflexible_ncu=one, jobs=[job])


def signal(instance: Any, name: str) -> Floats:
    """A signal of an instance, or what its snapshot shows of it."""
    if instance.problem == "geo":
        return np.array(getattr(instance.sites[0], name))
    field = {"capacity": "capacity", "inflexible": "inflexible_ncu", "carbon": "carbon_kg_per_kwh"}[name]
    return np.array(getattr(instance, field))


class Watches:
    """Runs nothing, and remembers what it was told."""

    def __init__(self, family: str) -> None:
        self.nothing = NOTHING[family]
        self.snapshots: list[Any] = []

    def reset(self, seed: int) -> None:
        self.seed = seed

    def decide(self, snapshot: Any) -> Any:
        self.snapshots.append(snapshot)
        return self.nothing


def told(family: str) -> tuple[Instance, Watches]:
    """A whole replay with a noisy forecast, and who watched it."""
    truth, watcher = hourly(family), Watches(family)
    result = replay(truth, watcher, forecast="noisy", seed=7)
    assert result.options["figures"]["fallbacks"] == 0, result.message
    assert watcher.seed == 7
    return truth, watcher


def cleaned(family: str, watcher: Watches, name: str, key: int) -> Floats:
    """What is believed in slot 12, less the noise of that key, rebuilt by the house's own code from the first value seen."""
    first = signal(watcher.snapshots[0], name)
    (then,) = (s for s in watcher.snapshots if s.now == 12)
    level = np.full((1, len(first)), first[0])
    return signal(then, name) - (noisy(level, 12, 24, key) - level[:, 12:])[0]


@pytest.mark.parametrize(("family", "name"), [(family, name) for family, names in SIGNALS.items() for name in names])
def test_the_seed_of_a_replay_does_not_clean_its_forecasts(family: str, name: str) -> None:
    truth, watcher = told(family)
    future = signal(truth, name)[12:]
    believed = signal(watcher.snapshots[12], name)
    assert believed[0] == pytest.approx(future[0])
    assert np.abs(believed - future)[6:].max() > 3
    guesses = {watcher.seed, *(noise_seed(watcher.seed, s, n) for s in watcher.snapshots[:13] for n in (name, "", "noise"))}
    for key in guesses:
        assert np.abs(cleaned(family, watcher, name, key) - future)[6:].max() > 3
    # whoever knew the truth's hash would see the truth: the attack is the right one
    assert cleaned(family, watcher, name, noise_seed(watcher.seed, truth, name)) == pytest.approx(future)


@pytest.mark.parametrize("family", ["geo", "vcc"])
def test_one_signal_does_not_clean_another(family: str) -> None:
    """Errors of two signals of one replay are unrelated: what is known of one would uncover the other."""
    truth, watcher = told(family)
    errors = [
        signal(watcher.snapshots[12], name)[1:] / signal(truth, name)[0] - signal(truth, name)[13:] / signal(truth, name)[0]
        for name in SIGNALS[family]
    ]
    assert np.abs(errors[0] - errors[1]).max() > 0.03


@pytest.mark.parametrize("family", SIGNALS)
def test_one_path_in_a_replay_and_in_another(family: str) -> None:
    """The noise is the truth's and the seed's: drawn anew for each run of the same, other for another."""
    first, second = told(family)[1], told(family)[1]
    other = Watches(family)
    replay(hourly(family), other, forecast="noisy", seed=8)
    name = SIGNALS[family][0]
    for a, b, c in zip(first.snapshots[:-1], second.snapshots, other.snapshots, strict=False):
        assert (signal(a, name) == signal(b, name)).all()
        assert (signal(a, name)[1:] != signal(c, name)[1:]).any()
