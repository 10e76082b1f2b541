"""Many runs on many instances, kept, shown and drawn: `optsched compare`, and a replay of several instances."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import click

from optsched.cli import _input
from optsched.cli._frames import records, table_files, write_table
from optsched.cli._instance import naming
from optsched.cli._lines import say, warn
from optsched.cli._live import live
from optsched.cli._output import JSON, RESULT, apart, tried
from optsched.cli._output import folder as made
from optsched.cli._picture import picture, save
from optsched.cli._show import console
from optsched.cli._streams import aside
from optsched.errors import OptschedError
from optsched.interrupts import INTERRUPTED, asked

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from matplotlib.figure import Figure

    from optsched.instances.base import Instance
    from optsched.result import Result

FEW = 24  # rows that are shown one by one


def itself(instance: Instance) -> Instance:
    """An instance in which nothing goes wrong."""
    return instance


@dataclass(frozen=True)
class Runs:
    """What is run: methods and policies on every instance with every seed, policies under every forecast.

    `lay` adds to an instance what goes wrong in its replays.
    """

    files: Sequence[str]
    methods: Sequence[str]
    policies: Sequence[str]
    seeds: Sequence[int]
    forecasts: Sequence[str]
    lay: Callable[[Instance], Instance] = itself


@dataclass(frozen=True)
class Wanted:
    """What is to become of it: a table's files or JSON on standard output, two pictures, a folder for results.

    `besides` are files that are read besides the instances, if there are any.
    """

    outputs: Sequence[str]
    as_json: bool
    profile: str | None = None
    trace: str | None = None
    folder: str | None = None
    besides: Sequence[str | None] = ()


def compared(verb: str, runs: Runs, how: Mapping[str, object], wanted: Wanted) -> int:
    """Run it all, and show, write and draw what came of it; the exit code.

    Parameters
    ----------
    verb
        What progress says is going on.
    how
        As `compare` takes it.
    """
    from optsched.analysis.across import compare_all
    from optsched.analysis.gaps import Interrupted

    files = tuple(dict.fromkeys(runs.files))
    _input.once(*files, *wanted.besides)
    targets = table_files(wanted.outputs, (*files, *wanted.besides))
    pictures = [None if name is None else picture(name, (*files, *wanted.besides)) for name in (wanted.profile, wanted.trace)]
    for target in (*targets, None):
        apart(o=target, profile=pictures[0], trace=pictures[1], results=wanted.folder)
    instances: list[Instance] = []
    by_sha256: dict[str, str] = {}
    for file in files:
        instance = runs.lay(_input.instance(file))
        if (first := by_sha256.setdefault(instance.sha256, file)) == file:
            instances.append(instance)
        else:
            warn(f"{file} is the instance of {first}: it counts once")
    kept: list[tuple[str, Result]] = []
    place = None if wanted.folder is None else made(wanted.folder)
    stopped = False
    total = len(instances) * len(runs.seeds) * (len(runs.methods) + len(runs.policies) * len(runs.forecasts))
    with live(verb, wanted.as_json) as tell:

        def keep(result: Result) -> None:
            kept.append((by_sha256[result.instance.sha256], result))
            tell(f"{len(kept)} of {total} runs, {result.instance.name}: {result.method}")

        try:
            with aside(wanted.as_json):
                told: dict[str, object] = {**how, "keep": keep, "seeds": runs.seeds, "forecasts": runs.forecasts}
                table = compare_all(instances, runs.methods, runs.policies, **told)  # type: ignore[arg-type]
        except Interrupted as interrupted:
            table, stopped = interrupted.table, True
    if how.get("guard") is False and len(table):
        with aside(wanted.as_json):
            if not _guarded(instances, runs.policies):
                note_unguarded(runs.policies)
    for target in targets if len(table) else ():
        write_table(table, target)
    if place is not None:
        _save(_with_bounds(kept, table, {instance.sha256: instance for instance in instances}), place)
    if wanted.as_json:
        click.echo(records(table))
    elif len(table):
        _show(_told_apart(table, by_sha256))
        for path in (*targets, *([] if place is None else [place])):
            say(console(), f"written to {path}")
    _draw(table, [result for _, result in kept], pictures)
    if stopped or asked():
        warn(f"interrupted after {len(table)} of at most {total} runs")
        return INTERRUPTED
    return 0 if len(table) and table["objective"].notna().all() else 1


def note_unguarded(policies: Sequence[str]) -> None:
    """Tell that nobody has a guard to be without."""
    warn(f"note: --no-guard changes nothing, {' and '.join(policies)} {'has' if len(policies) == 1 else 'have'} no guard")


def _guarded(instances: Sequence[Instance], policies: Sequence[str]) -> bool:
    """Whether a policy has a guard in a family that has the policy."""
    from optsched.analysis.gaps import has_guard
    from optsched.rolling.loop import prepared

    for instance in {each.problem: each for each in instances}.values():
        for policy in policies:
            with suppress(OptschedError):  # of another family
                if has_guard(instance, prepared(instance, policy)):
                    return True
    return False


def _with_bounds(
    kept: list[tuple[str, Result]], table: pd.DataFrame, instances: Mapping[str, Instance]
) -> list[tuple[str, Result]]:
    """What was kept, replays with the bounds of the table, which were not known when they ended."""
    from optsched.analysis.bounds import Bound, bounded
    from optsched.analysis.gaps import failed

    rows = [
        row
        for row in table.to_dict("records")
        if row["kind"] == "online" and row["bound"] is not None and row["bound"] == row["bound"]
    ]
    bounds = {row["sha256"]: Bound(row["bound"], "of the table") for row in rows}
    found = []
    for file, result in kept:
        sha256 = result.instance.sha256
        mine = "figures" in result.options and result.bound is None and sha256 in bounds and not failed(result)
        found.append((file, bounded(instances[sha256], result, bounds[sha256]) if mine else result))
    return found


def _save(kept: list[tuple[str, Result]], place: Path) -> None:
    """Every result under a name of its instance, who made it, and how often that was."""
    count: dict[str, int] = {}
    for file, result in kept:
        how = result.options.get("forecast", "perfect")
        stem = f"{result.instance.name}.{result.method}.seed{result.seed}" + (f".{how}" if how != "perfect" else "")
        stem = "".join(letter if letter.isalnum() or letter in "._@+ " else "-" for letter in stem)
        count[stem] = count.get(stem, 0) + 1
        name = stem if count[stem] == 1 else f"{stem}.{count[stem]}"
        path = tried(place / f"{name}.result.json", ends=JSON, replaces=RESULT)
        naming(result, file, path).save(path)


def _told_apart(table: pd.DataFrame, files: Mapping[str, str]) -> pd.DataFrame:
    """Instances by their files, where several are of one name."""
    several = table.groupby("instance")["sha256"].transform("nunique") > 1
    return table.assign(instance=table["instance"].where(~several, table["sha256"].map(files)))


def _show(table: pd.DataFrame) -> None:
    from optsched.analysis.statistics import identity
    from optsched.cli._summary import show_loss, show_remarks, show_rows, show_summaries

    out = console()
    if len(table) <= FEW:
        show_rows(out, table)
    if identity(table).nunique() > 1 or table["seed"].nunique() > 1:
        if len(table) <= FEW:
            out.print()
        show_summaries(out, table)
    show_loss(out, table)
    show_remarks(out, table)
    for found in table[table["objective"].isna()].to_dict("records"):
        if found["message"]:
            say(out, f"{found['instance']}: {found['name']}: {found['message']}")


def _draw(table: pd.DataFrame, results: list[Result], pictures: list[Path | None]) -> None:
    """What was asked for; a picture of nothing is told."""
    if not any(pictures):
        return
    from optsched.analysis.profiles import draw_gaps_over_time, draw_profile

    made: tuple[Callable[[], Figure], ...] = (partial(draw_profile, table), partial(draw_gaps_over_time, table, results))
    for path, drawn in zip(pictures, made, strict=True):
        if path is None:
            continue
        try:
            save(drawn(), path)
            say(console(), f"drawn to {path}")
        except OptschedError as error:
            warn(f"{path} is not drawn: {error}")
