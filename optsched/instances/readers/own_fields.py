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

FAMILIES: dict[str, dict[str, Field]] = {
    "allocation": {
        "id": ID,
        "submit": SUBMIT,
        "duration": DURATION,
        "gpus": GPUS,
        "due": Field(Kind.MOMENT, "when it should have ended; drawn if not mapped"),
        "weight": Field(Kind.NUMBER, "cost of being late, EUR/s; drawn if neither this nor priority is mapped"),
        "priority": Field(Kind.NUMBER, "relative weight, scaled to the mean of the paper's weights"),
    },
    "deferrable": {
        "id": ID,
        "submit": SUBMIT,
        "duration": DURATION,
        "cores": Field(Kind.POSITIVE, "cores that it takes; 1 if not mapped"),
        "earliest": Field(Kind.MOMENT, "earliest start; the submission if not mapped"),
        "latest": Field(Kind.MOMENT, "latest start; by due, or by --slack, if not mapped"),
        "due": Field(Kind.MOMENT, "latest end"),
    },
    "geo": {
        "id": ID,
        "submit": SUBMIT,
        "duration": DURATION,
        "gpus": GPUS,
        "source": Field(Kind.TEXT, "site where it is submitted; drawn if not mapped"),
        "due": Field(Kind.MOMENT, "latest end; by slack if not mapped"),
        "slack": Field(Kind.SPAN, "by how much its start may lag; 40 % of its duration if not mapped"),
        "data_gb": Field(Kind.NUMBER, "GB to move to another site; drawn if not mapped"),
        "model_gb": Field(Kind.NUMBER, "GB to move back; drawn if not mapped"),
    },
    "vcc": {
        "id": ID,
        "submit": SUBMIT,
        "duration": DURATION,
        "ncu": Field(Kind.POSITIVE, "NCU, or cores, that it takes; 1 if not mapped"),
    },
}
TABLED = ("allocation",)  # families whose jobs may have a time for each type and number of GPUs


def given_names(family: str) -> str:
    """The fields of a family, for a message."""
    more = ", time.TYPE.GPUS (its time on so many GPUs of a type)" if family in TABLED else ""
    return ", ".join(FAMILIES[family]) + more
