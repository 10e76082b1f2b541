"""What the builders of all families share: records are checked as they come, and an instance is made at the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from optsched.errors import InputError
from optsched.instances.base import D, Data, I
from optsched.instances.files import validated
from optsched.instances.plain import plain
from optsched.instances.tables import instance_from
from optsched.schedules.base import S

if TYPE_CHECKING:
    from optsched.result import Result

Numbers: TypeAlias = Sequence[float] | NDArray[np.floating] | NDArray[np.integer]
"""A number a slot: a list, an array, a series of pandas."""


class Builder(Generic[I, S]):
    """An instance in the making.

    Parameters
    ----------
    kind
        The instance's class.
    name
        For people.
    **fields
        Fields of the instance that are not added one by one.
    """

    def __init__(self, kind: type[I], name: str, **fields: object) -> None:
        self._kind = kind
        self._fields: dict[str, object] = {"name": name, **fields}
        self._added: dict[str, dict[str, Data]] = {}  # by field, then by id

    def _add(self, field: str, kind: type[D], call: str, fields: Mapping[str, object], key: str | None = None) -> D:
        """Check a record and keep it under its id, or `key`; an ``id`` that is None becomes the kind's name and a number.

        Raises
        ------
        InputError
            One line with the call and the argument, what is wrong and what would be right.
        """
        where, records = f"{self._called}.{call}", self._added.setdefault(field, {})
        raw = {name: plain(value) for name, value in fields.items()}
        if "id" in raw and raw["id"] is None:
            raw["id"] = f"{kind.__name__.lower()}{len(records)}"
        where += f"({raw['id']!r})" if "id" in raw else ""
        made = validated(kind, raw, where)
        key = str(raw["id"]) if key is None else key
        if key in records:
            raise InputError(where, "id" if "id" in raw else "", f"{key!r} is there already")
        records[key] = made
        return made

    def _named(self, field: str, given: Data | str, call: str, argument: str) -> str:
        """The id of a record that was added before, by itself or by its id.

        Raises
        ------
        InputError
            There is none.
        """
        found = given if isinstance(given, str) else getattr(given, "id", None)
        known: Iterable[str] = self._added.get(field, {})
        if not isinstance(found, str) or found not in known:
            there = ", ".join(known) or "none yet"
            raise InputError(f"{self._called}.{call}", argument, f"is {found!r}, which was not added to {field}: {there}")
        return found

    @property
    def _called(self) -> str:
        return f"{self._kind.problem}.{type(self).__name__}"

    def instance(self) -> I:
        """The instance as it stands; more may be added for another one.

        Raises
        ------
        InputError
            One line with the place, what is wrong and what would be right.
        """
        lists = {name: list(records.values()) for name, records in self._added.items()}
        return instance_from(self._kind, {**self._fields, **lists}, f"{self._called}.instance")

    def solve(self, **how: Any) -> Result[S]:
        """Solve the instance as it stands.

        Parameters
        ----------
        **how
            What `optsched.solve` takes: ``method``, ``time_limit``, ``gap``, ...
        """
        from optsched import solve

        return cast("Result[S]", solve(self.instance(), **how))
