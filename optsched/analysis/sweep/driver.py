"""The loop of a sweep: what is not in the store yet goes to workers, and what comes back goes to the store at once.

Tasks whose workers died are done again, one at a time, so that it shows which one it was: one that kills its worker alone
twice becomes a row that says so. What another driver of the same store is doing is left to it, and taken over when it dies.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass

from optsched.analysis.sweep.store import Store
from optsched.analysis.sweep.trial import Build, Identity, Told, Trial, identify, run
from optsched.errors import OptschedError
from optsched.workers import Workers

AHEAD = 3  # tasks handed out for each worker, so that none waits for the driver
BEAT_S = 5.0  # between two signs of life
KEEP_S = 0.5  # between two transactions, while much comes back
POLL_S = 1.0  # for what others do
DEATHS = 2  # of a worker that did nothing else, after which a task is at fault


@dataclass(frozen=True)
class Tally:
    """How far a sweep is.

    Attributes
    ----------
    total, kept, others
        Tasks in all, those of them that are in the store without having been done here, and of these what another driver has
        done meanwhile.
    done, failed
        Since then; failed ones are among the done.
    seconds
        Since it began.
    """

    total: int
    kept: int
    others: int
    done: int
    failed: int
    seconds: float

    @property
    def left_s(self) -> float | None:
        """Seconds that the rest may take, by what there was so far; None before anything was."""
        return None if not self.done else self.seconds / self.done * (self.total - self.kept - self.done)


Tell = Callable[[Tally], None]


def identities(
    store: Store, recipes: Sequence[str], build: Build, crew: Workers, tell: Callable[[int], None]
) -> list[Identity]:
    """What the instances are, in the order of the recipes; those of generated ones are remembered.

    Raises
    ------
    OptschedError : a recipe makes no instance.
    """
    known = store.identities(recipe for recipe in recipes if lasting(recipe))
    asked = {crew.submit(identify, build, recipe): recipe for recipe in recipes if recipe not in known}
    fresh: list[Identity] = []
    try:
        open_ = set(asked)
        while open_:
            came, open_ = wait(open_, timeout=BEAT_S, return_when=FIRST_COMPLETED)
            for future in came:
                try:
                    fresh.append(future.result())
                except BaseException as error:
                    if crew.lost(error):
                        raise OptschedError(f"recipe {asked[future]!r}: the worker that made it died") from None
                    raise
            store.beat()
            tell(len(fresh) + len(known))
    finally:
        for future in asked:
            future.cancel()
        store.identified(found for found in fresh if lasting(found.recipe))
    known |= {found.recipe: found for found in fresh}
    return [known[recipe] for recipe in recipes]


def lasting(recipe: str) -> bool:
    """Whether the recipe is the same instance tomorrow: a generator's is, one that reads files may change."""
    return recipe.startswith("generate ") and not any(mark in recipe for mark in "/.$")


def sweep(
    store: Store,
    trials: Sequence[Trial],
    instances: Iterable[Identity],
    build: Build,
    crew: Workers,
    tell: Tell = lambda tally: None,
    again: bool = False,
) -> Tally:
    """Have all trials done that the store has no row of.

    Parameters
    ----------
    store, trials, instances
        Where to, what, and on what.
    build
        An instance from its recipe.
    crew
        Who does it.
    tell
        Called now and then.
    again
        Do those again that failed.

    Raises
    ------
    KeyboardInterrupt : Ctrl-C; rows so far are kept.
    OptschedError : the store cannot be written.
    """
    return _Sweep(store, instances, build, crew, tell, again).all(trials)


class _Sweep:
    def __init__(
        self, store: Store, instances: Iterable[Identity], build: Build, crew: Workers, tell: Tell, again: bool
    ) -> None:
        self.store, self.build, self.crew, self.tell, self.again = store, build, crew, tell, again
        self.named = {identity.sha256: identity for identity in instances}
        self.out: dict[Future[Told], Trial] = {}
        self.back: list[tuple[Trial, Identity, Told]] = []
        self.deaths: dict[str, int] = {}
        self.done = self.failed = 0

    def all(self, trials: Sequence[Trial]) -> Tally:
        began = beaten = kept_s = time.monotonic()
        had = self.store.done(failed_too=not self.again)
        todo = deque(trial for trial in trials if trial.key not in had)
        before, alone, others = len(trials) - len(todo), deque[Trial](), deque[Trial]()
        kept = before

        def tally() -> Tally:
            return Tally(len(trials), kept, kept - before, self.done, self.failed, time.monotonic() - began)

        try:
            while todo or alone or others or self.out:
                self._hand_out(todo, alone, others)
                if not self.out and not todo and not alone:
                    time.sleep(POLL_S)  # others are at work on the rest
                    had = self.store.done(failed_too=True)
                    gone = [trial for trial in others if trial.key not in had]
                    kept += len(others) - len(gone)
                    todo, others = deque(gone), deque()
                came, _ = wait(self.out, timeout=POLL_S, return_when=FIRST_COMPLETED) if self.out else ((), ())
                for future in came:
                    self._take(future, self.out.pop(future), alone)
                now = time.monotonic()
                if self.back and (now - kept_s > KEEP_S or not self.out):
                    self._keep()
                    kept_s = now
                if now - beaten > BEAT_S:
                    self.store.beat()
                    beaten = now
                self.tell(tally())
        finally:
            for future in self.out:
                future.cancel()
            self._keep()
        return tally()

    def _hand_out(self, todo: deque[Trial], alone: deque[Trial], others: deque[Trial]) -> None:
        if alone:  # suspects, one at a time
            if not self.out:
                self._submit([alone.popleft()])
            return
        room = AHEAD * self.crew.count - len(self.out)
        while room > 0 and todo:
            part = [todo.popleft() for _ in range(min(room, len(todo)))]
            mine = self.store.claim(part, self.again)
            others += [trial for trial in part if trial not in mine]
            self._submit(mine)
            room -= len(mine)

    def _submit(self, trials: Sequence[Trial]) -> None:
        for trial in trials:
            self.out[self.crew.submit(run, self.build, trial)] = trial

    def _take(self, future: Future[Told], trial: Trial, alone: deque[Trial]) -> None:
        try:
            told = future.result()
        except BaseException as error:
            if not self.crew.lost(error):
                raise
            deaths = self.deaths[trial.key] = self.deaths.get(trial.key, -1) + 1  # the first time others were there
            if deaths < DEATHS:
                alone.append(trial)
                return
            told = {"status": "crashed", "message": "its worker died, twice: out of memory, or a solver that aborts"}
        self.back.append((trial, self.named[trial.sha256], told))
        self.done += 1
        self.failed += told["status"] != "done"

    def _keep(self) -> None:
        back, self.back = self.back, []
        if back:
            self.store.keep(back)
