"""What sweeps are tested on: instances of a few jobs, and methods that sleep, die or fail."""

from __future__ import annotations

import os
import signal
import time
from functools import lru_cache
from pathlib import Path

from optsched.instances.base import Instance
from optsched.schedules.deferrable import DeferrableSchedule
from tests.oracle import tiny


@lru_cache
def build(recipe: str) -> Instance:
    """``generate N``: the tiny instance of that seed."""
    return tiny.deferrable(int(recipe.split()[1]))


def nothing(instance: Instance) -> DeferrableSchedule:
    """Start no job."""
    return DeferrableSchedule(starts=())


def slow(instance: Instance, seed: int = 0) -> DeferrableSchedule:
    """The same, after a while."""
    time.sleep(0.3)
    return nothing(instance)


def fails(instance: Instance) -> DeferrableSchedule:
    raise ValueError("no idea")


def dies(instance: Instance) -> DeferrableSchedule:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def dies_once(instance: Instance) -> DeferrableSchedule:
    """The first time that it is asked."""
    mark = Path(os.environ["OPTSCHED_TEST_MARK"])
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return nothing(instance)


class Breaks:
    """A policy that raises at every decision."""

    def reset(self, seed: int) -> None:
        """Nothing to forget."""

    def decide(self, snapshot: Instance) -> DeferrableSchedule:
        raise ValueError("no idea")
