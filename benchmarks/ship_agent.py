"""Put trained weights into the package: play the recorded test cases bare, and write what they earn into the card.

    python benchmarks/ship_agent.py osdec mine.npz --failures "crowds of long jobs"
    python benchmarks/ship_agent.py osdec                     # the shipped ones once more

The recorded cases are three of the test part of the family's split, of vcc one that needs no data; tests/rl/test_shipped.py
and tests/rl/test_vcc_weights.py hold the weights to their score.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import optsched
import optsched.rl.deferrable.split as deferrable
import optsched.rl.geo.split as geo
from optsched.instances.generators import vcc
from optsched.rl.allocation.pricer import KIND as GPU_PRICE
from optsched.rl.allocation.scenarios import scenario
from optsched.rl.deferrable.acting import ACTS
from optsched.rl.geo.actors import AGENTS
from optsched.rl.geo.prices import PRICES
from optsched.rl.learners import lesson
from optsched.rl.trained import Card, Trained, file_of
from optsched.rl.vcc.agent import KIND
from optsched.rl.vcc.carbon import KIND as CARBON

KINDS = (*ACTS, AGENTS, PRICES, KIND, CARBON, GPU_PRICE)
CASES = {
    "allocation": [scenario("andreas").instance("test", number) for number in range(3)],
    "deferrable": [deferrable.workload("test", number) for number in range(3)],
    "geo": [geo.case(geo.SCENARIOS["small"], "test", number) for number in range(3)],
    "vcc": [vcc(days=3, jobs=300, load=0.2, seed=424242)],
}


def main() -> None:
    """Play, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("file", nargs="?", help="Weights. [default: the shipped ones]")
    parser.add_argument("--failures", help="What they are known to do badly.")
    asked = parser.parse_args()
    learned = lesson(asked.name)
    problem, forecast = learned.problem, learned.forecast or "perfect"
    source = asked.file or file_of(problem, asked.name)
    found = Trained.load(source, *KINDS)
    tested = {}
    for case in CASES[problem]:
        objective = optsched.replay(case, f"agent:{source}", forecast=forecast, guard=False).objective
        assert objective is not None
        tested[case.name] = objective
    told: dict[str, object] = {"tested": tested} | ({} if asked.failures is None else {"failures": asked.failures})
    card: Card = found.card.model_copy(update=told)
    target = Path(optsched.__file__).parent / "rl" / "weights" / problem / f"{asked.name}.npz"
    Trained(found.arrays, card).save(target)
    print(f"{target.name}: best after {card.best:,} steps, {tested}")


if __name__ == "__main__":
    main()
