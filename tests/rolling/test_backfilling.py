"""EASY and conservative backfilling: queues by hand on which they differ, and what each promises, on random ones."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optsched.instances.allocation import AllocationInstance
from optsched.instances.events import Cancellation, Events, disturbed
from optsched.rolling.allocation.backfilling import EasyBackfilling, reserve
from optsched.rolling.allocation.conservative import ConservativeBackfilling
from optsched.rolling.allocation.requests import Requests
from optsched.rolling.allocation.timeline import Timeline
from optsched.rolling.loop import replay
from optsched.schedules.allocation import AllocationSchedule
from tests.oracle import tiny

RULES = [EasyBackfilling, ConservativeBackfilling]
COSTS = {"node_cost_per_h": [1.0, 2.0, 3.0, 4.0]}


def cluster(nodes: list[tuple[str, int]], jobs: list[dict[str, Any]]) -> AllocationInstance:
    made = tiny.make(
        "allocation",
        currency="EUR",
        now_s=0,
        scheduling_interval_s=10,
        postponement_penalty=1,
        use_all_nodes=False,
        gpu_types={kind: COSTS for kind, _ in nodes},
        nodes=[{"id": f"n{i}", "gpu_type": kind, "gpus": gpus} for i, (kind, gpus) in enumerate(nodes)],
        jobs=[{"due_s": 1e6, "weight_per_s": 1, **job} for job in jobs],
    )
    assert isinstance(made, AllocationInstance)
    return made


def rigid(name: str, submit_s: float, gpus: int, **seconds: float) -> dict[str, Any]:
    """So many GPUs, for so long by type."""
    times = {kind: [*[None] * (gpus - 1), time] for kind, time in seconds.items()}
    return {"id": name, "submit_s": submit_s, "time_s": times}


def starts(instance: AllocationInstance, policy: Any) -> dict[str, float]:
    history: Any = replay(instance, policy).schedule
    assert len(history.runs) == len(instance.jobs)  # nobody is preempted or moved
    return {run.job: run.start_s for run in history.runs}


@pytest.mark.parametrize("origin", [0.0, 1.7e9])
def test_who_moves_forward_delays_nobody(origin: float) -> None:
    """`a` is cancelled: `b`, first in the queue, could begin when `x` ends, if `c` had not been promised that time."""
    jobs = [rigid("a", origin, 1, A=10_000), rigid("x", origin + 1, 1, A=4000)]
    jobs += [rigid("b", origin + 2, 2, A=10_000), rigid("c", origin + 3, 1, A=5900)]
    instance = cluster([("A", 2)], [job | {"due_s": origin + 1e6} for job in jobs])
    cancelled = Events(cancellations=(Cancellation(job="a", at_s=origin + 3000),))
    history: Any = replay(disturbed(instance, cancelled), ConservativeBackfilling()).schedule
    begun = {run.job: run.start_s - origin for run in history.runs}
    assert begun == pytest.approx({"a": 0, "x": 1, "c": 3000, "b": 8900}, abs=1e-5)


def test_a_reservation_is_kept_to_the_second_however_far_from_zero() -> None:
    """In 2023 two times half an hour apart were one: `c` began before `b`, whose reservation it delays."""
    jobs = [rigid("a", 1.7e9, 1, A=1000), rigid("b", 1.7e9 + 1, 2, A=500), rigid("c", 1.7e9 + 2, 1, A=3000)]
    begun = starts(cluster([("A", 2)], [job | {"due_s": 1.8e9} for job in jobs]), "conservative-backfilling")
    assert begun == pytest.approx({"a": 1.7e9, "b": 1.7e9 + 1000, "c": 1.7e9 + 1500}, rel=0, abs=1e-5)


QUEUE = [
    rigid("runs", 0, 3, A=100),
    rigid("head", 1, 3, A=100),  # waits for `runs`: from 100 to 200
    rigid("wide", 2, 4, A=50),  # after it: from 200 on
    rigid("long", 3, 1, A=500),  # fits beside `runs` and `head`, but not beside `wide`
    rigid("short", 4, 1, A=50),  # fits in the hole beside `runs`
]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("easy-backfilling", {"runs": 0, "head": 100, "wide": 503, "long": 3, "short": 200}),
        ("conservative-backfilling", {"runs": 0, "head": 100, "wide": 200, "long": 250, "short": 4}),
    ],
)
def test_a_node_by_hand(policy: str, expected: dict[str, float]) -> None:
    """`long` delays `wide`, which is not the first to wait: EASY lets it, conservative backfilling does not."""
    assert starts(cluster([("A", 4)], QUEUE), policy) == pytest.approx(expected)


def test_the_reserved_node_of_several() -> None:
    """`head` waits for n0, free at 50. Another node takes what it can; n0 what ends by then, or leaves what is reserved."""
    jobs = [
        rigid("a", 0, 3, A=50),
        rigid("b", 0, 3, A=90),
        rigid("head", 1, 4, A=10),
        rigid("other", 2, 1, A=500),
        rigid("ends", 3, 1, A=47),
        rigid("late", 4, 1, A=47),
    ]
    assert starts(cluster([("A", 4), ("A", 4)], jobs), "easy-backfilling") == pytest.approx(
        {"a": 0, "b": 0, "head": 50, "other": 2, "ends": 3, "late": 60}
    )


def test_what_is_reserved_is_left_once() -> None:
    """Both end at 100, when `head` leaves two of four GPUs; in the other queue it leaves one, which one job may have."""
    jobs = [rigid("x", 0, 2, A=100), rigid("y", 0, 1, A=100), rigid("head", 1, 2, A=100), rigid("long", 2, 1, A=500)]
    assert starts(cluster([("A", 4)], jobs), "easy-backfilling") == pytest.approx({"x": 0, "y": 0, "head": 100, "long": 2})
    jobs = [rigid("x", 0, 2, A=100), rigid("head", 1, 3, A=100), rigid("one", 2, 1, A=500), rigid("two", 3, 1, A=500)]
    assert starts(cluster([("A", 4)], jobs), "easy-backfilling") == pytest.approx({"x": 0, "head": 100, "one": 2, "two": 200})


def test_an_event_that_rounding_splits() -> None:
    """A reservation is due, but the job before it ends a rounding later: it waits for that."""
    instance = cluster([("A", 1)], [rigid("a", 0, 1, A=0.3), rigid("b", 0, 1, A=1)])
    rule = ConservativeBackfilling()
    assert [a.job for a in rule.decide(instance).assignments] == ["a"]
    nearly = [rigid("a", 0, 1, A=1e-9), rigid("b", 0, 1, A=1)]
    at = {"now_s": 0.3 - 1e-9}
    assert [a.job for a in rule.decide(cluster([("A", 1)], nearly).model_copy(update=at)).assignments] == ["a"]
    assert [a.job for a in rule.decide(cluster([("A", 1)], nearly[1:]).model_copy(update=at)).assignments] == ["b"]


def test_a_size_on_the_type_that_is_free() -> None:
    """The size is that of the cheapest configuration in time (one GPU of B); where B is taken, A runs it, for longer."""
    first = {"id": "x", "submit_s": 0, "due_s": 500, "time_s": {"A": [400, 300], "B": [100, 90]}}
    instance = cluster([("A", 2), ("B", 1)], [first, first | {"id": "y", "submit_s": 1}])
    assert Requests()(instance, instance.jobs[0]) == (1, {"B": 100, "A": 400})
    for rule in RULES:
        runs: Any = replay(instance, rule()).schedule
        assert {(r.job, r.node, r.gpus, r.start_s, r.end_s) for r in runs.runs} == {
            ("x", "n1", 1, 0, 100),
            ("y", "n0", 1, 1, 401),
        }


def test_the_fastest_where_nothing_is_in_time() -> None:
    late = {"id": "x", "submit_s": 5, "due_s": 20, "time_s": {"A": [400, 300, 310]}}
    instance = cluster([("A", 3)], [late])
    assert Requests()(instance, instance.jobs[0]) == (2, {"A": 300})


def test_a_timeline_by_hand() -> None:
    line = Timeline(0, 4)
    line.book(10, 30, 3)
    line.book(20, 40, 1)
    assert (line.times, line.free) == ([0, 10, 20, 30, 40], [4, 1, 0, 3, 4])
    assert line.earliest(1, 20) == (0, 4)
    assert line.earliest(1, 21) == (30, 3)
    assert line.earliest(2, 10) == (0, 4)
    assert line.earliest(4, 11) == (40, 4)
    assert line.earliest(4, 11, latest_s=39) is None
    line.forget(15)
    assert (line.times, line.free) == ([15, 20, 30, 40], [1, 0, 3, 4])
    line.book(0, 18, 1)
    assert (line.times, line.free) == ([15, 18, 20, 30, 40], [0, 1, 0, 3, 4])


@st.composite
def queues(draw: st.DrawFn) -> AllocationInstance:
    """Up to eight jobs, rigid and moldable, on up to three nodes of two types; times that tie, and times that round."""
    nodes = draw(st.lists(st.tuples(st.sampled_from("AB"), st.integers(1, 4)), min_size=1, max_size=3))
    unit = draw(st.sampled_from([1.0, 1 / 3, 0.1]))
    kinds = {kind: max(g for k, g in nodes if k == kind) for kind, _ in nodes}
    jobs = []
    for j in range(draw(st.integers(2, 8))):
        submit_s = draw(st.integers(0, 12)) * unit
        kind = draw(st.sampled_from(sorted(kinds)))
        gpus = draw(st.integers(1, kinds[kind]))
        job = rigid(f"j{j}", submit_s, gpus, **{kind: draw(st.integers(1, 30)) * unit})
        if draw(st.booleans()):
            job["time_s"] |= {k: [draw(st.integers(1, 30)) * unit for _ in range(most)] for k, most in kinds.items()}
        jobs.append(job | {"due_s": draw(st.integers(0, 60)) * unit})
    return cluster(nodes, jobs)


class Watched:
    """A rule that is looked at after every decision."""

    def __init__(self, rule: Any) -> None:
        self.rule = rule
        self.promised: dict[str, float] = {}
        self.started: dict[str, float] = {}

    def reset(self, seed: int) -> None:
        self.rule.reset(seed)

    def decide(self, snapshot: AllocationInstance) -> AllocationSchedule:
        decision: AllocationSchedule = self.rule.decide(snapshot)
        running = {a.job for a in decision.assignments}
        for job in running - self.started.keys():
            self.started[job] = snapshot.now_s
        free = self.rule.free(snapshot)
        assert min(free.values()) >= 0
        waiting = [job for job in snapshot.known_jobs if job.id not in running]
        if waiting:
            head = min(waiting, key=lambda job: job.submit_s)
            asked = self.rule.request(snapshot, head)
            room = [free[n.id] for n in snapshot.nodes if n.gpu_type in asked.time_s]
            assert max(room) < asked.gpus, "it idles although the head fits"
            self.promise(snapshot, head.id, asked, free, decision)
        return decision

    def promise(self, snapshot: Any, head: str, asked: Any, free: dict[str, int], decision: Any) -> None:
        """EASY: when the first to wait can start at the latest, were nothing else started."""
        kinds = {n.id: n.gpu_type for n in snapshot.nodes}
        left = {job.id: job.time_s for job in snapshot.known_jobs}
        ends = {a.job: snapshot.now_s + left[a.job][kinds[a.node]][a.gpus - 1] for a in decision.assignments}
        time_s = reserve(snapshot, asked, list(free.values()), decision.assignments, ends).time_s
        assert time_s <= self.promised.get(head, time_s) + 1e-6, "what was started since delays the head"
        self.promised[head] = time_s


@given(queues())
def test_easy_never_delays_the_first_that_waits(instance: AllocationInstance) -> None:
    watched = Watched(EasyBackfilling())
    replay(instance, watched)
    assert len(watched.started) == len(instance.jobs)
    for job, time_s in watched.promised.items():
        assert watched.started[job] <= time_s + 1e-6


class Booked(Watched):
    """Conservative: the first reservation of every job."""

    def promise(self, snapshot: Any, head: str, asked: Any, free: dict[str, int], decision: Any) -> None:
        for job, booking in self.rule.booked.items():
            self.promised.setdefault(job, booking.start_s)


@given(queues())
def test_conservative_keeps_every_reservation(instance: AllocationInstance) -> None:
    watched = Booked(ConservativeBackfilling())
    replay(instance, watched)
    assert watched.started == pytest.approx(watched.started | watched.promised, abs=1e-6)


@given(queues())
def test_conservative_never_delays_an_earlier_job(instance: AllocationInstance) -> None:
    """Whoever comes later might as well not have come."""
    order = sorted(instance.jobs, key=lambda job: job.submit_s)
    whole = starts(instance, "conservative-backfilling")
    for count in range(1, len(order)):
        kept = {job.id for job in order[:count]}
        part = instance.model_copy(update={"jobs": tuple(job for job in instance.jobs if job.id in kept)})
        assert starts(part, "conservative-backfilling") == pytest.approx({job: whole[job] for job in kept}, abs=1e-6)


class Forgets(ConservativeBackfilling):
    """Between two decisions somebody else has decided: a job that runs has made no progress."""

    def decide(self, snapshot: AllocationInstance) -> AllocationSchedule:
        jobs = tuple(
            job.model_copy(
                update={"time_s": {k: tuple(None if t is None else 2 * t for t in ts) for k, ts in job.time_s.items()}}
            )
            if job.id in self.held
            else job
            for job in snapshot.jobs
        )
        return super().decide(snapshot.model_copy(update={"jobs": jobs}))


def test_reservations_are_made_anew_when_somebody_else_has_decided() -> None:
    instance = cluster([("A", 4)], QUEUE)
    assert len(starts(instance, Forgets())) == len(QUEUE)


def test_reservations_of_nobody_knows_which_nodes_are_made_again() -> None:
    """A memory that was kept before it told of nodes: some may have been away."""
    jobs = [{"id": f"j{j}", "submit_s": 0, "time_s": {"A": [100.0 + j]}} for j in range(6)]
    snapshot = cluster([("A", 1)] * 3, jobs)
    policy, again = ConservativeBackfilling(), ConservativeBackfilling()
    for each in (policy, again):
        each.reset(0)
    policy.decide(snapshot)
    state: Any = policy.state()
    assert state["booked"]
    assert state.pop("nodes") == [node.id for node in snapshot.nodes]
    again.restore(state)
    fewer = snapshot.model_copy(update={"nodes": snapshot.nodes[1:]})
    assert again.decide(fewer).assignments
    assert all(booking.node < len(fewer.nodes) for booking in again.booked.values())
