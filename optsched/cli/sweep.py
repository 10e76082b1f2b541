"""`optsched sweep`: a grid of instances, methods and policies as independent tasks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from optsched.cli._frames import records, table_files, write_table
from optsched.cli._lines import say, warn
from optsched.cli._live import live
from optsched.cli._show import console
from optsched.cli._streams import aside
from optsched.errors import InputError, OptschedError
from optsched.interrupts import INTERRUPTED

if TYPE_CHECKING:
    import pandas as pd

    from optsched.analysis.sweep.driver import Tally
    from optsched.analysis.sweep.plan import Plan
    from optsched.analysis.sweep.store import Store

MOST_TOLD = 5  # reasons of failures
EPILOG = """\b
Example, as grid.toml:
  seeds = "0-2"                      # of methods and policies
  time_limit = "20s"                 # of each run of a method
  methods = ["auto", "greedy"]
  [[instances]]
  recipe = "generate osdec --jobs {jobs} --seed {seed}"
  jobs = [20, 40]
  seed = "0-9"
  [[instances]]
  files = "instances/deferrable-*.json"
  [[policies]]
  name = "rolling"
  forecast = ["perfect", "noisy:0.2"]

\b
Then:
  optsched sweep grid.toml -o rows.parquet
  optsched sweep grid.toml --workers 8     # goes on where it was stopped
  optsched sweep grid.toml --scheduler tcp://10.0.0.1:8786
  optsched sweep grid.sqlite -o rows.csv   # what there is, nothing is run
"""


@click.command("sweep", epilog=EPILOG, no_args_is_help=True)
@click.argument("file", metavar="CONFIG.toml|STORE.sqlite", type=click.Path())
@click.option("--store", "store_file", metavar="FILE", help="Where rows are kept. [default: CONFIG with .sqlite]")
@click.option("--workers", type=click.IntRange(min=1), help="Processes at once. [default: the cores of this machine]")
@click.option("--scheduler", metavar="ADDRESS", help="Of a running Dask cluster, e.g. tcp://10.0.0.1:8786.")
@click.option("--retry-failed", is_flag=True, help="Do those again that failed.")
@click.option("--dry-run", is_flag=True, help="Tell how many runs there are, and make none.")
@click.option(
    "-o", "--output", "outputs", multiple=True, metavar="FILE", help="The table, a row a run: .csv, .parquet, .md or .json."
)
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON, and nothing else.")
def command(
    file: str,
    store_file: str | None,
    workers: int | None,
    scheduler: str | None,
    retry_failed: bool,
    dry_run: bool,
    outputs: tuple[str, ...],
    as_json: bool,
) -> int:
    """Run every method and policy of CONFIG on every one of its instances, and keep each row as soon as it is there.

    A row is found again by the hash of its instance, method, options and version. So a sweep that was stopped, killed or that
    lost a worker goes on with the same command, without doing anything twice; two drivers may work on one store.
    Ctrl-C keeps all rows so far (exit code 130).
    """
    from optsched.analysis.sweep.store import Store, is_store

    if is_store(Path(file)):
        of_plans = {"--store": store_file, "--workers": workers, "--scheduler": scheduler}
        of_plans |= {"--retry-failed": retry_failed, "--dry-run": dry_run}
        if idle := [flag for flag, value in of_plans.items() if value]:
            raise OptschedError(f"{file} is a store, of which nothing is run: {idle[0]} belongs to a CONFIG.toml")
        targets = table_files(outputs, [file])
        store = Store(file)
        found = store.table()
        store.close()
        return _report(found, targets, as_json)
    from optsched.analysis.sweep.plan import read_plan

    if store_file == "":
        raise InputError("--store", "", "the name of a file is empty")
    plan = read_plan(file)
    with _told_of(file):
        recipes = plan.recipes()
    targets = table_files(outputs, [file, store_file, *recipes])
    kept = store_file or str(Path(file).with_suffix(".sqlite"))
    if Path(kept) == Path(file):
        raise InputError(kept, "", "is the plan itself; --store names another file")
    if workers is not None and scheduler is not None:
        raise OptschedError("--workers are processes of this machine, --scheduler has its own")
    if dry_run:
        from optsched.instances.plain import counted

        with aside(as_json), _told_of(file):
            plan.refuse_unknown()
        most = f"{counted(len(recipes), 'instance')}, {counted(plan.runs, 'run')} of each: {len(recipes) * plan.runs:,}"
        say(console(), f"{most}, less those of methods that a family does not have; nothing was run")
        return 0
    fresh = not Path(kept).exists()
    store = Store(kept)
    wasted = False
    try:
        with aside(as_json):
            code, keys = _run(plan, file, store, recipes, workers, scheduler, retry_failed)
        table = store.table(keys)
    except OptschedError:
        with suppress(OptschedError):  # what ended it is what is told
            wasted = fresh and store.bare
        raise
    finally:
        store.close()
        if wasted:
            Path(kept).unlink(missing_ok=True)
    failed = _report(table, targets, as_json)
    if not as_json:
        say(console(), f"kept in {kept}")
    return code or failed


@contextmanager
def _told_of(file: str) -> Iterator[None]:
    """What is wrong in a plan is told with its file."""
    try:
        yield
    except OptschedError as error:
        raise InputError(file, "", str(error)) from None


def _run(
    plan: Plan, file: str, store: Store, recipes: list[str], workers: int | None, scheduler: str | None, again: bool
) -> tuple[int, set[str]]:
    """The exit code, and the keys of the plan's trials."""
    from optsched.analysis.sweep.driver import identities, sweep
    from optsched.cli._recipe import built
    from optsched.workers import workers as hired

    crew, keys = hired(workers, scheduler), set[str]()
    try:
        with live("sweep") as tell:
            tell(f"what {len(recipes)} instances are")
            found = identities(store, recipes, built, crew, lambda n: tell(f"{n} of {len(recipes)} instances known"))
            with _told_of(file):
                trials = plan.trials(found)
            keys |= {trial.key for trial in trials}
            tally = sweep(store, trials, found, built, crew, lambda tally: tell(_line(tally)), again)
        if tally.kept:
            there = (tally.kept - tally.others, "were there already"), (tally.others, "came from another driver")
            warn(", ".join(f"{count:,} of {tally.total:,} runs {said}" for count, said in there if count))
        return 0, keys
    except KeyboardInterrupt:
        warn(f"interrupted: all rows so far are in {store.path}; the same command goes on")
        return INTERRUPTED, keys
    finally:
        crew.close()


def _line(tally: Tally) -> str:
    left = "" if tally.left_s is None else f", about {_duration(tally.left_s)} left"
    failed = f", {tally.failed} failed" if tally.failed else ""
    return f"{tally.kept + tally.done:,} of {tally.total:,} runs{failed}{left}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _report(table: pd.DataFrame, targets: list[Path], as_json: bool) -> int:
    """Write and show the rows; 1 where some failed, which are told."""
    from optsched.cli._summary import show_loss, show_summaries

    for target in targets if len(table) else ():
        write_table(table, target)
    if as_json:
        click.echo(records(table))
    elif len(table):
        out = console()
        show_summaries(out, table)
        show_loss(out, table)
        for target in targets:
            say(out, f"{len(table):,} rows written to {target}")
    else:
        warn("there is no row yet")
    bad = table[table["status"] != "done"] if len(table) else table
    for (name, message), part in list(bad.groupby(["name", "message"], dropna=False))[:MOST_TOLD] if len(bad) else ():
        warn(f"{name} failed on {len(part)} of its runs: {message}")
    if len(bad):
        warn(f"{len(bad):,} of {len(table):,} runs failed; --retry-failed does them again")
    return 1 if len(bad) else 0
