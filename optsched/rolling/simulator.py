"""What the loop asks of a simulator: show what may be known, carry decisions out, keep what happened."""

from __future__ import annotations

from typing import Protocol

from optsched.instances.base import I
from optsched.schedules.base import S, Violation

SNAPSHOT = "snapshot"  # its name: a generated instance's tells how to make it again

Told = dict[str, object]
"""What was started, moved or stopped, as a row of the log shows it: JSON."""


class Simulator(Protocol[I, S]):
    """The truth of a replay. `snapshot` is all that a policy sees.

    Attributes
    ----------
    truth : the instance. now_s : the present, in seconds. event : what made this a time to decide.
    unfinished : jobs that may still be run, or run. stalled : jobs wait, nothing runs, and the last decision ran nothing.
    """

    truth: I
    event: str

    @property
    def now_s(self) -> float: ...

    @property
    def unfinished(self) -> int: ...

    @property
    def stalled(self) -> bool: ...

    def due(self) -> bool:
        """Go to the time of the next decision; False when nothing is left to decide."""

    def snapshot(self) -> I | None:
        """An instance re-based to the present, or None when nothing is left to decide."""

    def refuses(self, snapshot: I, decision: S) -> list[Violation]:
        """Why a decision cannot be carried out."""

    def present(self, decision: S) -> S:
        """The part of a decision that `apply` looks at: what a checkpoint keeps of it."""

    def apply(self, decision: S) -> list[Told]:
        """Carry the present part of a decision out, go to the next event, and say what was started, moved or stopped."""

    def history(self) -> S:
        """What has happened, as a schedule of the truth."""

    def figures(self) -> dict[str, float]:
        """What the final table shows besides the referee's figures."""
