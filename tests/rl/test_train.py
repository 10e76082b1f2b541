"""Training, in short: it runs, is reproducible, and its agent is what Stable-Baselines3 would do."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")
pytestmark = pytest.mark.rl

from optsched.instances.generators import vcc  # noqa: E402
from optsched.rl.train import evaluate_agent, train  # noqa: E402
from optsched.rolling.vcc.environment import VirtualCapacityEnv  # noqa: E402


@pytest.mark.parametrize("algorithm", ["ppo", "sac"])
def test_the_same_seed_gives_the_same_agent(algorithm: str) -> None:
    environment = VirtualCapacityEnv(vcc(days=1, jobs=30, load=0.1))
    first, second = (train(algorithm, environment.again, 2800, seed=4) for _ in range(2))
    for (w, b), (v, c) in zip(first.layers, second.layers, strict=True):
        assert (w == v).all()
        assert (b == c).all()
    assert evaluate_agent(first, environment.again) == evaluate_agent(second, environment.again)


@pytest.mark.parametrize("algorithm", ["ppo", "sac"])
def test_the_agent_is_the_models_actor(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from optsched.rl import train as module
    from optsched.rl.agent import to_cap

    seen = np.random.default_rng(0).random((20, 27))
    kept = []
    export = module.exported

    def both(model: object, venv: object, algorithm: str) -> object:
        found = export(model, venv, algorithm)
        normal = venv.normalize_obs(seen.copy())  # type: ignore[attr-defined]
        kept.append((found, model.predict(normal, deterministic=True)[0][:, 0]))  # type: ignore[attr-defined]
        return found

    monkeypatch.setattr(module, "exported", both)
    train(algorithm, VirtualCapacityEnv(vcc(days=1, jobs=30, load=0.1)).again, 2800)
    assert kept
    for found, theirs in kept:
        ours = [found.act(row) for row in seen]
        assert ours == pytest.approx(to_cap(np.clip(theirs, -1, 1)).tolist(), abs=1e-5)
