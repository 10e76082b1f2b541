"""Sweeps: nothing is done twice, nothing is lost, and what goes wrong is a row that says so."""

from __future__ import annotations

import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from optsched.analysis.sweep.driver import sweep
from optsched.analysis.sweep.plan import Plan, read_plan
from optsched.analysis.sweep.store import Store
from optsched.analysis.sweep.trial import Identity, Trial, code_of, identify, run
from optsched.errors import InputError, OptschedError
from optsched.workers import LocalWorkers, Workers, workers
from tests.analysis.sweep.cases import build

HERE = "tests.analysis.sweep.cases"


def known(count: int) -> list[Identity]:
    return [identify(build, f"generate {seed}") for seed in range(count)]


def trials(instances: list[Identity], *names: str, seeds: int = 1) -> list[Trial]:
    return [
        Trial(i.recipe, i.sha256, "offline", name, {}, seed, 20.0) for i in instances for name in names for seed in range(seeds)
    ]


def statuses(store: Store) -> list[str]:
    return [row["status"] for row in store.rows()]


@pytest.fixture
def crew() -> Any:
    hired = LocalWorkers(2)
    yield hired
    hired.close()


def test_rows_are_those_of_compare_and_are_not_done_twice(tmp_path: Path, crew: Workers) -> None:
    store, instances = Store(tmp_path / "s.sqlite"), known(3)
    asked = trials(instances, "exact", "greedy") + [
        Trial(i.recipe, i.sha256, "online", "fifo", {"forecast": "perfect"}) for i in instances
    ]
    asked += [Trial(i.recipe, i.sha256, "bound", "quick") for i in instances]
    tally = sweep(store, asked, instances, build, crew)
    assert (tally.total, tally.kept, tally.done, tally.failed) == (12, 0, 12, 0)
    table = store.table()
    assert len(table) == 9
    assert (table[table["name"] == "exact"]["gap"] == 0).all()
    assert (table["gap"] >= 0).all()
    assert table["bound"].groupby(table["sha256"]).nunique().eq(1).all()
    again = sweep(store, asked, instances, build, crew)
    assert (again.kept, again.done) == (12, 0)
    store.close()


def test_what_fails_is_a_row(tmp_path: Path, crew: Workers) -> None:
    store, instances = Store(tmp_path / "s.sqlite"), known(1)
    tally = sweep(store, trials(instances, f"{HERE}:fails", "greedy"), instances, build, crew)
    assert (tally.done, tally.failed) == (2, 1)
    table = store.table().set_index("name")
    assert "no idea" in table.loc[f"{HERE}:fails", "message"]
    assert table.loc[f"{HERE}:fails", ["objective", "gap"]].isna().all()
    assert sweep(store, trials(instances, f"{HERE}:fails"), instances, build, crew).done == 0
    assert sweep(store, trials(instances, f"{HERE}:fails"), instances, build, crew, again=True).done == 1
    store.close()


def test_a_policy_that_a_rule_stood_in_for_has_failed(tmp_path: Path, crew: Workers) -> None:
    store, instances = Store(tmp_path / "s.sqlite"), known(1)
    asked = [Trial(instances[0].recipe, instances[0].sha256, "online", name) for name in ("fifo", f"{HERE}:Breaks")]
    assert sweep(store, asked, instances, build, crew).failed == 1
    table = store.table().set_index("name")
    assert table["status"].to_dict() == {"fifo": "done", f"{HERE}:Breaks": "failed"}
    assert "no idea" in table.loc[f"{HERE}:Breaks", "message"]
    assert sweep(store, asked, instances, build, crew, again=True).done == 1
    store.close()


def test_an_instance_that_changed_is_told(tmp_path: Path) -> None:
    (only,) = known(1)
    told = run(build, Trial(only.recipe, "0" * 64, "offline", "greedy"))
    assert told["status"] == "failed"
    assert "has changed" in told["message"]


def test_a_key_is_of_instance_method_options_and_seed() -> None:
    one = Trial("generate 1", "a" * 64, "offline", "greedy", {"k": 1}, 0, 5.0)
    same = Trial("copy.json", "a" * 64, "offline", "greedy", {"k": 1}, 0, 5.0)
    assert one.key == same.key
    for other in (
        Trial("generate 1", "b" * 64, "offline", "greedy", {"k": 1}, 0, 5.0),
        Trial("generate 1", "a" * 64, "offline", "greedy", {"k": 2}, 0, 5.0),
        Trial("generate 1", "a" * 64, "offline", "greedy", {"k": 1}, 1, 5.0),
        Trial("generate 1", "a" * 64, "offline", "greedy", {"k": 1}, 0, 6.0),
    ):
        assert other.key != one.key


@pytest.mark.slow
def test_a_worker_that_dies_costs_its_own_row_at_most(tmp_path: Path, crew: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed once: done again. Killed by its task: that one is told, all others are there."""
    monkeypatch.setenv("OPTSCHED_TEST_MARK", str(tmp_path / "mark"))
    store, instances = Store(tmp_path / "s.sqlite"), known(6)
    asked = trials(instances, "greedy", f"{HERE}:slow") + trials(instances[:1], f"{HERE}:dies", f"{HERE}:dies_once")
    sweep(store, asked, instances, build, crew)
    rows = {(row["name"], row["recipe"]): row for row in store.rows()}
    assert len(rows) == len(asked)
    odd = [name for (name, _), row in rows.items() if row["status"] != "done"]
    assert odd == [f"{HERE}:dies"]
    assert "its worker died" in rows[f"{HERE}:dies", instances[0].recipe]["message"]
    store.close()


@pytest.mark.slow
def test_two_drivers_share_the_work(tmp_path: Path) -> None:
    """Every row once; each does some."""
    instances, tallies = known(12), []

    def drive() -> None:
        store, crew = Store(tmp_path / "s.sqlite"), LocalWorkers(1)
        tallies.append(sweep(store, trials(instances, f"{HERE}:slow"), instances, build, crew))
        crew.close()
        store.close()

    Store(tmp_path / "s.sqlite").close()
    drivers = [threading.Thread(target=drive) for _ in range(2)]
    for driver in drivers:
        driver.start()
    for driver in drivers:
        driver.join()
    store = Store(tmp_path / "s.sqlite")
    assert statuses(store) == ["done"] * 12
    assert sum(tally.done for tally in tallies) == 12
    assert all(tally.done for tally in tallies)
    store.close()


PLAN = """
methods = ["greedy", "tests.analysis.sweep.cases:slow"]
seeds = "0-1"
[[instances]]
recipe = "generate osdec --jobs 6 --seed {seed}"
seed = "0-7"
"""


def command(*words: str, **how: Any) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-m", "optsched", "sweep", *words], env=environment, stdout=pipe, stderr=pipe, **how
    )


@pytest.mark.slow
def test_a_killed_driver_goes_on(tmp_path: Path) -> None:
    """kill -9 in the middle: what had come stays as it was, the rest is added, nothing twice; its workers end too."""
    (tmp_path / "p.toml").write_text(PLAN)
    first = command("p.toml", "--workers", "1", cwd=tmp_path)
    store = tmp_path / "p.sqlite"

    def kept() -> dict[str, str]:
        if not store.exists():
            return {}
        with sqlite3.connect(store, timeout=30) as db:
            try:
                return dict(db.execute("select key, told from rows").fetchall())
            except sqlite3.OperationalError:  # not made yet
                return {}

    until = time.monotonic() + 120
    while len(kept()) < 5 and time.monotonic() < until:
        time.sleep(0.1)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    before = kept()
    assert 5 <= len(before) < 32
    second = command("p.toml", "--json", cwd=tmp_path)
    out, err = second.communicate(timeout=300)
    assert second.returncode == 0, err.decode()
    assert len(json.loads(out)) == 32
    after = kept()
    assert len(after) == 32
    assert before.items() <= after.items()


@pytest.mark.slow
def test_ctrl_c_keeps_what_there_is(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(PLAN.replace('"0-7"', '"0-99"'))  # half a minute
    running = command("p.toml", "--workers", "1", cwd=tmp_path)
    until = time.monotonic() + 120
    while time.monotonic() < until:
        time.sleep(0.1)
        if (tmp_path / "p.sqlite").exists():
            with sqlite3.connect(tmp_path / "p.sqlite", timeout=30) as db, pytest.MonkeyPatch.context():
                try:
                    if db.execute("select count(*) from rows").fetchone()[0] >= 3:
                        break
                except sqlite3.OperationalError:
                    continue
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert b"the same command goes on" in err


@pytest.mark.slow
def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    """What had been kept can be read afterwards."""
    (tmp_path / "p.toml").write_text(PLAN)
    first = command("p.toml", "--workers", "2", cwd=tmp_path)
    _, err = first.communicate(timeout=300)
    assert first.returncode == 0, err.decode()
    (tmp_path / "p.toml").write_text(PLAN.replace('"0-7"', '"0-40"'))

    def small() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    full = command("p.toml", "--workers", "2", cwd=tmp_path, preexec_fn=small)
    _, err = full.communicate(timeout=300)
    assert full.returncode == 2, err.decode()
    (line,) = [line for line in err.decode().splitlines() if line.startswith("error")]
    assert "p.sqlite" in line
    assert "kept" in line
    store = Store(tmp_path / "p.sqlite")
    assert len(store.rows()) >= 32
    store.close()


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker(tmp_path: Path) -> None:
    """The same rows as with processes of this machine, though one of the two workers was killed on the way."""
    distributed = pytest.importorskip("distributed")
    store, instances = Store(tmp_path / "c.sqlite"), known(10)
    asked = trials(instances, "greedy", f"{HERE}:slow")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        crew = workers(None, cluster.scheduler_address)
        pids = list(crew.client.run(os.getpid).values())  # type: ignore[attr-defined]
        killer = threading.Timer(1.5, os.kill, (pids[0], signal.SIGKILL))
        killer.start()
        tally = sweep(store, asked, instances, build, crew)
        killer.join()
        crew.close()
    assert (tally.done, tally.failed) == (20, 0)
    local, hired = Store(tmp_path / "l.sqlite"), LocalWorkers(2)
    sweep(local, asked, instances, build, hired)
    hired.close()

    def figures(kept: Store) -> dict[str, float]:
        return {row["key"]: row["objective"] for row in kept.rows()}

    assert figures(store) == figures(local)
    store.close()
    local.close()


def test_a_cluster_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("optsched.workers.ANSWERS_S", 1)
    with pytest.raises(OptschedError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1"):
        workers(None, "tcp://127.0.0.1:1")
    with pytest.raises(OptschedError, match="'foo' is no address of a Dask scheduler"):
        workers(None, "foo")


@pytest.mark.timing
def test_ten_thousand_tasks_cost_little_each(tmp_path: Path) -> None:
    """Under 20 ms of overhead a task, with one worker."""
    store, crew, instances = Store(tmp_path / "s.sqlite"), LocalWorkers(1), known(10)
    asked = trials(instances, f"{HERE}:nothing", seeds=1000)
    tally = sweep(store, asked, instances, build, crew)
    spent = sum(row["seconds"] for row in store.rows())
    assert tally.done == 10_000
    assert (tally.seconds - spent) / 10_000 < 0.02
    crew.close()
    store.close()


def test_a_store_is_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="exists and keeps no sweep"):
        Store(tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_damaged_store_says_so(tmp_path: Path) -> None:
    """And promises nothing."""
    store = Store(tmp_path / "p.sqlite")
    store.db.execute("insert into rows values ('k', '', '', '', 'offline', 'greedy', '{}', 0, 1.0, '', 'done', '{')")
    with pytest.raises(InputError, match=r"is damaged \(a row is no JSON.*name another --store"):
        store.rows()
    store.db.execute("drop table claims")
    with pytest.raises(InputError, match=r"is damaged \(no such table: claims\)"):
        store.claim([Trial("", "", "offline", "greedy", {}, 0, 1.0)])
    store.db.close()


SEEDED = 'recipe = "generate osdec --seed {seed}"'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("methods = [", "is no TOML"),
        ('methods = ["greedy"]', "instances: is missing"),
        ('method = ["greedy"]\n[[instances]]\nrecipe = "generate osdec"', "did you mean methods"),
        ('seeds = "5-2"\n[[instances]]\nrecipe = "generate osdec"', "seeds are whole numbers"),
        (f'methods = ["greedy"]\n[[instances]]\n{SEEDED}\nseed = "5-2"', r"instances\[0\].*seed: seeds are whole numbers"),
        (f'methods = ["greedy"]\ntime_limit = -3\n[[instances]]\n{SEEDED}\nseed = 1', "time_limit: .*must be a positive"),
        (f'methods = ["greedy"]\nseeds = [0, -1]\n[[instances]]\n{SEEDED}\nseed = 1', r"seeds\[1\]"),
        (f'methods = ["greedy"]\ntime_limit = "nan"\n[[instances]]\n{SEEDED}\nseed = 1', "time_limit: .*is no duration"),
    ],
)
def test_a_plan_that_is_none(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises(InputError, match=said):
        read_plan(tmp_path / "p.toml")


def test_every_list_is_an_axis() -> None:
    plan = Plan.model_validate(
        {
            "instances": [{"recipe": "generate osdec --jobs {jobs} --seed {seed}", "jobs": [5, 9], "seed": "0-2"}],
            "methods": ["exact", {"name": "auto"}],
            "policies": [{"name": "rolling", "forecast": ["perfect", "noisy:0.1"]}],
            "seeds": [4, 7],
        }
    )
    assert len(plan.recipes()) == 6
    assert plan.recipes()[1] == "generate osdec --jobs 5 --seed 1"
    only = Identity("generate osdec --jobs 5 --seed 1", "a" * 64, "x", "deferrable", 5)
    asked = plan.trials([only])
    assert len(asked) == 1 + 2 * 2 + 2 * 2
    assert {trial.kind for trial in asked} == {"bound", "offline", "online"}
    with pytest.raises(OptschedError, match=r"recipe .*: the axis jobs is nowhere in it"):
        Plan.model_validate({"instances": [{"recipe": "generate osdec", "jobs": 5}], "methods": ["auto"]}).recipes()
    with pytest.raises(OptschedError, match="no method 'nope'"):
        Plan.model_validate({"instances": [{"recipe": "x"}], "methods": ["nope"]}).trials([only])


def test_no_point_of_the_grid_is_lost_without_a_word() -> None:
    """A good point of a name does not hide a wrong one; a wrong option is told, not that another family lacks the method."""
    two = [Identity("a", "a" * 64, "a", "deferrable", 1), Identity("b", "b" * 64, "b", "vcc", 1)]
    for told, said in (
        ({"policies": [{"name": "rolling", "forecast": ["perfect", "nosiy:0.2"]}]}, "nosiy"),
        ({"methods": ["greedy", {"name": "greedy", "options": {"nosuch": [1, 2]}}]}, "nosuch"),
        ({"methods": [{"name": "constant", "options": {"cp": [0.2]}}]}, "cp"),
        ({"policies": [{"name": "rolling", "guard": "no"}]}, "guard is true or false"),
    ):
        with pytest.raises(OptschedError, match=said):
            Plan.model_validate({"instances": [{"recipe": "x"}], **told}).trials(two)


def test_a_store_without_a_single_good_row_has_a_table(tmp_path: Path, crew: Workers) -> None:
    store, instances = Store(tmp_path / "s.sqlite"), known(2)
    sweep(store, trials(instances, f"{HERE}:fails"), instances, build, crew)
    table = store.table()
    assert table["status"].tolist() == ["failed", "failed"]
    assert table[["objective", "gap"]].isna().all(axis=None)
    store.close()


def test_a_contradiction_is_marked_and_keeps_nobody_from_reading(tmp_path: Path, crew: Workers) -> None:
    store, instances = Store(tmp_path / "s.sqlite"), known(2)
    sweep(store, trials(instances, "exact"), instances, build, crew)
    (row, _) = store.rows()
    told = {**row, "bound": row["objective"] - 1}  # it is a maximum
    told = {name: value for name, value in told.items() if name not in ("key", "recipe", "options")}
    store.db.execute("update rows set told = ? where key = ?", (json.dumps(told), row["key"]))
    table = store.table()
    assert table["status"].tolist() == ["wrong", "done"]
    assert "excludes" in table["message"][0]
    store.close()


def test_somebody_elses_database_is_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "x.sqlite") as db:
        db.execute("create table mine (a)")
    before = (tmp_path / "x.sqlite").read_bytes()
    with pytest.raises(InputError, match="a database that keeps no sweep"):
        Store(tmp_path / "x.sqlite")
    assert (tmp_path / "x.sqlite").read_bytes() == before
    with pytest.raises(InputError, match="cannot be used as a store"):
        Store(tmp_path / "nowhere" / "x.sqlite")


def test_code_of_ones_own_that_changed_is_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    keys = set()
    for text in ("a = 1\n", "a = 2\n"):
        (tmp_path / "mine.py").write_text(text)
        code_of.cache_clear()
        keys.add(Trial("x", "a" * 64, "offline", "mine:a").key)
    assert len(keys) == 2


def test_a_method_of_another_family_is_left_out() -> None:
    plan = Plan.model_validate({"instances": [{"recipe": "x"}], "methods": ["sjf", "randomized-greedy"]})
    two = [Identity("a", "a" * 64, "a", "deferrable", 1), Identity("b", "b" * 64, "b", "allocation", 1)]
    assert [(trial.recipe, trial.name) for trial in plan.trials(two)] == [("a", "sjf"), ("b", "randomized-greedy")]
