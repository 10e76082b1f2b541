"""The fields that a table of one's own may give, by family: what they mean, and which a family cannot do without."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class Kind(Enum):
    """How a field is read."""

    TEXT = auto()
    MOMENT = auto()
    SPAN = auto()
    NUMBER = auto()
    POSITIVE = auto()
    WHOLE = auto()


@dataclass(frozen=True)
class Field:
    """A field: how it is read, what it means, and whether there is no job without it."""

    kind: Kind
    meaning: str
    required: bool = False


ID = Field(Kind.TEXT, "a name; the line in the file if not mapped")
SUBMIT = Field(Kind.MOMENT, "when it is submitted: a date, or a number", required=True)
DURATION = Field(Kind.SPAN, "how long it runs: a number, or [D-]HH:MM:SS", required=True)
GPUS = Field(Kind.WHOLE, "GPUs that it runs on; 1 if not mapped")
JOB = {"id": ID, "submit": SUBMIT, "duration": DURATION}
