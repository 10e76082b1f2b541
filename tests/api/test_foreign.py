"""Somebody else's code, by name, `module:object` or object: one line for whatever it does wrong, and nothing is believed."""

from __future__ import annotations

import logging
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field

import optsched
from optsched import deferrable, geo, registry
from optsched.errors import CertificateError, OptschedError
from optsched.instances.base import Instance
from optsched.instances.deferrable import DeferrableInstance
from optsched.rolling.policy import policies
from optsched.rolling.run import PolicyFailed
from optsched.scaffold import BaseMethod, Call, Found
from optsched.solvers import backend
from optsched.stop import Spare
from tests.oracle import tiny

Distribution = Callable[..., None]
CACHES = (registry._scan, registry._points, registry._warn, registry.own_families, registry.families, registry.family, policies)

WRONG = """
import sys
import optsched
from optsched import Family, deferrable
from optsched.scaffold import BaseMethod, Found

def leaves(instance): sys.exit(3)
def fails(instance): raise ValueError("two\\nlines")
class Odd(SystemExit): pass
def ends(instance): raise GeneratorExit
def odd(instance): raise Odd("exit")
def nothing(instance): return None
def text(instance): return "a schedule"
def as_dict(instance): return {"starts": []}
def wrong_dict(instance): return {"starts": [{"job": 3}]}
def first(instance):
    from optsched.registry import family_of
    return family_of(instance).heuristics()["greedy"](instance, 0)
def only_deferrable(instance: deferrable.Instance): return deferrable.Schedule(starts=())
def no_result(instance, *, stop=None, seed=0, start=None, progress=None): return {"starts": []}

class Needy:
    def __init__(self, needed): pass
    def reset(self, seed): pass
    def decide(self, snapshot): return None

class Leaves:
    def __init__(self): sys.exit(3)

class LeavesLater:
    def reset(self, seed): pass
    def decide(self, snapshot): sys.exit(3)

class ByDict(LeavesLater):
    def decide(self, snapshot):
        from optsched.registry import family_of
        return family_of(snapshot).heuristics()["greedy"](snapshot, 0).model_dump(mode="json")

def beyond(instance): return {"starts": [{"job": job.id, "start": 10**6} for job in instance.jobs]}

class Sure(BaseMethod):
    name = "sure"
    def search(self, call): return Found(optsched.solve(call.instance, "greedy").best, "completed", bound=-1e9)

class Solves(LeavesLater):
    def decide(self, snapshot): return optsched.solve(snapshot, beyond)

class Solver:
    name, packages = "solver", ()
    from optsched.solvers import Capabilities
    capabilities = Capabilities()
    def unavailable(self): return None
    def refuse_options(self, options): pass
    def solve(self, model, form, task, monitor): sys.exit(3)

class Unsure(Solver):
    def unavailable(self): raise KeyError("why")

class Silent(Solver):
    def solve(self, model, form, task, monitor): return None

class Broken(Family):
    name = "broken"
    def __new__(cls): raise RuntimeError("not today")

class Partly(Family):
    name, instance, schedules = "partly", deferrable.Instance, (deferrable.Schedule,)
    def evaluate(self, instance, schedule): raise RuntimeError("no referee")
    def check(self, instance, schedule): raise RuntimeError("no referee")
    def heuristics(self): raise RuntimeError("no rules")
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed modules, ``wrong`` among them."""
    known = set(sys.modules)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "wrong.py").write_text(WRONG)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    yield tmp_path / "site"
    for name in set(sys.modules) - known:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def distribution(site: Path) -> Iterator[Distribution]:
    """Installs distributions, for as long as a test takes."""

    def install(name: str, **points: dict[str, str]) -> None:
        made = site / f"{name}-1.0.dist-info"
        made.mkdir()
        (made / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"[optsched.{group}]\n" + "".join(f"{k} = {v}\n" for k, v in named.items()) for group, named in points.items()]
        (made / "entry_points.txt").write_text("\n".join(lines))
        forget()

    yield install
    forget()


def forget() -> None:
    """What is known of plug-ins."""
    for known in CACHES:
        known.cache_clear()


@pytest.fixture
def small(examples: Path) -> geo.Instance:
    return geo.Instance.load(examples / "geo-small.json")


def told(act: Callable[[], object]) -> str:
    """The one line that it ends with."""
    with pytest.raises(OptschedError) as caught:
        act()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_no_plug_in_takes_a_name_of_ours(distribution: Distribution, small: geo.Instance) -> None:
    distribution("mean", families={"geo": "wrong:Broken"})
    said = "the distribution mean adds 'geo' to families, a name of optsched's own: uninstall mean"
    assert told(registry.families) == told(lambda: registry.family("geo")) == told(lambda: optsched.check(small, {})) == said


@pytest.mark.parametrize(
    ("group", "name", "act"),
    [
        ("methods", "greedy", lambda i: optsched.solve(i, "greedy")),
        ("methods", "auto", optsched.solve),
        ("methods", "randomized-greedy", lambda i: optsched.solve(i, "randomized-greedy")),  # ours, if of another family
        ("methods", "exact", lambda i: optsched.methods()),
        ("backends", "highs", lambda i: backend("highs")),
        ("backends", "scip", lambda i: optsched.backends()),
        ("policies", "rolling", lambda i: optsched.replay(i, "rolling")),
        ("policies", "local-fcfs", lambda i: optsched.policies(i)),
    ],
)
def test_no_name_of_ours(
    distribution: Distribution, small: geo.Instance, group: str, name: str, act: Callable[[Instance], object]
) -> None:
    distribution("mean", **{group: {name: "wrong:as_dict"}})
    assert told(lambda: act(small)).startswith(f"the distribution mean adds {name!r} to {group}, a name of optsched's own")


def test_listing_plug_ins_loads_nothing_heavy() -> None:
    code = (
        "import sys; from optsched.registry import added, own_families; added('importers'); own_families()\n"
        "print([name for name in ('numpy', 'pydantic') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_two_of_one_name(distribution: Distribution) -> None:
    distribution("first", methods={"mine": "wrong:as_dict"})
    distribution("second", methods={"mine": "wrong:nothing"})
    said = told(optsched.methods)
    assert said.startswith("two plug-ins add 'mine' to methods: ")
    assert "wrong:as_dict of first" in said
    assert "wrong:nothing of second" in said


def test_the_working_directory_is_for_what_is_typed_and_comes_last(
    distribution: Distribution, site: Path, small: geo.Instance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (here / "wrong.py").write_text("raise SystemExit('taken from here')")
    (here / "local.py").write_text("from wrong import as_dict")
    monkeypatch.chdir(here)
    before = list(sys.path)
    assert optsched.solve(small, "local:as_dict").best.jobs_run == 0
    distribution("near", methods={"near": "nearby:as_dict"})
    (here / "nearby.py").write_text("from wrong import as_dict")
    assert told(lambda: optsched.solve(small, "near")) == "nearby:as_dict: no module 'nearby'"
    assert optsched.solve(small, "nearby:as_dict").best.jobs_run == 0
    assert sys.path == before
    monkeypatch.syspath_prepend(str(here))  # as `python -m` does: stays where it was
    before = list(sys.path)
    registry.named("local:as_dict", typed=True)
    assert sys.path == before


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (lambda i: optsched.solve(i, "wrong:leaves"), "wrong:leaves raised SystemExit: 3"),
        (lambda i: optsched.solve(i, "wrong:fails"), "wrong:fails raised ValueError: two lines"),
        (lambda i: optsched.solve(i, "wrong:ends"), "wrong:ends raised GeneratorExit"),
        (lambda i: optsched.solve(i, "wrong:odd"), "wrong:odd raised Odd: exit"),
        (
            lambda i: optsched.solve(i, "wrong:nothing"),
            "wrong:nothing returned None, expected a GeoSchedule or the dict of one",
        ),
        (lambda i: optsched.solve(i, "wrong:text"), "wrong:text returned a str, expected a GeoSchedule or the dict of one"),
        (lambda i: optsched.solve(i, "wrong:wrong_dict"), "wrong:wrong_dict returned: starts[0].job: "),
        (lambda i: optsched.solve(i, "wrong:Leaves"), "wrong:Leaves: making it raised SystemExit: 3"),
        (lambda i: optsched.solve(i, "wrong:Needy"), "wrong:Needy: making it raised TypeError: "),
        (lambda i: optsched.solve(i, "wrong:no_result"), "wrong:no_result returned a dict, expected an optsched.Result: "),
        (lambda i: optsched.solve(i, "wrong:WRONG"), "wrong:WRONG: wrong has no 'WRONG'"),
        (lambda i: optsched.solve(i, "leaving:x"), "leaving:x: loading leaving raised SystemExit"),
        (lambda i: optsched.solve(i, lambda i: sys.exit(2)), "<lambda> raised SystemExit: 2"),
        (lambda i: optsched.replay(i, "wrong:Needy"), "wrong:Needy: making it raised TypeError: "),
        (lambda i: optsched.replay(i, "wrong:Leaves"), "wrong:Leaves: making it raised SystemExit: 3"),
        (lambda i: optsched.replay(i, "wrong:no_result"), "wrong:no_result is a method, no policy: rolling:METHOD plans"),
        (
            lambda i: optsched.replay(i, "wrong:only_deferrable"),
            "heuristic wrong:only_deferrable is for deferrable, not for geo",
        ),
        (lambda i: optsched.replay(i, "rolling:wrong:nothere"), "wrong:nothere: wrong has no 'nothere'"),
        (lambda i: optsched.replay(i, "wrong:nothing"), "the policy failed at 1,560 s: "),
        (
            lambda i: optsched.replay(i, "wrong:LeavesLater"),
            "the policy failed at 1,560 s: wrong:LeavesLater raised SystemExit: 3",
        ),
        (lambda i: optsched.solve(i, backend="wrong:Leaves"), "wrong:Leaves: making it raised SystemExit: 3"),
        (lambda i: optsched.solve(i, backend="wrong:Unsure"), "wrong:Unsure: unavailable() raised KeyError: 'why'"),
        (lambda i: optsched.solve(i, backend="wrong:Solver"), "wrong:Solver: solve() raised SystemExit: 3"),
        (lambda i: optsched.solve(i, backend="wrong:Silent"), "wrong:Silent: solve() gave None, expected a SolverResult "),
    ],
)
def test_whatever_it_does_is_one_line(site: Path, small: geo.Instance, act: Callable[[Instance], object], said: str) -> None:
    (site / "leaving.py").write_text("import sys; sys.exit()")
    assert told(lambda: act(small)).startswith(said)


def test_ctrl_c_and_our_own_errors_pass(small: geo.Instance) -> None:
    def interrupted(instance: Instance) -> Any:
        raise KeyboardInterrupt

    def refuses(instance: Instance) -> Any:
        raise OptschedError("no")

    with pytest.raises(KeyboardInterrupt):
        optsched.solve(small, interrupted)
    assert told(lambda: optsched.solve(small, refuses)) == "no"


def test_a_family_that_cannot_be_made_leaves_the_others(distribution: Distribution, caplog: pytest.LogCaptureFixture) -> None:
    distribution("ill", families={"broken": "wrong:Broken"}, methods={"gone": "nowhere:x", "mine": "wrong:only_deferrable"})
    assert told(lambda: registry.family("broken")) == "wrong:Broken: making it raised RuntimeError: not today"
    with caplog.at_level(logging.WARNING, logger="optsched.registry"):
        listed = {info.name: info.families for info in optsched.methods()}
        optsched.methods()
    assert (listed["mine"], "gone" in listed) == (("deferrable",), False)
    assert len(listed["greedy"]) == len(optsched.FACES)
    assert [record.getMessage() for record in caplog.records] == [
        "family 'broken' is left out: wrong:Broken: making it raised RuntimeError: not today",
        "method 'gone' is left out: nowhere:x: no module 'nowhere'",
    ]


def test_a_family_whose_parts_fail(distribution: Distribution, examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distribution("ill", families={"partly": "wrong:Partly"})

    class PartlyInstance(deferrable.Instance):
        problem = "partly"

    instance = PartlyInstance.model_validate(optsched.load(examples / "deferrable-small.json").model_dump())
    assert told(lambda: optsched.solve(instance, "greedy")) == "wrong:Partly raised RuntimeError: no rules"
    assert (
        told(lambda: optsched.check(instance, deferrable.Schedule(starts=()))) == "wrong:Partly raised RuntimeError: no referee"
    )
    assert "partly" not in {problem for info in optsched.methods() for problem in info.families if info.name == "greedy"}


def test_a_policy_that_cannot_be_loaded_leaves_the_others(
    distribution: Distribution, caplog: pytest.LogCaptureFixture, small: geo.Instance
) -> None:
    distribution("ill", policies={"gone": "nowhere:x", "mine": "wrong:ByDict"})
    assert optsched.policies("geo")[-1] == "mine"
    assert "gone" not in optsched.policies("geo")
    assert [record.getMessage() for record in caplog.records] == ["policy 'gone' is left out: nowhere:x: no module 'nowhere'"]
    assert optsched.replay(small, "mine").best.jobs_run > 0  # its decisions are dicts


def test_a_heuristic_is_a_policy_and_a_rolling_plan(distribution: Distribution, small: geo.Instance) -> None:
    """By name, `module:object` and as a function, it decides as ours of the same schedule does."""
    distribution("some", methods={"first": "wrong:first", "gone": "nowhere:x", "whole": "wrong:no_result"})
    first = registry.named("wrong:first")
    for how in ("wrong:first", "first", first):
        assert optsched.replay(small, how).objective == optsched.replay(small, "greedy").objective  # type: ignore[arg-type]
    for how in ("rolling:wrong:first", "rolling:first"):
        assert optsched.replay(small, how).objective == optsched.replay(small, "rolling:greedy").objective
    assert optsched.policies("geo")[-3:] == ["first", "rolling:first", "rolling:whole"]
    for act in (lambda: optsched.solve(small, "zzz"), lambda: optsched.replay(small, "zzz")):
        said = told(act)
        assert "first" in said
        assert "gone" not in said


def test_an_annotation_says_for_which_family(distribution: Distribution, small: geo.Instance, examples: Path) -> None:
    distribution("some", methods={"mine": "wrong:only_deferrable"})
    for how in ("mine", "wrong:only_deferrable"):
        assert told(lambda how=how: optsched.solve(small, how)) == f"method {how} is for deferrable, not for geo"  # type: ignore[misc]
        assert optsched.solve(optsched.load(examples / "deferrable-small.json"), how).best.jobs_run == 0

    def either(instance: deferrable.Instance | geo.Instance) -> Any:
        return {"starts": []}

    class Called:
        def __call__(self, instance: deferrable.Instance) -> Any:
            return {"starts": []}

    assert optsched.solve(small, either).best.jobs_run == 0

    class Whole:
        def __call__(
            self, instance: deferrable.Instance, *, stop: Any = None, seed: int = 0, start: Any = None, progress: Any = None
        ) -> optsched.Result:
            raise AssertionError

    for how in (Called(), Called, partial(Called()), Whole(), Whole):  # type: ignore[assignment]
        assert " is for deferrable, not for geo" in told(lambda how=how: optsched.solve(small, how))  # type: ignore[misc]


def test_a_heuristic_over_the_limit_is_told(small: geo.Instance) -> None:
    def slow(instance: Instance) -> Any:
        time.sleep(0.03)
        return {"starts": []}

    def asks(instance: Instance, spare: Spare) -> Any:
        while spare():
            time.sleep(0.001)
        return {"starts": []}

    message = optsched.solve(small, slow, time_limit=0.01).message or ""
    assert message.endswith("the limit is 0.01 s: a heuristic ends early only where it asks spare")
    assert optsched.solve(small, slow, time_limit=60).message is None
    assert optsched.solve(small, asks, time_limit=0.01).message is None


def test_an_annotation_says_from_where_to_where_an_option_goes(small: geo.Instance) -> None:
    def mine(
        instance: Instance, share: Annotated[float, Field(ge=0, le=1)] = 0.5, most: Annotated[int, Field(ge=2)] = 3
    ) -> Any:
        return {"starts": []}

    for options, said in (
        ({"share": 1.5}, "option share of mine is a number from 0 to 1, got 1.5"),
        ({"most": "1"}, "option most of mine is a whole number from 2 to 1,000,000,000, got '1'"),
        ({"most": 10**10}, "option most of mine is a whole number from 2 to 1,000,000,000, got 10000000000"),
    ):
        assert told(lambda how=options: optsched.solve(small, mine, options=how)) == said  # type: ignore[misc]
    found = optsched.solve(small, mine, options={"share": 1, "most": "2"}).options
    assert (found["share"], found["most"]) == (1.0, 2)


def test_seed_and_spare_are_no_options(small: geo.Instance) -> None:
    def mine(instance: Instance, most: int = 3, seed: int = 0, *, scale: Any, spare: Spare | None = None) -> Any:
        return {"starts": []}

    for word in ("seed", "spare", "instance"):
        said = told(lambda word=word: optsched.solve(small, mine, options={word: 1}))  # type: ignore[misc]
        assert said == f"method mine has no option {word!r}, it has: most (3), scale"
    assert optsched.solve(small, mine, options={"most": "4", "scale": [1]}).options["most"] == 4
    said = told(lambda: optsched.solve(small, mine, options={"most": "few", "scale": 1}))
    assert said == "option most of mine is a whole number from 0 to 1,000,000,000, got 'few'"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"objective": 0.0}, "figure that the referee does not confirm"),
        ({"bound": -1e9, "gap": 1e9}, "figure that the referee does not confirm"),
        ({"solution": "optimal", "termination": "optimal"}, "optimal without a proof"),
        ({"schedule": geo.Schedule(starts=())}, "figure that the referee does not confirm"),
    ],
)
def test_a_result_is_not_believed(small: geo.Instance, change: dict[str, Any], said: str) -> None:
    honest = optsched.solve(small, "greedy").model_copy(update={"digest": None})

    def mine(
        instance: Instance, *, stop: Any = None, seed: int = 0, start: Any = None, progress: Any = None
    ) -> optsched.Result:
        return honest.model_copy(update=change)

    for act in (lambda: optsched.solve(small, mine), lambda: optsched.compare(small, [mine])):
        with pytest.raises(CertificateError, match=f"^mine returned a result that the referee refuses: {said}"):
            act()


@pytest.mark.parametrize("policy", ["wrong:beyond", "rolling:wrong:beyond", "rolling:wrong:Sure", "wrong:Solves"])
def test_what_the_referee_refuses_is_the_policys_failure(policy: str, site: Path, examples: Path) -> None:
    """Somebody else's, not a contradiction of ours: a simple rule decides, also within a budget."""
    small = optsched.load(examples / "deferrable-small.json")
    for how in ({}, {"budget_s": 20.0}):
        found = optsched.replay(small, policy, on_failure="fallback", **how)  # type: ignore[arg-type]
        assert found.options["figures"]["fallbacks"] > 0, how
    with pytest.raises(PolicyFailed, match=r"infeasible schedule|beyond its bound|starts after its latest slot"):
        optsched.replay(small, policy)
    table = optsched.compare(small, [], ["fifo", policy], on_failure="fallback")
    assert table["objective"].isna().tolist() == [False, True]


def test_a_search_that_finds_nothing_is_named(small: geo.Instance) -> None:
    class Empty(BaseMethod[Instance]):
        name = "empty"

        def search(self, call: Call[Instance]) -> Found:
            return None  # type: ignore[return-value]

    with pytest.raises(OptschedError, match=r"empty: search returned NoneType, expected an optsched\.scaffold\.Found"):
        optsched.solve(small, Empty())


def test_a_result_of_another_instance(small: geo.Instance) -> None:
    other = optsched.solve(small.model_copy(update={"name": "another"}), "greedy")

    class Other:
        def __call__(
            self, instance: Instance, *, stop: Any = None, seed: int = 0, start: Any = None, progress: Any = None
        ) -> optsched.Result:
            return other

    with pytest.raises(CertificateError, match="Other returned a result that the referee refuses: other instance"):
        optsched.solve(small, Other())


def test_a_dict_where_a_schedule_is_expected(small: geo.Instance) -> None:
    from optsched.referee import check

    said = told(lambda: check(small, {"starts": []}))  # type: ignore[arg-type]
    assert said == "geo is decided by a GeoSchedule, got a dict; optsched.geo.Schedule.from_dict reads one"


def test_whoever_writes_to_an_instance_is_refused() -> None:
    """The referee would judge what was written."""

    def generous(instance: DeferrableInstance) -> dict[str, object]:
        for job in instance.jobs:
            job.__dict__["cores"] = 1e6
        return {"starts": []}

    def spare(instance: DeferrableInstance) -> dict[str, object]:
        instance.__dict__["delay_penalty"] = 123.0
        return {"starts": []}

    for written in (generous, spare):
        with pytest.raises(OptschedError, match=f"{written.__name__} has written to its instance"):
            optsched.solve(tiny.deferrable(1), written)
    kept = tiny.deferrable(1)
    assert optsched.solve(kept, lambda instance: {"starts": []}).verify(kept) == []


def test_nobody_changes_what_an_instance_holds(examples: Path) -> None:
    """Its dicts and jobs: whoever writes to them is refused as a heuristic, and is as good as any other as a policy."""
    instance = optsched.load(examples / "allocation-two.json")
    assert isinstance(instance, optsched.allocation.Instance)
    before, fifo = instance.model_dump(), optsched.replay(instance, "fifo").objective

    def spoilt(shown: optsched.allocation.Instance) -> Any:
        decided = optsched.solve(shown, "greedy").best
        for job in shown.jobs:
            job.__dict__["due_s"] = 1e9
            job.time_s.clear()
        shown.gpu_types.clear()
        return decided

    class Spoils:
        def reset(self, seed: int) -> None:
            pass

        def decide(self, snapshot: optsched.allocation.Instance) -> Any:
            return spoilt(snapshot)

        def doubt(self, instance: optsched.allocation.Instance, forecast: str) -> None:
            instance.gpu_types.clear()

    class Whole(Spoils):
        def __call__(self, instance: Any, *, stop: Any = None, seed: int = 0, start: Any = None, progress: Any = None) -> Any:
            start.schedule.__dict__.clear()
            return spoilt(instance)

    start = optsched.solve(instance, "fifo")
    for refused in (spoilt, Whole()):
        assert "has written to its instance" in told(lambda how=refused: optsched.solve(instance, how, start=start))  # type: ignore[misc]
    assert start.verify(instance) == []
    assert "has written to its instance" in told(lambda: optsched.replay(instance, spoilt))
    played = optsched.replay(instance, Spoils())
    assert played.objective == optsched.replay(instance, "greedy").objective
    assert instance.model_dump() == before
    assert optsched.replay(instance, "fifo").objective == fifo


def test_what_a_policy_writes_to_its_snapshot_is_its_own() -> None:
    """Its decision is looked at beside what it was shown."""

    class Empties:
        def reset(self, seed: int) -> None:
            pass

        def decide(self, snapshot: DeferrableInstance) -> object:
            decided = optsched.solve(snapshot, "greedy").best
            snapshot.__dict__ |= {"jobs": (), "capacity": ()}
            return decided

    instance = tiny.deferrable(3)
    played = optsched.replay(instance, Empties())
    assert played.options["figures"]["fallbacks"] == 0
    assert played.schedule == optsched.replay(instance, "greedy").schedule
