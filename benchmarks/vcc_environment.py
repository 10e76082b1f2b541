"""Steps a second of the Gymnasium environment on May 2019, one core; the peer plays the same caps job by job.

The published environment makes 220-530 steps a second on the same month. python benchmarks/vcc_environment.py
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from optsched.instances.readers import read_google2019
from optsched.rolling.vcc.environment import VirtualCapacityEnv
from optsched.schedules.vcc import simulate_queue

DATA = Path(os.environ.get("OPTSCHED_DATA", Path(__file__).parents[2] / "shared" / "data")) / "google2019"
EPISODES = 30


def main() -> None:
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


if __name__ == "__main__":
    main()
