"""`optsched train`: agents for the Gymnasium environments."""

from __future__ import annotations

from pathlib import Path

import click
from rich.live import Live
from rich.text import Text

from optsched.cli._show import console
from optsched.errors import InputError


@click.group("train", short_help="Train an agent (needs the rl extra).")
def command() -> None:
    """Train an agent with Stable-Baselines3; it becomes a policy of `replay`: --policy agent:FILE.

    Needs the extra: pip install 'optsched[rl]'. Ctrl-C ends training and keeps the best agent so far.
    """


def _trainer(algorithm: str, steps: int) -> click.Command:
    @click.command(f"vcc-{algorithm}")
    @click.option("--instance", metavar="FILE", help="A vcc instance. [default: a synthetic month]")
    @click.option("--forecast", default="fitted", show_default=True, help="What the agent sees of carbon, as in `replay`.")
    @click.option("--steps", type=click.IntRange(min=1), default=steps, show_default=True, help="Slots to train for.")
    @click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
    @click.option("-o", "--output", required=True, metavar="FILE.npz", help="The agent's weights.")
    def made(instance: str | None, forecast: str, steps: int, seed: int, output: str) -> None:
        if not output.endswith(".npz"):
            raise InputError(output, "", "an agent's file ends in .npz")
        if not Path(output).resolve().parent.is_dir():
            raise InputError(output, "", "its folder does not exist")
        try:
            from optsched.rolling.vcc.environment import VirtualCapacity
        except ImportError:
            from optsched.errors import BackendUnavailable

            raise BackendUnavailable("training needs the rl extra: pip install 'optsched[rl]'") from None
        from optsched.rl.train import played, train

        environment = VirtualCapacity(instance, forecast)
        with Live(Text(f"vcc-{algorithm}"), console=console(stderr=True), transient=True, refresh_per_second=4) as live:

            def show(done: int, value: float) -> None:
                live.update(Text(f"vcc-{algorithm}: {done:,} of {steps:,} steps, cost of an episode {-value:,.2f}"))

            agent = train(algorithm, environment.again, steps, seed, show)
        agent.save(output)
        click.echo(f"{output}: cost of an episode {-played(agent, environment.again):,.3f}", err=True)

    made.help = f"A {algorithm.upper()} agent that sets the hourly cap of a vcc instance."
    return made


command.add_command(_trainer("ppo", 600_000))
command.add_command(_trainer("sac", 60_000))
