"""What a snapshot of a replay in slots tells of jobs that run, or ran, where what it tells of durations is a guess."""

from __future__ import annotations

from optsched.instances.base import Counting, Data, Identifier, Natural, Positive


class Run(Data):
    """A job that runs, or has come to its end.

    Attributes
    ----------
    job
        Its id.
    place
        The site where it runs; None in a family without sites.
    units
        GPUs or cores that it takes.
    told
        Slots that it was told to take when it was submitted.
    took
        Slots that it has run: all that it takes, if it has come to its end.
    """

    job: Identifier
    place: str | None = None
    units: Positive
    told: Counting
    took: Natural
