"""What a decision costs grows with what waits and runs, not with all that has been and will be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import optsched
from optsched.instances.generators import andreas, masac, osdec
from optsched.rolling.loop import replay


class Counting(tuple[Any, ...]):
    """Jobs, and how often somebody goes through all of them."""

    passes = 0

    def __iter__(self) -> Iterator[Any]:
        type(self).passes += 1
        return super().__iter__()


@pytest.mark.parametrize("policy", ["fifo", "easy-backfilling", "conservative-backfilling", "preemptive-edf"])
def test_nobody_goes_through_all_jobs_at_every_event(policy: str) -> None:
    passes = []
    for count in (20, 80):
        made = andreas(1, 6, jobs=count, seed=2)
        plain = replay(made, policy)
        Counting.passes = 0
        result = replay(made.model_copy(update={"jobs": Counting(made.jobs)}), policy)
        passes.append(Counting.passes)
        assert result.options["figures"]["decisions"] > count
        assert result.schedule == plain.schedule
    assert passes[0] == passes[1] < 40


@pytest.mark.parametrize(
    ("module", "instance", "policy"),
    [
        ("deferrable", osdec(1, 1, jobs=60, horizon=60, window=6, seed=2), "fifo"),
        ("geo", masac(jobs=60, days=0.2, seed=2), "local-fcfs"),
    ],
)
def test_a_history_makes_each_entry_once(monkeypatch: pytest.MonkeyPatch, module: str, instance: Any, policy: str) -> None:
    """However often it is judged."""
    place = f"optsched.rolling.{module}.simulator.Start"
    made: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    from importlib import import_module

    start = import_module(f"optsched.rolling.{module}.simulator").Start

    def counted(**fields: Any) -> Any:
        made.append(fields)
        return start(**fields)

    monkeypatch.setattr(place, counted)
    result = replay(instance, policy, log=rows.append)
    assert sum("objective" in row for row in rows) > 20
    assert len(made) == len(result.schedule.starts) > 20  # type: ignore[union-attr]


def test_a_policy_is_made_once_in_a_table(monkeypatch: pytest.MonkeyPatch, examples: Path) -> None:
    from optsched.cli import _run
    from optsched.rolling import loop, policy

    made, named = [], policy.policy

    def counted(problem: str, name: str, settings: Any) -> Any:
        made.append(name)
        return named(problem, name, settings)

    monkeypatch.setattr(loop, "named_policy", counted)
    words = ["replay", str(examples / "geo-small.json"), "--policy", "local-fcfs", "--policy", "greedy", "--no-bound"]
    assert _run(words) == 0
    assert made == ["local-fcfs", "greedy"]
    assert optsched.replay(optsched.load(examples / "geo-small.json"), "greedy").schedule is not None
