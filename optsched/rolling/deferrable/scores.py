"""A trained scorer in a replay of deferrable, and what it looks back on."""

from __future__ import annotations

from optsched.instances.base import Data
from optsched.instances.deferrable import DeferrableInstance
from optsched.rl.deferrable.acting import ACTS
from optsched.rl.deferrable.past import Past
from optsched.rl.deferrable.state import Seen
from optsched.rl.trained import Trained
from optsched.rolling.memory import recalled
from optsched.schedules.deferrable import DeferrableSchedule, Start


class Remembered(Data):
    """What an agent remembers: the rows of its past, and who it is."""

    agent: str
    rows: tuple[tuple[float, ...], ...]
    scale: tuple[float, ...]
    due: float


class ScorePolicy:
    """A trained scorer in a replay."""

    def __init__(self, trained: Trained) -> None:
        self.trained = trained
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Nothing seen yet."""
        self.past = Past()

    def decide(self, snapshot: DeferrableInstance) -> DeferrableSchedule:
        """The jobs that it starts now."""
        seen = Seen.of(snapshot)
        begun = ACTS[self.trained.card.kind](self.trained.arrays, seen, self.past)
        self.past.add(seen, begun)
        return DeferrableSchedule(starts=tuple(Start(job=snapshot.jobs[j].id, start=0) for j in begun))

    def note(self, snapshot: DeferrableInstance, decided: DeferrableSchedule) -> None:
        """Look back on what somebody else has decided."""
        index = {job.id: j for j, job in enumerate(snapshot.jobs)}
        self.past.add(Seen.of(snapshot), [index[start.job] for start in decided.starts])

    def doubt(self, instance: DeferrableInstance, forecast: str) -> str | None:
        """What it was trained on is a range of cases; nobody knows beforehand whether this is one of them."""
        return None

    def state(self) -> dict[str, object]:
        """Its past, and who it is."""
        past = self.past
        rows = tuple(tuple(row) for row in past.rows)
        return Remembered(agent=self.trained.sha256, rows=rows, scale=tuple(past.scale), due=past.due).model_dump(mode="json")

    def restore(self, state: object) -> None:
        """Go on from there.

        Raises
        ------
        OptschedError : it was another agent's.
        """
        kept = recalled(Remembered, state)
        self.trained.expect(kept.agent)
        self.past = Past(kept.rows, kept.scale, kept.due)
