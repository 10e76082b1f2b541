"""What no policy can do better than: quickly, or from what somebody has proven."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from optsched.certificate import beats, relative_gap, settled
from optsched.errors import OptschedError
from optsched.exact import Exact
from optsched.instances.base import Instance
from optsched.instances.events import Events, events_of
from optsched.judging import bound_of
from optsched.methods import Method
from optsched.portfolio import Auto
from optsched.referee import evaluate
from optsched.registry import family_of
from optsched.result import Result
from optsched.stop import Clock, Stop

SECONDS = 5.0  # for a bound that several rows are held against
LEAST = 0.2  # seconds, with which a method begins at all
CLOSE = 0.01  # gap at which a quick bound is good enough
ROOT = {"mip_max_nodes": 1}  # cuts, and no branching: the same bound on every machine


@dataclass(frozen=True)
class Bound:
    """A bound on the realised objective of every schedule, online or not.

    Attributes
    ----------
    value
        In the objective's unit.
    kind
        Where it comes from, in a few words.
    """

    value: float
    kind: str


def quick_bound(instance: Instance, seconds: float = SECONDS) -> Bound | None:
    """The best bound that is to be had quickly.

    The family's own bound on whoever knows everything, which for time-indexed problems is the dual that their decomposition
    would prove. Where schedules made beforehand are judged as those that happened are, that of a method too, for what is left
    of the time: ``auto`` for small time-indexed instances; for others the decomposition until it is within 1 % of a schedule,
    which begins with the family's own bound and takes its place. Small time-indexed ones without a clock have the cuts of the
    exact model's root: where jobs are large beside the capacity, the dual alone is up to a tenth too high.

    Parameters
    ----------
    instance
        What is given.
    seconds
        For both; but the family's own bound takes as long as it takes. 0: without a clock, the same on every machine.

    Returns
    -------
    None where there is none.
    """
    clock = Clock()
    found: list[Bound] = []
    own = family_of(instance)
    made = None if own.is_time_indexed or has_proxy(instance) else own.bounding().get("decomposition")
    try:
        if (events := events_of(instance)) is not None:
            return _disturbed_bound(instance, events)
        if made is not None and seconds > LEAST:
            found += _solved(instance, made(), Stop(seconds=seconds, gap=CLOSE), "decomposition")
        if not found and (clairvoyant := own.clairvoyant(instance)) is not None:
            found.append(Bound(clairvoyant, "clairvoyant"))
        left = seconds - clock.elapsed_s()
        if own.is_time_indexed and not has_proxy(instance) and _is_small(instance):
            if left > LEAST:
                found += _solved(instance, Auto(), Stop(seconds=left), "auto")
            elif seconds <= 0:
                found += _solved(instance, Exact(options=ROOT), Stop(), "exact, at its root")
    except OptschedError:
        pass  # e.g. where jobs may be evicted
    tighter = max if instance.sense == "minimize" else min
    return tighter(found, key=lambda bound: bound.value) if found else None


def _disturbed_bound(instance: Instance, events: Events) -> Bound | None:
    """That of whoever knows everything, where what goes wrong can only cost; None where it may save something.

    Of a cost, for the jobs that nobody cancels: the runs of the others and those that are cut short add to it. Of a profit,
    with the capacity that there is: runs that are cut short earn nothing, but what power brings whose price is negative.
    """
    own = family_of(instance)
    if not own.trouble_only_costs and (events.outages or events.cancellations):
        return None
    beside = getattr(instance, "paid_for_use", 0.0)
    if instance.sense == "minimize":
        gone = {cancelled.job for cancelled in events.cancellations}
        jobs = tuple(job for job in getattr(instance, "jobs", ()) if job.id not in gone)
        instance = instance.model_copy(update={"jobs": jobs, "events": None})
    value = own.clairvoyant(instance)
    return None if value is None else Bound(value + beside, "clairvoyant")


def _solved(instance: Instance, method: Method[Instance], stop: Stop, kind: str) -> list[Bound]:
    """The bound that a method proves, if any."""
    result = method(instance, stop=stop)
    if result.termination == "interrupted":
        raise KeyboardInterrupt
    return [] if result.bound is None else [Bound(result.bound, kind)]


def _is_small(instance: Instance) -> bool:
    """Whether the exact model is one of those nearly always solved within seconds."""
    own = family_of(instance)
    size = own.exact_size(instance) if own.has_formulations else None
    return size is not None and size.load <= 1


def proven_bound(instance: Instance, result: Result) -> Bound:
    """The bound of a result, where it holds for what happens in a replay too.

    Raises
    ------
    OptschedError
        It is about another instance, has no bound, was edited, or its bound is of a snapshot's proxy.
    """
    value, _ = bound_of(instance, "realised" if has_proxy(instance) else None, result)
    if value is None:
        raise OptschedError("it has no bound: solve the instance by a method that proves one")
    return Bound(value, f"{result.method}, given")


def given_bound(instance: Instance, given: Bound | Result | float) -> Bound:
    """A bound that somebody knows: a result's, or a number.

    Raises
    ------
    OptschedError
        It cannot be used.
    """
    if isinstance(given, Bound):
        return given
    if isinstance(given, Result):
        return proven_bound(instance, given)
    if not isfinite(given):
        raise OptschedError(f"a bound is a finite number, got {given}")
    return Bound(float(given), "given")


def wanted_bound(instance: Instance, wanted: Bound | Result | float | str) -> Bound | None:
    """A bound that somebody knows, or one that is to be had quickly.

    Parameters
    ----------
    instance
        What is given.
    wanted
        What `given_bound` takes, or ``"quick"``.

    Returns
    -------
    None where there is none quickly.

    Raises
    ------
    OptschedError
        It is another word, or the bound cannot be used.
    """
    if not isinstance(wanted, str):
        return given_bound(instance, wanted)
    if wanted != "quick":
        raise OptschedError(f"a bound is a number, a result, 'quick' or None, got {wanted!r:.60}")
    return quick_bound(instance)


def has_proxy(instance: Instance) -> bool:
    """Whether methods of the family minimise something else than what is realised."""
    return any(kind.objective_kind == "proxy" for kind in family_of(instance).schedules)


def bounded(instance: Instance, result: Result, bound: Bound | None, **options: object) -> Result:
    """A result with a bound that was found elsewhere, and further options.

    Raises
    ------
    OptschedError
        The result beats it: it is none.
    """
    result = result.model_copy(update={"options": result.options | options})
    if bound is None or result.schedule is None or result.objective is None:
        return result.sealed()
    value, proof = settled(instance, evaluate(instance, result.schedule), bound.value, None)
    if beats(instance, result.objective, value):
        said = f"{bound.value:.9g} ({bound.kind}) is no bound: {result.method} has {result.objective:.9g}"
        raise OptschedError(f"{said}, which the referee confirms")
    told = {"bound": value, "proof": proof, "gap": relative_gap(result.objective, value)}
    return result.model_copy(update=told).sealed()
