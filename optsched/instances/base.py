"""What every instance shares: immutability, validation, canonical JSON and its sha256."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, NoReturn, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

INSTANCE_FORMAT: Literal["optsched-instance/1"] = "optsched-instance/1"

# Bounds keep every sum of products far inside float64 and int64: a typing error ends as one line, not as an infinity.
LARGEST = 1e12
Finite = Annotated[float, Field(ge=-LARGEST, le=LARGEST)]
NonNegative = Annotated[float, Field(ge=0, le=LARGEST)]
Penalty = Annotated[float, Field(ge=0, le=1e3 * LARGEST)]  # may stand for a hard constraint
Positive = Annotated[float, Field(gt=0, le=LARGEST)]
Natural = Annotated[int, Field(ge=0, le=10**9)]
Counting = Annotated[int, Field(ge=1, le=10**9)]
Identifier = Annotated[str, Field(min_length=1, max_length=200)]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Data(BaseModel):
    """An immutable record that refuses unknown keys, wrong types, NaN and infinities."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with some fields replaced (not validated); cached columns and hashes are not carried over."""
        copied = super().model_copy(update=update, deep=deep)
        cached = copied.__dict__.keys() - type(self).__pydantic_fields__.keys()
        for name in cached:
            del copied.__dict__[name]
        return copied


class Instance(Data):
    """What is given. Subclasses add the fields of their family; see docs/instances.md.

    Attributes
    ----------
    name : a name for people. meta : a free JSON object, never read by a method.
    sense : ``"minimize"`` or ``"maximize"``, of the family's objective.
    """

    sense: ClassVar[Literal["minimize", "maximize"]]
    problem: ClassVar[str]

    format: Literal["optsched-instance/1"] = INSTANCE_FORMAT
    name: Identifier
    meta: dict[str, Any] = Field(default_factory=dict)

    @field_validator("meta")
    @classmethod
    def _finite_meta(cls, meta: dict[str, Any]) -> dict[str, Any]:
        try:
            json.dumps(meta, allow_nan=False)
        except ValueError:
            raise PydanticCustomError("optsched", "holds a number that JSON cannot write") from None
        return meta

    def to_json(self) -> dict[str, Any]:
        """The instance as a JSON object; fields that keep their default are left out."""
        data = self.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        return {"format": self.format, "problem": self.problem} | data

    @cached_property
    def sha256(self) -> str:
        """Hash of the canonical JSON: sorted keys, defaults left out, no white space."""
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def summary(self) -> str:
        """One line about the size of the instance."""
        return f"{self.problem} instance"

    def open_parameters(self) -> dict[str, float]:
        """Parameters that the paper leaves open; every result reports them."""
        return {}

    @property
    def unit(self) -> str:
        """Unit of the objective."""
        return ""

    @property
    def job_count(self) -> int:
        """Jobs that a schedule decides about."""
        return 0

    def __repr__(self) -> str:
        """Short: an instance has thousands of jobs."""
        return f"<{type(self).__name__} {self.name!r}: {self.summary()}>"


def refuse(place: str, problem: str) -> NoReturn:
    """End validation with one line: `place` in the file and what is wrong there."""
    raise PydanticCustomError("optsched", "{place}: {problem}", {"place": place, "problem": problem})


def refuse_duplicates(field: str, ids: Iterable[object]) -> None:
    """Refuse a list whose entries do not have distinct ids, naming both places."""
    first: dict[object, int] = {}
    for index, identifier in enumerate(ids):
        if identifier in first:
            refuse(
                f"{field}[{index}]",
                f"duplicate id {identifier!r}, already used by {field}[{first[identifier]}]",
            )
        first[identifier] = index


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """`array`, made read-only, since cached columns are shared."""
    array.flags.writeable = False
    return array
