"""Which instances the library has: names and recipes, in a TOML file in which every list is an axis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, Field

from optsched.analysis.sweep.plan import axes_of, points
from optsched.errors import InputError, OptschedError
from optsched.files import read_toml
from optsched.instances.base import Data
from optsched.instances.files import validated

Suite = Literal["small", "full"]
FILE = "library.toml"
DATA = "$OPTSCHED_DATA"


@dataclass(frozen=True)
class Entry:
    """A named instance.

    Attributes
    ----------
    name, recipe
        What it is called, and what makes it.
    suite
        ``small`` ones are proven within seconds, and run in CI.
    """

    name: str
    recipe: str
    suite: Suite

    @property
    def needs_data(self) -> bool:
        """Whether it is made from traces."""
        return DATA in self.recipe


class Block(Data):
    """Instances alike; every key but these three is an axis of name and recipe."""

    model_config = ConfigDict(extra="allow", frozen=True)
    name: str
    recipe: str
    suite: Suite = "full"

    def entries(self) -> list[Entry]:
        """All points of the grid."""
        axes = axes_of(self.model_extra or {}, self.recipe)
        try:
            return [Entry(self.name.format(**point), self.recipe.format(**point), self.suite) for point in points(axes)]
        except (ValueError, KeyError, IndexError) as error:
            raise OptschedError(f"name {self.name!r} cannot be filled in from the axes of its recipe ({error})") from None


class Blocks(Data):
    """The file."""

    instances: tuple[Block, ...] = Field(min_length=1)


def read_entries(folder: str | Path) -> list[Entry]:
    """The instances of a library.

    Raises
    ------
    InputError : there is none, or a name is there twice.
    """
    path = Path(folder) / FILE
    found = [entry for block in validated(Blocks, read_toml(path), path).instances for entry in block.entries()]
    names = [entry.name for entry in found]
    for name in names:
        if names.count(name) > 1:
            raise InputError(path, "", f"names {name!r} twice: a name needs every axis of its recipe")
    return found


def chosen(entries: Iterable[Entry], suite: Suite, patterns: Sequence[str]) -> list[Entry]:
    """Those of a suite (all of them are in the full one), or those whose names fit one of the patterns.

    Raises
    ------
    OptschedError : a pattern fits none.
    """
    from fnmatch import fnmatchcase

    listed = list(entries)
    if not patterns:
        return [entry for entry in listed if suite in ("full", entry.suite)]
    found: list[Entry] = []
    for pattern in patterns:
        fitting = [entry for entry in listed if fnmatchcase(entry.name, pattern)]
        if not fitting:
            near = get_close_matches(pattern, [entry.name for entry in listed], n=3)
            said = f", did you mean {' or '.join(near)}?" if near else "; `optsched bench --list` has them"
            raise OptschedError(f"the library has no instance {pattern!r}{said}")
        found += [entry for entry in fitting if entry not in found]
    return found
