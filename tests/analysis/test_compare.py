"""`optsched.compare`: a row a method and a policy, each against the best bound that is proven for what it is measured by."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import optsched
from optsched.analysis.gaps import COUNTED, Interrupted
from optsched.analysis.metrics import METRICS
from optsched.instances.generators import andreas, masac
from optsched.monitor import Monitor
from tests.oracle import tiny

COLUMNS = ["name", "objective", "bound", "gap", "kind", "termination", "seconds", "instance"]


def rows(table: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """By name, which is one row's alone."""
    assert len(set(table["name"])) == len(table)
    return {row["name"]: row for row in table.to_dict("records")}


def one_gpu() -> Any:
    """Two jobs of 100 s with time to spare, on one GPU of 36 EUR/h: now one of them runs for 1 EUR, in the end both for 2."""
    job = {"submit_s": 0, "due_s": 1000, "weight_per_s": 1, "time_s": {"A": [100]}}
    return tiny.make(
        "allocation",
        currency="EUR",
        now_s=0,
        scheduling_interval_s=10,
        postponement_penalty=2,
        gpu_types={"A": {"node_cost_per_h": [36.0]}},
        nodes=[{"id": "n", "gpu_type": "A", "gpus": 1}],
        jobs=[{"id": j, **job} for j in "ab"],
    )


def test_a_row_each_in_the_order_given(examples: Path) -> None:
    instance = optsched.load(examples / "geo-small.json")
    table = optsched.compare(instance, ["greedy", "exact"], ["local-fcfs", "price-greedy"])
    assert list(table.columns)[: len(COLUMNS)] == COLUMNS
    figures = list(table.columns)[len(COLUMNS) + len(COUNTED) :]
    assert figures == [
        *METRICS,
        "seed",
        "sense",
        "objective_kind",
        "sha256",
        "message",
        *optsched.solve(instance, "greedy").components,
    ]
    printed = str(table).splitlines()
    assert printed[0].split()[:4] == COLUMNS[:4]
    assert printed[1].split()[1] == "greedy"
    assert max(map(len, printed)) <= 80
    assert set(table["instance"]) == {instance.name}
    assert list(zip(table["kind"], table["name"], strict=True)) == [
        ("offline", "greedy"),
        ("offline", "exact"),
        ("online", "local-fcfs"),
        ("online", "price-greedy"),
    ]
    assert (table["seconds"] >= 0).all()
    solved = optsched.solve(instance, "exact")
    assert rows(table)["exact"]["objective"] == solved.objective == pytest.approx(2.895066059)
    assert rows(table)["local-fcfs"]["objective"] == optsched.replay(instance, "local-fcfs").objective
    assert rows(table)["exact"]["termination"] == solved.termination == "optimal"


def test_nothing_to_compare(examples: Path) -> None:
    assert len(optsched.compare(optsched.load(examples / "geo-small.json"))) == 0


def test_proxy_and_realised_have_bounds_of_their_own() -> None:
    """A snapshot's 1 EUR is no bound of a history, nor are the 2 EUR of a history one of the snapshot."""
    table = rows(optsched.compare(one_gpu(), ["exact", "greedy"], ["fifo"]))
    assert (table["exact"]["objective"], table["exact"]["bound"]) == (pytest.approx(1), pytest.approx(1))
    assert table["greedy"]["bound"] == table["exact"]["bound"]
    assert table["exact"]["gap"] == pytest.approx(0)
    assert (table["fifo"]["objective"], table["fifo"]["bound"]) == (pytest.approx(2), pytest.approx(2, rel=1e-5))
    assert table["fifo"]["gap"] == pytest.approx(0, abs=1e-5)


def test_a_history_has_its_bound_without_any_method() -> None:
    table = rows(optsched.compare(one_gpu(), [], ["fifo", "edf"]))
    assert {name: row["bound"] for name, row in table.items()} == dict.fromkeys(("fifo", "edf"), pytest.approx(2, rel=1e-5))


@pytest.mark.parametrize(("family", "maximised"), [("deferrable", True), ("geo", True), ("vcc", False)])
def test_the_best_bound_holds_for_all(family: str, maximised: bool, examples: Path) -> None:
    """Online and offline mean the same here: the optimum that `exact` proves is everybody's bound, and nobody is beyond it."""
    instance = optsched.load(examples / f"{family}-small.json")
    policy = {"deferrable": "fifo", "geo": "local-fcfs", "vcc": "uncapped"}[family]
    table = optsched.compare(instance, ["decomposition", "greedy", "exact"], [policy])
    (best,) = table.loc[table["name"] == "exact", "objective"]
    assert list(table["bound"]) == [pytest.approx(best)] * 4
    for row in table.to_dict("records"):
        assert (row["objective"] <= best + 1e-9) if maximised else (row["objective"] >= best - 1e-9)
        assert row["gap"] == pytest.approx(abs(row["objective"] - best) / abs(row["objective"]), abs=1e-9)
    assert table.set_index("name")["gap"]["greedy"] > 1e-6  # else this shows little


@pytest.mark.parametrize("family", ["deferrable", "geo"])
def test_a_looser_bound_is_used_where_there_is_no_better(family: str) -> None:
    """Without `exact`, a replay has that of its root: between the optimum and the bound of whoever knows everything."""
    from optsched.registry import family_of

    policy = {"deferrable": "fifo", "geo": "local-fcfs"}[family]
    loose = 0
    for seed in range(12):
        instance = tiny.TINY[family](seed)
        alone = rows(optsched.compare(instance, [], [policy]))[policy]
        both = rows(optsched.compare(instance, ["exact"], [policy]))[policy]
        own = family_of(instance).clairvoyant(instance)
        assert own is not None
        assert alone["objective"] == both["objective"]
        assert own >= alone["bound"] >= both["bound"] - 1e-9
        assert both["bound"] >= both["objective"] - 1e-9
        loose += own > alone["bound"] + 1e-6
    assert loose


def test_without_a_bound_there_is_no_gap(examples: Path) -> None:
    table = optsched.compare(optsched.load(examples / "geo-small.json"), ["greedy"])
    assert table["objective"].notna().all()
    assert table[["bound", "gap"]].isna().all(axis=None)


def test_a_time_limit_ends_a_method_not_the_table() -> None:
    """A millisecond is over before anything is proven; the row has what there is."""
    instance = masac(jobs=40, days=0.1, seed=0)
    table = optsched.compare(instance, ["exact", "greedy"], time_limit=1e-3)
    by_name = rows(table)
    assert by_name["exact"]["termination"] == "time_limit"
    assert by_name["exact"]["objective"] is not None
    assert by_name["greedy"]["objective"] is not None


def test_seeds_reproduce_and_matter(examples: Path) -> None:
    """The same seed gives the same table, and it is the seed of the forecast's noise and of a method's draws."""
    instance, noisy = optsched.load(examples / "deferrable-small.json"), {"forecast": "noisy:0.9"}
    found = []
    for seed in range(3):
        tables = [optsched.compare(instance, [], ["fifo"], seed=seed, **noisy).drop(columns="seconds") for _ in range(2)]
        assert tables[0].equals(tables[1])
        (objective,) = tables[0]["objective"]
        assert objective == optsched.replay(instance, "fifo", seed=seed, **noisy).objective  # type: ignore[arg-type]
        found.append(objective)
    assert len(set(found)) > 1
    cluster = andreas(case=2, nodes=4, jobs=12, all_submitted=True)
    drawn = optsched.compare(cluster, ["randomized-greedy"], seed=5)["objective"][0]
    assert drawn == optsched.solve(cluster, "randomized-greedy", seed=5).objective


def test_seeds_as_text_of_one_instance(examples: Path) -> None:
    instance = optsched.load(examples / "deferrable-small.json")
    assert optsched.compare(instance, ["greedy"], seeds="0-2")["seed"].tolist() == [0, 1, 2]
    with pytest.raises(optsched.OptschedError, match="seeds are whole numbers"):
        optsched.compare(instance, ["greedy"], seeds="1-0")


def test_settings_are_those_of_a_replay(examples: Path) -> None:
    """As `replay` takes them, durations as text; who takes none goes without, unless that is everybody."""
    instance = optsched.load(examples / "deferrable-small.json")
    how: dict[str, Any] = {"window_s": "5m", "period_s": "10m"}
    table = rows(optsched.compare(instance, [], ["fifo", "rolling:exact"], **how))
    near, far = (optsched.replay(instance, "rolling:exact", **given).objective for given in (how, {}))
    assert table["rolling:exact"]["objective"] == near != far
    assert table["fifo"]["objective"] == optsched.replay(instance, "fifo").objective
    for wrong, said in ((how, "policy fifo takes no window"), ({"budget_s": "soon"}, "'soon' is no duration")):
        with pytest.raises(optsched.OptschedError, match=said):
            optsched.compare(instance, [], ["fifo"], **wrong)


def test_everybody_has_the_settings_that_he_takes() -> None:
    """One that takes no history keeps its plan all the same, and one that takes no window its history."""
    instance, past = (optsched.generate("osdec", jobs=30, horizon=60, seed=seed) for seed in (3, 4))
    replan = {"replan_s": 20 * instance.slot_s}
    table = rows(optsched.compare(instance, [], ["rolling:greedy", "rolling", "fifo"], history=past, **replan))
    alone = {
        "rolling:greedy": optsched.replay(instance, "rolling:greedy", **replan),
        "rolling": optsched.replay(instance, "rolling", history=past, **replan),
        "fifo": optsched.replay(instance, "fifo"),
    }
    assert {name: row["objective"] for name, row in table.items()} == {name: r.objective for name, r in alone.items()}
    assert alone["rolling:greedy"].objective != optsched.replay(instance, "rolling:greedy").objective
    short = rows(optsched.compare(instance, [], ["rolling:greedy", "rolling"], window_s="1h", history=past))
    learned = optsched.replay(instance, "rolling", history=past)
    assert short["rolling"]["objective"] == learned.objective != optsched.replay(instance, "rolling").objective
    with pytest.raises(optsched.OptschedError, match="takes no window"):
        optsched.compare(instance, [], ["rolling", "fifo"], window_s="1h", history=past)
    for policies in (["rolling:greedy", "rolling"], ["rolling", "rolling:greedy"]):
        with pytest.raises(optsched.OptschedError, match="shorter than a slot"):
            optsched.compare(instance, [], policies, window_s=1)
    with pytest.raises(optsched.OptschedError, match="takes no window"):
        optsched.compare(instance, [], ["fifo"], window_s="1h", history=past, **replan)


@pytest.mark.parametrize(
    ("family", "methods", "policies", "word"),
    [
        ("geo", ["no-such-method"], [], "no-such-method"),
        ("geo", [], ["no-such-policy"], "no-such-policy"),
        ("day_ahead", [], ["rolling"], "day_ahead"),  # in which no time passes
        ("geo", ["greedy"], ["fifo"], "fifo"),  # of another family
    ],
)
def test_what_cannot_be_compared_is_one_line(family: str, methods: list[str], policies: list[str], word: str) -> None:
    with pytest.raises(optsched.OptschedError, match=word) as refused:
        optsched.compare(tiny.EVERY[family](1), methods, policies)
    assert "\n" not in str(refused.value)


def test_an_interrupt_leaves_no_table_of_half_a_replay() -> None:
    """Ctrl-C in a replay is told, not scored."""
    instance = masac(seed=0)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # not what the command line listens with
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            optsched.compare(instance, [], ["rolling", "rolling"])
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("method", ["auto", "exact", "decomposition"])
def test_an_interrupt_in_a_method_ends_the_table(method: str, monkeypatch: pytest.MonkeyPatch, examples: Path) -> None:
    """`solve` keeps what it has; a comparison begins nothing further, and says what it had."""
    asked, begun = Monitor.incumbent, []

    def ask(self: Monitor, *given: Any, **more: Any) -> Any:
        monkeypatch.setattr(Monitor, "incumbent", asked)
        answer = asked(self, *given, **more)
        signal.raise_signal(signal.SIGINT)
        return answer

    def first(instance: Any) -> Any:
        monkeypatch.setattr(Monitor, "incumbent", ask)
        return {"starts": []}

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(Interrupted, match="interrupted after 1 rows") as stopped:
            optsched.compare(optsched.load(examples / "deferrable-small.json"), [first, method, begun.append], ["fifo"])
    finally:
        signal.signal(signal.SIGINT, before)
    assert stopped.value.table["name"].tolist() == ["first"]
    assert begun == []


def test_a_single_name_or_object_is_one(examples: Path) -> None:
    instance = optsched.load(examples / "deferrable-small.json")

    def nothing(instance: Any) -> Any:
        return {"starts": []}

    assert optsched.compare(instance, "greedy", "fifo")["name"].tolist() == ["greedy", "fifo"]
    assert optsched.compare(instance, nothing)["name"].tolist() == ["nothing"]  # type: ignore[arg-type]


def test_a_method_that_fails_ends_the_table_unless_it_is_to_go_on(examples: Path, caplog: pytest.LogCaptureFixture) -> None:
    instance = optsched.load(examples / "deferrable-small.json")

    def fails(instance: Any) -> Any:
        raise ValueError("no idea")

    with pytest.raises(optsched.OptschedError, match=r"^fails raised ValueError: no idea$"):
        optsched.compare(instance, [fails, "greedy"])
    with caplog.at_level("WARNING", logger="optsched.analysis.gaps"):
        table = rows(optsched.compare(instance, [fails, "greedy"], on_failure="fallback"))
    assert [record.getMessage() for record in caplog.records] == ["fails failed: fails raised ValueError: no idea"]
    assert list(table) == ["greedy", "fails"]
    assert (table["fails"]["termination"], pd.isna(table["fails"]["objective"])) == ("error", True)
    with pytest.raises(optsched.OptschedError, match="on_failure is 'raise' or 'fallback', got 'ignore'"):
        optsched.compare(instance, ["greedy"], on_failure="ignore")
