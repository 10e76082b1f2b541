"""Time limits: what can end early ends with what it has, feasible; nothing that searches returns less than greedy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import optsched
from optsched.heuristics.deferrable import greedy as deferrable_greedy
from optsched.heuristics.serial_sgs import serial_sgs
from optsched.instances import Instance
from optsched.instances.generators import andreas, masac, osdec, vcc
from optsched.methods import HeuristicMethod
from optsched.problems.deferrable import time_indexed, to_schedule
from optsched.referee import check, evaluate
from optsched.registry import family as family_named
from optsched.stop import Clock, Spare, Stop, deadline

# a build that is ended by an exception in its thread may be in somebody's callback just then
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

MADE: dict[str, Instance] = {
    "allocation": andreas(2, nodes=40, jobs=400, all_submitted=True),
    "allocation-idle": andreas(2, nodes=40, jobs=400, all_submitted=True, use_all_nodes=False),
    "deferrable": osdec(jobs=400),
    "geo": masac(jobs=2500, days=1),
}


class Asked(Spare):
    """Time is out after so many questions; no clock is asked."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    def __call__(self) -> bool:
        self.times -= 1
        self.cut |= self.times < 0
        return self.times >= 0


class Haste(Asked):
    """Also says that there is little time left, from the start on."""

    left = 1e-3

    def left_s(self) -> float:
        self.left /= 2
        return self.left


HEURISTICS = [
    (name, heuristic)
    for name, instance in MADE.items()
    for heuristic, constructed in family_named(instance.problem).heuristics().items()
    if name != "vcc"
]


@pytest.mark.parametrize(("name", "heuristic"), HEURISTICS)
def test_ends_early_and_feasible(name: str, heuristic: str) -> None:
    """However early, a feasible schedule; given time, the same as without a limit."""
    instance = MADE[name]
    made = family_named(instance.problem).heuristics()[heuristic]
    for spare in (Asked(0), Asked(1), Asked(2), Haste(1), Haste(10**9)):
        found = made(instance, 0, spare=spare)
        assert check(instance, found) == []
        assert found.jobs_run > 0
    endless = Spare(Clock(), 1e6)
    assert made(instance, 0, spare=endless) == made(instance, 0)
    assert not endless.cut


def test_geo_in_haste_looks_at_all_jobs() -> None:
    """Soonest starts only, but of every part of the jobs; nearly what there is with time."""
    instance = MADE["geo"]
    made = family_named("geo").heuristics()["greedy"]
    hasty = Haste(10**9)
    quick, whole = (evaluate(instance, made(instance, 0, spare=s)).objective for s in (hasty, None))
    assert hasty.cut
    assert quick > 0.7 * whole > 0


@pytest.mark.parametrize("window", [3, 24, 100])
def test_the_loop_over_slots_chooses_what_arrays_do(window: int) -> None:
    """Whole cores and penalties, so that both sums are exact."""
    for seed in range(10):
        instance = osdec(jobs=150, horizon=80, window=window, load=0.5 + 0.3 * seed, core_case=1 + seed % 3, seed=seed)
        options = time_indexed(instance)
        order = sorted(
            range(150),
            key=lambda j: (instance.jobs[j].earliest, -instance.jobs[j].cores * instance.jobs[j].duration, j),
        )
        assert deferrable_greedy(instance) == to_schedule(instance, options, serial_sgs(options, np.array(order)))


def test_a_deadline_leaves_time_for_the_referee() -> None:
    """No limit, no deadline; at most a part of a short limit is kept."""
    assert deadline(None, 10**6) is None
    short, long = deadline(1.0, 10**6), deadline(100.0, 10**6)
    assert short is not None
    assert long is not None
    assert 0.5 < short < 1.0
    assert 50 < long < 100


def test_without_a_limit_no_clock_is_asked() -> None:
    """A heuristic as a method gets a `spare` only with a limit."""
    given: list[Spare | None] = []

    def made(instance: Any, seed: int = 0, *, spare: Spare | None = None) -> Any:
        given.append(spare)
        return deferrable_greedy(instance)

    for stop in (None, Stop(seconds=1e6)):
        HeuristicMethod("made", made)(MADE["deferrable"], stop=stop)
    assert given[0] is None
    assert isinstance(given[1], Spare)


@pytest.mark.parametrize("method", ["decomposition", "auto", "exact", "greedy"])
@pytest.mark.parametrize("name", ["deferrable", "geo", "allocation"])
def test_the_shortest_limit_is_not_empty(name: str, method: str) -> None:
    """A limit that has passed before anything is built: something is placed all the same, and the word is time_limit."""
    instance = MADE[name]
    result = optsched.solve(instance, method, time_limit=1e-6)
    assert result.termination == "time_limit"
    assert result.schedule is not None
    assert result.schedule.jobs_run > 0
    assert result.verify(instance) == []


@pytest.mark.parametrize("name", ["deferrable", "geo"])
def test_the_decomposition_begins_with_greedy(name: str) -> None:
    """One round without a limit is no worse than greedy, whatever it starts from."""
    instance = osdec(jobs=20, horizon=40) if name == "deferrable" else masac(jobs=60, days=0.25, scale=0.05)
    greedy = optsched.solve(instance, "greedy")
    assert greedy.objective is not None
    empty = family_named(name).empty(instance)
    for start in (None, empty, greedy):
        found = optsched.solve(instance, "decomposition", options={"iterations": 1}, start=start)
        assert found.objective is not None
        assert found.objective >= greedy.objective


def test_options_of_many_jobs_are_estimated() -> None:
    """From a thousand of them; exactly where there are no more."""
    family = family_named("deferrable")
    few, many = osdec(jobs=400, window=5), osdec(jobs=5000, horizon=500, window=5)
    assert family.exact_size(few).count > 0
    told = str(family.exact_size(many))
    assert told.startswith("about ")
    said = int(told.removeprefix("about ").split()[0].replace(",", ""))
    assert said == pytest.approx(len(family.time_indexed(many).problem), rel=0.15)


@pytest.mark.slow
def test_the_promise_in_short() -> None:
    """The benchmark on what is not large, with slack for a machine that others use too."""
    script = Path(__file__).parents[1] / "benchmarks" / "limits.py"
    how = ["--sizes", "small", "paper", "--limits", "1", "--slack", "6", "--tries", "3"]
    chosen = ["--methods", "exact", "auto", "decomposition", "fluid", "randomized-greedy+ls"]
    done = subprocess.run([sys.executable, str(script), *how, *chosen], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("family", ["deferrable", "geo"])
@pytest.mark.parametrize("method", ["greedy", "decomposition", "auto", "exact"])
def test_large_and_short_is_not_empty(family: str, method: str) -> None:
    """Where a second is not enough for the options alone."""
    instance: Instance = osdec(jobs=60_000, horizon=2016) if family == "deferrable" else masac(jobs=15_000, days=10)
    result = optsched.solve(instance, method, time_limit=1.0)
    assert result.objective is not None
    assert result.objective > 0
    assert result.timings_s.total < 10


@pytest.mark.slow
def test_vcc_large_and_short() -> None:
    """Tens of thousands of jobs within a second: as good as greedy."""
    instance = vcc(jobs=30_000, days=14)
    greedy = optsched.solve(instance, "greedy").objective
    found = optsched.solve(instance, "decomposition", time_limit=1.0).objective
    assert greedy is not None
    assert found is not None
    assert found <= greedy * (1 + 1e-9)
