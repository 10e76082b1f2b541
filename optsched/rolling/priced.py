"""A rolling horizon that keeps room for jobs that have not arrived: capacity has the prices that sampled futures give it.

From the arrivals of past days (given, or seen since the replay began) futures are drawn, hour by hour of the day, and count
for as many jobs as have come of late (`arrivals.py`). The Lagrangian dual of the known jobs and all futures together, the
latter at their share, prices every unit of capacity by place and slot; a known job then takes the option that earns most after
what it pays. Prices are renewed from the last ones with other futures, so that these are averaged over time. Where nobody is
expected, as also before an hour of the day has been seen, known jobs that can be planned exactly pay nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
from pydantic import NonNegativeInt

from optsched.decomposition.dual import LagrangianSubproblem, solve_dual
from optsched.decomposition.restricted_mip import solve_restricted_mip
from optsched.heuristics.serial_sgs import densest_first, serial_sgs
from optsched.instances.base import Bools, Data, Floats, I, Ints
from optsched.problems.ranks import Groups
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.rolling.arrivals import Arrivals, Hour
from optsched.rolling.law import Law
from optsched.rolling.memory import recalled
from optsched.rolling.policy import Settings
from optsched.rolling.reckoning import Experience, as_told, capacity_left, done_in_time, likely_durations, survival_of
from optsched.rolling.slotted import Slotted, SlottedJob
from optsched.schedules.base import S

SCENARIOS = 6  # futures at least
ENOUGH_DRAWN = 4_000  # jobs of all futures together: more futures only where they have fewer
ITERATIONS = (200, 60)  # of the dual at most: at first, and from the prices of last time
EXACT = 1_250  # options up to which a plan of the known jobs is made exactly,
GAP, NODES = 0.005, 20  # of an exact plan of the known jobs, of which only the present is carried out
LASTS_S = 12 * 3600.0  # in which what comes of late is a third of what it was away from what is usual
STEADY = 0.1  # coefficient of variation of a load that prices speak for
HASTE = 4  # so many times fewer jobs of futures after every decision that was late
FEWEST_DRAWN = 100
STARTS = 200  # a future job's starts are thinned out to about so many a horizon

J = TypeVar("J", bound=SlottedJob)


@dataclass(frozen=True)
class PriceUse:
    """How prices of sampled futures are renewed, and how far they count: those of few samples are too sure.

    Attributes
    ----------
    share
        Which part of the prices counts.
    doubt
        How much less where futures hold few jobs at a time: so many times the coefficient of variation of their load is added
        to 1, by which the share is divided.
    every_s, iterations
        How often prices are renewed, and the dual's iterations from those of last time; `ITERATIONS` for an hour or more.
    most_drawn
        Jobs of all futures together: of more, every second or third stands for its like.
    """

    share: float
    doubt: float = 0.0
    every_s: float = 3600.0
    iterations: int = 60
    most_drawn: int = 20_000


@dataclass(frozen=True)
class BidPricing(Generic[I, S, J]):
    """What the prices ask of a family of jobs that wait for capacity in slots.

    Attributes
    ----------
    instance, job
        Classes of its instances and their jobs.
    slotted
        An instance as what has jobs and slots: itself, which no type says of a class that is not known here.
    options
        A snapshot's options, and how a choice of them becomes a schedule.
    resubmit
        What changes in a job that is submitted in another slot.
    expecting
        An instance with other capacity, shape (P, T), and durations, shape (J,).
    forfeit
        What each option of an instance loses of its value if something ends the run, shape (n,).
    most_scenarios
        Futures that are drawn where they have few jobs.
    put_off
        Of its value, what a start that waits loses while others may come, by the load's coefficient of variation.
    without_history, with_history
        What its prices are used for, where nothing is known of other days and where something is.
    """

    instance: type[I]
    job: type[J]
    slotted: Callable[[I], Slotted[J]]
    options: Callable[[I], tuple[TimeIndexedProblem, Callable[[Ints], S]]]
    resubmit: Callable[[J, int], dict[str, object]]
    expecting: Callable[[I, Floats, Ints], I]
    forfeit: Callable[[I, TimeIndexedProblem], Floats]
    most_scenarios: int
    put_off: float
    without_history: PriceUse
    with_history: PriceUse


class Memory(Data):
    """What the policy remembers: the generator of futures, the prices, the arrivals that it has seen, how often it was late.

    The history is given again.
    """

    rng: dict[str, object]
    prices: tuple[tuple[float, ...], ...] | None
    discount: float | None = None
    expected: bool = True
    blind: bool = False
    priced_at: int
    first: int
    stretch: tuple[float, int] | None
    seen: tuple[str, ...]
    came: tuple[tuple[int, dict[str, object]], ...]
    late: NonNegativeInt = 0
    ended: tuple[tuple[int, int], ...] = ()
    cut: tuple[tuple[int, int], ...] = ()
    failures: NonNegativeInt = 0
    reckoned: tuple[bool, bool] = (False, False)


class BidPricePolicy(Generic[I, S, J]):
    """The recommended rolling policy of deferrable and geo."""

    def __init__(self, pricing: BidPricing[I, S, J], settings: Settings) -> None:
        settings.allow("rolling", "history", "replan_s")
        self.pricing, self.settings, past = pricing, settings, settings.past(pricing.instance)
        self.past = None if past is None else pricing.slotted(past)
        self.use = pricing.without_history if past is None else pricing.with_history
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget what was seen, but for the history."""
        self.rng = np.random.default_rng(seed)
        self.arrivals: Arrivals[J] | None = None
        self.came: list[tuple[int, J]] = []  # since the replay began; what waited then says little about what comes
        self.seen: set[str] = set()
        self.prices: Floats | None = None
        self.discount = self._counted(None)
        self.expected = False  # whether the prices are also of jobs that have not come
        self.blind = True  # whether no hour has been seen yet
        self.priced_at = self.first = 0
        self.before = range(0)  # whole hours of history
        self.experience = Experience()
        self.reckoned = (False, False)  # whether prices are of a law, and of failures
        self.late = 0

    def decide(self, snapshot: I) -> S:
        """The known jobs at today's prices, on what capacity is left."""
        known = self.pricing.slotted(snapshot)
        self._observe(known)
        self.experience.observe(known)
        law = self.experience.law(known)
        reckoned = law is not None, self.experience.failures > 0
        every = max(1, round((self.settings.replan_s or self.use.every_s) / known.slot_s))
        if self.prices is None or known.now >= self.priced_at + every or reckoned != self.reckoned:
            self._price(snapshot, known, law)
            self.reckoned = reckoned
        assert self.prices is not None
        prices = self.discount * self.prices[:, known.now - self.priced_at :]
        told, schedule = self.pricing.options(snapshot)
        program = self._program(snapshot, told, law, [True] * len(known.jobs))
        if not self.expected and len(program) <= EXACT:
            prices = np.zeros_like(prices)  # the known jobs would pay for themselves, and the plan holds them apart anyway
        priced = replace(program, value=LagrangianSubproblem(program).reduced_values(prices) - self._put_off(program))
        worth = np.flatnonzero(priced.value > 0)
        kept = priced.where(priced.value > 0)
        plan = serial_sgs(kept, densest_first(kept))
        if len(kept) <= EXACT:
            plan = solve_restricted_mip(kept, plan, GAP, NODES).chosen
        chosen = worth[plan] if law is None else as_told(told, priced, worth[plan])
        return schedule(chosen)

    def _put_off(self, program: TimeIndexedProblem) -> Floats:
        """What a start later than a job's first at a place loses while others may come, shape (n,).

        Prices are means; on few GPUs loads are not, and who waits for cents finds no room while what was free has idled. It is
        a share of the option's value, by how far the coefficient of variation of a load that uses all capacity (compound
        Poisson) is above `STEADY`.
        """
        coming = self.expected or (self.blind and bool(self.came))
        if not coming or not len(program):
            return np.zeros(len(program))
        jobs, room = np.unique(program.job), float(program.capacity.sum(axis=0).mean())
        work = program.demand[jobs] * program.duration[jobs]
        variation = math.sqrt(float(program.demand[jobs] @ work) / (float(work.sum()) * room)) if room > 0 else 0.0
        own = Groups(program.pair)
        waits = program.start > program.start[own.first][own.of]
        return np.asarray(self.pricing.put_off * max(0.0, variation - STEADY) * np.abs(program.value) * waits)

    def hurry(self) -> None:
        """Prices of fewer futures from now on."""
        self.late += 1

    def _observe(self, snapshot: Slotted[J]) -> None:
        if self.arrivals is None:
            self._open(snapshot.slot_s, snapshot.now + snapshot.horizon)
            self.first = snapshot.now
            self.seen = {job.id for job in snapshot.jobs}
        for job in snapshot.jobs:
            if job.id not in self.seen:
                self.seen.add(job.id)
                self._add(snapshot.now, job)

    def _open(self, slot_s: float, slots: int) -> None:
        """Arrivals of the history, and room for those of `slots` slots."""
        day = max(1, round(86400 / slot_s))
        self.arrivals = Arrivals(max(1, round(3600 / slot_s)), day)
        self.stretch = slot_s, slots
        past = self.past
        if past is not None:
            phase = past.now % day
            self.arrivals.begin(phase + past.horizon)
            for job in past.jobs:
                self.arrivals.add(phase + job.submitted, job.model_copy(update=self.pricing.resubmit(job, 0)))
            self.before = range(-(-phase // self.arrivals.block), (phase + past.horizon) // self.arrivals.block)
        self.arrivals.begin(slots)

    def _add(self, slot: int, job: J) -> None:
        assert self.arrivals is not None
        self.arrivals.add(slot, job)
        self.came.append((slot, job))

    def state(self) -> dict[str, object]:
        """The `Memory`."""
        return Memory(
            rng=dict(self.rng.bit_generator.state),
            prices=None if self.prices is None else tuple(map(tuple, self.prices.tolist())),
            discount=self.discount,
            expected=self.expected,
            blind=self.blind,
            priced_at=self.priced_at,
            first=self.first,
            stretch=None if self.arrivals is None else self.stretch,
            seen=tuple(sorted(self.seen)),
            came=tuple((slot, job.model_dump(mode="json")) for slot, job in self.came),
            late=self.late,
            ended=tuple(self.experience.ended),
            cut=tuple(self.experience.cut),
            failures=self.experience.failures,
            reckoned=self.reckoned,
        ).model_dump(mode="json")

    def restore(self, state: object) -> None:
        """Go on with it."""
        kept = recalled(Memory, state)
        self.rng.bit_generator.state = kept.rng
        self.prices = None if kept.prices is None else np.array(kept.prices, dtype=float)
        self.discount = self._counted(None) if kept.discount is None else kept.discount
        self.late, self.experience = kept.late, Experience(kept.ended, kept.cut, kept.failures)
        self.reckoned = kept.reckoned
        self.expected, self.blind, self.seen = kept.expected, kept.blind, set(kept.seen)
        self.priced_at, self.first = kept.priced_at, kept.first
        if kept.stretch is not None:
            self._open(*kept.stretch)
        for slot, job in kept.came:
            self._add(slot, recalled(self.pricing.job, job))

    def _program(self, snapshot: I, plain: TimeIndexedProblem, law: Law | None, guessed: Sequence[bool]) -> TimeIndexedProblem:
        """A snapshot's `plain` options, worth what they earn in the mean by what was seen; durations may be `guessed`."""
        pricing, known = self.pricing, self.pricing.slotted(snapshot)
        rate = self.experience.rate(known, self.first)
        if law is None and not rate:
            return plain
        program, guesses = plain, np.array(guessed, dtype=bool)
        if law is not None:
            left = capacity_left(known, law, plain.capacity)
            snapshot = pricing.expecting(snapshot, left, likely_durations(plain, law, guesses))
            program, _ = pricing.options(snapshot)
        done = np.ones(len(program)) if law is None else done_in_time(plain, program, law, guesses)
        chance = done * survival_of(program, rate)
        return replace(program, value=program.value - (1.0 - chance) * pricing.forfeit(snapshot, program))

    def _price(self, snapshot: I, known: Slotted[J], law: Law | None) -> None:
        """The dual of known jobs and drawn futures, from the last prices."""
        arrivals, pricing, now = self.arrivals, self.pricing, known.now
        assert arrivals is not None
        begun = (arrivals.offset + self.first) // arrivals.block + 1  # whole hours, of which all that came has been seen
        own = range(begun, (arrivals.offset + now) // arrivals.block)
        seen = [self.before, own]
        self.blind = not any(seen)
        jobs, guessed = list(known.jobs), [True] * len(known.jobs)
        first, last = now + 1, now + known.horizon - 1
        drawn: list[list[Hour[J]]] = []
        count = 0
        while len(drawn) < SCENARIOS or (count < ENOUGH_DRAWN and len(drawn) < pricing.most_scenarios):
            drawn.append(arrivals.future(seen, first, last, self.rng))
            count += sum(len(came) for *_, came in drawn[-1])
        every = max(1, -(-count // max(FEWEST_DRAWN, self.use.most_drawn // HASTE**self.late)))
        for k, future in enumerate(drawn):
            passed = -(k * every // len(drawn))  # not the first of each
            for begins, elsewhere, came in future:
                thinned, passed = came[-passed % every :: every], passed + len(came)
                for after, job in thinned:
                    if first <= begins + after <= last:
                        update = pricing.resubmit(job, begins + after - now) | {"id": f"future {k}.{len(jobs)}"}
                        jobs.append(job.model_copy(update=update))
                        guessed.append(not elsewhere)  # of other days the truth is known
        whole = snapshot.model_copy(update={"jobs": tuple(jobs)})
        program = self._program(whole, pricing.options(whole)[0], law, guessed)
        drawn_jobs = np.arange(len(jobs)) >= len(known.jobs)
        self.expected = bool(drawn_jobs[program.job[program.value > 0]].any())  # others, too late to run, ask for nothing
        level = arrivals.level(self.before, own, now + known.horizon)
        ahead_s = np.array([job.submitted for job in jobs]) * known.slot_s
        faded = 1.0 + (level - 1.0) * np.exp(ahead_s / -LASTS_S)
        share = np.where(drawn_jobs, faded * every / len(drawn), 1.0)
        self.discount = self._counted(_variation(program, drawn_jobs, share) if self.use.doubt else None)
        thin = _thinned(program, drawn_jobs)
        weighed = replace(program, value=program.value * share[program.job], demand=program.demand * share).where(thin)
        start = None if self.prices is None else self.prices[:, now - self.priced_at :]
        hours = (now - self.priced_at) * known.slot_s / 3600
        again = max(self.use.iterations, min(ITERATIONS[1], round(ITERATIONS[1] * hours)))
        self.prices = solve_dual(weighed, iterations=ITERATIONS[0] if start is None else again, start=start).prices
        self.priced_at = now

    def _counted(self, variation: float | None) -> float:
        """The share of prices that counts, by how much the load of the futures varies; None where that is not known."""
        use = self.use
        if not use.doubt:
            return use.share
        return self.pricing.without_history.share if variation is None else use.share / (1.0 + use.doubt * variation)


def _variation(program: TimeIndexedProblem, drawn: Bools, share: Floats) -> float | None:
    """Of the load of all places its coefficient of variation, the mean over slots, by load; None where nobody comes.

    As if jobs came independently of each other (a compound Poisson process) and started at once.

    Parameters
    ----------
    program
        Known and drawn jobs.
    drawn
        Which jobs come, shape (J,).
    share
        How many jobs of one future each drawn one stands for, shape (J,).
    """
    first = np.flatnonzero(drawn[program.job] & (np.diff(program.job, prepend=-1) != 0))
    mean = replace(program, demand=program.demand * share).load(first).sum(axis=0)
    variance = replace(program, demand=program.demand**2 * share).load(first).sum(axis=0)
    return float(np.sqrt(variance).sum() / mean.sum()) if mean.sum() > 0 else None


def _thinned(program: TimeIndexedProblem, drawn: Bools) -> Bools:
    """Options to keep: of value, and for drawn jobs only every so manieth start and the first at each place."""
    every = max(1, program.capacity.shape[1] // STARTS)
    first = np.diff(program.pair, prepend=-1) != 0
    return np.asarray((program.value > 0) & (~drawn[program.job] | first | (program.start % every == 0)))
