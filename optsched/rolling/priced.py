"""A rolling horizon that keeps room for jobs that have not arrived: capacity has the prices that sampled futures give it.

From the arrivals of past days (given, or seen since the replay began) futures are drawn, hour by hour of the day, and count
for about as many jobs as have come of late (`arrivals.py`). The Lagrangian dual of the known jobs and a future prices every
unit of capacity by place and slot, and what counts is the mean over futures (K. Talluri, G. van Ryzin, A randomized linear
programming method for computing network bid prices, Transportation Science 33(2), 1999): of their mean, capacity that lacks in
every third of them would cost nothing. A known job then takes the option that earns most after what it pays. Prices are renewed
with other futures, and may count on for hours: a dual has many solutions, and who waits for an hour that is cheap today and
dear tomorrow waits in vain. Where nobody is expected, as also before an hour of the day has been seen, known jobs that can be
planned exactly pay nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
from pydantic import NonNegativeInt

from optsched.decomposition.dual import LagrangianSubproblem
from optsched.decomposition.restricted_mip import solve_restricted_mip
from optsched.heuristics.serial_sgs import densest_first, filled, serial_sgs
from optsched.instances.base import Data, Floats, I, Ints
from optsched.problems.ranks import Groups
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.rolling.arrivals import SPREAD, Arrivals, Hour, hour_and_day, whole_hours
from optsched.rolling.law import Law
from optsched.rolling.memory import recalled
from optsched.rolling.policy import Settings
from optsched.rolling.reckoning import Experience, as_told, capacity_left, done_in_time, likely_durations, survival_of
from optsched.rolling.sampled import Futures, levels, mean_prices, variation
from optsched.rolling.slotted import Slotted, SlottedJob
from optsched.schedules.base import S

SCENARIOS = 6  # futures, where time is not short
ENOUGH_DRAWN = 4_000  # jobs of all futures together: more futures only where they have fewer
ITERATIONS = 60  # of a dual from the prices of last time, at most
EXACT = 1_250  # options up to which a plan of the known jobs is made exactly,
GAP, NODES = 0.005, 20  # of an exact plan of the known jobs, of which only the present is carried out
LASTS_S = 12 * 3600.0  # in which what comes of late is a third of what it was away from what is usual
STEADY = 0.1  # coefficient of variation of a load that prices speak for
HASTE = 4  # so many times fewer jobs of futures after every decision that was late
FEWEST_DRAWN = 100
ENOUGH_EACH = 1_000  # jobs of one future: fewer that stand for more make it more uncertain than it is
MISSED = 0.25  # of the first hour at most, for others to be drawn from it

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
        to 1, by which the share is divided, down to the share of who has no history.
    every_s, iterations
        How often prices are renewed, and the dual's iterations from those of last time; `ITERATIONS` for an hour or more.
    most_drawn
        Jobs of all futures together, the known ones once in each: of more, there are fewer futures, of `ENOUGH_EACH` jobs and
        more, and in these every second or third job stands for its like.
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
    like_last
        An hour that no other day tells of is drawn from the last so many that are known, None from all of them.
    learnt
        Hours that have to be known for prices to be used as with a history: a day, or the replay's own, at most.
    averaged_s
        In which prices of before come to count for a third, 0 if they do not count on.
    without_history, with_history
        How its prices are used until so many hours are known, and from then on.
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
    like_last: int | None
    learnt: int
    averaged_s: float
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
    until: int | None = None
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
        self.before = range(0) if self.past is None else whole_hours(self.past)  # of the history
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget what was seen, but for the history."""
        self.rng = np.random.default_rng(seed)
        self.arrivals: Arrivals[J] | None = None
        self.came: list[tuple[int, J]] = []  # since the replay began; what waited then says little about what comes
        self.seen: set[str] = set()
        self.prices: Floats | None = None
        self.expected = False  # whether the prices are also of jobs that have not come
        self.until: int | None = None  # the slot by which all of them have
        self.blind = True  # whether no hour has been seen yet
        self.priced_at = self.first = 0
        self.use = self._use(range(0))
        self.discount = self._counted(None)
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
        anew = reckoned != self.reckoned
        over = self.expected and self.until is not None and known.now >= self.until
        if self.prices is None or known.now >= self.priced_at + every or anew or over:
            self._price(snapshot, known, law, anew)
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
        chosen = worth[plan]
        if not self.expected and not self.blind:
            chosen, priced = filled(program, chosen), program  # what is left is for whoever could not pay: nobody else comes
        return schedule(chosen if law is None else as_told(told, priced, chosen))

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
        hour, day = hour_and_day(slot_s)
        self.arrivals = Arrivals(hour, day)
        self.stretch = slot_s, slots
        past = self.past
        if past is not None:
            phase = past.now % day
            self.arrivals.begin(phase + past.horizon)
            for job in past.jobs:
                self.arrivals.add(phase + job.submitted, job.model_copy(update=self.pricing.resubmit(job, 0)))
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
            until=self.until,
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
        self.expected, self.until = kept.expected, kept.until
        self.blind, self.seen = kept.blind, set(kept.seen)
        self.priced_at, self.first = kept.priced_at, kept.first
        if kept.stretch is not None:
            self._open(*kept.stretch)
            self.use = self._use(self._own(kept.priced_at, MISSED))
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

    def _price(self, snapshot: I, known: Slotted[J], law: Law | None, anew: bool) -> None:
        """The mean duals of known jobs and each drawn future, from the last prices, which count on unless it is all `anew`."""
        arrivals, pricing, now = self.arrivals, self.pricing, known.now
        assert arrivals is not None
        own = self._own(now, MISSED)
        seen = [self.before, own]
        self.use, self.blind = self._use(own), not any(seen)
        come = self._futures(known, seen)
        jobs, count = (*known.jobs, *come.jobs), come.count
        whole = snapshot.model_copy(update={"jobs": jobs})
        program = self._program(whole, pricing.options(whole)[0], law, [True] * len(known.jobs) + come.guessed)
        future = np.array([-1] * len(known.jobs) + come.of, dtype=np.int64)
        submitted = np.array([job.submitted for job in jobs], dtype=np.int64)
        drawn, before = future >= 0, self.expected
        able = np.unique(program.job[program.value > 0])  # others, too late to run, ask for nothing
        coming = submitted[able[drawn[able]]]
        self.expected, self.until = bool(len(coming)), now + int(coming.max(initial=0))
        level, spread = arrivals.level(self.before, self._own(now, 0.0), now + known.horizon)
        lasts = np.exp(submitted * known.slot_s / -LASTS_S)

        def stands_for(late: Floats | float, later: Floats | float) -> Floats:
            """So many jobs of a future, if so many come as of late and so many later."""
            return np.where(drawn, (late * lasts + later * (1.0 - lasts)) * come.every, 1.0)

        varies = variation(program, drawn, stands_for(level, 1.0) / count) if self.use.doubt else None
        self.discount = self._counted(varies)
        late, later = levels(level, spread, count, self.rng), levels(1.0, SPREAD, count, self.rng)
        times = stands_for(late[future], later[future])
        weighed = replace(program, value=program.value * times[program.job], demand=program.demand * times)
        start = None if self.prices is None else self.prices[:, now - self.priced_at :]
        passed_s = (now - self.priced_at) * known.slot_s
        again = max(self.use.iterations, min(ITERATIONS, round(ITERATIONS * passed_s / 3600)))
        found = mean_prices(weighed, future, count, again, start)
        still = before and self.expected and not anew and pricing.averaged_s > 0
        counts = math.exp(-passed_s / pricing.averaged_s) if still else 0.0
        self.prices = found if start is None else (1.0 - counts) * found + counts * start
        self.priced_at = now

    def _futures(self, known: Slotted[J], seen: list[range]) -> Futures[J]:
        """Who may come; of many, whole futures are left out first, then every second or third job."""
        arrivals, now = self.arrivals, known.now
        assert arrivals is not None
        first, last = now + 1, now + known.horizon - 1
        drawn: list[list[Hour[J]]] = []
        count = 0
        while len(drawn) < SCENARIOS or (count < ENOUGH_DRAWN and len(drawn) < self.pricing.most_scenarios):
            drawn.append(arrivals.future(seen, first, last, self.pricing.like_last, self.rng))
            count += sum(len(came) for *_, came in drawn[-1])
        most, mean = max(FEWEST_DRAWN, self.use.most_drawn // HASTE**self.late), count // len(drawn)
        drawn = drawn[: max(1, most // max(1, len(known.jobs) + min(mean, ENOUGH_EACH)))]
        every = max(1, -(-mean * len(drawn) // most))
        shift = int(self.rng.integers(every))
        jobs, guessed, of = list[J](), list[bool](), list[int]()
        for k, hours in enumerate(drawn):
            passed = -shift - k * every // len(drawn)  # not the first of each
            for begins, elsewhere, came in hours:
                thinned, passed = came[-passed % every :: every], passed + len(came)
                for after, job in thinned:
                    if first <= begins + after <= last:
                        update = self.pricing.resubmit(job, begins + after - now) | {"id": f"future {k}.{len(jobs)}"}
                        jobs.append(job.model_copy(update=update))
                        guessed.append(not elsewhere)  # of other days the truth is known
                        of.append(k)
        return Futures(jobs, guessed, of, len(drawn), every)

    def _own(self, now: int, missed: float) -> range:
        """Hours of the present stretch before a slot; of the first no more was missed than that.

        Who waits in the very first slot may have come at any time.
        """
        arrivals = self.arrivals
        assert arrivals is not None
        hour, passed = divmod(arrivals.offset + self.first, arrivals.block)
        return range(hour + (passed + 1 > missed * arrivals.block), (arrivals.offset + now) // arrivals.block)

    def _use(self, own: range) -> PriceUse:
        """By how many hours are known, of a history or of the present stretch: as many as the replay has are enough."""
        enough = self.pricing.learnt
        if self.arrivals is not None:
            own_hours = self.arrivals.whole - self.first // self.arrivals.block
            enough = min(enough, self.arrivals.blocks_a_day, max(1, own_hours))
        return self.pricing.with_history if len(self.before) + len(own) >= enough else self.pricing.without_history

    def _counted(self, variation: float | None) -> float:
        """The share of prices that counts, by how much the load of the futures varies; None where that is not known."""
        use, least = self.use, self.pricing.without_history.share
        if not use.doubt:
            return use.share
        return least if variation is None else max(least, use.share / (1.0 + use.doubt * variation))
