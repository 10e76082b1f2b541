"""What every instance shares: immutability, validation, canonical JSON and its sha256."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Generic, Literal, NoReturn, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError
from typing_extensions import TypeVar  # it comes with pydantic; `default` is of Python 3.13

from optsched.errors import OptschedError, RecordError

if TYPE_CHECKING:
    import pandas as pd

    from optsched.schedules.base import Schedule

INSTANCE_FORMAT: Literal["optsched-instance/1"] = "optsched-instance/1"

# Bounds keep every sum of products far inside float64 and int64: a typing error ends as one line, not as an infinity.
LARGEST = 1e12
Finite = Annotated[float, Field(ge=-LARGEST, le=LARGEST)]
NonNegative = Annotated[float, Field(ge=0, le=LARGEST)]
Penalty = Annotated[float, Field(ge=0, le=1e3 * LARGEST)]  # may stand for a hard constraint
Positive = Annotated[float, Field(gt=0, le=LARGEST)]
Natural = Annotated[int, Field(ge=0, le=10**9)]
Counting = Annotated[int, Field(ge=1, le=10**9)]
Share = Annotated[float, Field(ge=0, le=1)]
Identifier = Annotated[str, Field(min_length=1, max_length=200)]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Data(BaseModel):
    """An immutable record that refuses unknown keys, wrong types, NaN and infinities."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    if not TYPE_CHECKING:  # a type checker knows the fields

        def __init__(self, /, **fields: object) -> None:
            try:
                super().__init__(**fields)
            except ValidationError as error:
                from optsched.instances.files import refused  # here: it needs this module

                kind, wrong = type(self), refused(error, fields, type(self).__name__, type(self))
                lists = issubclass(kind, Tabular) and error.errors()[0]["type"] == "tuple_type"
                hint = f"; {kind.__name__}.from_dict takes lists too" if lists else ""
                raise RecordError(kind.__name__, wrong.place, wrong.problem + hint) from None

        __init__.__pydantic_base_init__ = True  # or pydantic would call it for every record of a file

        def __setattr__(self, name: str, value: object) -> None:
            try:
                super().__setattr__(name, value)
            except ValidationError:
                wrong = "is frozen: model_copy(update={...}) makes another record"
                raise RecordError(type(self).__name__, name, wrong) from None

    def model_copy(self, *, update: Mapping[str, object] | None = None, deep: bool = False) -> Self:
        """A copy with some fields replaced (not validated); cached columns and hashes are not carried over."""
        copied = super().model_copy(update=update, deep=deep)
        cached = copied.__dict__.keys() - type(self).__pydantic_fields__.keys()
        for name in cached:
            del copied.__dict__[name]
        return copied


class Tabular(Data):
    """A record of which a list is the rows of a frame: the jobs of an instance, the entries of a schedule.

    Attributes
    ----------
    table
        The field that is that list; the first one of records, if none is named.
    first_position
        What positions in a list count from in the names of a frame's columns.
    """

    table: ClassVar[str] = ""
    first_position: ClassVar[int] = 0

    @classmethod
    def from_dict(cls, fields: Mapping[str, object]) -> Self:
        """An instance or a schedule from the fields of its file.

        Parameters
        ----------
        fields
            As in the JSON file; ``format`` and ``problem`` may be left out. Values may be NumPy arrays, pandas series, frames
            (a row a record), or records.

        Raises
        ------
        InputError
            One line with the place, what is wrong and what would be right.
        """
        if not isinstance(fields, Mapping):
            raise OptschedError(f"{cls.__name__}.from_dict takes a dict of fields, got {type(fields).__name__}: {fields!r:.40}")
        return cls._made(fields, f"{cls.__name__}.from_dict")

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, **fields: object) -> Self:
        """An instance whose jobs (clusters in `day_ahead`), or a schedule whose entries are the rows of a frame.

        Parameters
        ----------
        frame
            A column a field, of the same name and unit; the index counts where it has the name of a field, an empty cell is
            None. A list or an object is spread over columns such as ``time_s.V100.1`` (seconds on one V100); see
            `optsched.instances.frames`.
        **fields
            All else that the instance or the schedule has, e.g. the ``cap`` of `vcc`, as `from_dict` takes it.

        Raises
        ------
        InputError
            One line with the column or the place, what is wrong and what would be right.
        """
        return cls._made({**fields, cls._rows(): frame}, f"{cls.__name__}.from_frame")

    def to_frame(self, field: str | None = None) -> pd.DataFrame:
        """The jobs (clusters in `day_ahead`) or entries as a frame that `from_frame` reads: a row each, a column a field.

        Parameters
        ----------
        field
            Another list of records, e.g. the ``"sites"`` of `geo`, or the ``"lost"`` of a replay of it.

        Raises
        ------
        OptschedError
            That is no list of records.
        """
        from optsched.instances.tables import table_of  # here: it needs this module

        return table_of(self, field or self._rows(), self.first_position)

    @classmethod
    def _rows(cls) -> str:
        from optsched.instances.plain import row_kind  # here: it needs this module

        return cls.table or next((name for name in cls.model_fields if row_kind(cls, name)), "")

    @classmethod
    def _made(cls, fields: Mapping[str, object], where: str) -> Self:
        from optsched.instances.tables import record_from  # here: it needs this module

        return record_from(cls, fields, where, cls.first_position)


# that of schedules.base by name, which stands above
S_co = TypeVar("S_co", bound="Schedule", default="Schedule", covariant=True)
H_co = TypeVar("H_co", bound="Schedule", default="Schedule", covariant=True)


class Instance(Tabular, Generic[S_co, H_co]):
    """What is given. Subclasses add the fields of their family; see docs/instances.md.

    A family says by ``class MyInstance(Instance["MySchedule", "MyHistory"])`` what decides it, and what a replay of it leaves
    (mostly the same), so that ``solve(instance).schedule`` has a type. At run time the parameters are nothing.

    Attributes
    ----------
    name
        For people.
    meta
        A free JSON object, never read by a method.
    sense
        ``"minimize"`` or ``"maximize"``, of the family's objective.
    nonnegative
        Whether no schedule of a minimisation can cost less than nothing, so that zero is a bound.
    problem
        The family's name.
    table
        The field that is a list of what is decided about: the rows of `to_frame`.
    """

    sense: ClassVar[Literal["minimize", "maximize"]]
    nonnegative: ClassVar[bool] = False
    problem: ClassVar[str]
    table: ClassVar[str] = "jobs"

    if not TYPE_CHECKING:

        def __class_getitem__(cls, decided: object) -> type[Instance]:
            return cls  # pydantic would make a class of its own of each parameter

    format: Literal["optsched-instance/1"] = INSTANCE_FORMAT
    name: Identifier
    meta: dict[str, object] = Field(default_factory=dict)

    @field_validator("meta")
    @classmethod
    def _finite_meta(cls, meta: dict[str, object]) -> dict[str, object]:
        try:
            json.dumps(meta, allow_nan=False)
        except ValueError:
            raise PydanticCustomError("optsched", "holds a number that JSON cannot write") from None
        return meta

    def to_json(self) -> dict[str, object]:
        """The instance as a JSON object; fields that keep their default are left out."""
        data = self.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        return {"format": self.format, "problem": self.problem} | data

    @cached_property
    def sha256(self) -> str:
        """Hash of the canonical JSON: sorted keys, defaults left out, no white space."""
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def save(self, path: str | Path) -> None:
        """Write to ``.json`` or ``.json.gz``, atomically; `optsched.load` reads it.

        Parameters
        ----------
        path
            The file; one that is there is replaced.

        Raises
        ------
        InputError
            It cannot be written.
        """
        from optsched.instances.files import save  # here: it needs this module

        save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read an instance of this family; `optsched.load` reads one of any.

        Parameters
        ----------
        path
            A ``.json`` or ``.json.gz``.

        Raises
        ------
        InputError
            One line with the file, the place and what would be right.
        """
        from optsched.instances.tables import read  # here: it needs this module

        return read(cls, path)

    @classmethod
    def _made(cls, fields: Mapping[str, object], where: str) -> Self:
        from optsched.instances.tables import instance_from  # here: it needs this module

        return instance_from(cls, fields, where)

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

    def __eq__(self, other: object) -> bool:
        """Whether all fields are equal; pydantic would compare cached columns too, which have no truth value."""
        return type(self) is type(other) and all(getattr(self, f) == getattr(other, f) for f in type(self).model_fields)

    def __repr__(self) -> str:
        """Short: an instance has thousands of jobs."""
        return f"<{type(self).__name__} {self.name!r}: {self.summary()}>"

    def __str__(self) -> str:
        """As `repr`: pydantic would print every job."""
        return repr(self)


I = TypeVar("I", bound=Instance)  # noqa: E741 (the noun's initial)
I_contra = TypeVar("I_contra", bound=Instance, contravariant=True)
D = TypeVar("D", bound=Data)
A = TypeVar("A", bound=np.ndarray)


def refuse(place: str, problem: str) -> NoReturn:
    """End validation with one line: `place` in the file, empty for the field that is being read, and what is wrong there."""
    raise PydanticCustomError("optsched", "{place}: {problem}" if place else "{problem}", {"place": place, "problem": problem})


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


def frozen(array: A) -> A:
    """`array`, made read-only, since cached columns are shared."""
    array.flags.writeable = False
    return array
