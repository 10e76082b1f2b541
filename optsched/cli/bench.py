"""`optsched bench`: the benchmark library, run, verified, and compared with the best that is known."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from optsched.cli._durations import DURATION
from optsched.cli._frames import table_file, write_table
from optsched.cli._lines import say, warn
from optsched.cli._live import live
from optsched.cli._show import console, number, percent
from optsched.cli._table import Column, show
from optsched.errors import OptschedError
from optsched.interrupts import INTERRUPTED
from optsched.stop import Stop

if TYPE_CHECKING:
    from optsched.analysis.library.best import Finding, Known
    from optsched.analysis.library.entries import Entry, Suite

EPILOG = """\b
Examples:
  optsched bench --suite small              # half a minute; what CI runs
  optsched bench "masac-s*" --time-limit 60s -o masac.csv
  optsched bench --list
  optsched bench --suite full --update      # half an hour; keeps the better
"""
KINDS = {"wrong": "WRONG", "worse": "WORSE", "failed": "FAILED", "better": "better"}


@click.command("bench", epilog=EPILOG)
@click.argument("names", nargs=-1, metavar="[NAME...]")
@click.option("--suite", type=click.Choice(["small", "full"]), default="small", show_default=True, help="Without names.")
@click.option("--library", metavar="DIR", help="With library.toml and best.json. [default: the one that comes along]")
@click.option("--method", default="auto", show_default=True, help="A name of `optsched methods`, or module:object.")
@click.option("--time-limit", type=DURATION, metavar="TIME", default="10s", show_default=True, help="Of each instance.")
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True, help="At once; more share the cores.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the method.")
@click.option(
    "--against",
    type=click.Choice(["best-known", "nothing"]),
    default="best-known",
    show_default=True,
    help="What gaps and values are compared with.",
)
@click.option("--update", is_flag=True, help="Write better values and bounds, and new instances, to best.json.")
@click.option("--store", "store_file", metavar="FILE", help="Keep rows there, so that a run that was stopped goes on.")
@click.option("--list", "listed", is_flag=True, help="List instances with what is known of them, and run nothing.")
@click.option("-o", "--output", metavar="FILE", help="The table: .csv, .parquet, .md or .json.")
@click.option("--json", "as_json", is_flag=True, help="Print rows and findings as one JSON object, and nothing else.")
def command(
    names: tuple[str, ...],
    suite: Suite,
    library: str | None,
    method: str,
    time_limit: float,
    workers: int,
    seed: int,
    against: str,
    update: bool,
    store_file: str | None,
    listed: bool,
    output: str | None,
    as_json: bool,
) -> int:
    """Make instances of the library by their recipes, solve them, and compare with the best known values and bounds.

    NAME may be a pattern as "osdec-*". Every instance must be the recorded one (sha256), every objective is the referee's, and
    a value that a recorded bound excludes, or the other way round, is an error. So is, for the default method, a gap that is
    worse than recorded beyond noise (exit code 1). Instances from traces need $OPTSCHED_DATA and are left out without it.
    """
    from optsched.analysis.library.best import FILE as BEST
    from optsched.analysis.library.best import read_best
    from optsched.analysis.library.entries import FILE as LIBRARY
    from optsched.analysis.library.entries import chosen, read_entries
    from optsched.cli._recipe import find_data

    folder = _folder(library)
    target = None if output is None else table_file(output, [str(folder / name) for name in (BEST, LIBRARY)])
    suite = "full" if listed and not names else suite
    Stop(time_limit)  # refuses what is none
    entries, known = chosen(read_entries(folder), suite, names), read_best(folder)
    if listed:
        _list(entries, known, as_json)
        return 0
    if find_data() is None and any(entry.needs_data for entry in entries):
        lacking = sum(entry.needs_data for entry in entries)
        warn(f"{lacking} instances are made from traces and left out: $OPTSCHED_DATA says where those are (docs/traces.md)")
        entries = [entry for entry in entries if not entry.needs_data]
        if not entries:
            raise OptschedError("nothing is left to run")
    try:
        found, findings, rows = _run(entries, known, method, time_limit, workers, seed, store_file)
    except KeyboardInterrupt:
        kept = f"; {store_file} has the rows so far" if store_file else "; --store FILE would have kept the rows"
        warn(f"interrupted{kept}")
        return INTERRUPTED
    if against == "nothing":
        findings = [finding for finding in findings if finding.kind in ("failed", "wrong")]
    if as_json:
        click.echo(json.dumps({"rows": rows, "findings": [finding.model_dump() for finding in findings]}))
    else:
        _show(found, rows, findings)
    if target is not None:
        import pandas as pd

        write_table(pd.DataFrame(rows), target)
        warn(f"written to {target}")
    if update:
        _update(folder, known, found, findings)
    return 1 if any(finding.kind != "better" for finding in findings) else 0


def _folder(library: str | None) -> Path:
    """Where the library is: the one that was named, the repository's, or the package's.

    Raises
    ------
    OptschedError
        Nowhere.
    """
    if library is not None:
        return Path(library)
    from optsched.analysis.library.entries import FILE

    package = Path(__file__).parents[1]
    for folder in (package.parent / "benchmarks" / "library", package / "library"):
        if (folder / FILE).exists():
            return folder
    raise OptschedError("no benchmark library came along; --library DIR says where one is")


def _refused(method: str, problems: set[str]) -> set[str]:
    """Families that a method is not for, or whose recorded values are not of what it plans: told, and left out.

    Raises
    ------
    OptschedError
        It is for none of them.
    """
    from optsched.methods import decides_now
    from optsched.methods import method as named_method

    refused: dict[str, OptschedError] = {}
    for problem in sorted(problems):
        try:
            if not decides_now(named_method(method, problem)):
                said = (
                    f"{method} plans for jobs that are not known yet, and what is recorded of {problem} is what is decided now"
                )
                refused[problem] = OptschedError(said)
        except OptschedError as error:
            refused[problem] = error
    if refused and len(refused) == len(problems):
        raise next(iter(refused.values()))
    for why in refused.values():
        warn(f"left out: {why}")
    return set(refused)


def _run(
    entries: list[Entry], known: dict[str, Known], method: str, limit: float, workers: int, seed: int, store_file: str | None
) -> tuple[dict[str, Known], list[Finding], list[dict[str, object]]]:
    from optsched.analysis.library.best import judged
    from optsched.analysis.sweep.driver import identities, sweep
    from optsched.analysis.sweep.store import Store
    from optsched.analysis.sweep.trial import Trial
    from optsched.cli._recipe import built
    from optsched.workers import workers as hired

    with tempfile.TemporaryDirectory(prefix="optsched-bench-") as place:
        store, crew = Store(store_file or Path(place) / "rows.sqlite"), hired(workers, None)
        try:
            with live("bench") as tell:
                recipes = [entry.recipe for entry in entries]
                named = identities(store, recipes, built, crew, lambda n: tell(f"{n} of {len(recipes)} instances made"))
                refused = _refused(method, {identity.problem for identity in named})  # a wrong name ends here
                pairs = [pair for pair in zip(entries, named, strict=True) if pair[1].problem not in refused]
                named = [identity for _, identity in pairs]
                trials = [Trial(i.recipe, i.sha256, "offline", method, {}, seed, limit) for i in named]
                sweep(store, trials, named, built, crew, lambda tally: tell(f"{tally.kept + tally.done} of {tally.total}"))
            rows = {row["key"]: row for row in store.rows()}
        finally:
            crew.close()
            store.close()
    found, findings, shown = {}, [], []
    for (entry, identity), trial in zip(pairs, trials, strict=True):
        row = rows[trial.key]
        now, told = judged(entry, identity, row, limit, known.get(entry.name))
        findings += told
        if now is not None:
            found[entry.name] = now
        figures = {word: row.get(word) for word in ("objective", "bound", "gap", "termination", "seconds")}
        same = now is not None and now.sha256 == identity.sha256
        best, bound = (now.best, now.bound) if same and now is not None else (None, None)
        known_figures = {"best": None if best is None else best.value, "best_bound": None if bound is None else bound.value}
        about = {"name": entry.name, "problem": identity.problem, "jobs": identity.jobs}
        shown.append({**about, "method": method, **figures, **known_figures, "sha256": identity.sha256})
    return found, findings, shown


def _show(found: dict[str, Known], rows: list[dict[str, object]], findings: list[Finding]) -> None:
    from optsched.certificate import relative_gap

    out, columns = console(), [Column("instance"), Column("jobs", right=True)]
    columns += [Column(word, right=True) for word in ("objective", "bound", "gap", "best known", "gap to best", "seconds")]
    table = []
    for row in rows:
        objective, bound, best, held = (_figure(row[word]) for word in ("objective", "bound", "best", "best_bound"))
        gaps = [percent(relative_gap(objective, bound)), number(best), percent(relative_gap(objective, held))]
        spent = "-" if row["seconds"] is None else f"{_figure(row['seconds']):.2f}"
        table.append([str(row["name"]), str(row["jobs"]), number(objective), number(bound), *gaps, spent])
    show(out, columns, table)
    for finding in findings:
        say(out, f"{KINDS[finding.kind]} {finding.name}: {finding.told}")
    bad = sum(finding.kind != "better" for finding in findings)
    better = len(findings) - bad
    proven = sum(row["gap"] is not None and _figure(row["gap"]) == 0.0 for row in rows)
    word = f"{bad} to look at" if bad else "nothing contradicts the library"
    more = f", {better} better than known (--update writes them)" if better else ""
    say(out, f"{len(rows)} instance{'s' * (len(rows) != 1)}, {proven} proven optimal; {word}{more}")


def _figure(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _list(entries: list[Entry], known: dict[str, Known], as_json: bool) -> None:
    if as_json:
        told = [(entry, known.get(entry.name)) for entry in entries]
        listed = [{"name": e.name, "suite": e.suite, "recipe": e.recipe, "known": it and it.model_dump()} for e, it in told]
        click.echo(json.dumps(listed))
        return
    rows = []
    for entry in entries:
        it = known.get(entry.name)
        figures = ["-"] * 4 if it is None else [str(it.jobs), number(it.best.value if it.best else None), percent(it.gap)]
        if it is not None:
            figures.append("-" if it.best is None else it.best.date)
        rows.append([entry.name, entry.suite, *figures, entry.recipe])
    columns = [Column("name"), Column("suite"), *(Column(w, right=True) for w in ("jobs", "best", "gap", "since"))]
    show(console(), [*columns, Column("recipe", wraps=True)], rows)


def _update(folder: Path, known: dict[str, Known], found: dict[str, Known], findings: list[Finding]) -> None:
    from optsched.analysis.library.best import FILE, read_best, write_best

    wrong = {finding.name for finding in findings if finding.kind in ("wrong", "failed")}
    fresh = {name: now for name, now in found.items() if name not in wrong and now != known.get(name)}
    if fresh:
        write_best(folder, read_best(folder) | fresh)  # others may have written since
    warn(f"{folder / FILE}: {len(fresh)} instances updated")
