"""`optsched solve`: instance files to results with a certificate."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from optsched.cli._show import certificate, console, header, number, percent
from optsched.errors import InputError, OptschedError
from optsched.files import can_be_written, is_node, read_bytes
from optsched.instances import Instance, load
from optsched.interrupts import asked, keeping
from optsched.result import RESULT_FORMAT, Result, load_result, relative_gap

EPILOG = """\b
Examples:
  optsched solve instances/armida-snapshot.json
  optsched solve x.json --time-limit 60 --gap 0.01 -o x.result.json
  optsched solve a.json b.json.gz -o results/
  optsched solve x.json --backend cp-sat --option num_workers=2 --json
"""


@click.command("solve", short_help="Solve with a certificate.", epilog=EPILOG)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--method", default="exact", show_default=True, help="A name from `optsched methods`.")
@click.option("--backend", help="highs, cp-sat, scip, or pdlp (a bound only). [default: one that fits the formulation]")
@click.option("--formulation", help="A name from `optsched methods`. [default: the family's recommended one]")
@click.option(
    "--time-limit",
    type=float,
    metavar="SECONDS",
    help="Wall time, building included; the best schedule so far is kept.",
)
@click.option("--gap", type=float, help="Stop at this relative gap, e.g. 0.01 for 1 %. [default: proven optimal]")
@click.option("--threads", type=int, help="Threads of the backend. [default: the backend's own choice]")
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same run.")
@click.option("--start", "start_file", metavar="RESULT", help="Start from the schedule of a result file.")
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
def command(
    files: tuple[str, ...],
    method: str,
    time_limit: float | None,
    gap: float | None,
    seed: int,
    start_file: str | None,
    options: tuple[str, ...],
    output: str | None,
    as_json: bool,
    quiet: bool,
    **choices: Any,
) -> int:
    """Solve instances, prove bounds, and judge every schedule by the independent referee.

    Ctrl-C and SIGTERM stop the solver and keep the best schedule so far (exit codes 130 and 143); a second one leaves at once.
    """
    instances = [load(file) for file in files]
    targets = _targets(files, output)
    start = _start(instances, start_file)
    settings = dict(_pair(option) for option in options)
    out = console()
    results: dict[str, Result] = {}
    failed = False
    for file, instance, target in zip(files, instances, targets, strict=True):
        if not (quiet or as_json):
            out.print(header(instance))
        with keeping():
            try:
                result = _solve(
                    instance,
                    quiet or as_json,
                    method=method,
                    time_limit=time_limit,
                    gap=gap,
                    seed=seed,
                    start=start,
                    options=settings,
                    **choices,
                )
            except OptschedError as error:
                if len(files) == 1:
                    raise
                failed = True
                click.echo(f"error: {file}: {error}", err=True)
                continue
            beside = file if target is None else os.path.relpath(file, target.parent)
            reference = result.instance.model_copy(update={"file": beside})
            result = results[file] = result.model_copy(update={"instance": reference})
            unsaved = None if target is None else _unsaved(result, target)
            if as_json:
                click.echo(json.dumps(result.to_json()))
            elif quiet:
                out.print(_line(file, result), markup=False, soft_wrap=True)
            else:
                out.print(certificate(instance, result))
                if target is not None and unsaved is None:
                    out.print(f"written to {target}", markup=False, soft_wrap=True)
            if unsaved is not None:
                raise unsaved
            if not (quiet or as_json):
                out.print()
        if result.termination == "interrupted" or asked():
            break
    if len(files) > 1 and not (quiet or as_json):
        out.print(_summary(results))
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


def _solve(instance: Instance, silent: bool, **how: Any) -> Result:
    import optsched

    screen = console(stderr=True)
    if silent or not screen.is_terminal:
        return optsched.solve(instance, **how)
    with Live(Text("building"), console=screen, transient=True, refresh_per_second=8) as live:

        def show(progress: Any) -> None:
            gap = relative_gap(progress.objective, progress.bound)
            live.update(
                Text(
                    f"{progress.seconds:7.1f} s   incumbent {number(progress.objective)}   "
                    f"bound {number(progress.bound)}   gap {percent(gap)}"
                )
            )

        return optsched.solve(instance, progress=show, **how)


def _targets(files: tuple[str, ...], output: str | None) -> list[Path | None]:
    """Where each result goes, checked before the first solver starts.

    Raises
    ------
    InputError : a name that cannot be written, or a file there that is no result: nothing is lost.
    """
    try:
        return _named(files, output)
    except OSError as error:
        raise InputError(output or "", "", f"cannot be used as output ({error.strerror})") from None


def _named(files: tuple[str, ...], output: str | None) -> list[Path | None]:
    if output is None:
        return [None] * len(files)
    path = Path(output)
    if len(files) > 1 or path.is_dir() or output.endswith("/"):
        if path.exists() and not path.is_dir():
            raise InputError(path, "", "is a file; several instances need a folder for their results")
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(path, "", f"cannot be made ({error.strerror})") from None
        stems = [Path(file).name.removesuffix(".gz").removesuffix(".json") for file in files]
        twice = {stem for stem in stems if stems.count(stem) > 1}
        if twice:
            raise OptschedError(f"{', '.join(sorted(twice))}: equal file names would write the same result")
        targets = [path / f"{stem}.result.json" for stem in stems]
    else:
        if not is_node(path) and not path.name.endswith((".json", ".json.gz")):
            raise InputError(path, "", "a result file ends in .json or .json.gz")
        if not path.parent.is_dir():
            raise InputError(path.parent, "", "no such folder")
        targets = [path]
    for target in targets:
        if is_node(target):  # /dev/null, a pipe: reading it to see what it holds would block
            if not can_be_written(target):
                raise InputError(target, "", "cannot be written to")
            continue
        if not target.is_dir() and not can_be_written(target):
            raise InputError(target.parent, "", "is a folder that cannot be written to")
        if any(target.resolve() == Path(file).resolve() for file in files):
            raise InputError(target, "", "is an instance that is being solved; give the result another name")
        if target.exists() and RESULT_FORMAT.encode() not in read_bytes(target)[:200]:
            raise InputError(target, "", "exists and is not a result file; give the result another name")
    return list(targets)


def _start(instances: list[Instance], start_file: str | None) -> Result | None:
    if start_file is None:
        return None
    if len(instances) > 1:
        raise OptschedError("--start goes with a single instance")
    start = load_result(start_file)
    if start.problem != instances[0].problem:
        raise InputError(start_file, "problem", f"is {start.problem}, the instance is {instances[0].problem}")
    if start.schedule is None:
        raise InputError(start_file, "schedule", "is null, there is nothing to start from")
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


def _summary(results: dict[str, Result]) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in ("instance", "ended"):
        table.add_column(column)
    for column in ("objective", "bound", "gap", "seconds"):
        table.add_column(column, justify="right")
    for file, r in results.items():
        seconds = f"{r.timings_s.total:.2f}"
        table.add_row(escape(file), r.termination, number(r.objective), number(r.bound), percent(r.gap), seconds)
    return table
