"""`optsched tune`: options of a method or policy, searched on some instances and judged on others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from glob import glob
from typing import TYPE_CHECKING

import click

from optsched.cli import _input
from optsched.cli._durations import DURATION
from optsched.cli._frames import refuse_ours
from optsched.cli._lines import say
from optsched.cli._live import live
from optsched.cli._output import JSON, tried
from optsched.cli._show import console
from optsched.cli._streams import aside
from optsched.cli._summary import points, span
from optsched.cli._table import Column, show
from optsched.errors import OptschedError
from optsched.quantities import read_seeds

if TYPE_CHECKING:
    from optsched.analysis.tune import Axis, Gain, Tuned
    from optsched.instances import Instance

EPILOG = """\b
Examples:
  for s in $(seq 0 19); do
    optsched generate andreas-1 --all-submitted --seed $s -o case$s.json; done
  optsched tune randomized-greedy --train "case?.json" --test "case1?.json"
      --option swap=0.05..0.9 --option among=1..6 --time-limit 2s
  optsched tune rolling:randomized-greedy --policy --option replan_s=900..7200
      --train "case?.json" --test "case1?.json"
"""
UNASKED = ("iterations", "rounds")  # more of them is more time: searched only where somebody says so


@click.command("tune", epilog=EPILOG, no_args_is_help=True)
@click.argument("name")
@click.option(
    "--train", "train_files", multiple=True, required=True, metavar="FILES", help="Instances to search on; a pattern."
)
@click.option("--test", "test_files", multiple=True, required=True, metavar="FILES", help="Instances to judge on: others.")
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=RANGE",
    help="What to search: NAME=1..100, NAME=0.1..0.9, NAME=a,b,c. [default: every number, about what it is]",
)
@click.option(
    "--policy", "online", is_flag=True, help="NAME is a policy; options: window_s, replan_s, period_s, budget_s, forecast."
)
@click.option("--trials", type=click.IntRange(min=1), default=40, show_default=True, help="Options to try.")
@click.option("--seeds", default="0", show_default=True, metavar="0-4", help="Of the runs; all of them with every option.")
@click.option("--time-limit", type=DURATION, metavar="TIME", default="10s", show_default=True, help="Of each run of a method.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the search.")
@click.option("-o", "--output", metavar="FILE.json", help="The best options, their gains, and all that was tried.")
@click.option("--json", "as_json", is_flag=True, help="Print the same, and nothing else.")
def command(
    name: str,
    train_files: tuple[str, ...],
    test_files: tuple[str, ...],
    options: tuple[str, ...],
    online: bool,
    trials: int,
    seeds: str,
    time_limit: float,
    seed: int,
    output: str | None,
    as_json: bool,
) -> int:
    """Search options of NAME (a method, or with --policy a policy) by Optuna on the training instances.

    The gain is by how much the objective is better than with the default options, relative, mean over instances. What counts is
    that on the test instances, which the search has not seen. Ctrl-C ends the search, and the best so far is judged.
    """
    from optsched.analysis.tune import replaying, solving, tune

    drawn = read_seeds(seeds)
    files = [_files(patterns) for patterns in (train_files, test_files)]
    target = None if output is None else tried(output, inputs=[*files[0], *files[1]], ends=JSON)
    if target is not None:
        refuse_ours(str(target))
    train, test = ([_input.instance(file) for file in part] for part in files)
    with aside(as_json):
        _known(name, online, train[0])
        axes = _axes(name, options, online, train[0].problem)
        run = replaying(name) if online else solving(name, time_limit)
        with live("tune", as_json) as tell:
            found = tune(
                run,
                train,
                test,
                axes,
                trials=trials,
                seeds=drawn,
                seed=seed,
                tell=lambda done, best: tell(f"{done} of {trials} tried, best gain {points(best)}"),
            )
    told = _json(name, found)
    if target is not None:
        from optsched.files import write_json

        write_json(target, json.dumps(told, indent=1) + "\n")
    if as_json:
        click.echo(json.dumps(told))
        return 0
    out = console()
    rows = [_row(word, gain) for word, gain in (("training", found.train), ("test", found.test))]
    show(out, [Column("on"), *(Column(w, right=True) for w in ("instances", "mean gain", "95 %", "least", "failed"))], rows)
    chosen = "".join(f" {'' if online else '--option '}{k}={_short(v)}" for k, v in found.options.items())
    say(out, f"best:{chosen}" if chosen else "nothing that was tried is better than the default options")
    if found.options and found.test.low is None:
        say(out, "so few test instances have no interval: this may be chance")
    elif found.options and found.test.low is not None and found.test.low <= 0:
        say(out, "on the test instances this is no more than chance may do: the interval reaches 0")
    if target is not None:
        say(out, f"written to {target}")
    return 0


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _row(word: str, gain: Gain) -> list[str]:
    return [word, str(gain.instances), points(gain.mean), span(gain.low, gain.high), points(gain.worst), str(gain.failed)]


def _json(name: str, found: Tuned) -> dict[str, object]:
    gains = {word: vars(gain) for word, gain in (("train", found.train), ("test", found.test))}
    return {"name": name, "options": found.options, **gains, "tried": list(found.tried)}


def _files(patterns: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(file for pattern in patterns for file in (sorted(glob(pattern)) or [pattern])))


def _known(name: str, online: bool, instance: Instance) -> None:
    """Refuse a name before anything is searched, or said of its options.

    Raises
    ------
    OptschedError
        Nobody of that name.
    """
    from optsched.methods import method
    from optsched.rolling.loop import prepared
    from optsched.rolling.policy import Settings

    if online:
        prepared(instance, name, Settings())
    else:
        method(name, instance.problem)


def _axes(name: str, options: Sequence[str], online: bool, problem: str) -> dict[str, Axis]:
    """What to search.

    Raises
    ------
    OptschedError
        An option without a range.
    """
    from optsched.analysis.tune import Axis

    found = {}
    for option in options:
        word, equals, text = option.partition("=")
        if not equals:
            raise OptschedError(f"--option {option!r}: expected NAME=1..100, NAME=0.1..0.9 or NAME=a,b,c")
        found[word.strip()] = Axis.read(text)
    if online:
        return {word: axis.real() for word, axis in found.items()}
    from optsched.cli.methods import options_of

    defaults = options_of(name, problem)
    if found:
        return {word: axis.real() if isinstance(defaults.get(word), float) else axis for word, axis in found.items()}
    around = {word: Axis.around(default) for word, default in defaults.items() if word not in UNASKED}
    return {word: axis for word, axis in around.items() if axis is not None}
