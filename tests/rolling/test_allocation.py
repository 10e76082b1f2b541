"""Replays of allocation: the paper's cluster to the digit, honest policies, and a referee that sees through histories."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import optsched
from optsched.errors import OptschedError
from optsched.instances.generators import andreas
from optsched.rolling.loop import replay
from optsched.rolling.policy import policies
from optsched.schedules.allocation import AllocationHistory, Run, check, evaluate
from tests.cli.test_cli import run
from tests.oracle import tiny
from tests.parts import parts

# the authors' program, re-run: FIFO = EDF = PS 1.813, greedy in EDF order 1.216 EUR; exact optimum of the proxy 1.226
ARMIDA = {"fifo": 1.813, "edf": 1.813, "ps": 1.813, "preemptive-edf": 1.216, "rolling:exact": 1.226}


@pytest.mark.parametrize(("policy", "published"), ARMIDA.items())
def test_armida_event_driven(examples: Path, policy: str, published: float) -> None:
    result = replay(optsched.load(examples / "armida.json"), policy)
    assert result.objective == pytest.approx(published, rel=0.005)
    assert result.objective_kind == "realised"


@pytest.mark.parametrize("policy", ["fifo", "edf", "ps"])
def test_armida_every_five_minutes(examples: Path, policy: str) -> None:
    """Non-preemptive rules keep what runs, so deciding more often changes nothing."""
    assert replay(optsched.load(examples / "armida.json"), policy, period_s=300).objective == pytest.approx(1.813, rel=0.005)


def test_armida_rolling_and_randomized_greedy(examples: Path) -> None:
    instance = optsched.load(examples / "armida.json")
    rolling = replay(instance, "rolling")
    assert rolling.objective < 1.17
    assert rolling.components["tardiness"] >= 0.075  # J9 alone cannot avoid that
    assert replay(instance, "randomized-greedy").objective == pytest.approx(1.237, rel=0.02)


@pytest.mark.parametrize("policy", policies("allocation"))
def test_every_policy_finishes_every_tiny_replay(policy: str) -> None:
    for seed in range(2):  # a case each
        instance = andreas(1 + seed, 2, jobs=5, seed=seed)
        result = replay(instance, policy, seed=seed)
        assert check(instance, result.best) == []
        assert result.options["figures"]["fallbacks"] == 0, result.message


@pytest.mark.slow
@pytest.mark.parametrize(("case", "rate"), parts([(2, "mixed"), (1, "high"), (1, "mixed"), (2, "high")], in_ci=1))
def test_rolling_is_ahead_of_rules(case: int, rate: Any) -> None:
    """Six nodes, sixty jobs, two seeds: of the simple rules and of the paper's heuristic; near `priced`."""
    made = [andreas(case, 6, rate=rate, seed=seed) for seed in (50, 51)]
    others = ("least-slack", "preemptive-edf", "randomized-greedy")
    mean = {p: sum(replay(i, p).objective for i in made) / len(made) for p in ("rolling", "priced", *others)}
    assert all(mean["rolling"] <= mean[other] for other in others)
    assert mean["rolling"] < (0.8 if rate == "high" else 1.0) * mean["randomized-greedy"]
    assert mean["rolling"] <= 1.25 * mean["priced"]


def test_same_seed_same_replay(examples: Path) -> None:
    instance = optsched.load(examples / "armida.json")
    logs: list[list[dict[str, Any]]] = [[], []]
    runs = [replay(instance, "randomized-greedy", seed=4, log=log.append) for log in logs]
    assert logs[0] == logs[1]
    assert runs[0].schedule == runs[1].schedule


class Peeks:
    """Looks for anything that it must not know."""

    def reset(self, seed: int) -> None:
        self.names: set[str] = set()

    def decide(self, snapshot: Any) -> Any:
        assert all(job.submit_s <= snapshot.now_s for job in snapshot.jobs)
        assert snapshot.meta == {}
        self.names |= {job.id for job in snapshot.jobs}
        return optsched.solve(snapshot, "greedy").schedule


class Raises:
    """A policy with a bug."""

    def reset(self, seed: int) -> None: ...

    def decide(self, snapshot: Any) -> Any:
        raise ZeroDivisionError("oops")


class Cheats(Raises):
    """A policy that gives every job every GPU."""

    def decide(self, snapshot: Any) -> Any:
        from optsched.schedules.allocation import AllocationSchedule, Assignment

        node = snapshot.nodes[0]
        return AllocationSchedule(assignments=tuple(Assignment(job=j.id, node=node.id, gpus=1) for j in snapshot.jobs))


def test_a_policy_cannot_peek(examples: Path) -> None:
    policy = Peeks()
    replay(optsched.load(examples / "armida.json"), policy)
    assert len(policy.names) == 8


@pytest.mark.parametrize(("policy", "word"), [(Raises(), "Raises raised ZeroDivisionError"), (Cheats(), "Cheats: GPUs above")])
def test_failures_are_caught_by_name_and_counted(examples: Path, policy: Any, word: str) -> None:
    result = replay(optsched.load(examples / "armida.json"), policy, on_failure="fallback")
    assert word in (result.message or "")
    assert result.options["figures"]["fallbacks"] > 0


def test_unknown_policy_and_forecast() -> None:
    with pytest.raises(OptschedError, match="allocation has no policy 'magic'"):
        replay(tiny.allocation(1), "magic")
    with pytest.raises(OptschedError, match="no signal to forecast"):
        replay(tiny.allocation(1), "fifo", forecast="noisy")


def history(*runs: tuple[str, str, int, float, float]) -> AllocationHistory:
    names = ("job", "node", "gpus", "start_s", "end_s")
    return AllocationHistory(runs=tuple(Run(**dict(zip(names, run, strict=True))) for run in runs))


def two_jobs(**changes: Any) -> Any:
    """a: 100 s on one GPU, 60 on two, due 50; b: 40 s on one; a node of two GPUs at 36 and 54 EUR/h."""
    fields: dict[str, Any] = {
        "currency": "EUR",
        "now_s": 0,
        "scheduling_interval_s": 10,
        "postponement_penalty": 1,
        "gpu_types": {"A": {"node_cost_per_h": [36, 54]}},
        "nodes": [{"id": "n", "gpu_type": "A", "gpus": 2}],
        "jobs": [
            {"id": "a", "submit_s": 0, "due_s": 50, "weight_per_s": 1, "time_s": {"A": [100, 60]}},
            {"id": "b", "submit_s": 10, "due_s": 500, "weight_per_s": 1, "time_s": {"A": [40]}},
        ],
    }
    return tiny.make("allocation", **(fields | changes))


def test_realised_cost_by_hand() -> None:
    """One GPU for 10 s, two for 40 s, one for 50 s: 36*60/3600 + 54*40/3600; a is 50 s late."""
    judged = evaluate(two_jobs(), history(("a", "n", 1, 0, 100), ("b", "n", 1, 10, 50)))
    assert judged.components == {"energy": pytest.approx(0.6 + 0.6), "tardiness": pytest.approx(50)}


@pytest.mark.parametrize(
    ("runs", "rules"),
    [
        ([("a", "n", 1, 0, 100), ("b", "n", 1, 10, 50)], []),
        ([("a", "n", 2, 0, 30), ("a", "n", 1, 30, 80), ("b", "n", 1, 30, 70)], []),  # half with two GPUs, half with one
        ([("a", "n", 1, 0, 99), ("b", "n", 1, 10, 50)], ["work not finished"]),
        ([("a", "n", 1, 0, 101), ("b", "n", 1, 10, 50)], ["work done more than once"]),
        ([("a", "n", 1, 0, 100)], ["work not finished"]),
        ([("a", "n", 1, 0, 100), ("b", "n", 1, 5, 45)], ["runs before it is submitted"]),
        ([("a", "n", 2, 0, 60), ("b", "n", 1, 10, 50)], ["GPUs above the node's"]),
        ([("a", "n", 1, 0, 50), ("a", "n", 1, 40, 90), ("b", "n", 1, 90, 130)], ["runs twice at a time"]),
        ([("a", "x", 1, 0, 100), ("b", "n", 1, 10, 50)], ["unknown node", "work not finished"]),
    ],
)
def test_the_referee_of_histories(runs: list[Any], rules: list[str]) -> None:
    assert [v.rule for v in check(two_jobs(), history(*runs))] == rules


def test_migrations_cost_work() -> None:
    """5 s of every run but a job's first bring nothing."""
    moved = [("a", "n", 2, 0, 30), ("a", "n", 1, 30, 80), ("b", "n", 1, 30, 70)]
    assert [v.rule for v in check(two_jobs(migration_cost_s=5), history(*moved))] == ["work not finished"]
    moved[1] = ("a", "n", 1, 30, 85)
    assert check(two_jobs(migration_cost_s=5), history(*moved)) == []
    for seed in range(2):
        instance = andreas(1, 3, jobs=9, seed=seed).model_copy(update={"migration_cost_s": 120.0})
        assert replay(instance, "rolling").options["figures"]["fallbacks"] == 0


def test_the_command(examples: Path, tmp_path: Path) -> None:
    armida, result, log = examples / "armida.json", tmp_path / "r.json", tmp_path / "log.jsonl"
    done = run("replay", armida, "-o", result, "--log", log)
    assert done.returncode == 0, done.stderr
    assert str(json.loads(result.read_text())["objective"])[:5] in done.stdout
    assert run("check", armida, result).returncode == 0
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert [row["time_s"] for row in rows] == sorted(row["time_s"] for row in rows)
    table = run("replay", armida, "--policy", "fifo", "--policy", "edf")
    assert table.stdout.count("1.81") == 2
    wrong = run("replay", armida, "--policy", "magic")
    assert wrong.returncode == 2
    assert len(wrong.stderr.strip().splitlines()) == 1


def test_look_ahead_counts_what_it_decodes() -> None:
    """Encoding a schedule and decoding it again keeps jobs, types and GPUs, and the model calls it feasible."""
    from optsched.models.allocation.look_ahead import LookAhead
    from optsched.solvers.linear_form import linear_form

    for seed in range(60):
        instance: Any = tiny.allocation(seed)
        schedule: Any = optsched.solve(instance, "greedy").schedule
        model = LookAhead(instance)
        model.encode(schedule)
        form = linear_form(model)
        start = form.start()
        assert start is not None
        assert form.violation(start) < 1e-9
        kinds = {node.id: (node.gpu_type, node.gpus) for node in instance.nodes}
        before, after = (sorted((a.job, kinds[a.node], a.gpus) for a in s.assignments) for s in (schedule, model.decode()))
        assert before == after


def test_short_jobs_at_large_times() -> None:
    """Seconds since 1970, or 1e9 of them after a first job: what float64 cannot tell of so late a time breaks no rule."""
    node = {"id": "n", "gpu_type": "T", "gpus": 1}
    for first_s, second_s, time_s in ((0.0, 1e9, 1e-3), (1.7e9, 1.7e9 + 0.3, 0.05), (1e9, 1e9 + 1, 1e-9), (0.0, 1e11, 1e-300)):
        jobs = [
            {"id": name, "submit_s": at, "due_s": at + 1, "weight_per_s": 1, "time_s": {"T": [takes]}}
            for name, at, takes in (("x", first_s, 5.0), ("y", second_s, time_s))
        ]
        kinds = {"T": {"node_cost_per_h": [1]}}
        fields = {"now_s": 0, "scheduling_interval_s": 300, "postponement_penalty": 100, "gpu_types": kinds, "nodes": [node]}
        instance = optsched.allocation.Instance.from_dict({"name": "late", "currency": "EUR", "jobs": jobs} | fields)
        for policy in ("fifo", "rolling"):
            assert optsched.replay(instance, policy).verify(instance) == []


def test_nothing_stands_still_where_nothing_waits() -> None:
    """A decision a minute for two days without a job: who has nothing to do has not failed, and pays what it does without."""
    jobs = [
        {"id": f"j{k}", "submit_s": at, "due_s": at + 4000, "weight_per_s": 0.01, "time_s": {"T": [3600.0]}}
        for k, at in enumerate((0.0, 172_800.0))
    ]
    instance = optsched.allocation.Instance.from_dict(
        {
            "name": "two days",
            "currency": "EUR",
            "now_s": 0,
            "scheduling_interval_s": 300,
            "postponement_penalty": 100,
            "gpu_types": {"T": {"node_cost_per_h": [1]}},
            "nodes": [{"id": "n", "gpu_type": "T", "gpus": 1}],
            "jobs": jobs,
        }
    )
    for policy in ("fifo", "rolling"):
        often, seldom = (replay(instance, policy, period_s=period) for period in (60.0, None))
        assert often.options["figures"]["fallbacks"] == 0
        assert often.objective == pytest.approx(seldom.objective, rel=1e-9)
