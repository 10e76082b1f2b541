"""`optsched solve`: instance files to results with a certificate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click

from optsched.cli import _input, _known
from optsched.cli._durations import DURATION, GAP
from optsched.cli._instance import naming
from optsched.cli._lines import say, warn
from optsched.cli._live import live
from optsched.cli._logging import verbose as log_to_stderr
from optsched.cli._show import console, number, percent, show_certificate, show_header
from optsched.cli._streams import aside
from optsched.cli._table import Column, show
from optsched.cli._targets import result_files
from optsched.errors import InputError, OptschedError
from optsched.interrupts import asked, keeping

if TYPE_CHECKING:
    from optsched.instances import Instance
    from optsched.monitor import Progress
    from optsched.result import Result
    from optsched.schedules.base import Schedule

EPILOG = """\b
Examples:
  optsched example armida-snapshot -o x.json
  optsched solve x.json
  optsched solve x.json --time-limit 5m --gap 1% -o x.result.json
  optsched solve a.json b.json.gz -o results/
  optsched solve x.json --backend highs --threads 2 --json
  optsched generate masac | optsched solve - --time-limit 1m
"""


class Configuration(TypedDict):
    """Of a method."""

    backend: str | None
    formulation: str | None
    threads: int | None
    options: dict[str, str]


class How(TypedDict, total=False):
    """What every instance of a batch is solved with, the method apart."""

    time_limit: float | None
    gap: float | None
    seed: int
    start: Result | Schedule | None


@click.command("solve", epilog=EPILOG, no_args_is_help=True)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=_input.FILE)
@click.option(
    "--method",
    help="A name from `optsched methods`, or module:object. [default: auto; exact where --backend, --formulation, --threads or "
    "--option says how]",
)
@click.option("--backend", help="highs, cp-sat, scip, or pdlp (a bound only). [default: one that fits the formulation]")
@click.option("--formulation", help="A name from `optsched methods`. [default: the family's recommended one]")
@click.option(
    "--time-limit",
    type=DURATION,
    metavar="TIME",
    help="Wall time, building included, e.g. 90s, 5m, 1h30m or seconds; the best schedule so far is kept.",
)
@click.option("--gap", type=GAP, help="Stop at this relative gap, e.g. 1% or 0.01. [default: proven optimal]")
@click.option("--threads", type=int, help="Of the backend; of decomposition, cores that search. [default: its choice; all]")
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="A Dask cluster on which decomposition prices a very large instance: tcp://HOST:PORT.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Same seed, same run.")
@click.option("--start", "start_file", metavar="RESULT", type=_input.FILE, help="Start from a result, or a bare schedule.")
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="An option of the backend, or of the heuristic (e.g. iterations=2000); may be repeated.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE|DIR",
    help="Result file (.json, .json.gz), or a folder for several instances.",
)
@click.option("--json", "as_json", is_flag=True, help="Print results as JSON, one a line, and nothing else.")
@click.option("-q", "--quiet", is_flag=True, help="Print one line an instance.")
@click.option("-v", "--verbose", is_flag=True, help="Show the solver's log on standard error.")
def command(
    files: tuple[str, ...],
    method: str | None,
    backend: str | None,
    formulation: str | None,
    time_limit: float | None,
    gap: float | None,
    threads: int | None,
    scheduler: str | None,
    seed: int,
    start_file: str | None,
    options: tuple[str, ...],
    output: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Solve instances, prove bounds, and judge every schedule by the independent referee.

    A file called - is standard input. One of several that cannot be read is reported, and the others are solved (exit code 2).
    Ctrl-C and SIGTERM stop the solver and keep the best schedule so far (exit codes 130 and 143); a second one leaves at once.
    Without a terminal, a line every 30 s on standard error tells how far it is.
    """
    from optsched.methods import method as named
    from optsched.rolling.policy import refuse_as_method
    from optsched.stop import Stop
    from optsched.workers import read_address

    Stop(seconds=time_limit, gap=0.0 if gap is None else gap)  # what cannot be is told before anything is read
    _input.once(*files, start_file)
    how: How = {"time_limit": time_limit, "gap": gap, "seed": seed}
    taken = dict(_pair(option) for option in options)
    if scheduler is not None:
        method, taken = method or "decomposition", {**taken, "scheduler": read_address(scheduler)}
    configured: Configuration = {"backend": backend, "formulation": formulation, "threads": threads, "options": taken}
    if verbose:
        log_to_stderr()
    instances, failed = _loaded(files)
    if not instances:
        return 2
    files, several = tuple(instances), len(files) > 1
    targets = result_files(files, output, several, start_file)
    how["start"] = None if start_file is None else _start(list(instances.values()), start_file)
    out = console()
    results: dict[str, Result] = {}
    for (file, instance), target in zip(instances.items(), targets, strict=True):
        with keeping():
            try:
                if method is not None:
                    refuse_as_method(instance.problem, method)
                with aside(as_json):
                    named(method, instance.problem, **configured)  # a wrong one ends here, before anything is shown
                if not (quiet or as_json):
                    show_header(out, instance)
                with aside(as_json):
                    result = _solve(instance, quiet or verbose, how, method, configured)
            except OptschedError as error:
                if not several:
                    raise
                failed = True
                warn(f"error: {_input.shown(file)}: {error}")
                continue
            result = results[file] = naming(result, file, target)
            if not quiet and result.objective_kind != "realised" and (note := _known.note(instance, file)):
                warn(note)  # but to whoever asked for a plan of all that will come
            unsaved = None if target is None else _unsaved(result, target)
            if as_json:
                click.echo(json.dumps(result.to_json()))
            elif quiet:
                say(out, _line(_input.shown(file), result))
            else:
                show_certificate(out, instance, result)
                if target is not None and unsaved is None:
                    say(out, f"written to {target}")
            if unsaved is not None:
                raise unsaved
            if not (quiet or as_json):
                out.print()
        if result.termination == "interrupted" or asked():
            break
    if several and not (quiet or as_json):
        _summarise(results)
    if failed:
        return 2
    done = len(results) == len(files)
    return 0 if done and all(r.solution != "none" and r.termination != "error" for r in results.values()) else 1


def _unsaved(result: Result, target: Path) -> OptschedError | None:
    """Save before anything is printed, which may fail too; what kept it from being saved is told after the result."""
    try:
        result.save(target)
    except OptschedError as error:
        return error
    return None


def _loaded(files: tuple[str, ...]) -> tuple[dict[str, Instance], bool]:
    """The instances that can be read, and whether one of several cannot: that is told, and the others go on."""
    found: dict[str, Instance] = {}
    for file in files:
        try:
            found[file] = _input.instance(file)
        except OptschedError as error:
            if len(files) == 1:
                raise
            warn(f"error: {error}")
    return found, len(found) < len(set(files))


def _solve(instance: Instance, silent: bool, how: How, method: str | None, configured: Configuration) -> Result:
    import optsched
    from optsched.result import relative_gap

    with live("solve", silent) as tell:

        def told(progress: Progress) -> None:
            gap = relative_gap(progress.objective, progress.bound)
            tell(
                f"{progress.seconds:7.1f} s   incumbent {number(progress.objective)}   "
                f"bound {number(progress.bound)}   gap {percent(gap)}"
            )

        return optsched.solve(instance, method, progress=None if silent else told, **configured, **how)


def _start(instances: list[Instance], start_file: str) -> Result | Schedule:
    if len(instances) != 1:
        raise OptschedError("--start goes with a single instance")
    start = _input.read(start_file, _input.result_or_schedule)
    if isinstance(start, dict):
        from optsched.referee import read

        return read(instances[0], start, _input.shown(start_file))
    if start.problem != instances[0].problem:
        raise InputError(start_file, "problem", f"is {start.problem}, the instance is {instances[0].problem}")
    if start.schedule is None:
        raise InputError(start_file, "schedule", "is null, there is nothing to start from")
    if start.instance.sha256 != instances[0].sha256:
        warn(f"note: {_input.shown(start_file)} is a result of another instance, {start.instance.name!r}")
    return start


def _pair(option: str) -> tuple[str, str]:
    name, equals, value = option.partition("=")
    if not equals or not name:
        raise click.BadParameter(f"{option!r} is not NAME=VALUE", param_hint="--option")
    return name.strip(), value.strip()


def _line(file: str, result: Result) -> str:
    return (
        f"{file}: {result.termination}, objective {number(result.objective)}, bound {number(result.bound)}, "
        f"gap {percent(result.gap)}, {result.timings_s.total:.2f} s"
    )


def _summarise(results: dict[str, Result]) -> None:
    columns = [Column("instance"), Column("ended")]
    columns += [Column(name, right=True) for name in ("objective", "bound", "gap", "seconds")]
    rows = [
        [_input.shown(file), r.termination, number(r.objective), number(r.bound), percent(r.gap), f"{r.timings_s.total:.2f}"]
        for file, r in results.items()
    ]
    show(console(), columns, rows)
