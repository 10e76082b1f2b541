"""The environment of GPU clusters: the replay's simulator, and a return that is minus the referee's objective."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from optsched.errors import OptschedError  # noqa: E402
from optsched.instances.allocation import AllocationInstance, GpuType, Job, Node  # noqa: E402
from optsched.instances.generators import andreas, vcc  # noqa: E402
from optsched.referee import check, evaluate  # noqa: E402
from optsched.rl.allocation.scenarios import PER_SPLIT, SCENARIOS, SPLITS, Split, scenario  # noqa: E402
from optsched.rolling.allocation.environment import AllocationEnv  # noqa: E402


def tiny(**changes: object) -> AllocationInstance:
    """A node with 2 GPUs at 3.6 and 7.2 EUR an hour; two jobs of 100 s on one GPU, 60 s on two; b is due before it comes."""
    jobs = (
        Job(id="a", submit_s=0, due_s=80, weight_per_s=1, time_s={"X": (100, 60)}),
        Job(id="b", submit_s=30, due_s=20, weight_per_s=2, time_s={"X": (100, 60)}),
    )
    given: dict[str, object] = {
        "name": "tiny",
        "currency": "EUR",
        "now_s": 0,
        "scheduling_interval_s": 10,
        "postponement_penalty": 1,
        "gpu_types": {"X": GpuType(node_cost_per_h=(3.6, 7.2))},
        "nodes": (Node(id="n", gpu_type="X", gpus=2),),
        "jobs": jobs,
    }
    return AllocationInstance.model_validate(given | changes)


def random_episode(env: AllocationEnv, seed: int) -> tuple[float, list[float]]:
    env.reset(seed=seed)
    rng, rewards, over = np.random.default_rng(seed), [], False
    while not over:
        action = rng.uniform(-0.3, 1, (env.max_jobs, env.max_ways)).astype(np.float32)
        _, reward, over, cut, info = env.step(action)
        assert reward == -(info["energy"] + info["tardiness"])
        assert not cut
        rewards.append(reward)
    return sum(rewards), rewards


def test_gymnasium_is_content() -> None:
    check_env(AllocationEnv("toy"), skip_render_check=True)


def test_by_hand() -> None:
    env = AllocationEnv(instances=[tiny()])
    seen, _ = env.reset(seed=0)
    assert (env.max_jobs, env.max_ways) == (2, 2)
    assert seen["mask"].tolist() == [[1, 1], [0, 0]]
    one = np.array([[1, 0], [1, 0]], dtype=np.float32)
    two = np.array([[0, 1], [-1, -1]], dtype=np.float32)
    seen, reward, *_ = env.step(two)  # a on both GPUs for 30 s at 7.2 EUR an hour
    assert reward == pytest.approx(-0.06)
    assert seen["running"].sum() == 1
    _, reward, *_ = env.step(one)  # side by side; a has half its work left, 50 s, and ends when it is due; b was due at 20
    assert reward == pytest.approx(-(50 * 7.2 / 3600) - 2 * 60)
    _, reward, ended, *_ = env.step(two)  # b has half its work left too
    assert reward == pytest.approx(-(30 * 7.2 / 3600) - 2 * 30)
    assert ended
    assert check(env.given[0], env.history()) == []


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_return_is_minus_the_objective(name: str) -> None:
    for seed in range(10 if name in ("toy", "andreas") else 3):
        env = AllocationEnv(name)
        total, _ = random_episode(env, seed)
        assert env.simulator is not None
        history = env.history()
        assert check(env.simulator.truth, history) == []
        assert -total == pytest.approx(evaluate(env.simulator.truth, history).objective, rel=1e-9)


def test_moving_costs_work() -> None:
    instance = andreas(nodes=2, jobs=10, seed=3).model_copy(update={"migration_cost_s": 50.0})
    env = AllocationEnv(instances=[instance])
    total, _ = random_episode(env, 0)
    assert -total == pytest.approx(evaluate(instance, env.history()).objective, rel=1e-9)


def test_same_seed_same_trajectory() -> None:
    env = AllocationEnv("toy")
    first, again, other = (random_episode(env, seed)[1] for seed in (5, 5, 6))
    assert first == again
    assert first != other


def test_whoever_idles_for_ever_is_stopped() -> None:
    env = AllocationEnv(instances=[tiny()])
    env.reset(seed=0)
    cut = False
    for _ in range(200):
        _, _, ended, cut, _ = env.step(-np.ones((2, 2), np.float32))
        assert not ended
        if cut:
            break
    assert cut


def test_the_least_urgent_are_not_shown_where_there_is_no_room() -> None:
    env = AllocationEnv("toy", max_jobs=2)
    total, _ = random_episode(env, 1)
    assert total < 0


def test_render_draws_the_gantt() -> None:
    env = AllocationEnv(instances=[tiny()], render_mode="rgb_array")
    env.reset(seed=0)
    env.step(np.ones((2, 2), np.float32))
    picture = env.render()
    assert picture is not None
    assert picture.ndim == 3
    assert picture.dtype == np.uint8
    assert AllocationEnv("toy").render() is None


def test_splits_are_disjoint() -> None:
    ranges = [range(first, first + PER_SPLIT) for first in SPLITS.values()]
    assert len({seed for r in ranges for seed in (r[0], r[-1])}) == 6
    assert all(a[-1] < b[0] for a, b in itertools.pairwise(ranges))
    assert ranges[0][0] > 9_999
    splits: tuple[Split, ...] = tuple(SPLITS)
    for name in SCENARIOS:
        jobs = [{(j.submit_s, j.due_s) for k in range(2) for j in scenario(name).instance(s, k).jobs[1:]} for s in splits]
        assert not jobs[0] & jobs[1]
        assert not jobs[0] & jobs[2]
        assert not jobs[1] & jobs[2]


def test_misuse_is_told_in_a_line() -> None:
    with pytest.raises(OptschedError, match="no scenario 'papier', did you mean"):
        AllocationEnv("papier")
    with pytest.raises(OptschedError, match="a split is one of train, validation, test, got 'tset'"):
        AllocationEnv(split="tset")  # type: ignore[arg-type]
    with pytest.raises(OptschedError, match="draws as 'rgb_array' or not at all"):
        AllocationEnv(render_mode="human")
    for odd in ([vcc(days=1, jobs=60)], ["no.json"], "no.json", []):
        with pytest.raises(OptschedError, match="instances are one or more of allocation"):
            AllocationEnv(instances=odd)  # type: ignore[arg-type]
    with pytest.raises(OptschedError, match="max_ways 3, got 12 and 2"):
        AllocationEnv("toy", max_ways=2)
    with pytest.raises(OptschedError, match="number from 0"):
        scenario("toy").instance("train", -1)
    env = AllocationEnv("toy")
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.zeros((12, 3), np.float32))
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.history()
    env.reset(seed=0)
    for wrong, said in ((np.zeros(3, np.float32), "an action is of shape"), (np.full((12, 3), np.nan), "got NaN or infinity")):
        with pytest.raises(OptschedError, match=said):
            env.step(wrong)
