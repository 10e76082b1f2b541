"""geo's environments: the interfaces' own checks, and that an episode's rewards are the referee's objective."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

import gymnasium
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test, parallel_seed_test

import optsched
import optsched.environments
from optsched.errors import OptschedError
from optsched.instances.generators import masac, vcc
from optsched.rl.geo.observation import unit_usd
from optsched.rl.geo.split import SCENARIOS, case
from optsched.rolling.geo.environment import GeoEnv
from optsched.rolling.geo.episode import Episode
from optsched.rolling.geo.single import SINGLE, GeoSingleEnv
from optsched.schedules.geo import GeoSchedule


def test_pettingzoo_accepts_it() -> None:
    parallel_api_test(GeoEnv("toy"), num_cycles=200)
    parallel_seed_test(lambda: GeoEnv("toy"), num_cycles=50)


def test_gymnasium_accepts_the_single_agents_view() -> None:
    assert optsched.environments.PLACES[SINGLE]
    check_env(gymnasium.make(SINGLE, scenario="toy").unwrapped, skip_render_check=True)


@pytest.mark.parametrize("forecast", ["perfect", "noisy:0.3", "persistence"])
def test_rewards_are_the_objective(forecast: str) -> None:
    """With the idle system's part, whatever is decided and whatever was believed of prices."""
    env = GeoEnv("toy", forecast=forecast)
    rng = np.random.default_rng(5)
    for seed in range(4):
        seen, _ = env.reset(seed=seed)
        total, infos = 0.0, {}
        while env.agents:
            actions = {agent: int(rng.choice(np.flatnonzero(seen[agent]["action_mask"]))) for agent in env.agents}
            seen, rewards, _, _, infos = env.step(actions)
            assert len(set(rewards.values())) == 1
            total += next(iter(rewards.values()))
        assert env.episode is not None
        truth, history = env.episode.truth, env.episode.history()
        assert not optsched.check(truth, history)
        idle = next(iter(infos.values()))["idle"]
        assert total + idle == pytest.approx(optsched.evaluate(truth, history).objective, rel=1e-9, abs=1e-9)


def test_who_is_lost_is_told_at_once() -> None:
    """What a job was credited with as it left is taken back when it can no longer start, not at the end of the episode."""
    episode, total, spent, told = Episode(case(SCENARIOS["toy"], "train", 1)), 0.0, 0.0, 0
    while episode.rounds is not None:
        rounds, waiting = episode.rounds, set(episode.waiting.tolist())
        assert episode.credited.keys() <= waiting
        mine = np.flatnonzero(rounds.asked >= 0)
        moved = rounds.rows.moved[rounds.asked[mine]]
        away = rounds.legal.copy()
        away[mine, 1 + mine] = away[mine[moved]] = False  # nothing ever starts: who may leaves, who has moved stays
        before, paid = episode.sight.credits(), sum(episode.paid.values())
        assert (before[mine[moved], 0] == -rounds.gain[rounds.asked[mine[moved]], mine[moved]] / unit_usd(rounds)).all()
        assert (before[mine[moved], 1 + mine[moved]] == 0).all()
        assert (before[mine[~moved], 0] == 0).all()
        total += episode.decide(np.where(away[:, 1:].any(axis=1), 1 + away[:, 1:].argmax(axis=1), 0))
        spent, told = sum(episode.paid.values()), told + int(moved.sum())
        assert spent >= paid
        outstanding = sum(worth + episode.paid[j] for j, worth in episode.credited.items())
        assert total == pytest.approx(outstanding - spent, abs=1e-9)
    assert told
    assert total == pytest.approx(-spent)
    assert spent > 0


def test_an_instance_or_its_file_is_played(examples: Path) -> None:
    for env in (GeoEnv, GeoSingleEnv):
        assert env("toy", examples / "geo-small.json").instance == optsched.load(examples / "geo-small.json")
        for wrong, said in (({}, "expected an instance, got {}"), (examples / "vcc-small.json", "over sites, got one of vcc")):
            with pytest.raises(OptschedError, match=said):
                env("toy", wrong)


def test_both_views_play_the_same() -> None:
    instance = case(SCENARIOS["toy"], "train", 3)
    many, single = GeoEnv("toy", instance), GeoSingleEnv("toy", instance)
    seen, _ = many.reset(seed=0)
    total = [0.0, 0.0]
    while many.agents:
        seen, rewards, *_ = many.step({agent: int(seen[agent]["action_mask"].argmax()) for agent in many.agents})
        total[0] += next(iter(rewards.values()))
    one, info = single.reset(seed=0)
    over = False
    while not over:
        assert one[: single.sites].sum() == 1
        one, reward, over, _, info = single.step(int(np.asarray(info["action_mask"]).argmax()))
        total[1] += reward
    assert total[0] == total[1]
    assert many.episode is not None
    assert single.episode is not None
    assert many.episode.history() == single.episode.history()


def test_it_draws_the_gantt() -> None:
    env = GeoEnv("toy", render_mode="rgb_array")
    env.reset(seed=0)
    picture = env.render()
    assert picture is not None
    assert picture.ndim == 3
    with pytest.raises(OptschedError, match="rgb_array"):
        GeoEnv("toy", render_mode="human")
    with pytest.raises(OptschedError, match="small, table-1, toy"):
        GeoEnv("many")


@pytest.mark.parametrize("make", [GeoEnv, GeoSingleEnv])
def test_misuse_is_told_in_a_line(make: type[GeoEnv] | type[GeoSingleEnv]) -> None:
    with pytest.raises(OptschedError, match="needs an instance over sites, got one of vcc"):
        make("toy", vcc(days=1, jobs=60))  # type: ignore[arg-type]
    with pytest.raises(OptschedError, match="draws as 'rgb_array' or not at all, got render_mode 'human'"):
        make("toy", render_mode="human")
    with pytest.raises(OptschedError, match="no scenario 'many' with the same sites"):
        make("many")
    with pytest.raises(OptschedError, match="forecast"):
        make("toy", forecast="crystal ball")
    env = make("toy", render_mode="rgb_array")
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(dict.fromkeys(env.possible_agents, 0) if isinstance(env, GeoEnv) else 0)  # type: ignore[arg-type]
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.render()


@pytest.mark.parametrize("wrong", [99, 6, -1, 1.5, "1", None])
def test_no_other_actions_are_taken(wrong: object) -> None:
    """And whoever takes one has lost nothing."""
    many, single = GeoEnv("toy"), GeoSingleEnv("toy")
    seen, _ = many.reset(seed=1)
    one, _ = single.reset(seed=1)
    actions: dict[str, object] = dict.fromkeys(many.possible_agents, 0)
    with pytest.raises(OptschedError, match=r"from 0 \(postpone\) to 5"):
        many.step(actions | {many.possible_agents[2]: wrong})  # type: ignore[arg-type]
    with pytest.raises(OptschedError, match=r"from 0 \(postpone\) to 5"):
        single.step(wrong)  # type: ignore[arg-type]
    assert all((a["observation"] == seen[n]["observation"]).all() for n, a in many._seen(many.episode).items())  # type: ignore[arg-type]
    assert (single._seen(single.episode)[0] == one).all()  # type: ignore[arg-type]
    many.step(dict.fromkeys(many.possible_agents, np.int64(5)))  # type: ignore[arg-type]
    single.step(np.array(5))  # type: ignore[arg-type]


def test_every_agent_says_something() -> None:
    env = GeoEnv("toy")
    env.reset(seed=1)
    first, *others = env.possible_agents
    with pytest.raises(OptschedError, match=f"an action of every agent, {first}"):
        env.step(dict.fromkeys(others, 0))
    with pytest.raises(OptschedError, match="stranger"):
        env.step(dict.fromkeys([first, *others, "stranger"], 0))


@pytest.mark.parametrize("jobs", [0, 5])
def test_an_instance_without_a_decision_is_over_after_a_step(jobs: int) -> None:
    found = masac(jobs=8, days=0.2, scale=0.2, seed=1)
    huge = tuple(job.model_copy(update={"gpus": 10_000}) for job in found.jobs[:jobs])
    instance = found.model_copy(update={"jobs": huge})
    many, single = GeoEnv(instance=instance), GeoSingleEnv(instance=instance)
    many.reset(seed=0)
    _, rewards, ends, _, _ = many.step(dict.fromkeys(many.possible_agents, 0))
    assert set(rewards.values()) == {0.0}
    assert all(ends.values())
    single.reset(seed=0)
    _, reward, ended, _, info = single.step(0)
    assert (reward, ended) == (0.0, True)
    assert info["idle"] == optsched.evaluate(instance, GeoSchedule(starts=())).objective
    with pytest.raises(gymnasium.error.ResetNeeded):
        single.step(0)
