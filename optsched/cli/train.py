"""`optsched train`: learned policies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import click

from optsched.cli import _input
from optsched.cli._live import live
from optsched.cli._output import tried
from optsched.cli._verbs import Group
from optsched.errors import InputError
from optsched.rl.learners import lessons
from optsched.rl.lesson import TOY, Lesson

FORECAST = "Which forecasts of carbon it sees, as in `replay`."
AT_LEAST_1 = click.IntRange(min=1)


@click.group("train", cls=Group)
def command() -> None:
    """Train an agent; it becomes a policy, --policy agent:FILE.npz in `replay`, and of optsched.compare in Python.

    Needs the extra: pip install 'optsched[rl]'. FILE.npz holds the best weights on validation so far, with their card. Beside
    it training keeps FILE.curve.csv, a row a turn, and FILE.checkpoint, from which --resume goes on after Ctrl-C, a kill or a
    power cut. `--scenario toy` is a first try of a minute or two.
    """


def _trainer(name: str, lesson: Lesson) -> click.Command:
    default, often = (
        f"{usual:,}, of {TOY} {toy:,}"
        for usual, toy in ((lesson.steps, lesson.steps_on(TOY)), (lesson.every, lesson.every_on(TOY, lesson.steps_on(TOY))))
    )

    @click.command(name)
    @click.option("--scenario", type=click.Choice(lesson.scenarios), default=lesson.scenarios[0], show_default=True)
    @click.option(
        "--instance",
        "instances",
        metavar="FILE",
        multiple=True,
        type=_input.FILE,
        help=f"An instance of {lesson.problem} to learn from, in place of a scenario; more than once for more.",
    )
    @click.option("--forecast", default=lesson.forecast, show_default=True, hidden=lesson.forecast is None, help=FORECAST)
    @click.option("--steps", "wanted", type=AT_LEAST_1, help=f"Decisions to train for. [default: {default}]")
    @click.option("--every", type=AT_LEAST_1, help=f"Steps between validations. [default: {often}]")
    @click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
    @click.option("--resume", is_flag=True, help="Go on from the checkpoint beside the output.")
    @click.option("-o", "--output", "--out", required=True, metavar="FILE.npz", type=click.Path(), help="The agent's weights.")
    @click.option("--json", "as_json", is_flag=True, help="Say what was written as one JSON object.")
    def made(
        scenario: str,
        instances: tuple[str, ...],
        forecast: str | None,
        wanted: int | None,
        every: int | None,
        seed: int,
        resume: bool,
        output: str,
        as_json: bool,
    ) -> None:
        from optsched.rl.learner import Run, curve_of
        from optsched.rl.learners import learner

        tried(output, inputs=instances, ends=(".npz",))
        if instances and _input.typed("scenario"):
            raise click.UsageError("--instance is in place of a --scenario: give one of the two")
        if lesson.forecast is None and forecast is not None:
            raise click.UsageError(f"{name} takes no --forecast")
        where = "" if instances else scenario
        steps = wanted or lesson.steps_on(where)
        every = every or lesson.every_on(where, steps)
        given = [_input.instance(file) for file in instances]
        for file, instance in zip(instances, given, strict=True):
            if instance.problem != lesson.problem:
                raise InputError(file, "problem", f"is {instance.problem}, {name} learns from {lesson.problem}")
        learning = learner(name, scenario, given, seed, forecast)
        told = ", ".join(f"{instance.name} ({instance.sha256[:8]})" for instance in given)
        run = Run.resume(learning, output, told) if resume else Run.begin(learning, output, told)
        before = learning.steps
        with live(name) as tell:

            def show(done: int, best: float | None, figures: Mapping[str, float]) -> None:
                latest = ", ".join(f"{word} {value:.4g}" for word, value in list(figures.items())[:2])
                tell(f"{done:,} of {steps:,} steps, best validation {best:.5g}, {latest}")

            found = run.go(steps, every, show)
        card = found.card
        if as_json:
            click.echo(json.dumps({"file": output, "curve": str(curve_of(output)), "card": card.model_dump(mode="json")}))
            return
        first, best = run.scores[0][1], run.score
        ended = "" if learning.steps >= steps else f"stopped after {learning.steps:,} of {steps:,} steps, --resume goes on; "
        if before >= steps:
            ended = f"nothing more was learned: {before:,} steps had been, --steps larger than that goes on; "
        if not card.best:
            ended += "no validation was better than before any training: the file has the first weights; "
        click.echo(
            f"{output}: {ended}best validation {best:.5g} ({lesson.score}) after {card.best:,} steps, "
            f"{first:.5g} before any; {Path(curve_of(output)).name} has the curve",
            err=True,
        )

    made.help = lesson.about
    return made


for _name, _lesson in lessons().items():
    command.add_command(_trainer(_name, _lesson))
