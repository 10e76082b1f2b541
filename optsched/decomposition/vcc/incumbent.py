"""The best staircase so far, and what is tried to better it: beams under prices, drawn ones near it, and its neighbours."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import numpy as np

from optsched.decomposition.vcc.beam import Beam, Settings, span
from optsched.decomposition.vcc.corridor import corridors
from optsched.decomposition.vcc.fits import Window
from optsched.decomposition.vcc.polish import moved, moves
from optsched.decomposition.vcc.relaxation import StaircaseRelaxation
from optsched.instances.base import Floats, Ints
from optsched.instances.vcc import VccInstance
from optsched.problems.vcc import Staircase, round_down_to_feasible
from optsched.stop import Clock

CLASSES = 200  # of a beam
FACTORS = (1.0, 1.2, 1.5, 2.0, 3.0)  # of the load's prices: they do not know what stays free before a large head
PACES = (0.95, 0.7, 0.4)
EACH = (2, 6, 20, 60, 180)  # histories of a class by round; only the best settings of a round are in the next
KEPT = 3
MOST_LOADS = 5_000_000  # numbers that a beam may keep
DRAWN, DRAWN_STATES = 5, 100_000  # beams that are drawn after each, as many as are of about so many states, or one
MOVES, MISSES = 2000, 700  # of the incumbent after each beam: so many, or so many in a row that bring nothing
SLOTS_A_DRAW = 30  # of the horizon: after the last beam there is a draw for so many


class Incumbent:
    """A staircase that becomes better.

    Attributes
    ----------
    best, cost : the best so far.
    """

    def __init__(
        self, start: Staircase, over: Callable[[], bool], better: Callable[[float], None] = lambda cost: None, seed: int = 0
    ) -> None:
        self.instance, self.over, self.better = start.instance, over, better
        self.best, self.cost = start, start.cost()
        paces = PACES if self.instance.daily_penalty_per_ncu_h else PACES[:1]
        self.waiting = [(EACH[0], factor, pace) for factor in FACTORS for pace in paces]  # beams to come
        self.tried: list[tuple[float, float, float]] = []
        self.moves, self.corridors = moves(self.instance), corridors(self.instance, seed)
        better(self.cost)

    def offer(self, stairs: Staircase) -> float:
        """The cost of a staircase, which is the best from now on if it is."""
        cost = stairs.cost()
        if cost < self.cost:
            self.best, self.cost = stairs, cost
            self.better(cost)
        return cost

    def attempt(self, wanted: Floats, until: int = 0) -> Staircase:
        """A staircase as wanted, which is the best so far in the slots before `until`."""
        stairs = round_down_to_feasible(self.instance, wanted, self.best, until)
        self.offer(stairs)
        return stairs

    def beam(self, relaxed: StaircaseRelaxation, load: Floats) -> bool:
        """The next of ever wider beams, and the best one's neighbours; after the last beam, whether they were any better."""
        if not relaxed.tight.any():
            return False
        if not self.waiting:
            before = self.cost
            for _ in range(self.instance.horizon // SLOTS_A_DRAW + 1):
                self.draw(relaxed, load)
            return self.cost < before
        self.next(relaxed, load)
        self.draw(relaxed, load)
        return True

    def next(self, relaxed: StaircaseRelaxation, load: Floats) -> None:
        """The next of the beams that wait."""
        each, factor, pace = self.waiting.pop(0)
        settings = Settings(CLASSES, each, np.full(relaxed.days, pace))
        self.tried.append((self._through(relaxed, load, factor, settings), factor, pace))
        wider = next((more for more in EACH if more > each), 0)
        if not self.waiting and 0 < CLASSES * wider * span(self.instance) <= MOST_LOADS:
            self.waiting = [(wider, factor, pace) for _, factor, pace in sorted(self.tried)[:KEPT]]
            self.tried = []

    def _through(self, relaxed: StaircaseRelaxation, load: Floats, factor: float, settings: Settings) -> float:
        """The cost that a beam comes to under so many times the load's prices."""
        started = Beam(relaxed, factor * load)(settings, self.over)
        return np.inf if started is None else self.offer(round_down_to_feasible(self.instance, started.astype(float)))

    def draw(self, relaxed: StaircaseRelaxation, load: Floats) -> None:
        """Drawn beams, some of which keep near the incumbent but for some hours, and its neighbours."""
        whole = relaxed.paths.window
        for corridor in islice(self.corridors, min(DRAWN, 1 + DRAWN_STATES // max(1, int((whole.high - whole.low).sum())))):
            if self.over():
                return
            window = corridor.window(self.best, whole)
            near = StaircaseRelaxation(self.instance, window, fits=True)
            before = self.cost
            self._through(near, load, corridor.factor, Settings(CLASSES, EACH[0], corridor.pace))
            if self.cost < before:
                self._polish()
        self._polish()

    def _polish(self) -> None:
        """Some steps from the incumbent to better neighbours."""
        misses = 0
        for move in islice(self.moves, MOVES):
            if misses >= MISSES or self.over():
                break
            wanted, before = moved(self.best, move), self.cost
            if wanted is not None:
                self.attempt(wanted, move[0])
            misses = 0 if self.cost < before else misses + 1


class Beside:
    """What a mate is: beams while another process has the prices."""

    def __init__(self, instance: VccInstance, started: Ints) -> None:
        self.until, self.clock = np.inf, Clock()
        self.incumbent = Incumbent(Staircase(instance, started), lambda: self.clock.elapsed_s() > self.until, seed=1)
        self.relaxed: StaircaseRelaxation | None = None
        self.draws = False

    def __call__(self, started: Ints, window: Window | None, load: Floats, seconds: float) -> Ints:
        """From a staircase and prices on the next beam, or what is drawn near the best, in a window (None: the same); the best.

        What does not end within so many seconds is given up.
        """
        self.until = self.clock.elapsed_s() + seconds
        self.incumbent.offer(Staircase(self.incumbent.instance, started))
        if window is not None:
            self.relaxed = StaircaseRelaxation(self.incumbent.instance, window, fits=True)
        assert self.relaxed is not None
        if self.draws or not self.incumbent.waiting:
            self.incumbent.draw(self.relaxed, load)
        else:
            self.incumbent.next(self.relaxed, load)
        self.draws = not self.draws
        return self.incumbent.best.started
