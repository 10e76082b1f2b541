"""How urgent the known jobs are, and what a GPU-second is worth to those that wait."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from optsched.instances.allocation import AllocationInstance
from optsched.instances.base import Floats
from optsched.problems.allocation.options import Options


@dataclass(frozen=True)
class Urgency:
    """By known job that can run at all, shape (J,), and by class of nodes, shape (K,); seconds and currency.

    Attributes
    ----------
    shortest : execution time at its fastest. work : least GPU-seconds, a GPU counted by its class's speed. slack : seconds to
        spare, were it started at its fastest now. weight : tardiness weight, faded by the slack over the time to clear all
        known work. rank : the logarithm of that, also where it fades to nothing. speed : of a class, relative to the
        fastest. price : of a GPU-second at speed one: it delays whoever waits, so it costs the sum of `weight` over all GPUs.
    """

    shortest: Floats
    work: Floats
    slack: Floats
    weight: Floats
    rank: Floats
    speed: Floats
    price: float


def urgency(instance: AllocationInstance, listed: Options, fade: float = 1.0, caution: float = 1.0) -> Urgency:
    """Measure the known jobs; a job that can run nowhere has infinite times and no weight.

    Parameters
    ----------
    fade : over how much slack a weight fades, as a share of the time to clear all known work. caution : so many times as
        long as it seems a job is taken to last.
    """
    jobs, classes = len(instance.known_jobs), len(instance.node_classes)
    single = listed.gpus == 1
    pace = np.bincount(listed.node_class[single], 1 / listed.time_s[single], minlength=classes)
    met = np.bincount(listed.node_class[single], minlength=classes)
    pace = np.divide(pace, met, out=np.ones(classes), where=met > 0)
    speed = pace / max(float(pace.max(initial=0.0)), 1e-300)
    gpus = np.array([node.gpus * len(node.nodes) for node in instance.node_classes])
    whole = max(float((gpus * speed).sum()), 1e-9)
    shortest, work = np.full((2, jobs), np.inf)
    np.minimum.at(shortest, listed.job, listed.time_s)
    np.minimum.at(work, listed.job, listed.time_s * listed.gpus * speed[listed.node_class])
    able = np.isfinite(shortest)
    clear = max(float(work[able].sum()) / whole, 1e-9)
    slack = instance.columns.due_s - instance.now_s - caution * np.where(able, shortest, 0.0)
    faded, weight = np.maximum(0.0, slack) / (fade * clear), np.where(able, instance.columns.weight_per_s, 0.0)
    with np.errstate(divide="ignore"):
        rank = np.log(weight) - faded
    weight = weight * np.exp(-faded)
    return Urgency(shortest, work, slack, weight, rank, speed, float(weight.sum()) / whole)
