"""`optsched train`: agents for the Gymnasium environments."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from optsched.cli import _input
from optsched.cli._live import live
from optsched.cli._output import tried
from optsched.cli._verbs import Group
from optsched.errors import InputError

if TYPE_CHECKING:
    from optsched.instances.vcc import VccInstance


@click.group("train", cls=Group)
def command() -> None:
    """Train an agent with Stable-Baselines3; it becomes a policy of `replay`: --policy agent:FILE.

    Needs the extra: pip install 'optsched[rl]'. Ctrl-C ends training and keeps the best agent so far.
    """


def _vcc(file: str) -> VccInstance:
    from optsched.instances.vcc import VccInstance

    given = _input.instance(file)
    if not isinstance(given, VccInstance):
        raise InputError(_input.shown(file), "problem", f"the environment needs a vcc instance, this one is {given.problem}")
    return given


def _trainer(algorithm: str, steps: int) -> click.Command:
    @click.command(f"vcc-{algorithm}")
    @click.option("--instance", metavar="FILE", type=_input.FILE, help="A vcc instance. [default: a synthetic month]")
    @click.option("--forecast", default="fitted", show_default=True, help="What the agent sees of carbon, as in `replay`.")
    @click.option("--steps", type=click.IntRange(min=1), default=steps, show_default=True, help="Slots to train for.")
    @click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
    @click.option("-o", "--output", required=True, metavar="FILE.npz", type=click.Path(), help="The agent's weights.")
    @click.option("--json", "as_json", is_flag=True, help="Say what was written as one JSON object.")
    def made(instance: str | None, forecast: str, steps: int, seed: int, output: str, as_json: bool) -> None:
        tried(output, inputs=[instance], ends=(".npz",))
        try:
            from optsched.rolling.vcc.environment import VirtualCapacityEnv
        except ImportError:
            from optsched.errors import BackendUnavailable

            raise BackendUnavailable("training needs the rl extra: pip install 'optsched[rl]'") from None
        from optsched.rl.train import evaluate_agent, train

        environment = VirtualCapacityEnv(None if instance is None else _vcc(instance), forecast)
        with live(f"vcc-{algorithm}") as tell:

            def show(done: int, value: float) -> None:
                tell(f"{done:,} of {steps:,} steps, cost of an episode {-value:,.2f}")

            agent = train(algorithm, environment.again, steps, seed, show).trained(environment.instance, forecast)
        agent.save(output)
        cost = -evaluate_agent(agent, environment.again)
        if as_json:
            click.echo(json.dumps({"file": output, "agent": f"vcc-{algorithm}", "cost": cost}))
        else:
            click.echo(f"{output}: cost of an episode {cost:,.3f}", err=True)

    made.help = f"A {algorithm.upper()} agent that sets the hourly cap of a vcc instance."
    return made


command.add_command(_trainer("ppo", 600_000))
command.add_command(_trainer("sac", 60_000))
