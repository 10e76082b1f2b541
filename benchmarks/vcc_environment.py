"""Steps a second of the environments of vcc, one core: Gymnasium's on May 2019, and what the agents are trained in.

    python benchmarks/vcc_environment.py

The first part plays the same caps job by job for comparison; the published environment makes 220-530 steps a second on the same
month. The second steps 24 synthetic weeks of 4,000 jobs at once, as `optsched train` does, the same one by one, and the weeks
through Gymnasium's vector API; what is seen is made in all: 70 numbers with what waiting would save, and the page's 27.
"""

from __future__ import annotations

import time
from functools import partial

import gymnasium
import numpy as np
from arguments import told

from optsched.files import traces
from optsched.instances.generators import vcc
from optsched.instances.readers import read_google2019
from optsched.rolling.vcc.batch import Batch, case
from optsched.rolling.vcc.environment import VirtualCapacityEnv
from optsched.schedules.vcc import simulate_queue

DATA = traces() / "google2019"
EPISODES = 30
AT_ONCE, WEEKS = 24, 5


def one() -> None:
    """A month, an environment."""
    env = VirtualCapacityEnv(read_google2019(DATA))
    slots = env.instance.horizon
    for name, caps in (("random caps", np.random.default_rng(0).random(slots)), ("cap 1", np.ones(slots))):
        actions = caps.astype(np.float32)[:, None]
        seconds = []
        for _ in range(EPISODES):
            env.reset()
            began = time.perf_counter()
            for action in actions:
                env.step(action)
            seconds.append(time.perf_counter() - began)
        began = time.perf_counter()
        schedule = simulate_queue(env.instance, actions[:, 0].astype(float).tolist())
        peer = time.perf_counter() - began
        assert list(schedule.starts) == env.queue.pieces()
        best, middle = min(seconds), float(np.median(seconds))
        rates = f"{slots / middle:,.0f} steps/s (best {slots / best:,.0f}), job by job {slots / peer:,.0f}"
        print(f"{name}: {rates}, {peer / middle:.0f} x")


def played(batches: list[Batch], shares: np.ndarray) -> float:
    """Seconds of an episode, what is seen included."""
    began = time.perf_counter()
    for row in shares:
        for batch, part in zip(batches, np.split(row, len(batches)), strict=True):
            _, over = batch.step(part)
            if not over:
                batch.seen()
    return time.perf_counter() - began


def many() -> None:
    """Weeks at once."""
    weeks = [vcc(days=7, jobs=4000, load=0.2, seed=seed) for seed in range(AT_ONCE)]
    shares = np.random.default_rng(0).random((weeks[0].horizon, AT_ONCE))
    cases = [case(week) for week in weeks]
    api = gymnasium.vector.SyncVectorEnv([partial(VirtualCapacityEnv, week) for week in weeks])
    seconds: dict[str, list[float]] = {"at once": [], "one by one": [], "Gymnasium's vector API": []}
    for _ in range(WEEKS):
        seconds["at once"].append(played([Batch(cases)], shares))
        seconds["one by one"].append(played([Batch([held]) for held in cases], shares))
        api.reset()
        began = time.perf_counter()
        for row in shares.astype(np.float32):
            api.step(row[:, None])
        seconds["Gymnasium's vector API"].append(time.perf_counter() - began)
    print(f"{AT_ONCE} weeks: " + ", ".join(f"{name} {shares.size / min(each):,.0f} steps/s" for name, each in seconds.items()))


def main() -> None:
    one()
    many()


if __name__ == "__main__":
    told(main)
