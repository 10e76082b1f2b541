"""Imitation on a GPU cluster: it learns on a toy, and a run that is taken up again goes on as if never stopped."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.rl

from optsched.errors import OptschedError  # noqa: E402
from optsched.heuristics.allocation.priced import priced_dispatch  # noqa: E402
from optsched.instances.generators import andreas, osdec  # noqa: E402
from optsched.rl.allocation.imitation import Imitation, Settings  # noqa: E402
from optsched.rl.allocation.labels import PRICES  # noqa: E402
from optsched.rl.allocation.pricer import Pricer  # noqa: E402
from optsched.rl.allocation.scenarios import SCENARIOS, SPLITS, scenario  # noqa: E402
from optsched.rl.allocation.view import SIZE, see  # noqa: E402
from optsched.rl.learner import Run  # noqa: E402
from optsched.rolling.allocation.hindsight import at_price, forked, labelled, played, tried  # noqa: E402
from optsched.rolling.allocation.ledger import Ledger  # noqa: E402
from optsched.rolling.allocation.lesson import Replays, imitation  # noqa: E402
from optsched.rolling.allocation.simulator import AllocationSimulator  # noqa: E402

QUICK = Settings(hidden=8, fits=5, share=0.3, led=1, validation=2)


def quick(seed: int = 0) -> Imitation:
    return Imitation(Replays(), scenario("toy"), "toy", seed=seed, settings=QUICK)


def test_it_learns_on_the_toy() -> None:
    """From below the rule to above it, on cases that it has never learned from."""
    learner = imitation("toy")
    before = learner.validate()
    for _ in range(6):
        learner.turn()
    assert learner.validate() > max(0.0, before)


def test_the_same_seed_learns_the_same_and_a_run_goes_on_exactly(tmp_path: Path) -> None:
    whole, again = quick(), quick()
    for _ in range(4):
        whole.turn()
    for _ in range(2):
        again.turn()
    packed = BytesIO()
    torch.save(dict(again.state()), packed)
    packed.seek(0)
    other = quick()
    other.restore(torch.load(packed, weights_only=True))
    assert other.steps == again.steps
    for _ in range(2):
        other.turn()
    assert other.trained().sha256 == whole.trained().sha256
    assert quick(seed=1).trained().sha256 != quick().trained().sha256
    run = Run.begin(other, tmp_path / "toy.npz")
    best = run.go(other.steps + 1, 5)
    assert Run.resume(quick(), tmp_path / "toy.npz").learner.steps == other.steps
    snapshot = AllocationSimulator(scenario("toy").instance("test", 0)).snapshot()
    assert snapshot is not None
    assert Pricer.load(tmp_path / "toy.npz").decide(snapshot) == Pricer(best).decide(snapshot)


def test_arrays_say_what_the_network_says() -> None:
    learner = quick()
    for _ in range(2):
        learner.turn()
    snapshot = AllocationSimulator(scenario("toy").instance("train", 5)).snapshot()
    assert snapshot is not None
    view = see(snapshot)
    with torch.no_grad():
        said = torch.softmax(learner.net((torch.from_numpy(view.summary)[None] - learner.mean) / learner.scale), dim=1)[0]
    assert view.summary.shape == (SIZE,)
    assert Pricer(learner.trained()).price(view) == pytest.approx(np.exp(said.numpy() @ np.log(PRICES)), rel=1e-5)


def test_the_teacher_changes_nothing_and_knows_the_price_that_serves_best() -> None:
    simulator, ledger = AllocationSimulator(andreas(nodes=2, jobs=14, seed=3)), Ledger()
    for _ in range(6):
        snapshot = simulator.snapshot()
        assert snapshot is not None
        decision = priced_dispatch(snapshot)
        ledger.begin(snapshot, decision)
        simulator.apply(decision)
        ledger.end(simulator.now_s)
    snapshot = simulator.snapshot()
    assert snapshot is not None
    before = simulator.now_s, dict(simulator.left), ledger.spent
    found = labelled(simulator, snapshot, ledger)
    assert (simulator.now_s, dict(simulator.left), ledger.spent) == before
    assert found.best.sum() == pytest.approx(1)
    to_the_end = [played(forked(simulator), lambda seen, price=price: at_price(seen, price)) for price in PRICES]
    costs = [tried(forked(simulator), ledger.copy(), price) for price in PRICES]
    assert int(found.best.argmax()) == int(np.argmin(costs))
    np.testing.assert_allclose(costs, to_the_end, rtol=1e-9)  # fewer events are left than the teacher plays


def test_nobody_learns_from_what_is_tested() -> None:
    for name in SCENARIOS:
        train, validation, test = (
            {(job.submit_s, job.due_s) for k in range(3) for job in scenario(name).instance(split, k).jobs[1:]}
            for split in SPLITS
        )
        assert not train & validation
        assert not train & test
        assert not validation & test


def test_instances_of_ones_own() -> None:
    learner = imitation("toy", [andreas(nodes=2, jobs=4, seed=1)])
    learner.turn()
    assert learner.steps >= 1
    with pytest.raises(OptschedError, match="needs instances of a GPU cluster"):
        imitation("toy", [osdec()])
    with pytest.raises(OptschedError, match="no scenario 'andrea', did you mean"):
        imitation("andrea")
