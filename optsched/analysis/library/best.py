"""The best values and bounds that are known, by whom and since when; and what a new run says about them."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field

from optsched.analysis.library.entries import Entry
from optsched.analysis.sweep.trial import Identity
from optsched.certificate import beyond, relative_gap
from optsched.files import read_bytes, write_json
from optsched.instances.base import Data
from optsched.instances.files import parse_object, validated
from optsched.workers import of_machine

FILE = "best.json"
DEFAULT = "auto"  # the method whose gaps are recorded
SAME = 1e-9  # relative: no better
NOISE = 0.002  # of a gap, and
AGAIN = 0.5  # of what it was: what runs differ by on other machines, where the clock ends them


class Figure(Data):
    """A value or a bound, and where it comes from."""

    value: float
    method: str
    seconds: float
    optsched: str
    machine: str
    date: str


class Known(Data):
    """What is known of an instance.

    Attributes
    ----------
    sha256, problem, jobs, sense, unit, recipe
        Of the instance.
    best, bound
        The best objective, by the referee, and the best bound; None where there is none.
    gaps
        What the default method reached when this was recorded, by its time limit in seconds.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    recipe: str
    sha256: str
    problem: str
    jobs: int
    sense: Literal["minimize", "maximize"]
    unit: str
    best: Figure | None = None
    bound: Figure | None = None
    gaps: dict[str, float] = Field(default_factory=dict)

    @property
    def gap(self) -> float | None:
        """Between the two."""
        return None if self.best is None or self.bound is None else relative_gap(self.best.value, self.bound.value)


class Finding(Data):
    """What a run says.

    Attributes
    ----------
    name
        Of the instance.
    kind
        ``better``: a better value or bound; ``wrong``: a contradiction, or another instance; ``worse``: a gap beyond noise;
        ``failed``: no row.
    told
        In a sentence.
    """

    name: str
    kind: Literal["better", "wrong", "worse", "failed"]
    told: str


def read_best(folder: str | Path) -> dict[str, Known]:
    """By name; empty where nothing is known yet.

    Raises
    ------
    InputError : the file is none.
    """
    path = Path(folder) / FILE
    if not path.exists():
        return {}
    raw = parse_object(read_bytes(path), path)
    return {name: validated(Known, told, path) for name, told in raw.items()}  # type: ignore[arg-type]


def write_best(folder: str | Path, known: Mapping[str, Known]) -> None:
    """Atomically, by name."""
    told = {name: known[name].model_dump(mode="json") for name in sorted(known)}
    write_json(Path(folder) / FILE, json.dumps(told, indent=1) + "\n")


def judged(
    entry: Entry, identity: Identity, row: Mapping[str, Any], limit_s: float, known: Known | None
) -> tuple[Known | None, list[Finding]]:
    """What is known after a run, and what is to be said of it.

    Parameters
    ----------
    entry, identity
        Which instance.
    row
        Of a sweep; recorded gaps are the default method's, and no other's are held against them.
    limit_s
        Its time limit.
    known
        Before; None where nothing was.

    Returns
    -------
    What is known now (None where the run failed and nothing was), findings.
    """
    if known is not None and known.sha256 != identity.sha256:
        return known, [_finding(entry, "wrong", f"its recipe makes another instance now ({identity.sha256[:12]})")]
    if row.get("status") != "done" or row.get("objective") is None:
        return known, [_finding(entry, "failed", str(row.get("message") or row.get("termination")))]
    before = known or Known(
        recipe=entry.recipe,
        sha256=identity.sha256,
        problem=identity.problem,
        jobs=identity.jobs,
        sense=row["sense"],
        unit=row["unit"],
    )
    minimised, found = before.sense == "minimize", []
    objective, bound = float(row["objective"]), row.get("bound")
    best, held = _figure(row, objective), None if bound is None else _figure(row, float(bound))
    if before.bound is not None and beyond(objective, before.bound.value, minimised):
        said = f"has {objective:.9g}, which the bound {before.bound.value:.9g} of {before.bound.date} excludes"
        return known, [_finding(entry, "wrong", said)]
    if held is not None and before.best is not None and beyond(before.best.value, held.value, minimised):
        said = f"proves {held.value:.9g}, which the schedule of {before.best.date} with {before.best.value:.9g} refutes"
        return known, [_finding(entry, "wrong", said)]
    gap, limit = relative_gap(objective, bound), f"{limit_s:g}"
    was, default = before.gaps.get(limit), row["name"] == DEFAULT
    if default and was is not None and (gap is None or gap > was + max(NOISE, AGAIN * was)):
        now = "no bound" if gap is None else f"a gap of {gap:.3%}"
        found.append(_finding(entry, "worse", f"{now} after {limit} s, where it was {was:.3%}"))
    if before.best is not None and _better(objective, before.best.value, minimised):
        found.append(_finding(entry, "better", f"value {before.best.value:.9g} -> {objective:.9g} by {best.method}"))
    if held is not None and before.bound is not None and _better(before.bound.value, held.value, minimised):
        found.append(_finding(entry, "better", f"bound {before.bound.value:.9g} -> {held.value:.9g} by {held.method}"))
    update: dict[str, object] = {}
    if before.best is None or _better(objective, before.best.value, minimised):
        update["best"] = best
    if held is not None and (before.bound is None or _better(before.bound.value, held.value, minimised)):
        update["bound"] = held
    if default and gap is not None and was is None:
        update["gaps"] = {**before.gaps, limit: round(gap, 9)}
    return before.model_copy(update=update), found


def _better(first: float, second: float, minimised: bool) -> bool:
    """Whether the first is a better objective than the second, beyond rounding (of bounds: the other way round)."""
    lead = second - first if minimised else first - second
    return lead > SAME * max(abs(first), abs(second))


def _finding(entry: Entry, kind: Literal["better", "wrong", "worse", "failed"], told: str) -> Finding:
    return Finding(name=entry.name, kind=kind, told=told)


def _figure(row: Mapping[str, Any], value: float) -> Figure:
    machine = f"{platform.machine()}, {of_machine()} cores"
    by = str(row["name"])
    told = {"seconds": round(float(row["seconds"]), 3), "optsched": version("optsched"), "machine": machine}
    return Figure(value=value, method=by, date=date.today().isoformat(), **told)  # type: ignore[arg-type]
