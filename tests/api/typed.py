"""Read by mypy, not run: what a type checker knows of instances, schedules and results (`make types`)."""

from __future__ import annotations

from typing import assert_type

import optsched
from optsched import Instance, Result, Schedule, allocation, day_ahead, deferrable, geo, vcc


def solved(g: geo.Instance, d: deferrable.Instance, v: vcc.Instance, p: day_ahead.Instance, a: allocation.Instance) -> None:
    assert_type(optsched.solve(g).schedule, geo.Schedule | None)
    assert_type(optsched.solve(g).best, geo.Schedule)
    assert_type(optsched.solve(d, "greedy").best.starts[0], deferrable.Start)
    assert_type(optsched.solve(v).best.cap, tuple[float, ...])
    assert_type(optsched.solve(p).best.curves, tuple[day_ahead.Curve, ...])
    assert_type(optsched.solve(a).best, allocation.Schedule)


def replayed(g: geo.Instance, a: allocation.Instance) -> None:
    assert_type(optsched.replay(g), Result[geo.Schedule])
    assert_type(optsched.replay(a).best.runs, tuple[allocation.Run, ...])


def built() -> None:
    m = geo.Model("m", horizon=1, slot_s=1, gpu_revenue_usd_per_h=1, gpu_power_kw=1)
    site = m.add_site(gpus=1, price_usd_per_mwh=[1], carbon_g_per_kwh=[1])
    assert_type(site, geo.Site)
    assert_type(m.add_job(site, gpus=1, duration=1, slack=0), geo.Job)
    assert_type(m.instance(), geo.Instance)
    assert_type(m.solve().best, geo.Schedule)
    assert_type(geo.Schedule.from_dict({"starts": []}), geo.Schedule)
    assert_type(optsched.certify(m.instance(), geo.Schedule(starts=()), bound=1.0).best.lost, tuple[geo.Lost, ...])


def any_family(path: str) -> None:
    instance = optsched.load(path)
    assert_type(instance, Instance)
    assert_type(optsched.solve(instance).best, Schedule)
    assert_type(geo.Instance.load(path), geo.Instance)
    if isinstance(instance, geo.Instance):
        assert_type(optsched.solve(instance).best, geo.Schedule)


def takes_any(instance: Instance, result: Result) -> None:
    """A family's instance and result are an instance and a result."""


def family_is_any(g: geo.Instance) -> None:
    takes_any(g, optsched.solve(g))


class MySchedule(Schedule):
    """Of somebody else."""


class MyInstance(Instance[MySchedule, MySchedule]):
    """Of somebody else."""


def foreign(mine: MyInstance) -> None:
    assert_type(optsched.solve(mine).best, MySchedule)
    assert_type(optsched.replay(mine).best, MySchedule)


def mine(instance: geo.Instance, seed: int = 0) -> geo.Schedule:
    """A heuristic."""
    return geo.Schedule(starts=())


class Waits:
    """A policy."""

    def reset(self, seed: int) -> None:
        """Nothing to forget."""

    def decide(self, snapshot: geo.Instance) -> geo.Schedule:
        """Nothing."""
        return geo.Schedule(starts=())


def own(g: geo.Instance) -> None:
    assert_type(optsched.solve(g, mine).best, geo.Schedule)
    assert_type(optsched.replay(g, Waits()).best, geo.Schedule)
    optsched.compare(g, [mine, "greedy"], [Waits(), "rolling"])


def wrong(g: geo.Instance, a: allocation.Instance) -> None:
    _ = optsched.solve(g).best.assignments  # type: ignore[attr-defined]
    _ = optsched.solve(a).best.runs  # type: ignore[attr-defined]
    optsched.solve(g).best.starts[0].start = 3  # type: ignore[misc]
    geo.Start(job="a", site="b", start="c", departure=None)  # type: ignore[arg-type]
    optsched.solve("instance.json")  # type: ignore[arg-type]
