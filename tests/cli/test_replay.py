"""`optsched replay` as a user types it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import optsched
from optsched.analysis.bounds import Bound
from optsched.cli._replayed import show_replays
from tests.cli.test_cli import one_line, run
from tests.rolling.test_budget import Raises, batch


def test_several_policies_and_a_bound(examples: Path) -> None:
    """A maximised total stays below the bound of its table, which says of what kind it is."""
    done = run("replay", examples / "geo-small.json", "--policy", "local-fcfs", "--policy", "rolling")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    (head,) = (line for line in lines if line.startswith("policy"))
    for word in ("total USD", "gap", "fallbacks", "lost_in_transit", "s/decision"):
        assert word in head
    rows = {word: line.split() for line in lines for word in ("local-fcfs", "rolling", "bound") if line.startswith(word)}
    assert rows["bound"][1] == "(auto)"
    assert all(float(rows[word][6]) <= float(rows["bound"][2]) for word in ("local-fcfs", "rolling"))


def test_several_instances_and_seeds(examples: Path, tmp_path: Path) -> None:
    """A row a run, then mean, rank and how far each policy is behind the first; a table where it is wanted."""
    files, target = [examples / "deferrable-small.json", examples / "geo-small.json"], tmp_path / "t.csv"
    done = run("replay", *files, "--policy", "greedy", "--policy", "rolling", "-o", target)
    assert done.returncode == 0, done.stderr
    for word in ("mean gap", "95 %", "rank", "behind the first", "times the first"):
        assert word in done.stdout
    assert len(target.read_text().splitlines()) == 5
    drawn = run("replay", files[1], "--policy", "greedy", "--seeds", "1,3", "--json")
    assert drawn.returncode == 0, drawn.stderr
    assert [row["seed"] for row in json.loads(drawn.stdout)] == [1, 3]


@pytest.mark.parametrize(
    "words", [["--log", "l.jsonl"], ["--checkpoint", "c"], ["--metrics"], ["--bound", "12"], ["--no-bound"]]
)
def test_what_goes_with_one_instance(examples: Path, words: list[str]) -> None:
    files = [examples / "deferrable-small.json", examples / "geo-small.json"]
    assert f"{words[0]} goes with a single instance" in one_line(run("replay", *files, *words))


def test_a_table_writes_over_no_instance(examples: Path, tmp_path: Path) -> None:
    files = [examples / "deferrable-small.json", examples / "geo-small.json"]
    kept = tmp_path / "kept.json"
    kept.write_bytes(files[0].read_bytes())
    assert "is an instance" in one_line(run("replay", *files, "--policy", "greedy", "-o", kept))
    assert kept.read_bytes() == files[0].read_bytes()


def test_a_table_writes_over_no_events(examples: Path, tmp_path: Path) -> None:
    """Nor over the history: whatever is read is kept, with several instances as with one."""
    files, kept = [examples / "armida.json", examples / "allocation-small.json"], tmp_path / "kept.json"
    past = tmp_path / "past.json"
    past.write_bytes((examples / "armida.json").read_bytes())
    for text in ('{"format":"optsched-events/1"}', "{" + 300 * " " + '"format": "optsched-events/1"}'):
        kept.write_text(text)
        for words in ([*files], [files[1], "--seeds", "0-1"]):
            assert "kept.json" in one_line(run("replay", *words, "--policy", "fifo", "--events", kept, "-o", kept))
        assert kept.read_text() == text
    one_line(run("replay", files[1], "--seeds", "0-1", "--policy", "rolling", "--history", past, "-o", past))
    assert past.read_bytes() == (examples / "armida.json").read_bytes()


def test_instances_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """By their files: an import names an instance after its table, whatever else it was made with."""
    table, files = tmp_path / "n.csv", [tmp_path / f"n{k}.json" for k in range(13)]
    table.write_text("id,submit,dur\na,0,600\nb,300,900\nc,600,600\n")
    for k, file in enumerate(files):
        words = ["--map", "submit=submit", "--map", "duration=dur", "--capacity", k + 1, "-o", file]
        assert run("import", "csv", table, "--to", "deferrable", *words).returncode == 0
    few = run("replay", *files[:2], "--policy", "fifo", "--policy", "sjf").stdout
    assert few.count(str(files[1])) == 2
    many = run("replay", *files, "--policy", "fifo", "--policy", "sjf").stdout
    for shown in (few, many):
        assert "mean gap" in shown


def test_that_nobody_has_a_guard_is_told_of_several_too(examples: Path) -> None:
    file = examples / "geo-small.json"
    told = "note: --no-guard changes nothing, greedy and local-fcfs have no guard"
    words = ["--seeds", "0-1", "--policy", "greedy", "--no-guard"]
    assert told in run("replay", file, *words, "--policy", "local-fcfs").stderr
    assert "note:" not in run("replay", file, *words, "--policy", "geo-imitation").stderr


def test_seeds_or_a_seed(examples: Path, tmp_path: Path) -> None:
    """One of the two; a single one of several is a replay like any other."""
    file = examples / "geo-small.json"
    assert "--seeds are several" in one_line(run("replay", file, "--seed", "1", "--seeds", "2,3"))
    single = run("replay", file, "--policy", "greedy", "--seeds", "3", "-o", tmp_path / "r.json")
    assert single.returncode == 0, single.stderr
    assert json.loads((tmp_path / "r.json").read_text())["seed"] == 3


def test_a_wrong_name_ends_before_anything_is_run(examples: Path) -> None:
    """`osdec` is of deferrable alone: elsewhere it is left out, and said to be; what nobody has is refused."""
    files = [examples / "deferrable-small.json", examples / "geo-small.json"]
    assert "osdek" in one_line(run("replay", *files, "--policy", "osdek"))
    done = run("replay", *files, "--policy", "osdec")
    assert done.returncode == 0
    assert "osdec is not there for geo" in done.stderr
    assert done.stdout.count("completed") == 1


def test_a_noisy_forecast(examples: Path, tmp_path: Path) -> None:
    result = tmp_path / "r.json"
    done = run("replay", examples / "geo-small.json", "--forecast", "noisy:0.2", "--policy", "greedy", "-o", result)
    assert done.returncode == 0, done.stderr
    assert '"forecast": "noisy:0.2"' in result.read_text()
    assert "bound (auto)" in done.stdout
    assert run("check", examples / "geo-small.json", result).returncode == 0


def test_window_replan_and_budget(examples: Path) -> None:
    words = ["--policy", "rolling:exact", "--window", "3600", "--replan", "1800", "--budget", "20"]
    done = run("replay", examples / "deferrable-small.json", *words)
    assert done.returncode == 0, done.stderr
    assert "rolling:exact" in done.stdout


def test_history(examples: Path, tmp_path: Path) -> None:
    """Of other days it is taken, also in a table with policies that do not want it; the replay's own jobs are refused."""
    file, past = examples / "deferrable-small.json", tmp_path / "past.json"
    assert run("generate", "osdec", "--jobs", "12", "--horizon", "24", "--seed", "9", "-o", past).returncode == 0
    assert run("replay", file, "--history", past).returncode == 0
    assert run("replay", file, "--policy", "fifo", "--policy", "rolling", "--history", past).returncode == 0
    one_line(run("replay", file, "--history", file))


REFUSED: list[tuple[str, list[str], str]] = [
    ("deferrable-small", ["--policy", "fifo", "--window", "60"], "policy fifo takes no window"),
    ("deferrable-small", ["--policy", "fifo", "--replan", "60"], "policy fifo takes no replan"),
    ("deferrable-small", ["--window", "60"], "policy rolling takes no window"),
    ("armida", ["--policy", "rolling:exact", "--window", "60"], "it takes no window"),
    ("armida", ["--forecast", "persistence"], "no signal to forecast"),
    ("geo-small", ["--policy", "strange"], "geo has no policy 'strange', it has: greedy, local-fcfs"),
    ("geo-small", ["--forecast", "noisy:x"], "noisy:0.2"),
    ("geo-small", ["--budget", "0"], "budget must be a positive number"),
    ("geo-small", ["--period", "1"], "shorter than a slot"),
    ("geo-small", ["--policy", "rolling:greedy", "--window", "1"], "the window is 1 s, shorter than a slot of"),
    ("vcc-small", ["--policy", "greedy", "--policy", "rolling:exact", "--window", "1m"], "the window is 60 s, shorter"),
    ("geo-small", ["-o", "missing/r.json"], "missing: no such folder"),
    ("geo-small", ["-o", "r.txt"], ".json"),
    ("geo-small", ["--log", "missing/log"], "missing: no such folder"),
    ("geo-small", ["-o", "x.json", "--log", "x.json"], "-o and --log would write the same file"),
    ("geo-small", ["-o", "state/log.jsonl.json", "--checkpoint", "state"], "no such folder"),
    ("geo-small", ["--log", "state", "--checkpoint", "state"], "--log would write into the --checkpoint folder"),
    ("geo-small", ["-o", "r.json", "--checkpoint", "."], "-o would write into the --checkpoint folder"),
    ("geo-small", ["--policy", "greedy", "--policy", "rolling", "-o", "r.txt"], "ends in .csv, .json, .parquet"),
    ("geo-small", ["--policy", "greedy", "--policy", "rolling", "--log", "r"], "single --policy"),
    ("geo-small", ["--policy", "greedy", "--policy", "rolling", "--checkpoint", "r"], "single --policy"),
    ("geo-small", ["--period", "soon"], "is no duration"),
    ("geo-small", ["--bound", "nope.json"], "nope.json: no such file"),
    ("geo-small", ["--bound", "nan"], "a bound is a finite number"),
    ("geo-small", ["--bound", "-inf"], "a bound is a finite number"),
    ("geo-small", ["--resume"], "--resume goes with --checkpoint"),
    ("geo-small", ["--forecast", "noisy:"], "from 0 to below 100"),
    ("geo-small", ["--forecast", "noisy:1e9"], "from 0 to below 100, e.g. noisy:0.2 for 20 %, got '1e9'"),
]


@pytest.mark.parametrize(("name", "words", "said"), REFUSED, ids=[f"{n} {' '.join(w)}" for n, w, _ in REFUSED])
def test_refusals_are_one_line(examples: Path, tmp_path: Path, name: str, words: list[str], said: str) -> None:
    assert said in one_line(run("replay", examples / f"{name}.json", *words, cwd=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_history_of_another_family_is_refused(examples: Path) -> None:
    said = one_line(run("replay", examples / "deferrable-small.json", "--history", examples / "geo-small.json"))
    assert "is of geo, not of deferrable" in said


def test_a_history_with_other_slots_is_refused(examples: Path, tmp_path: Path) -> None:
    past = tmp_path / "past.json"
    optsched.load(examples / "deferrable-small.json").model_copy(update={"slot_s": 420.0}).save(past)
    said = one_line(run("replay", examples / "deferrable-small.json", "--history", past))
    assert "has slots of 420 s" in said
    assert "of 300 s" in said


def test_the_result_is_a_history_that_the_referee_knows(examples: Path, tmp_path: Path) -> None:
    result, log = tmp_path / "r.json.gz", tmp_path / "log"
    instance: Any = optsched.load(examples / "deferrable-small.json")
    done = run("replay", examples / "deferrable-small.json", "--bound", "-o", result, "--log", log)
    assert done.returncode == 0, done.stderr
    assert "bound (auto)" in done.stdout
    assert run("check", examples / "deferrable-small.json", result).returncode == 0
    assert 0 < len(log.read_text().splitlines()) <= instance.horizon


@pytest.mark.parametrize("option", ["-o", "--log"])
def test_nothing_that_is_read_is_written_over(examples: Path, tmp_path: Path, option: str) -> None:
    """The instance, its copy under a link, the history, the result with the bound, another instance: all stay."""
    instance, past, bound = tmp_path / "x.json", tmp_path / "past.json", tmp_path / "bound.json"
    instance.write_bytes((examples / "deferrable-small.json").read_bytes())
    assert run("generate", "osdec", "--jobs", "12", "--horizon", "24", "--seed", "9", "-o", past).returncode == 0
    assert run("solve", instance, "--method", "decomposition", "-o", bound).returncode == 0
    (tmp_path / "link.json").symlink_to("x.json")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for name in ("x.json", "link.json", "past.json", "bound.json"):
        words = ["--history", past, "--bound", bound, option, tmp_path / name]
        assert "is a file that is read here" in one_line(run("replay", instance, *words))
    words = ["--policy", "fifo", "--policy", "greedy", "-o"] if option == "-o" else ["--log"]
    assert "is an instance, a result or an events file" in one_line(run("replay", instance, *words, past))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_family_without_a_replay(tmp_path: Path) -> None:
    file = tmp_path / "d.json"
    assert run("generate", "day-ahead", "-o", file).returncode == 0
    assert one_line(run("replay", file)) == "error: day_ahead has no replay"


def test_the_bound_of_a_result_and_a_number(examples: Path, tmp_path: Path) -> None:
    instance, best, out = examples / "vcc-small.json", tmp_path / "best.json", tmp_path / "r.json"
    assert run("solve", instance, "--method", "exact", "-o", best).returncode == 0
    done = run("replay", instance, "--policy", "uncapped", "--bound", best, "-o", out)
    assert done.returncode == 0, done.stderr
    assert "bound (exact, given)" in done.stdout
    written, solved = (json.loads(path.read_text()) for path in (out, best))
    assert written["bound"] == solved["bound"]
    assert run("check", instance, out).returncode == 0
    done = run("replay", "--bound", instance, "--policy", "uncapped")  # the flag, and then the instance
    assert done.returncode == 0, done.stderr
    assert "bound (" in done.stdout
    assert "bound (given)" in run("replay", instance, "--policy", "uncapped", "--bound", "30").stdout
    assert "gap" not in run("replay", instance, "--policy", "uncapped", "--no-bound").stdout
    other = run("replay", examples / "deferrable-small.json", "--bound", best)
    assert "best.json: the bound is of" in one_line(other)


def test_a_bound_that_is_beaten_is_refused_but_nothing_is_lost(examples: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    done = run("replay", examples / "vcc-small.json", "--policy", "uncapped", "--bound", "1e6", "-o", out)
    assert done.returncode == 2
    assert "1000000 (given) is no bound: replay:uncapped has 33.36" in one_line(done)
    assert json.loads(out.read_text())["bound"] is None
    assert run("check", examples / "vcc-small.json", out).returncode == 0


def test_json_of_one_and_of_several(examples: Path) -> None:
    words = ["replay", examples / "armida.json", "--policy", "fifo", "--policy", "conservative-backfilling", "--json"]
    done = run(*words)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["options"]["policy"] for row in rows] == ["fifo", "conservative-backfilling"]
    assert all(row["options"]["metrics"]["mean_bounded_slowdown"] >= 1 for row in rows)
    assert all(row["gap"] > 0 for row in rows)


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_a_comparison_is_saved(examples: Path, tmp_path: Path, ending: str) -> None:
    import pandas as pd

    out = tmp_path / f"table.{ending}"
    done = run("replay", examples / "geo-small.json", "--policy", "local-fcfs", "--policy", "greedy", "-o", out)
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(out) if ending == "csv" else pd.read_json(out)
    assert table["name"].tolist() == ["local-fcfs", "greedy"]
    assert (table["gap"] > 0).all()
    assert {"profit", "mean_wait_s", "fallbacks", "objective", "bound"} <= set(table.columns)


MINE = """
class Mine:
    def reset(self, seed): ...
    def decide(self, snapshot): return 7
"""


def test_a_policy_of_ones_own_that_fails(examples: Path, tmp_path: Path) -> None:
    """It falls back, its row is marked and comes last; or it ends, if asked to."""
    (tmp_path / "mymodule.py").write_text(MINE)
    words = ["replay", examples / "deferrable-small.json", "--policy", "mymodule:Mine", "--policy", "fifo"]
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    mine, fifo = (next(i for i, line in enumerate(lines) if line.startswith(name)) for name in ("mymodule:Mine *", "fifo"))
    assert fifo < mine
    assert lines[mine].split()[5].startswith("(")  # what happened
    assert lines[mine].split()[6] == "-"  # its gap
    assert "a simple rule decided instead, and its row does not rank" in done.stdout
    rows = [json.loads(line) for line in run(*words, "--json", cwd=tmp_path).stdout.splitlines()]
    assert rows[0]["gap"] is None
    told = one_line(run(*words, "--on-failure", "raise", cwd=tmp_path))
    assert told.endswith("(without --on-failure raise a simple rule decides instead)")
    assert "the policy failed at" in told
    assert "mymodule:Mine returned int, expected a schedule of deferrable" in told


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize("metrics", [False, True])
def test_no_width_cuts_a_name_or_a_figure(examples: Path, width: int, metrics: bool) -> None:
    """Columns are left out, and that is said; names, totals, gaps and fallbacks are always there, and whole."""
    from optsched.cli.replay import _judged

    armida, names = (
        optsched.load(examples / "armida.json"),
        ["fifo", "conservative-backfilling", "rolling:randomized-greedy+ls"],
    )
    bound = Bound(0.8538064, "clairvoyant")
    results, _ = _judged(armida, [optsched.replay(armida, name) for name in names], bound)
    text = io.StringIO()
    show_replays(Console(file=text, width=width), armida, results, bound, metrics)
    lines = text.getvalue().splitlines()
    shown = text.getvalue()
    for name, result in zip(names, results, strict=True):
        line = next(line for line in lines if line.startswith(name))
        assert f"{result.objective:,.6g}" in line
        assert f"{100 * (result.gap or 0):.3g} %" in line
        assert not metrics or f"{result.options['metrics']['mean_bounded_slowdown']:.3f}" in shown
    assert "…" not in shown
    assert max(map(len, lines)) <= width
    assert ("bounded" in shown) == metrics
    assert ("left out for want of width" in shown.replace("\n", " ")) == (width < 200)


def test_where_not_even_the_most_needed_fits_it_is_stacked(examples: Path) -> None:
    from optsched.cli.replay import _judged

    failing = batch()
    results, _ = _judged(failing, [optsched.replay(failing, Raises(), on_failure="fallback")], None)
    text = io.StringIO()
    show_replays(Console(file=text, width=20), failing, results, None)
    lines = [line.split() for line in text.getvalue().splitlines()]
    assert ["Raises", "*"] in lines
    assert ["fallbacks", "3"] in lines
    assert any(line[:1] == ["total"] and line[-1] == "(3)" for line in lines)


@pytest.mark.parametrize("words", [["--bound", "-0.5"], ["--bound=-0.5"], ["--bound=-5e-1"]])
def test_a_bound_may_be_negative(examples: Path, words: list[str]) -> None:
    instance = examples / "geo-small.json"
    for given in ([instance, *words], [*words, instance]):
        done = run("replay", *given, "--policy", "local-fcfs")
        assert "-0.5 (given) is no bound" in done.stderr
        assert "no such option" not in done.stderr.lower()


def test_a_bound_or_none(examples: Path) -> None:
    done = run("replay", examples / "deferrable-small.json", "--policy", "fifo", "--bound", "600", "--no-bound")
    assert "--bound and --no-bound contradict each other" in one_line(done)


def test_no_nodes_is_one_line(examples: Path, tmp_path: Path) -> None:
    """Whatever is worked out first."""
    raw = json.loads((examples / "armida.json").read_text()) | {"nodes": []}
    (tmp_path / "x.json").write_text(json.dumps(raw))
    for words in ([], ["--no-bound"]):
        assert "fits on no node" in one_line(run("replay", tmp_path / "x.json", "--policy", "fifo", *words))
