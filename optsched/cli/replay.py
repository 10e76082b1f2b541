"""`optsched replay`: an instance while time passes."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click

from optsched.cli import _input
from optsched.cli._compared import Runs, Wanted, compared, note_unguarded
from optsched.cli._durations import DURATION
from optsched.cli._lines import warn
from optsched.cli._live import live
from optsched.cli._options import Signed
from optsched.cli._show import console, show_header
from optsched.cli._streams import aside
from optsched.errors import InputError, OptschedError
from optsched.interrupts import INTERRUPTED, keeping
from optsched.quantities import read_seeds

if TYPE_CHECKING:
    from optsched.analysis.bounds import Bound
    from optsched.instances import Instance
    from optsched.result import Result
    from optsched.rolling.loop import Prepared
    from optsched.rolling.run import OnFailure

ASKED = "quick"  # --bound without a value
SINGLE = {  # options of one replay
    "log_file": "--log",
    "checkpoint": "--checkpoint",
    "every": "--every",
    "resume": "--resume",
    "with_metrics": "--metrics",
    "wanted": "--bound",
    "no_bound": "--no-bound",
}
FEW = 2000  # jobs, up to which a single policy is shown with a bound unasked
EPILOG = """\b
Examples:
  optsched example armida -o x.json
  optsched replay x.json
  optsched replay x.json --policy fifo --policy rolling --metrics
  optsched replay x.json --policy rolling --forecast noisy:0.2 -o r.json
  optsched example geo-small -o y.json
  optsched solve y.json --time-limit 5m -o best.json
  optsched replay y.json --policy local-fcfs --policy greedy --bound best.json
  optsched replay y.json --policy rolling:exact --budget 5s --checkpoint kept/
  optsched replay y.json --policy greedy --policy rolling --seeds 0-2
  optsched events y.json --mtbf 6h --repair 30m -o e.json
  optsched replay y.json --policy greedy --policy rolling --events e.json
  optsched replay x.json --policy easy-backfilling --estimates noisy:0.5
  optsched replay y.json --policy rolling:exact --budget 5s --checkpoint kept/
      --resume -o history.json --log events.jsonl

Policies: every heuristic of `optsched methods`, rolling (the recommended one of each family), rolling:METHOD
for any method that decides about what is known, and module:object for your own. A wrong name lists those of the
family. Forecasts: perfect, persistence, yesterday (the same slot), noisy (or noisy:0.2, a relative error after a day that
grows with the lead), fitted.
TIME is 90s, 5m, 1h30m, or seconds.
"""


Tell = Callable[[Mapping[str, object]], None]


class How(TypedDict, total=False):
    """What every policy of a table is replayed with."""

    period_s: float | None
    forecast: str
    seed: int
    every: int
    on_failure: OnFailure
    checkpoint: str | None
    resume: bool
    log: Tell | None


@click.command("replay", cls=Signed, short_help="Replay online under policies.", epilog=EPILOG, no_args_is_help=True)
@click.argument("instance_files", metavar="INSTANCE...", nargs=-1, type=_input.FILE)
@click.option("--policy", "names", multiple=True, help="A policy; several give one table. [default: rolling]")
@click.option("--period", type=DURATION, metavar="TIME", help="Decide at least this often. [default: by the family]")
@click.option("--forecast", default="perfect", show_default=True, help="What is believed of capacity, price and carbon.")
@click.option("--window", type=DURATION, metavar="TIME", help="rolling:METHOD plans starts only so far ahead.")
@click.option("--replan", type=DURATION, metavar="TIME", help="Follow a plan, or keep prices, for so long.")
@click.option(
    "--budget", type=DURATION, metavar="TIME", help="End a decision that takes longer; a simple rule decides instead."
)
@click.option(
    "--on-failure",
    type=click.Choice(["fallback", "raise"]),
    default="fallback",
    show_default=True,
    help="Where a policy raises or decides what cannot be: let a simple rule decide, and say so, or end.",
)
@click.option("--no-guard", is_flag=True, help="Show what has been learned bare: else a rule decides where it would do worse.")
@click.option("--history", metavar="FILE", help="An instance of past days, for policies that learn what to expect (rolling).")
@click.option("--events", metavar="FILE", help="What goes wrong: outages, cancelled jobs, estimates; see `optsched events`.")
@click.option("--estimates", metavar="LAW", help="What is believed of durations: true, user, or noisy:0.3. [default: true]")
@click.option("--checkpoint", metavar="DIR", help="Keep the replay there, so that it can go on after a crash.")
@click.option("--every", type=click.IntRange(min=1), default=50, show_default=True, help="Decisions between checkpoints.")
@click.option("--resume", is_flag=True, help="Go on from --checkpoint.")
@click.option(
    "--bound",
    "wanted",
    is_flag=False,
    flag_value=ASKED,
    metavar="[RESULT|NUMBER]",
    help="Show gaps against the bound of a result file, against a number, or a quick one. [default: where it costs little]",
)
@click.option("--no-bound", is_flag=True, help="Show no gaps.")
@click.option(
    "--metrics", "with_metrics", is_flag=True, help="Show wait, slowdown (and bounded below by 10 s), makespan and utilisation."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--seeds",
    metavar="0-9",
    help="Several, as 0-9 or 1,5,7: shown as several instances are, without --log, --checkpoint, --metrics, --[no-]bound.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Result file of a single policy: what happened, judged; a table (.csv, .json, .parquet) of several.",
)
@click.option("--log", "log_file", metavar="FILE", help="One JSON line a decision, of a single policy.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON, one a line, or a table of several instances.")
def command(
    instance_files: tuple[str, ...],
    names: tuple[str, ...],
    period: float | None,
    forecast: str,
    window: float | None,
    replan: float | None,
    budget: float | None,
    on_failure: OnFailure,
    no_guard: bool,
    history: str | None,
    events: str | None,
    estimates: str | None,
    checkpoint: str | None,
    every: int,
    resume: bool,
    wanted: str | None,
    no_bound: bool,
    with_metrics: bool,
    seed: int,
    seeds: str | None,
    output: str | None,
    log_file: str | None,
    as_json: bool,
) -> int:
    """Replay an instance event by event; every policy is judged by the same referee on what it really cost or earned.

    Of several instances, or seeds, there are the mean, its interval and the rank of every policy, and how far each is behind
    the first on the same instances.

    A policy sees a snapshot: the jobs submitted so far, what capacity is left, and a forecast; nothing else of the future.
    Ctrl-C and SIGTERM end it between two decisions (exit codes 130 and 143): --log gets what happened so far, and so does -o
    where it is a whole schedule; a --checkpoint goes on with --resume.
    Without a terminal, a line every 30 s on standard error tells how far it is.
    """
    from optsched.analysis.gaps import has_guard, prepared_all
    from optsched.cli._replay_files import refuse_clashes
    from optsched.instances.events import laid_over
    from optsched.rolling.forecast import forecast as named_forecast
    from optsched.rolling.loop import Interrupted
    from optsched.rolling.policy import Settings

    settings = Settings(window, replan, budget, guard=False if no_guard else None)  # told before anything is read
    named_forecast(forecast)
    if not instance_files and wanted is not None and wanted != ASKED:  # `replay --bound x.json`: the flag, then the instance
        instance_files, wanted = (wanted,), ASKED
    if not instance_files:
        raise click.UsageError("Missing argument 'INSTANCE...'.", click.get_current_context())
    _input.once(*instance_files, history, events)
    given = None if events is None else _input.events(events)
    lay = partial(laid_over, events=given, estimates=estimates, where=_input.shown(events or "events"))
    drawn = _seeds(seed, seeds)
    if len(instance_files) * len(drawn) > 1:
        _refuse_single(wanted)
        past = None if history is None else _input.instance(history)
        told: dict[str, object] = {"budget_s": budget, "guard": not no_guard, "on_failure": on_failure, "history": past}
        told |= {"period_s": period, "window_s": window, "replan_s": replan}
        runs = Runs(instance_files, (), names or ("rolling",), drawn, (forecast,), lay)
        return compared("replay", runs, told, Wanted([] if output is None else [output], as_json, besides=(history, events)))
    (seed,) = drawn
    if no_bound and wanted is not None:
        raise OptschedError("--bound and --no-bound contradict each other: give one of the two")
    instance_file = instance_files[0]
    bound_file = None if no_bound or wanted in (None, ASKED) or _number(wanted) is not None else wanted
    _input.once(instance_file, history, events, bound_file)
    instance = lay(_input.instance(instance_file))
    chosen = names or ("rolling",)
    past = None if history is None else _input.instance(history)
    with aside(as_json):
        ready = prepared_all(instance, chosen, replace(settings, history=past))  # a wrong name ends here, not after a replay
        if no_guard and not any(has_guard(instance, policy) for policy in ready):
            note_unguarded(chosen)
    refuse_clashes((instance_file, history, events, bound_file), output, log_file, checkpoint, len(chosen))
    if resume and checkpoint is None:
        raise OptschedError("--resume goes with --checkpoint DIR")
    known = None if no_bound or wanted == ASKED else _given(instance, wanted)
    out = console()
    if not as_json:
        show_header(out, instance)
    lines = io.StringIO()
    how: How = {"period_s": period, "forecast": forecast, "seed": seed, "every": every, "on_failure": on_failure}
    how |= {"checkpoint": checkpoint, "resume": resume, "log": None if log_file is None else _teller(lines)}
    if known is None and not no_bound:
        try:
            known = _quick(instance, wanted == ASKED, len(chosen))
        except KeyboardInterrupt:
            unwritten = _unwritten([output, log_file])
            warn(f"interrupted while a bound to show gaps by was sought: nothing has been decided yet{unwritten} (--no-bound)")
            return INTERRUPTED
    results: list[Result] = []
    stopped: KeyboardInterrupt | None = None
    with keeping():  # what has happened is written before a request to stop counts
        try:
            with aside(as_json):
                results.extend(_one(instance, policy, how) for policy in ready)
        except KeyboardInterrupt as interrupted:
            stopped, at = interrupted, chosen[len(results)]
            results += [stopped.result] if isinstance(stopped, Interrupted) and stopped.result is not None else []
        results, beaten = _judged(instance, results, known)
        results = [_about(instance_file, result, output if len(chosen) == 1 else None) for result in results]
        unsaved = beaten + _unsaved(instance, results, len(chosen), output, log_file, lines.getvalue())
    if as_json:
        for result in results:
            click.echo(json.dumps(result.to_json()))
    elif results:
        from optsched.cli._replayed import show_replays

        show_replays(out, instance, results, None if beaten else known, with_metrics)
    if stopped is not None:
        files = (output if len(chosen) == 1 else None, log_file)
        warn(f"interrupted in {at}{_left(stopped, *files, checkpoint)}")
    for error in unsaved:
        raise error
    return 0 if stopped is None else INTERRUPTED


def _seeds(seed: int, seeds: str | None) -> tuple[int, ...]:
    """One, or several."""
    if seeds is None:
        return (seed,)
    if _input.typed("seed"):
        raise OptschedError("--seed is one seed and --seeds are several: give one of the two")
    return read_seeds(seeds)


def _refuse_single(bound: str | None) -> None:
    """Refuse what goes with a single replay; a table has a quick bound anyway."""
    for name, option in SINGLE.items():
        if _input.typed(name) and not (name == "wanted" and bound == ASKED):
            instead = "a table shows a quick bound of each" if name in ("wanted", "no_bound") else "-o table.csv keeps a table"
            raise OptschedError(f"{option} goes with a single instance and seed; {instead}")


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def _given(instance: Instance, wanted: str | None) -> Bound | None:
    """The bound that a number or a result file says."""
    from optsched.analysis.bounds import given_bound

    number = _number(wanted)
    if wanted is None or number is not None:
        return None if number is None else given_bound(instance, number)
    result = _input.result(wanted)
    try:
        return given_bound(instance, result)
    except OptschedError as error:
        raise InputError(_input.shown(wanted), "", str(error)) from None


def _quick(instance: Instance, asked: bool, policies: int) -> Bound | None:
    """A bound that costs little; None where there is none, and nobody has asked for it."""
    from optsched.analysis.bounds import quick_bound

    if not asked and policies == 1 and len(getattr(instance, "jobs", ())) > FEW:
        return None
    with live("a bound to show gaps by"):
        found = quick_bound(instance)
    if found is None and asked:
        raise OptschedError("there is no quick bound for this instance (where jobs may be evicted there is none); --no-bound")
    return found


def _teller(lines: io.StringIO) -> Tell:
    def keep(row: Mapping[str, object]) -> None:
        lines.write(json.dumps(row) + "\n")

    return keep


def _one(instance: Instance, policy: Prepared, how: How) -> Result:
    from optsched.rolling.loop import replay
    from optsched.rolling.run import PolicyFailed

    with live(policy.name) as tell:

        def show(row: Mapping[str, object]) -> None:
            tell(f"{row['time_s']:,.0f} s of the replay, {row['waiting']} known, {row['left']} unfinished")

        try:
            return replay(instance, policy, progress=show, **how)
        except PolicyFailed as failed:
            raise OptschedError(f"{failed.told} (without --on-failure raise a simple rule decides instead)") from failed


def _judged(instance: Instance, results: list[Result], known: Bound | None) -> tuple[list[Result], list[OptschedError]]:
    """The results with figures of merit and, where they are the policy's own, with the bound; or why that is none."""
    from optsched.analysis.bounds import bounded
    from optsched.analysis.gaps import failed
    from optsched.analysis.metrics import metrics

    found, beaten = [], []
    for result in results:
        told = metrics(instance, result.schedule)
        try:
            found.append(bounded(instance, result, None if failed(result) else known, metrics=told))
        except OptschedError as error:
            found.append(bounded(instance, result, None, metrics=told))
            beaten.append(error)
    return found, beaten[:1]


def _about(file: str, result: Result, output: str | None) -> Result:
    """The result with the name of its instance's file, as seen from where it is written; standard input has none."""
    beside: str | None = file if output is None else os.path.relpath(file, Path(output).resolve().parent)
    reference = result.instance.model_copy(update={"file": None if file == _input.STDIN else beside})
    return result.model_copy(update={"instance": reference})


def _unsaved(
    instance: Instance, results: list[Result], policies: int, output: str | None, log: str | None, lines: str
) -> list[OptschedError]:
    """Write before anything is printed, which may fail too; what kept a file from being written is told at the end."""
    from optsched.cli._replayed import comparison
    from optsched.files import write_bytes

    found = []
    try:
        if output is not None and results and policies == 1:
            results[0].save(output)
        elif output is not None and results:
            write_bytes(output, comparison(instance, results, Path(output).suffix))
    except OptschedError as error:
        found.append(error)
    try:
        if log is not None and (results or lines):
            write_bytes(log, lines.encode())
    except OptschedError as error:
        found.append(error)
    return found


def _unwritten(files: Sequence[str | None]) -> str:
    """Which files are not written."""
    named = [file for file in files if file is not None]
    return f"; {' and '.join(named)} {'is' if len(named) == 1 else 'are'} not written" if named else ""


def _left(stopped: KeyboardInterrupt, output: str | None, log: str | None, checkpoint: str | None) -> str:
    """How far it came, what became of the result, and how to go on."""
    from optsched.rolling.loop import Interrupted

    said = ""
    if isinstance(stopped, Interrupted):
        said = f" after {stopped.decisions} decision{'s' * (stopped.decisions != 1)}"
        if not stopped.decisions:
            said += f": nothing has been decided yet{_unwritten([output, log])}"
        elif output is not None and stopped.result is None:
            said += f"; {output} is not written: what happened so far is no whole schedule yet"
        elif stopped.result is not None:
            said += ": its row is of what happened so far" + (f", as is {output}" if output is not None else "")
    return said + (f"; go on with --checkpoint {checkpoint} --resume" if checkpoint else "")
