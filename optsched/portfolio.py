"""The default method: a portfolio of the family's methods, within one time limit."""

from __future__ import annotations

import contextlib
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from optsched.beside import Enough, Working, beside
from optsched.certificate import relative_gap
from optsched.errors import OptschedError
from optsched.exact import Exact
from optsched.instances.base import Instance
from optsched.interrupts import asked
from optsched.monitor import Progress
from optsched.registry import family_of
from optsched.result import Result
from optsched.scaffold import BaseMethod, Call, Found, Report
from optsched.schedules.base import Schedule
from optsched.starts import best_start
from optsched.stop import Stop

if TYPE_CHECKING:
    from optsched.methods import Method

TASTE_S, TASTE_SHARE = 1.0, 0.05  # for either at first, and of the limit: what one closes at once the other may not in minutes
TASTED_S = 10.0  # limit from which on they are tried like that: of less they would have hardly enough to begin
FIRST_S, FIRST_SHARE = 5.0, 0.25  # for exact then: most instances need no more
SMALL_SHARE = 0.15  # of what is left, for a decomposition that does not end by itself, where exact goes on after it
SHORT_S = 2.0, 5.0  # limits between which it has less and less of it, at first all: exact has no time to begin once more
SECOND_SHARE = 0.5  # the same where exact hardly finishes: it needs a start more than the time
PER_JOB_S = 1e-4  # with less, the size is not even estimated: that takes time from the greedy start
PERHAPS = 8.0  # load up to which exact may still improve on it
SETTLED = 1e-6  # gap of a part that ended by itself: what is left is rounding
ENDS = "until it is proven optimal: --time-limit or --gap ends it before"
LEAST_S = 0.05  # left, for another part to begin
CUT_SHORT = ("time_limit", "interrupted")  # how a part ends that may be asked again
UNFINISHED = (*CUT_SHORT, "error")  # how one ends that has not ended by itself

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Auto(BaseMethod[Instance]):
    """Exact where it finishes; else bound and start from the decomposition, and exact where it may still finish."""

    name: ClassVar[str] = "auto"

    def __call__(
        self,
        instance: Instance,
        *,
        stop: Stop | None = None,
        seed: int = 0,
        start: Schedule | Result | None = None,
        progress: Report | None = None,
    ) -> Result:
        """Solve an instance; see `BaseMethod`. In haste, by the decomposition alone, whose result is not judged twice."""
        decomposition = family_of(instance).bounding().get("decomposition")
        hasty = stop is not None and stop.seconds is not None and PER_JOB_S * instance.job_count > stop.seconds
        if decomposition is None or not hasty:
            return super().__call__(instance, stop=stop, seed=seed, start=start, progress=progress)
        try:
            result = decomposition()(instance, stop=stop, seed=seed, start=start, progress=progress)
        except OptschedError as refusal:
            if type(refusal) is not OptschedError:
                raise
            return super().__call__(instance, stop=stop, seed=seed, start=start, progress=progress)
        told = "auto chose the decomposition: little time a job" + f"; {result.message}" * bool(result.message)
        return result.model_copy(update={"method": self.name, "message": told}).sealed()

    def search(self, call: Call[Instance]) -> Found:
        """Run the parts in turn, each from the best schedule so far; keep the best schedule and the best bound.

        Raises
        ------
        OptschedError
            The start breaks a rule.
        """
        family = family_of(call.instance)
        others = family.bounding()
        decomposition = others.get("decomposition") or next(iter(others.values()), None)
        sized = family.has_formulations and decomposition is not None
        size = family.exact_size(call.instance) if sized else None
        load = 0.0 if size is None else size.load
        run = _Run(call)
        may = family.has_formulations and load <= PERHAPS
        taste, first = _early(call, TASTE_S, TASTE_SHARE), _early(call, FIRST_S, FIRST_SHARE)
        if family.has_formulations and load <= 1.0:
            if decomposition is None:
                run.part("exact", Exact(), None, "exact")
            elif call.stop.seconds is not None and call.stop.seconds < TASTED_S:
                run.part("exact", Exact(), first, "exact")
            else:
                run.part("exact", Exact(), taste, "exact")
                if run.asks("decomposition"):
                    run.part("decomposition", decomposition(), taste, "the decomposition")
                if run.asks("exact") and run.asks("decomposition"):
                    run.exact_beside(decomposition(), "exact from there", first)
        if decomposition is not None and (run.asks("decomposition") or (run.last is None and not run.refused)):
            left = call.left()
            share = None
            if run.nearly:
                share = taste
            elif left is not None and may and run.asks("exact") and not getattr(decomposition, "ends_itself", False):
                share = left * _share(load, call.stop.seconds)
            run.part(
                "decomposition",
                decomposition(),
                share,
                f"the decomposition: {size or 'little time a job'}" if load > 1 else "the decomposition",
            )
        if decomposition is not None and may and run.asks("exact"):
            why = "exact from there" if call.left() is not None else f"exact from there, {ENDS}"
            run.exact_beside(decomposition(), why, None)
        return run.found()


def _share(load: float, limit: float | None) -> float:
    """What a decomposition has of the time before exact: more where exact hardly finishes, and where the limit is short."""
    hardly = 0.0 if limit is None else float(np.interp(limit, SHORT_S, (1.0, SMALL_SHARE)))
    return max(hardly, float(np.interp(load, (1.0, PERHAPS), (SMALL_SHARE, SECOND_SHARE))))


def _early(call: Call[Instance], seconds: float, share: float) -> float:
    """Seconds for a part at first: no more than a share of the limit."""
    return seconds if call.until is None else min(seconds, share * call.until)


class _Run:
    """The parts so far."""

    def __init__(self, call: Call[Instance]) -> None:
        self.call = call
        self.sign = 1 if call.instance.sense == "minimize" else -1
        self.best: Result | None = None  # by its schedule
        self.bounding: Result | None = None  # by its bound
        self.last: Result | None = None
        self.rounded: Result | None = None  # of exact, which ended by itself and left nothing but rounding
        self.done: set[str] = set()  # parts that have done all that they can
        self.said: list[str] = []
        self.refused: dict[str, str] = {}  # why, by part
        self.parts: list[dict[str, object]] = []
        self.timings: dict[str, float] = {}
        self.prices: dict[str, tuple[float, ...]] | None = None
        self.monitor = call.monitor()
        self.working: Working | None = None  # beside the part that works here
        self.heard: Result | None = None  # what it has told so far
        self.enough = False  # once that has closed the gap
        self.interrupted = False  # while nothing but that was waited for

    @property
    def goes_on(self) -> bool:
        """Whether there is something left to prove, and time for it."""
        left = self.call.left()
        return not self._settled() and not self._stopped() and (left is None or left > LEAST_S)

    @property
    def nearly(self) -> bool:
        """Whether a part has ended by itself, and left nothing but rounding."""
        gap = self._gap()
        through = any(part["ended"] not in UNFINISHED for part in self.parts)
        return through and gap is not None and gap <= SETTLED

    def asks(self, name: str) -> bool:
        """Whether a part may still bring something."""
        return self.goes_on and name not in self.done and name not in self.refused

    def part(self, name: str, method: Method[Instance], seconds: float | None, why: str) -> None:
        """One method, from the best schedule so far, for so many seconds at most."""
        log.info("auto: %s", why)
        call, left = self.call, self.call.left()
        if left is not None:
            seconds = left if seconds is None else min(seconds, left)
        stop = replace(call.stop, seconds=seconds)

        def tell(progress: Progress) -> None:
            self._note(progress.objective, progress.bound)
            if self._heard_enough() and not self.enough:
                self.enough = True
                raise Enough

        try:
            result = method(call.instance, stop=stop, seed=call.seed, start=self.start, progress=tell)
        except OptschedError as refusal:
            if type(refusal) is not OptschedError:
                raise
            self.refused[name] = str(refusal)
            return
        self._take(name, result, why)
        for step, value in result.timings_s.model_dump().items():
            if step != "total" and value is not None:
                self.timings[step] = self.timings.get(step, 0.0) + value

    def exact_beside(self, decomposition: Method[Instance], why: str, alone_s: float | None) -> None:
        """Exact for all the time that is left, a decomposition beside it; or, where that cannot be, so many seconds alone."""
        with beside(decomposition if self.asks("decomposition") else None, self.call, self.start) as self.working:
            working, self.heard = self.working, None
            with contextlib.suppress(Enough):
                self.part("exact", Exact(elsewhere=self._schedule), alone_s if working is None else None, why)
            if working is None:
                return
            ended, result = self.last, self.heard
            if not self._settled():
                if self._stopped():
                    working.stop()
                result = working.result(self._heard_enough)
                self.interrupted |= working.stopped
            if result is not None:
                self._take("decomposition", result, "the decomposition beside it")
                first = working.first
                if first is not None and first is not result:
                    self.parts[-1]["seconds"] = round(first.timings_s.total + result.timings_s.total, 3)
            if not working.stopped:  # how it ended is how the other one did
                self.last = ended or result
            self.working = None

    def _heard_enough(self) -> bool:
        """Whether what has come from beside leaves nothing to do."""
        self._hear()
        self.monitor.show()
        return self._closed()

    def _schedule(self) -> Schedule | None:
        """The best so far."""
        return None if self.best is None else self.best.schedule

    def _hear(self) -> None:
        """What has come from beside counts at once, and the second leg there begins with the best there is."""
        found = None if self.working is None else self.working.found
        if self.working is None or found is None or found is self.heard:
            return
        self._keep(found)
        self.heard = found
        assert self.best is not None
        if not self._closed() and not self._stopped():
            self.working.go_on(self.best.model_copy(update={"shadow_prices": self._prices}))

    def _take(self, name: str, result: Result, why: str) -> None:
        """What a part has found."""
        for _, objective, bound in result.incumbents:
            self._note(objective, bound)
        self.said.append(why if result.message is None else f"{why} ({result.message})")
        own = {k: v for k, v in result.options.items() if k not in ("time_limit", "gap")}
        self.parts.append({"method": name, "seconds": round(result.timings_s.total, 3), "ended": result.termination} | own)
        self.last = result
        if result.termination not in CUT_SHORT:
            self.done.add(name)
        self._keep(result)
        if name == "exact" and result.termination not in UNFINISHED and self.nearly:
            self.rounded = result

    def _keep(self, result: Result) -> None:
        """A result's schedule and bound, where they are the best."""
        self._note(result.objective, result.bound)
        self.prices = result.shadow_prices or self.prices
        if result.objective is not None and (self.best is None or self._improves(result.objective, self.best.objective)):
            self.best = result
        if result.bound is not None and (self.bounding is None or self._improves(self.bounding.bound, result.bound)):
            self.bounding = result

    def found(self) -> Found:
        """The best of what the parts have found."""
        if self.best is None or self.best.schedule is None:
            return Found(
                best_start(self.call.instance, self.call.given, self.call.left()), "completed", message=self._message()
            )
        assert self.last is not None
        last = self.rounded if self.rounded is not None and self.last.termination == "time_limit" else self.last
        ended = "interrupted" if self.interrupted else last.termination
        if self._closed():
            ended = "optimal" if (self._gap() or 0.0) <= 0.0 else "gap_limit"
        return Found(
            self.best.schedule,
            ended,
            bound=None if self.bounding is None else self.bounding.bound,
            proof=None if self.bounding is None else self.bounding.proof,
            options={"parts": self.parts},
            packages=tuple(p for r in (self.best, self.bounding) if r for p in r.versions if p not in ("python", "optsched")),
            timings=self.timings,
            monitor=self.monitor,
            message=self._message(),
            shadow_prices=self._prices,
        )

    def _message(self) -> str:
        if self.said:
            return "auto chose " + "; then ".join(self.said)
        why = "; ".join(f"{name}: {refusal}" for name, refusal in self.refused.items())
        return f"auto chose greedy, without a bound: {why or 'the family has no method that proves one'}"

    @property
    def _prices(self) -> dict[str, tuple[float, ...]] | None:
        """Of the best bound, or the last that there were."""
        return (None if self.bounding is None else self.bounding.shadow_prices) or self.prices

    @property
    def start(self) -> Schedule | Result | None:
        """What a part begins with."""
        return self.call.start if self.best is None else self.best

    def _improves(self, a: float | None, b: float | None) -> bool:
        """Whether objective a is better than b."""
        return b is None or (a is not None and self.sign * a < self.sign * b)

    def _gap(self) -> float | None:
        if self.best is None or self.bounding is None or self.best.objective is None or self.bounding.bound is None:
            return None
        return relative_gap(self.best.objective, self.bounding.bound)

    def _settled(self) -> bool:
        """Whether nothing is left to prove."""
        tried = {part["method"] for part in self.parts}  # what exact alone leaves a decomposition may close
        nearly = self.nearly and tried != {"exact"}
        return nearly or self._closed() or (self.last is not None and self.last.termination == "infeasible")

    def _stopped(self) -> bool:
        """Whether somebody has asked for an end."""
        return self.interrupted or asked() or (self.last is not None and self.last.termination == "interrupted")

    def _closed(self) -> bool:
        gap = self._gap()
        return gap is not None and gap <= (self.call.stop.gap or 0.0)

    def _note(self, objective: float | None, bound: float | None) -> None:
        if objective is not None:
            self.monitor.incumbent(self.sign * objective)
        if bound is not None:
            self.monitor.raised(self.sign * bound)
