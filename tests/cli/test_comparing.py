"""compare, sweep, tune and bench as they are typed."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from optsched.cli._frames import records
from optsched.cli._recipe import built
from optsched.errors import OptschedError
from tests.cli.test_cli import one_line, run


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cases")
    for seed in range(3):
        assert run("generate", "osdec", "--jobs", 8, "--seed", seed, "-o", folder / f"{seed}.json").returncode == 0
    return folder


def test_compare(cases: Path, tmp_path: Path) -> None:
    """The table, its files and pictures, and results that `check` confirms."""
    files = [cases / f"{seed}.json" for seed in range(3)]
    words = ["--methods", "auto,greedy", "--policies", "fifo,rolling", "--seeds", "0-1", "-o", tmp_path / "t.csv"]
    words += ["--profile", tmp_path / "p.svg", "--trace", tmp_path / "g.svg", "--results", tmp_path / "kept"]
    done = run("compare", *files, *words)
    assert done.returncode == 0, done.stderr
    for word in ("mean gap", "behind the first", "where the gap comes from", "written to", "drawn to"):
        assert word in done.stdout
    table = pd.read_csv(tmp_path / "t.csv")
    assert len(table) == 3 * 2 * 4
    assert (table["gap"] >= 0).all()
    assert {path.suffix for path in tmp_path.iterdir()} == {".csv", ".svg", ""}
    kept = sorted((tmp_path / "kept").iterdir())
    assert len(kept) == 24
    assert run("check", files[0], kept[0]).returncode == 0
    played = [json.loads(path.read_text()) for path in kept if ".replay-" in path.name]
    bounds = table[table["kind"] == "online"].set_index("sha256")["bound"]
    assert {result["bound"] == pytest.approx(bounds[result["instance"]["sha256"]].iloc[0]) for result in played} == {True}


def test_compare_that_is_stopped_before_its_first_row_keeps_nothing(cases: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import os, signal\n\ndef stop(instance):\n    os.kill(os.getpid(), signal.SIGINT)\n")
    done = run("compare", cases / "0.json", "--methods", "mine:stop", "--results", "kept", cwd=tmp_path)
    assert done.returncode == 130
    assert done.stderr.splitlines() == ["interrupted after 0 of at most 1 runs"]


def test_compare_says_what_failed(cases: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def broken(instance):\n    raise ValueError('no idea')\n")
    done = run("compare", cases / "0.json", cases / "1.json", "--methods", "mine:broken,greedy,auto", cwd=tmp_path)
    assert done.returncode == 1
    assert "mine:broken has no gap on 2 instances" in done.stdout
    assert "no idea" in done.stderr


def test_compare_says_what_guards_did_and_whom_to_doubt(tmp_path: Path) -> None:
    """Once a policy, however many runs: an agent far from the loads that it was trained on."""
    for seed in range(2):
        words = ("--days", 2, "--load", 3, "--jobs", 500, "--seed", seed)
        assert run("generate", "vcc", *words, "-o", tmp_path / f"{seed}.json").returncode == 0
    done = run("compare", "0.json", "1.json", "--policies", "uncapped,vcc-sac", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stdout.splitlines() if line.startswith("vcc-sac: ")]
    assert "vcc-sac: its guard let a rule decide " in said[0]
    assert " of 96 times, in 2 of 2 runs" in said[0]
    assert "trained at flexible loads" in said[1]
    assert "(2 runs)" in said[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--methods", "gredy"], "did you mean greedy"),
        (["--seeds", "3-1"], "seeds are whole numbers"),
        (["-o", "t.xlsx"], "a table ends in"),
        (["--profile", "p.txt"], "a picture ends in"),
        (["--forecast", "nosuch"], "no forecast 'nosuch'"),
        (["--profile", "p.png", "--trace", "./p.png"], "--profile and --trace would write the same file"),
        (["-o", "x.json", "--results", "x.json"], "-o and --results would write the same file"),
        (["--results", ""], "the name of a file is empty"),
        (["--methods", "greedy", "--budget", "1s"], "--budget is of policies, and there are no --policies"),
        (["--policies", "fifo", "--time-limit", "1s"], "--time-limit is of methods, and there are no --methods"),
    ],
)
def test_compare_refuses(cases: Path, words: list[str], said: str, tmp_path: Path) -> None:
    done = run("compare", cases / "0.json", *words, cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert done.returncode == 2
    assert said in one_line(done)


def test_a_table_keeps_all_digits() -> None:
    """pandas would round to fifteen decimals, however small a number is."""
    rows = [
        {"name": "a", "value": 1.23456789e-9, "count": 2, "none": None},
        {"name": "é", "value": 0.1 + 0.2, "count": 3, "none": None},
        {"name": "c", "value": math.nan, "count": 4, "none": None},
        {"name": "d", "value": math.inf, "count": 5, "none": None},
    ]
    found = json.loads(records(pd.DataFrame(rows)))
    assert found == rows[:2] + [row | {"value": None} for row in rows[2:]]


def test_a_table_with_what_a_plug_in_puts_there() -> None:
    when = pd.Timestamp("2022-12-01")
    table = pd.DataFrame({"a": [[1.0, math.nan], np.array([1, 2])], "b": [when, pd.NaT], "c": [{"x": math.inf}, np.int64(3)]})
    found = json.loads(records(table))
    assert found == [{"a": [1.0, None], "b": str(when), "c": {"x": None}}, {"a": [1, 2], "b": None, "c": 3}]


def test_sweep_goes_on_and_exports(tmp_path: Path) -> None:
    (tmp_path / "g.toml").write_text(
        'methods = ["greedy", "fifo"]\npolicies = ["fifo"]\n'
        '[[instances]]\nrecipe = "generate osdec --jobs {jobs} --seed {seed}"\njobs = [4, 6]\nseed = "0-1"\n'
    )
    first = run("sweep", "g.toml", "--workers", "1", "-o", "t.csv", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    table = pd.read_csv(tmp_path / "t.csv")
    assert len(table) == 4 * 3
    assert table["bound"].notna().all()
    again = run("sweep", "g.toml", "--workers", "1", "--json", cwd=tmp_path)
    assert len(json.loads(again.stdout)) == 12
    export = run("sweep", "g.sqlite", "-o", "u.csv", cwd=tmp_path)
    assert export.returncode == 0
    assert (tmp_path / "u.csv").read_bytes() == (tmp_path / "t.csv").read_bytes()
    dry = run("sweep", "g.toml", "--dry-run", cwd=tmp_path)
    assert dry.stdout.startswith("4 instances")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("methods = [", "g.toml: is no TOML"),
        (
            'methods = ["greedy"]\n[[instances]]\nfiles = "none-*.json"\n',
            "g.toml: instances[0]: no file is called 'none-*.json'",
        ),
        (
            'methods = ["gredy"]\n[[instances]]\nrecipe = "generate osdec --jobs 4"\n',
            "g.toml: methods: deferrable has no method 'gredy', did you mean greedy",
        ),
        ('methods = ["fifo"]\n[[instances]]\nrecipe = "generate osdec --jobs {n}"\n', "{n} needs an axis"),
        ('methods = ["fifo"]\n[[instances]]\nrecipe = "generate osdec"\nn = 4\n', "the axis n is nowhere in it: expected {n}"),
        ('methods = ["greedy"]\n[[instances]]\nrecipe = "generate osdec --job 4"\n', "No such option"),
    ],
)
def test_sweep_refuses(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "g.toml").write_text(text)
    done = run("sweep", "g.toml", "--workers", "1", cwd=tmp_path)
    assert done.returncode == 2
    assert said in one_line(done)
    identified = "did you mean" in said  # what the instances are is worth keeping
    assert sorted(path.name for path in tmp_path.iterdir()) == (["g.sqlite", "g.toml"] if identified else ["g.toml"])


def test_a_dry_sweep_refuses_what_no_family_has_and_makes_no_store(tmp_path: Path) -> None:
    """An axis of estimates is run like any other; a law that there is not is told before any instance is made."""
    plan = '[[instances]]\nrecipe = "generate osdec --jobs 4"\n[[policies]]\nname = "{}"\nestimates = ["true", "{}"]\n'
    for name, law, said in (
        ("fifoo", "true", "policies: allocation has no policy 'fifoo', did you mean fifo?"),
        ("fifo", "nosy:0.4", "policies: estimates are true, user or noisy:0.3, got 'nosy:0.4'"),
    ):
        (tmp_path / "g.toml").write_text(plan.format(name, law))
        done = run("sweep", "g.toml", "--dry-run", cwd=tmp_path)
        assert (done.returncode, one_line(done)) == (2, f"error: g.toml: {said}")
    (tmp_path / "g.toml").write_text(plan.format("fifo", "noisy:0.4"))
    assert run("sweep", "g.toml", "--dry-run", cwd=tmp_path).stdout.startswith("1 instance, 2 runs of each: 2")
    assert [path.name for path in tmp_path.iterdir()] == ["g.toml"]
    done = run("sweep", "g.toml", "--workers", "1", "-o", "t.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert list(pd.read_csv(tmp_path / "t.csv")["options"]) == ["estimates=true", "estimates=noisy:0.4"]


def test_the_table_is_the_plans_and_its_failures_are_told_each_time(tmp_path: Path) -> None:
    """What an earlier plan has left in the store is not in it."""
    (tmp_path / "mine.py").write_text("def boom(instance):\n    raise ValueError('no idea')\n")
    plan = '{}\n[[instances]]\nrecipe = "generate osdec --jobs 4 --seed {{seed}}"\nseed = "{}"\n'
    (tmp_path / "g.toml").write_text(plan.format('methods = ["greedy", "fifo"]', "0-2"))
    assert run("sweep", "g.toml", "--workers", "1", cwd=tmp_path).returncode == 0
    (tmp_path / "g.toml").write_text(plan.format('methods = ["greedy", "mine:boom"]', "0-1"))
    for _ in range(2):
        done = run("sweep", "g.toml", "--workers", "1", "-o", "t.csv", cwd=tmp_path)
        assert done.returncode == 1
        assert "mine:boom failed on 2 of its runs: " in done.stderr
        assert "no idea" in done.stderr
        table = pd.read_csv(tmp_path / "t.csv")
        assert sorted(table["name"]) == ["greedy", "greedy", "mine:boom", "mine:boom"]


@pytest.mark.parametrize("scheduler", ["nonsense", "tcp://:8786", "tcp://here", "tcp://a b:8786", ""])
def test_an_address_is_read_before_anything_is_done(scheduler: str, cases: Path, tmp_path: Path) -> None:
    (tmp_path / "g.toml").write_text(f'methods = ["greedy"]\n[[instances]]\nfiles = "{cases / "0.json"}"\n')
    for words in (["solve", cases / "0.json"], ["sweep", tmp_path / "g.toml"]):
        said = one_line(run(*words, "--scheduler", scheduler))
        assert f"{scheduler!r} is no address of a Dask scheduler: write it as tcp://10.0.0.1:8786" in said
    given = ["--method", "decomposition", "--option", "scheduler=nonsense"]
    assert "'nonsense' is no address" in one_line(run("solve", cases / "0.json", *given))


@pytest.mark.parametrize(
    "words", [["solve", "-o", ""], ["replay", "--log", ""], ["replay", "--checkpoint", ""], ["events", "-o", ""]]
)
def test_an_output_has_a_name(words: list[str], cases: Path, tmp_path: Path) -> None:
    said = one_line(run(words[0], cases / "0.json", *words[1:], cwd=tmp_path))
    assert "the name of a f" in said
    assert said.endswith(" is empty")
    assert list(tmp_path.iterdir()) == []


def test_outputs_never_replace_what_is_read(cases: Path, tmp_path: Path) -> None:
    train, test = tmp_path / "train.json", tmp_path / "test.json"
    for seed, file in enumerate((train, test)):
        assert run("generate", "vcc", "--jobs", 20, "--days", 1, "--load", 0.2, "--seed", seed, "-o", file).returncode == 0
    kept = train.read_bytes()
    tuned = run("tune", "constant", "--train", train, "--test", test, "--trials", 1, "-o", train)
    assert (tuned.returncode, train.read_bytes()) == (2, kept)
    other = tmp_path / "other.json"
    other.write_bytes(kept)
    assert run("tune", "constant", "--train", train, "--test", test, "--trials", 1, "-o", other).returncode == 2
    assert other.read_bytes() == kept
    (tmp_path / "g.toml").write_text(f'methods = ["greedy"]\n[[instances]]\nfiles = "{train}"\n')
    swept = run("sweep", tmp_path / "g.toml", "--workers", "1", "-o", train)
    assert (swept.returncode, train.read_bytes()) == (2, kept)
    library = tmp_path / "library"
    library.mkdir()
    (library / "library.toml").write_text('[[instances]]\nname = "x"\nrecipe = "generate osdec --jobs 4"\nsuite = "small"\n')
    assert run("bench", "--library", library, "--update").returncode == 0
    best = (library / "best.json").read_bytes()
    assert run("bench", "--library", library, "-o", library / "best.json").returncode == 2
    assert (library / "best.json").read_bytes() == best
    (tmp_path / "kept").mkdir()
    compared = run("compare", cases / "0.json", "--methods", "greedy", "--results", tmp_path / "kept")
    (file,) = (tmp_path / "kept").iterdir()
    assert compared.returncode == 0
    file.write_text("notes")
    assert run("compare", cases / "0.json", "--methods", "greedy", "--results", tmp_path / "kept").returncode == 2
    assert file.read_text() == "notes"


def test_bench(tmp_path: Path) -> None:
    """An edited best value is found out."""
    library = tmp_path / "library"
    library.mkdir()
    (library / "library.toml").write_text('[[instances]]\nname = "x"\nrecipe = "generate osdec --jobs 6"\nsuite = "small"\n')
    first = run("bench", "--library", library, "--update")
    assert first.returncode == 0, first.stderr
    known = json.loads((library / "best.json").read_text())
    assert known["x"]["best"]["value"] == known["x"]["bound"]["value"]
    assert run("bench", "--library", library).returncode == 0
    known["x"]["bound"]["value"] = known["x"]["best"]["value"] - 1  # it is a maximum
    (library / "best.json").write_text(json.dumps(known))
    done = run("bench", "--library", library)
    assert done.returncode == 1
    assert "WRONG x: has" in done.stdout
    assert "excludes" in done.stdout
    listed = run("bench", "--library", library, "--list")
    assert "generate osdec --jobs 6" in listed.stdout
    (entry,) = json.loads(run("bench", "--library", library, "--list", "--json").stdout)
    assert (entry["name"], entry["known"]["jobs"]) == ("x", 6)


def test_recipes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = built("generate osdec --jobs 5 --seed 3")
    assert (made.job_count, built("generate osdec --jobs 5 --seed 3") is made) == (5, True)
    assert built("example geo-small").name == "masac-J40-load0.8-s2"
    made.save(tmp_path / "x.json")
    assert built(str(tmp_path / "x.json")).sha256 == made.sha256
    odd = tmp_path / "generate it's.json"
    made.save(odd)
    assert built(str(odd)).sha256 == made.sha256
    for recipe, said in (
        ("generate osdec -o y.json", "leave -o"),
        ("generate nothing", "no command"),
        ("y.json", "no such file"),
        ("rm -rf x", "neither a file nor begins with"),
        ("", "name of a file is empty"),
        ("generate 'x", "No closing quotation"),
    ):
        with pytest.raises(OptschedError, match=said):
            built(recipe)


def test_a_method_of_one_family_among_several(examples: Path, tmp_path: Path) -> None:
    """`tetris` is a rule of deferrable only, `local-fcfs` one of geo: each where it is known, and all in two tables."""
    files = [examples / "deferrable-small.json", examples / "geo-small.json"]
    tables = [tmp_path / "t.csv", tmp_path / "t.md"]
    words = ["--policies", "tetris,local-fcfs", "-o", tables[0], "-o", tables[1]]
    done = run("compare", *files, "--methods", "greedy", *words)
    assert done.returncode == 0, done.stderr
    rows = [line.split(",")[:1] for line in tables[0].read_text().splitlines()[1:]]
    assert sorted(name for (name,) in rows) == ["greedy", "greedy", "local-fcfs", "tetris"]
    assert tables[1].read_text().count("\n") == 6
    assert "tetris is not there for geo" in done.stderr
    assert "no method 'no-such'" in one_line(run("compare", *files, "--methods", "greedy,no-such"))


@pytest.mark.slow
def test_proxies_and_what_was_realised_are_told_apart(examples: Path) -> None:
    words = "greedy: the proxy of a decision for the jobs that are known now"
    both = run("compare", str(examples / "armida.json"), "--methods", "greedy,offline-plan", "--policies", "fifo")
    assert words in both.stdout
    assert words not in run("compare", str(examples / "armida.json"), "--policies", "fifo,edf").stdout
    several = run("compare", *files_of_two(examples), "--methods", "greedy,offline-plan", "--policies", "fifo").stdout
    decided, realised = several.index("decided now"), several.index("what all jobs have cost in the end:")
    assert decided < several.index("greedy", decided) < realised < several.index("offline-plan", realised)
    assert "fifo" in several[realised:]
    assert "greedy" not in several[realised:].split("greedy: the proxy")[0]


def files_of_two(examples: Path) -> list[str]:
    """Two allocation instances."""
    other = examples / "allocation-two.json"
    made = run("generate", "andreas-1", "--nodes", "2", "--jobs", "6", "--all-submitted", "-o", other)
    assert made.returncode == 0, made.stderr
    return [str(examples / "armida.json"), str(other)]


def test_a_copy_counts_once(examples: Path, tmp_path: Path) -> None:
    """As a file that is named twice does."""
    copy = tmp_path / "copy.json"
    copy.write_bytes((examples / "deferrable-small.json").read_bytes())
    done = run("compare", str(examples / "deferrable-small.json"), str(copy), "--methods", "fifo", "--json")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 1
    assert "copy.json is the instance of" in done.stderr
    assert "it counts once" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [(["nosuch"], "no method 'nosuch'"), ([""], "no method ''"), (["nosuch", "--policy"], "no policy 'nosuch'")],
)
def test_tune_says_whom_it_does_not_know(words: list[str], said: str, examples: Path, tmp_path: Path) -> None:
    """Before it says anything of options."""
    other = tmp_path / "x.json"
    assert run("generate", "osdec", "--jobs", "6", "--horizon", "12", "-o", str(other)).returncode == 0
    done = run("tune", *words, "--train", str(examples / "deferrable-small.json"), "--test", str(other))
    assert done.returncode == 2
    assert said in done.stderr


def test_a_whole_range_of_a_real_option_is_real(tmp_path: Path) -> None:
    """What the option's default is decides, not how its ends are written."""
    pytest.importorskip("optuna")
    for seed in (1, 2):
        words = f"generate vcc --days 2 --jobs 60 --load 0.2 --seed {seed} -o {seed}.json".split()
        assert run(*words, cwd=tmp_path).returncode == 0
    sets = ["--train", tmp_path / "1.json", "--test", tmp_path / "2.json"]
    done = run("tune", "constant", *sets, "--option", "cap=0..1", "--trials", "4", "--json")
    assert any(row["cap"] % 1 for row in json.loads(done.stdout)["tried"])


def test_of_a_store_nothing_is_run(tmp_path: Path) -> None:
    (tmp_path / "g.toml").write_text('methods = ["greedy"]\n[[instances]]\nrecipe = "generate osdec --jobs 4 --horizon 12"\n')
    assert run("sweep", "g.toml", "--workers", "1", cwd=tmp_path).returncode == 0
    assert run("sweep", "g.sqlite", cwd=tmp_path).returncode == 0
    for words in (["--workers", "2"], ["--retry-failed"], ["--dry-run"]):
        done = run("sweep", "g.sqlite", *words, cwd=tmp_path)
        assert done.returncode == 2
        assert f"{words[0]} belongs to a CONFIG.toml" in one_line(done)
