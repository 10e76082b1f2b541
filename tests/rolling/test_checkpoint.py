"""A replay that is killed at any moment and taken up again is the replay that was not."""

from __future__ import annotations

import json
import pickle
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import optsched
import optsched.rolling.run as run_module
from optsched.instances.events import Events, Outage, disturbed
from optsched.instances.generators import osdec
from optsched.registry import family as family_named
from optsched.rl.trained import file_of
from optsched.rolling.checkpoint import Checkpoint, _seal
from optsched.rolling.loop import replay
from optsched.rolling.policy import policies
from tests.cli.test_cli import one_line, run
from tests.oracle import tiny

FILES = {"allocation": "armida.json", "deferrable": "deferrable-small.json", "geo": "geo-small.json", "vcc": "vcc-small.json"}


def words(examples: Path, family: str, folder: Path) -> list[str]:
    """A replay whose every decision takes a while, kept after each."""
    names = ["--log", str(folder / "log"), "-o", str(folder / "result.json")]
    return ["replay", str(examples / FILES[family]), "--policy", "rolling:exact", *names]


def killed(command: list[str], log: Path, rows: int) -> bool:
    """Start, and kill -9 when the log has so many rows; whether that was before the end."""
    process = subprocess.Popen([sys.executable, "-m", "optsched", *command], stdout=subprocess.DEVNULL)
    while process.poll() is None:
        if log.exists() and log.read_bytes().count(b"\n") >= rows:
            process.kill()
        time.sleep(0.001)
    return process.returncode < 0


def survives(examples: Path, tmp_path: Path, family: str, moments: int) -> None:
    whole, parts, state = tmp_path / "whole", tmp_path / "parts", tmp_path / "state"
    for folder in (whole, parts):
        folder.mkdir()
    assert run(*words(examples, family, whole)).returncode == 0
    count = len((whole / "log").read_text().splitlines())
    keep = [*words(examples, family, parts), "--checkpoint", str(state), "--every", "1"]
    kills = 0
    for moment in sorted(random.Random(family).choices(range(count), k=moments)):
        resume = ["--resume"] if (state / "log.jsonl").exists() else []
        kills += killed(keep + resume, state / "log.jsonl", moment)
    done = run(*keep, *(["--resume"] if (state / "log.jsonl").exists() else []))
    assert done.returncode == 0, done.stderr
    assert kills > 0
    assert (parts / "log").read_bytes() == (whole / "log").read_bytes()
    assert told(state / "log.jsonl") == [json.loads(line) for line in (whole / "log").read_text().splitlines()]
    results = [json.loads((folder / "result.json").read_text()) for folder in (whole, parts)]
    for key in ("schedule", "objective", "components", "message", "seed"):
        assert results[0][key] == results[1][key]


def test_killed_and_resumed(examples: Path, tmp_path: Path) -> None:
    """One family here, all of them below."""
    survives(examples, tmp_path, "deferrable", 2)


@pytest.mark.slow
@pytest.mark.parametrize("family", FILES)
def test_killed_thirty_times_in_all(examples: Path, tmp_path: Path, family: str) -> None:
    survives(examples, tmp_path, family, 8)


def told(log: Path) -> list[dict[str, Any]]:
    """The rows of a checkpoint's log, without what is kept besides."""
    rows: list[dict[str, Any]] = [json.loads(line) for line in log.read_text().splitlines()]
    for row in rows:
        del row["kept"]
    return rows


class Crash(BaseException):
    """Not an Exception: nobody catches it on the way."""


NAMED = [  # `rolling` itself crashes again and again below
    pytest.param(family, name, marks=[pytest.mark.slow] if name.startswith("rolling") else [])
    for family in tiny.TINY
    for name in policies(family)
    if family != "allocation" or not name.startswith("rolling:")
]


@pytest.mark.parametrize(("family", "policy"), NAMED)
def test_every_policy_can_be_kept(examples: Path, tmp_path: Path, family: str, policy: str) -> None:
    """Crashed after 4 decisions with a checkpoint every 3: the fourth is decided again, and logged once."""
    instance = optsched.load(examples / FILES[family])
    given: dict[str, Any] = {"seed": 3} | ({} if family == "allocation" else {"forecast": "noisy"})
    whole: list[Any] = []
    expected = replay(instance, policy, log=whole.append, **given)
    rows: list[Any] = []

    def crash(row: dict[str, Any]) -> None:
        rows.append(row)
        if len(rows) == 4:
            raise Crash

    kept: dict[str, Any] = {"checkpoint": tmp_path, "every": 3, **given}
    with pytest.raises(Crash):
        replay(instance, policy, progress=crash, **kept)
    again: list[Any] = []
    result = replay(instance, policy, resume=True, log=again.append, **kept)
    assert again == whole
    assert result.schedule == expected.schedule
    assert told(tmp_path / "log.jsonl") == whole


@pytest.fixture(scope="module")
def finished(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a whole replay of armida under edf."""
    folder = tmp_path_factory.mktemp("kept")
    replay(optsched.load(examples / FILES["allocation"]), "edf", checkpoint=folder)
    return folder


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["armida.json", "--policy", "edf"], "holds a checkpoint already"),
        (["armida.json", "--policy", "fifo", "--resume"], "policy"),
        (["armida.json", "--policy", "edf", "--seed", "1", "--resume"], "seed"),
        (["allocation-small.json", "--policy", "edf", "--resume"], "instance"),
    ],
)
def test_another_replay_is_refused(examples: Path, finished: Path, words: list[str], said: str) -> None:
    before = (finished / "log.jsonl").read_bytes()
    assert said in one_line(run("replay", examples / words[0], *words[1:], "--checkpoint", finished))
    assert (finished / "log.jsonl").read_bytes() == before


def test_a_finished_replay_resumes_to_its_end(examples: Path, finished: Path) -> None:
    result = replay(optsched.load(examples / FILES["allocation"]), "edf", checkpoint=finished, resume=True)
    assert result.objective == pytest.approx(1.813, rel=0.005)


def test_resume_needs_a_folder(examples: Path, tmp_path: Path) -> None:
    assert "--checkpoint" in one_line(run("replay", examples / "armida.json", "--resume"))
    empty = one_line(run("replay", examples / "armida.json", "--checkpoint", tmp_path / "none", "--resume"))
    assert "holds no checkpoint" in empty


@pytest.mark.parametrize(
    ("family", "policy", "given"),
    [
        ("deferrable", "rolling", {"forecast": "noisy", "replan_s": 900}),
        ("deferrable", "rolling", {"learns": True, "replan_s": 900}),
        pytest.param("deferrable", "rolling", {"budget_s": 60}, marks=pytest.mark.slow),
        pytest.param("deferrable", "rolling:decomposition", {"replan_s": 900, "window_s": 3600}, marks=pytest.mark.slow),
        ("geo", "rolling", {"forecast": "fitted"}),
        pytest.param("geo", "rolling:decomposition", {"replan_s": 900}, marks=pytest.mark.slow),
        ("geo", "rolling:exact", {"replan_s": 900, "budget_s": 60}),
        ("vcc", "rolling", {"forecast": "noisy:0.3"}),
        pytest.param("vcc", "rolling:exact", {"replan_s": 7200}, marks=pytest.mark.slow),
        pytest.param("vcc", "vcc-sac", {"budget_s": 60}, marks=pytest.mark.slow),
        ("allocation", "fifo", {"period_s": 120.0}),
        ("allocation", "randomized-greedy", {"budget_s": 60}),
        ("allocation", "rolling", {}),
    ],
)
def test_crashed_again_and_again(examples: Path, tmp_path: Path, family: str, policy: str, given: dict[str, Any]) -> None:
    """Every five decisions, with a checkpoint every two: plans, prices, futures, workers and forecasts go on as they were."""
    instance = optsched.load(examples / FILES[family])
    given = {"seed": 5} | given
    if given.pop("learns", False):
        given["history"] = osdec(1, 1, jobs=20, horizon=48, window=6, seed=9)
    whole: list[Any] = []
    expected = optsched.replay(instance, policy, log=whole.append, **given)
    again: list[Any] = []
    result = None
    for life in range(len(whole)):
        count = 0
        again.clear()

        def crash(row: dict[str, Any]) -> None:
            nonlocal count
            count += 1
            if count == 5:
                raise Crash

        try:
            kept = {"checkpoint": tmp_path, "every": 2, "resume": life > 0}
            result = optsched.replay(instance, policy, log=again.append, progress=crash, **kept, **given)
            break
        except Crash:
            continue
    assert life >= min(2, len(whole) // 5)
    assert again == whole
    assert result is not None
    assert result.schedule == expected.schedule
    assert result.message == expected.message
    figures = [{k: v for k, v in r.options["figures"].items() if not k.startswith("decision_s")} for r in (result, expected)]
    assert figures[0] == figures[1]


def test_judging_does_not_take_the_square_of_the_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 400 rows 256 + 72 are judged, the same ones when it is resumed; carrying out again judges none."""
    instance, sizes = osdec(1, 1, jobs=700, horizon=400, window=6, seed=2), []

    def counted(truth: Any, history: Any) -> Any:
        sizes.append(len(history.starts))
        return optsched.evaluate(truth, history)

    monkeypatch.setattr(run_module, "evaluate", counted)
    whole: list[Any] = []
    result = replay(instance, "fifo", log=whole.append)
    assert len(whole) > 350
    assert len(sizes) == sum("objective" in row for row in whole)
    assert len(sizes) < 256 + 100
    assert all("objective" in row for row in whole[:256])

    def crash(row: dict[str, Any]) -> None:
        if "objective" not in row and row["time_s"] > 330 * 300:
            raise Crash

    with pytest.raises(Crash):
        replay(instance, "fifo", checkpoint=tmp_path, progress=crash)
    again: list[Any] = []
    sizes.clear()
    resumed = replay(instance, "fifo", checkpoint=tmp_path, resume=True, log=again.append)
    assert again == whole
    assert resumed.schedule == result.schedule
    assert len(sizes) < 70


def bytes_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def edited(key: str, value: Any) -> Callable[[bytes], bytes]:
    return lambda whole: (json.dumps(json.loads(whole) | {key: value}) + "\n").encode()


DAMAGES: list[tuple[str, str, Callable[[bytes], bytes], str]] = [
    ("header.json", "empty", lambda whole: b"", "is empty"),
    ("header.json", "truncated", lambda whole: whole[: len(whole) // 2], "is not valid JSON"),
    ("header.json", "bytes", lambda whole: bytes(range(256)), "is not valid JSON"),
    ("header.json", "list", lambda whole: b"[]", "expected a JSON object"),
    ("header.json", "format", edited("format", "optsched-checkpoint/9"), 'format: expected "optsched-checkpoint/2"'),
    ("header.json", "version", edited("optsched", "0.0.9"), 'optsched: the checkpoint was made with "0.0.9", this is'),
    ("header.json", "more", edited("more", 1), "more: the checkpoint was made with 1, this is no such setting"),
    ("log.jsonl", "empty", lambda whole: b"", "has 0 bytes, the state was made with at least"),
    ("log.jsonl", "rubbish", lambda whole: b"rubbish\n" + whole, "line 1: is no JSON object"),
    ("log.jsonl", "appended", lambda whole: whole + b"rubbish\n", "is no JSON object"),
    ("log.jsonl", "zeros", lambda whole: whole[:20] + b"\0" * (len(whole) - 20), "was changed after it was written"),
    (
        "log.jsonl",
        "digit",
        lambda whole: whole.replace(b'"waiting": 2', b'"waiting": 3', 1),
        "was changed after it was written",
    ),
    ("log.jsonl", "swapped", lambda whole: b"".join(sorted(whole.splitlines(True))), "was changed after it was written"),
    ("state.json", "empty", lambda whole: b"", "is empty"),
    ("state.json", "truncated", lambda whole: whole[: len(whole) // 2], "is not valid JSON"),
    ("state.json", "rubbish", lambda whole: b"rubbish" + whole, "is not valid JSON"),
    ("state.json", "pickle", lambda whole: pickle.dumps((1, 2, 3)), "is not valid JSON"),
    ("state.json", "number", lambda whole: b"7", "expected a JSON object"),
    ("state.json", "format", edited("format", 1), "format: expected"),
    ("state.json", "lines", edited("log_lines", -1), "log_lines: must be"),
    ("state.json", "policy", edited("policy", {"held": 1}), "digest: does not fit"),
    ("state.json", "reformatted", lambda whole: json.dumps(json.loads(whole), indent=1).encode(), "digest: does not fit"),
]


@pytest.mark.parametrize(
    ("file", "damage", "said"), [(f, d, s) for f, _, d, s in DAMAGES], ids=[f"{f}-{i}" for f, i, _, _ in DAMAGES]
)
def test_garbage_is_one_line_and_nothing_is_written(
    examples: Path, finished: Path, tmp_path: Path, file: str, damage: Callable[[bytes], bytes], said: str
) -> None:
    for name, data in bytes_in(finished).items():
        (tmp_path / name).write_bytes(damage(data) if name == file else data)
    before = bytes_in(tmp_path)
    with pytest.raises(optsched.InputError) as refused:
        replay(optsched.load(examples / FILES["allocation"]), "edf", checkpoint=tmp_path, resume=True)
    assert str(refused.value).startswith(str(tmp_path / file))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert bytes_in(tmp_path) == before


def test_the_header_is_read_before_the_state(examples: Path, finished: Path, tmp_path: Path) -> None:
    for name, data in bytes_in(finished).items():
        (tmp_path / name).write_bytes(b"rubbish" if name == "state.json" else data)
    words = ["replay", examples / "armida.json", "--policy", "edf", "--checkpoint", tmp_path, "--resume"]
    assert "state.json" in one_line(run(*words))
    assert "header.json: seed: the checkpoint was made with 0, this is 1" in one_line(run(*words, "--seed", "1"))


@pytest.mark.parametrize(
    ("events", "said"),
    [
        (Events(estimates="noisy:0.3"), 'estimates: the checkpoint was made with "noisy:0.3", this is "true"'),
        (Events(outages=(Outage(place="n1", kind="fails", at_s=1e5),)), "events: the checkpoint was made with "),
    ],
)
def test_what_goes_wrong_is_told_by_its_own_name(events: Events, said: str, examples: Path, tmp_path: Path) -> None:
    """Not as another instance; what an older version has not said is in the instance's hash."""
    plain = optsched.load(examples / FILES["allocation"])
    place = plain.nodes[0].id  # type: ignore[attr-defined]
    outages = tuple(outage.model_copy(update={"place": place}) for outage in events.outages)
    instance = disturbed(plain, events.model_copy(update={"outages": outages}))
    whole = replay(instance, "edf", checkpoint=tmp_path)
    with pytest.raises(optsched.InputError, match=said):
        replay(plain, "edf", checkpoint=tmp_path, resume=True)
    header = json.loads((tmp_path / "header.json").read_text())
    for older in (header, {name: value for name, value in header.items() if name not in ("estimates", "events")}):
        (tmp_path / "state.json").unlink(missing_ok=True)  # it holds for one header only
        (tmp_path / "header.json").write_text(json.dumps(older))
        again = replay(instance, "edf", checkpoint=tmp_path, resume=True)
        assert again.schedule == whole.schedule


def test_files_of_two_checkpoints_do_not_mix(examples: Path, finished: Path, tmp_path: Path) -> None:
    """A state with the log of another seed, whose decisions are the same."""
    instance = optsched.load(examples / FILES["allocation"])
    replay(instance, "edf", checkpoint=tmp_path, seed=1)
    (tmp_path / "state.json").write_bytes((finished / "state.json").read_bytes())
    with pytest.raises(optsched.InputError, match=r"is of another replay|has \d+ bytes"):
        replay(instance, "edf", checkpoint=tmp_path, seed=1, resume=True)


def test_a_log_that_the_program_would_not_write(examples: Path, finished: Path, tmp_path: Path) -> None:
    """Files that fit each other, of a program that carries the same decision out otherwise."""
    lines = (finished / "log.jsonl").read_text().splitlines(keepends=True)
    told = json.loads(lines[1])
    told["decision"][0]["gpus"] += 1
    lines[1] = json.dumps(told) + "\n"
    keeper = Checkpoint(
        tmp_path, {k: v for k, v in json.loads((finished / "header.json").read_text()).items() if k != "optsched"}
    )
    keeper.begin(json.loads((finished / "state.json").read_text())["policy"])
    for line in lines:
        keeper.append(json.loads(line))
    keeper.save(json.loads((finished / "state.json").read_text())["policy"], 1.0)
    keeper.close()
    with pytest.raises(optsched.InputError, match="line 2: does not follow from the lines before"):
        replay(optsched.load(examples / FILES["allocation"]), "edf", checkpoint=tmp_path, resume=True)


@pytest.mark.parametrize(
    ("family", "policy", "memory", "said"),
    [
        ("allocation", "fifo", [{"job": "a", "gpus": 1}], "[0].node: is missing"),
        ("allocation", "randomized-greedy", "7", 'must be a valid integer, got "7"'),
        ("allocation", "easy-backfilling", {"held": 1}, "held: must be a valid list, got 1"),
        ("allocation", "conservative-backfilling", {"held": [], "booked": {"a": [0, 1, 2.0]}}, "booked.a"),
        ("deferrable", "rolling", {}, "rng: is missing"),
        ("deferrable", "rolling:greedy", {"seed": 1, "planned_s": "x"}, 'planned_s: must be a valid number, got "x"'),
        ("vcc", "rolling", {"submitted": {"0": [1.0]}}, "submitted: must be a valid list, got an object"),
        ("vcc", "day-ahead", [[], 0.0, 0.5, []], "[2]: must be a valid integer, got 0.5"),
        ("vcc", "vcc-ppo", {"cap": 0.5}, "agent: is missing"),
    ],
)
def test_a_memory_is_not_believed(examples: Path, tmp_path: Path, family: str, policy: str, memory: object, said: str) -> None:
    """A state whose hash fits, but which the policy would not have written."""
    instance = optsched.load(examples / FILES[family])

    def crash(row: dict[str, Any]) -> None:
        raise Crash

    with pytest.raises(Crash):
        replay(instance, policy, checkpoint=tmp_path, every=1, progress=crash)
    state = tmp_path / "state.json"
    kept = {key: value for key, value in json.loads(state.read_text()).items() if key != "digest"}
    text = json.dumps(kept | {"policy": memory})[:-1]
    state.write_text(text + _seal(text))
    with pytest.raises(optsched.InputError) as refused:
        replay(instance, policy, checkpoint=tmp_path, resume=True)
    assert str(refused.value).startswith(f"{state}: policy: {said}")
    assert "\n" not in str(refused.value)


class Runs:
    """Unpickled, it runs a command."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> Any:
        return Path.touch, (self.file,)


@pytest.mark.parametrize("resume", [[], ["--resume"]])
def test_an_old_pickle_is_never_opened(examples: Path, tmp_path: Path, resume: list[str]) -> None:
    old, ran = tmp_path / "old", tmp_path / "ran"
    old.mkdir()
    (old / "state.pickle").write_bytes(pickle.dumps(Runs(ran)))
    (old / "log.jsonl").write_text("{}\n")
    before = bytes_in(old)
    told = one_line(run("replay", examples / "armida.json", "--policy", "edf", "--checkpoint", old, *resume))
    assert "state.pickle: was made by an older version and cannot be opened safely" in told
    assert bytes_in(old) == before
    assert not ran.exists()


@pytest.mark.parametrize("resume", [False, True])
def test_files_of_somebody_else_are_kept(examples: Path, tmp_path: Path, resume: bool) -> None:
    (tmp_path / "log.jsonl").write_text("mine")
    with pytest.raises(optsched.InputError, match=r"is there without a header\.json"):
        replay(optsched.load(examples / FILES["allocation"]), "edf", checkpoint=tmp_path, resume=resume)
    assert bytes_in(tmp_path) == {"log.jsonl": b"mine"}


class Forgets:
    """A policy as in docs/online.md."""

    def reset(self, seed: int) -> None:
        self.count = seed

    def decide(self, snapshot: Any) -> Any:
        self.count += 1
        return family_named(snapshot.problem).heuristics()["randomized-greedy"](snapshot, self.count)


class Remembers(Forgets):
    def state(self) -> Any:
        return {"count": self.count}

    def restore(self, state: Any) -> None:
        self.count = state["count"]


class Confides(Remembers):
    def state(self) -> Any:
        return {"count": {1, 2}}


class Mistakes(Remembers):
    def restore(self, state: Any) -> None:
        self.count = state["counted"]


Mistakes.__name__ = Remembers.__name__  # a checkpoint is of one policy, by its name


def test_a_policy_of_ones_own(examples: Path, tmp_path: Path) -> None:
    instance = optsched.load(examples / FILES["allocation"])
    with pytest.raises(optsched.OptschedError, match=r"Forgets cannot be kept in a checkpoint: it has no state\(\)"):
        replay(instance, Forgets(), checkpoint=tmp_path / "x")
    with pytest.raises(optsched.InputError, match="cannot be written as JSON"):
        replay(instance, Confides(), checkpoint=tmp_path / "x")
    assert list(tmp_path.iterdir()) == []

    def crash(row: dict[str, Any]) -> None:
        if row["time_s"] > 2000:
            raise Crash

    kept: dict[str, Any] = {"checkpoint": tmp_path, "every": 2}
    with pytest.raises(Crash):
        replay(instance, Remembers(), progress=crash, **kept)
    with pytest.raises(optsched.InputError, match=r"state\.json: policy: Remembers: restore raised KeyError: 'counted'"):
        replay(instance, Mistakes(), resume=True, **kept)
    result = replay(instance, Remembers(), resume=True, **kept)
    assert result.schedule == replay(instance, Remembers()).schedule


def test_another_agent_in_the_same_file_is_refused(examples: Path, tmp_path: Path) -> None:
    mine, state = tmp_path / "mine.npz", tmp_path / "state"
    instance = optsched.load(examples / FILES["vcc"])
    shutil.copy(file_of("vcc", "vcc-ppo"), mine)
    replay(instance, f"agent:{mine}", checkpoint=state)
    shutil.copy(file_of("vcc", "vcc-sac"), mine)
    with pytest.raises(optsched.OptschedError, match="not the one that the checkpoint was made with"):
        replay(instance, f"agent:{mine}", checkpoint=state, resume=True)
