"""The search: prices, a choice in their order, then ruin and recreate and exact windows in turn, where most is lost."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from optsched.certificate import relative_gap
from optsched.decomposition.covered import with_covers
from optsched.decomposition.crew import Crew, Leg
from optsched.decomposition.dual import Dual, solve_dual
from optsched.decomposition.legs import COOLED, LONG, Legs
from optsched.decomposition.lns import windows
from optsched.decomposition.moving import Moving
from optsched.decomposition.passes import MANY, solve_by_pool
from optsched.decomposition.pricing import Pricing
from optsched.decomposition.recreate import PLACES, Recreate
from optsched.decomposition.restricted_mip import Optimum, solve_restricted_mip
from optsched.decomposition.rounding import around, drawn, rounded, vertex
from optsched.decomposition.shadow_prices import settled
from optsched.decomposition.share import Share, most
from optsched.heuristics.serial_sgs import serial_sgs
from optsched.instances.base import Bools, Floats, Ints
from optsched.mates import mates_worth
from optsched.monitor import Monitor
from optsched.problems.packing import NONE, Packing
from optsched.problems.time_indexed import TimeIndexedProblem
from optsched.stop import Spare, Stop

DUAL_SHARE, MOVING_SHARE = 0.15, 0.5  # of the time limit, at most; while the bound still moves
THINNED_SHARE = 0.5  # of that, for thinned starts
DUAL_MOST = 3000  # iterations
SETTLED = 2e-5  # relative improvement of the bound in 100 iterations
WARM, COLD = 10.0, 0.04  # temperature at first and in the end, in what the first choice loses a chosen job
LARGEST_LP, LARGEST_MIP = 600_000, 6_000  # options
NEAREST, NEAREST_PER_JOB = 20_000, 1.2  # options of the relaxation, at most; or so many times the jobs, if that is more
LARGEST_COVERED, LARGEST_UNTIMED = 30_000, 3_000  # options, with a time limit and without
COVER_SHARE, COVER_S, COVER_MOST = 0.25, 1.5, 0.4  # of the time that is left; but for these seconds, if they are no more of it
LP_SHARE, MIP_SHARE = 0.1, 0.1  # of the time that is left, at most
MIP_S, MIP_MOST = 2.0, 0.4  # but for these seconds, if they are no more of what is left: small clusters hang on that start
ROUGH = 2e-3  # gap of the exact core over the relaxation's vertex
CORE = 3000  # options that can be chosen exactly, all at once
EASY = 400  # of these: so few take no time, however often they are tried
CORE_NODES, CORE_SHARE = 20, 0.2  # at first, four times as many at every further try; of the time that is left, at most
ROUNDS_A_CORE = 20
MERGE_GAP, MERGE_NODES = 1e-6, 2000  # of a choice of what legs have held
WINDOW_SHARE = 0.1  # of the time limit, for one, at most
LARGE = 0.08  # a gap that is the bound's: with that much heat what there is would be lost
FEWER = 0.7  # of a core that took all of its time, for another one to be worth it
ROUNDS = 100  # if nothing else ends the search
LEG_S, LATE_LEG_S = 1.0, 3.0  # how long mates search for themselves, and how long when there are windows
ENDS_S = 0.25  # how long before the end they are back
MOST_SENT = 20_000_000  # options of all mates together: 0.1 GB a million


class Search:
    """A program on the way to a certified choice; incumbents and bounds go to the monitor (as of a minimisation).

    Attributes
    ----------
    best, value : options (indices) and objective. dual : prices and bound, as soon as there are some.
    proven : the same as they are written, once the prices are settled.
    covered : prices of capacity and covers, where these prove more.
    core : bound of the exact core, infinite until it has one. most_open : options that are worth choosing exactly.
    rounds : so far. window : the windows, once ruins have begun.
    """

    def __init__(self, program: TimeIndexedProblem, monitor: Monitor, stop: Stop, seed: int, threads: int = 0) -> None:
        self.threads = threads
        self.program, self.monitor, self.stop = program, monitor, stop
        self.rng = np.random.default_rng(seed)
        self.dual: Dual | None = None
        self.proven: Dual | None = None
        self.covered: Dual | None = None
        self.spare = Spare(stopped=lambda: self._over() is not None)
        self.rounds = 0
        self.best: Ints = np.zeros(0, dtype=np.int64)
        self.value = program.objective(self.best)
        self.core = np.inf
        self.most_open = CORE if stop.seconds is not None else CORE // 2  # whose root alone may take half a minute
        self.loss = 0.0  # of a chosen job, at first
        self.began_s = 0.0  # when ruins began
        self.cooled = False  # by legs
        self.cores = 0  # tried since

    def __call__(self, start: Ints | None, prices: Floats | None) -> str:
        """Search until it is time to stop; the termination word."""
        self.monitor.incumbent(-self.value)
        if start is not None:
            self._offer(start)
        self.dual = self._price(prices)
        self.proven = self._settled(self.dual)
        if not len(self.program):  # nothing can be chosen
            return self._over() or "completed"
        pricing = Pricing(self.program, self.dual)
        for choice in (self._ordered, self._relaxed):
            if not self._over():
                self._offer(choice(pricing))
        tight = pricing
        if self.covered is not None:  # ruins are better off without covers
            self.dual = replace(self.dual, few=self.covered.few)
            pricing, tight = Pricing(self.program, self.dual), Pricing(self.program, self.covered)
        return self._over() or self._finish(tight, CORE_NODES) or self._improve(pricing, tight)

    def _offer(self, chosen: Ints) -> None:
        value = self.program.objective(chosen)
        if value > self.value:
            self.best, self.value = chosen, value
            self.monitor.incumbent(-value)

    def _over(self) -> str | None:
        if self.monitor.stopping:
            return self.monitor.stopping
        bound = None if self.monitor.bound is None else -self.monitor.bound
        gap = relative_gap(self.value, bound)
        if gap is not None and gap <= 1e-9:
            return "optimal"
        rounds = self.stop.iterations
        if rounds is None and self.stop.seconds is None:
            rounds = ROUNDS
        return Stop(gap=self.stop.gap, iterations=rounds).reason(0.0, gap, self.rounds)

    def _price(self, start: Floats | None) -> Dual:
        clock, seconds = self.monitor.clock, self.stop.seconds
        began = clock.elapsed_s()
        marks: list[float] = []
        moving, moves = None if seconds is None else Moving(clock, seconds), False

        def over(share: float = 1.0) -> bool:
            most = share * (MOVING_SHARE if moves else DUAL_SHARE)
            latest = np.inf if seconds is None else began + most * (seconds - began)
            return clock.elapsed_s() > latest or self._over() is not None

        def seen(dual: Dual) -> None:
            nonlocal moves
            self.dual, moves = dual, moving is not None and moving(dual.bound - self.program.constant)
            self.monitor.bounded(-dual.bound)

        def watch(dual: Dual) -> bool:
            if dual.iterations % 100 == 0:
                marks.append(dual.bound)
            gains = -np.diff(marks[-3:])
            settled = len(gains) == 2 and bool((gains < SETTLED * abs(dual.bound)).all())
            seen(dual)
            return settled or over()

        if len(self.program) < MANY:
            return solve_dual(self.program, iterations=DUAL_MOST, start=start, watch=watch)
        return solve_by_pool(self.program, start=start, watch=seen, early=partial(over, THINNED_SHARE), over=over)

    def _settled(self, dual: Dual) -> Dual:
        return settled(self.program, dual)

    def _ordered(self, pricing: Pricing) -> Ints:
        """The densest first, or the longest."""
        longest = np.argsort(-self.program.duration, kind="stable")
        found = [serial_sgs(self.program, order, pricing.reduced, self.spare) for order in (pricing.order(), longest)]
        return max(found, key=self.program.objective)

    def _relaxed(self, pricing: Pricing) -> Ints:
        """The linear relaxation over the pool, rounded; then exactly, around a vertex of it."""
        p = self.program
        pool = pricing.nearest(max(NEAREST, int(NEAREST_PER_JOB * len(p.demand))))
        pool[self.best] = True
        if int(pool.sum()) > LARGEST_LP:
            assert self.dual is not None
            return drawn(self.dual.drawn, pricing, self.spare)
        share = vertex(p, pool, self.monitor, self._seconds(LP_SHARE))
        if (covered := self._covered(share)) is not None:
            self.covered = covered[0]
            share = covered[1] if share is None else share
        if share is None:
            return self.best
        self._offer(rounded(share, pricing, self.spare))
        used = around(share, pricing)
        used[self.best] = True
        if int(used.sum()) > LARGEST_MIP or self._over():
            return self.best
        return self._chosen(used, ROUGH, 1, self._seconds(MIP_SHARE, MIP_S, MIP_MOST)).chosen

    def _covered(self, share: Floats | None) -> tuple[Dual, Floats] | None:
        """Prices of capacity and of covers, and a vertex, where the relaxation violates covers."""
        assert self.dual is not None
        seconds, clock = self._seconds(COVER_SHARE, COVER_S, COVER_MOST), self.monitor.clock
        until = None if seconds is None else clock.elapsed_s() + seconds
        if self._over() or len(self.program) > (LARGEST_UNTIMED if seconds is None else LARGEST_COVERED):
            return None
        spare = Spare(clock, until, lambda: self._over() is not None)
        found = with_covers(self.program, self.dual, share, self.monitor, spare)
        if found is not None:
            self.monitor.bounded(-found[0].bound)
        return found

    def _chosen(self, among: Bools, gap: float, nodes: int, seconds: float | None) -> Optimum:
        """The best so far or better, exactly, among some options, in so many seconds at most."""
        rows = np.flatnonzero(among)
        start = np.searchsorted(rows, self.best)
        found = solve_restricted_mip(self.program.where(among), start, gap, nodes, self.monitor, seconds=seconds)
        return replace(found, chosen=rows[found.chosen])

    def _seconds(self, share: float, least: float = 0.0, most: float = 0.0) -> float | None:
        """A share of the time that is left, or the seconds `least`, if these are no more than the share `most` of it."""
        return None if self.stop.seconds is None else max(share * self._left(), min(least, most * self._left()))

    def _finish(self, pricing: Pricing, nodes: int) -> str | None:
        """All that reduced costs do not rule out, exactly, if that is little; proves the choice optimal."""
        p = self.program
        behind = pricing.earns[p.job] - pricing.reduced
        open_ = behind <= pricing.bound - self.value + 1e-9 * abs(self.value)
        open_[self.best] = True
        count, began, seconds = int(open_.sum()), self.monitor.clock.elapsed_s(), self._seconds(CORE_SHARE)
        if count > self.most_open:
            return None
        found = self._chosen(open_, self.stop.gap or 0.0, nodes, seconds)
        long = count > EASY if seconds is None else self.monitor.clock.elapsed_s() - began > seconds
        if long and (found.bound is None or found.bound > self.value):
            self.most_open = int(FEWER * count)
        self._offer(found.chosen)
        if found.bound is not None:
            self.core = max(min(self.core, found.bound), self.value)
            self.monitor.bounded(-self.core)
        return self._over()

    def _core(self, pricing: Pricing) -> bool:
        """The exact core, with four times as many nodes as the last time, where there have been enough rounds since.

        One that was too hard is tried again only when it is smaller.
        """
        tries = self.rounds // ROUNDS_A_CORE
        if tries == self.cores:
            return False
        self.cores = tries
        self._finish(pricing, CORE_NODES * 4**tries)
        return True

    def _improve(self, pricing: Pricing, tight: Pricing) -> str:
        packing, self.began_s = Packing(self.program, self.best), self.monitor.clock.elapsed_s()
        recreate = Recreate(pricing, packing, self.rng)
        assert self.dual is not None
        apart, earned = self.dual.bound - packing.value, abs(packing.value - self.program.constant)
        apart = min(apart, LARGE * earned) if earned else apart
        self.loss = apart / max(1, len(packing.chosen))
        self.window = window = windows(pricing, self.rng)
        longest = None if self.stop.seconds is None else WINDOW_SHARE * self.stop.seconds
        legs = self._legs(pricing, recreate)
        with Crew(self._mates(), self.program, self.dual, self.rng) as crew:
            if legs is not None:
                self._in_legs(tight, recreate, legs, crew)
            while (word := self._over()) is None:
                if crew.back:
                    crew.bring(packing)
                    self._offer(packing.chosen)
                    recreate.go_on(self._parted(crew, packing))
                late = self._late()
                for slot in recreate.slots(window.between if late else PLACES):
                    self._turn(recreate, slot, self._heat())
                    if self._over():
                        break
                if late and not self._over():
                    (slot,) = recreate.slots(1)
                    window(packing, slot, self.monitor, recreate.share, longest)
                    recreate.look()
                    self._offer(packing.chosen)
                self.rounds += 1
                if self._core(tight):
                    packing.become(packing.option)  # rounding of many small steps
                    recreate.look()
            if crew.back:
                crew.bring(packing)
                self._offer(packing.chosen)
        return word

    def _legs(self, pricing: Pricing, recreate: Recreate) -> Legs | None:
        """Legs, where there is time for several before windows; a few turns tell how long they take."""
        legs, clock = Legs(int(pricing.some.sum())), self.monitor.clock
        turns: float = PLACES * (self.stop.iterations or ROUNDS)
        if self.stop.seconds is not None:
            began = clock.elapsed_s()
            for slot in recreate.slots(PLACES):
                self._turn(recreate, slot, self._heat())
                if self._over():
                    return None
            legs.turn_s = max(1e-6, clock.elapsed_s() - began) / PLACES
            turns = self._left() / legs.turn_s
        return legs if legs.worth(self.window.begin * turns) else None

    def _in_legs(self, tight: Pricing, recreate: Recreate, legs: Legs, crew: Crew) -> None:
        """Leg after leg, from the first choice, the best and none in turn; after each the best of what the last have held.

        Where choosing takes all of its time for nothing, one long leg has the rest, if that is more than two.
        """
        packing, clock, first, nothing = recreate.packing, self.monitor.clock, self.best, self.best[:0]
        heard, turn = np.zeros(len(self.program), dtype=bool), 0
        while not self._over() and self._done() < self.window.begin:
            start, turn = Packing(self.program, (first, self.best, nothing)[turn % 3]), turn + 1
            left = self._left(self.window.begin)
            if crew.back and left > 0:
                self._hear(crew, heard)
                crew.send_all(start, Leg(self._cooling(0.0), self._cooling(1.0), min(legs.seconds, left), late=False))
            turns, began = legs.turns_in(left), clock.elapsed_s()
            packing.become(start.option)
            recreate.go_on(Share.whole(packing))
            legs.add(self._leg(recreate, turns) | heard)
            heard[:] = False
            if self.stop.seconds is not None:
                legs.turn_s = (clock.elapsed_s() - began) / turns
            if not self._merge(legs) and self._left(self.window.begin) > LONG * legs.seconds:
                self.began_s = clock.elapsed_s()
                break
            self._core(tight)
        else:
            self.cooled = True
        self._hear(crew, heard)
        crew.forget()
        packing.become(Packing(self.program, self.best).option)
        recreate.go_on(Share.whole(packing))

    def _leg(self, recreate: Recreate, turns: int) -> Bools:
        """So many turns of ruins, from hot to cold; the options that were chosen when it was cold, shape (n,)."""
        packing, held, done = recreate.packing, np.zeros(len(self.program), dtype=bool), 0
        while done < turns:
            for slot in recreate.slots(PLACES):
                self._turn(recreate, slot, self._cooling(done / turns))
                done += 1
                if done >= COOLED * turns:
                    held[packing.chosen] = True
                if self._over():
                    return held
            self.rounds += 1
        return held

    def _turn(self, recreate: Recreate, slot: int, heat: float) -> None:
        recreate.turn(slot, heat)
        if recreate.packing.value > self.value:
            self._offer(recreate.packing.chosen)

    def _merge(self, legs: Legs) -> bool:
        """The best choice of what the last legs have held; whether that is worth its time."""
        among, clock = legs.merged(), self.monitor.clock
        if among is None or self._over():
            return True
        among[self.best] = True
        if int(among.sum()) > LARGEST_MIP:
            return False
        began, before = clock.elapsed_s(), self.value
        seconds = None if self.stop.seconds is None else min(legs.seconds, self._left(self.window.begin))
        self._offer(self._chosen(among, MERGE_GAP, MERGE_NODES, seconds).chosen)
        return seconds is None or not legs.took(clock.elapsed_s() - began) or self.value > before

    def _hear(self, crew: Crew, held: Bools) -> None:
        """What mates have made of the whole is held, too."""
        for option in crew.choices():
            chosen = option[option != NONE]
            held[chosen] = True
            self._offer(chosen)

    def _left(self, share: float = 1.0) -> float:
        """Seconds until all time, or a share of what ruins have, is over; infinite without a limit."""
        if self.stop.seconds is None:
            return np.inf
        ends_s = self.began_s + share * (self.stop.seconds - self.began_s)
        return max(0.0, ends_s - self.monitor.clock.elapsed_s())

    def _mates(self) -> int:
        """Processes beside this one, as far as there are shares for them."""
        worth, p = mates_worth(self.stop, self.monitor.clock, self.threads), self.program
        return max(0, min(worth, most(p) - 1, MOST_SENT // max(1, len(p))))

    def _parted(self, crew: Crew, packing: Packing) -> Share:
        """The mates off for a leg that ends before the time does; what is left to this process."""
        assert self.stop.seconds is not None
        left = self.stop.seconds - self.monitor.clock.elapsed_s() - ENDS_S
        late = self._late()
        leg = LATE_LEG_S if late else LEG_S
        seconds = leg if left > 2 * leg else left
        if seconds <= 0:
            crew.dismiss()
            return Share.whole(packing)
        return crew.send(packing, Leg(self._heat(), self._heat(seconds), seconds, late=late))

    def _late(self) -> bool:
        """Whether windows are worth solving by now."""
        return self._done() > self.window.begin

    def _heat(self, later: float = 0.0) -> float:
        """Temperature now, or so many seconds later."""
        return self._cooling(1.0 if self.cooled else self._done(later) / self.window.cold)

    def _cooling(self, share: float) -> float:
        """Temperature after a share of what it takes to cool."""
        return float(self.loss * WARM * (COLD / WARM) ** min(1.0, share))

    def _done(self, later: float = 0.0) -> float:
        """Of the time that ruins have, or of the rounds."""
        if self.stop.seconds is not None:
            now_s = self.monitor.clock.elapsed_s() + later
            return min(1.0, (now_s - self.began_s) / max(1e-9, self.stop.seconds - self.began_s))
        return min(1.0, self.rounds / (self.stop.iterations or ROUNDS))
