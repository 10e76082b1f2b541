"""`optsched events`, and `replay` with what goes wrong, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import optsched
from tests.cli.test_cli import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With an instance `x.json` and events `e.json`."""
    place = tmp_path_factory.mktemp("events")
    optsched.generate("masac", jobs=20, seed=1).save(place / "x.json")
    done = run("events", place / "x.json", "--mtbf", "12h", "--repair", "2h", "--cancelled", "0.2", "-o", place / "e.json")
    assert done.returncode == 0, done.stderr
    return place


def test_a_replay_with_events_is_checked_and_drawn(folder: Path) -> None:
    done = run("replay", folder / "x.json", "--events", folder / "e.json", "--policy", "greedy", "-o", folder / "r.json")
    assert done.returncode == 0, done.stderr
    assert "jobs_cancelled" in done.stdout
    kept = json.loads((folder / "r.json").read_text())["instance"]
    assert kept["events"] == json.loads((folder / "e.json").read_text())
    for words in (("check", folder / "x.json", folder / "r.json"), ("plot", folder / "r.json", "-o", folder / "r.png")):
        done = run(*words)
        assert done.returncode == 0, done.stderr


def test_an_edited_event_shows(folder: Path) -> None:
    run("replay", folder / "x.json", "--events", folder / "e.json", "--policy", "greedy", "-o", folder / "s.json")
    result = json.loads((folder / "s.json").read_text())
    result["instance"]["events"]["cancellations"] = []
    (folder / "t.json").write_text(json.dumps(result))
    done = run("check", folder / "x.json", folder / "t.json")
    assert done.returncode == 1
    assert "other instance" in done.stdout


def test_the_same_seed_draws_the_same(folder: Path) -> None:
    one, two = (run("events", folder / "x.json", "--seed", "4") for _ in range(2))
    assert one.stdout == two.stdout
    assert one.stdout != run("events", folder / "x.json", "--seed", "5").stdout


def test_several_seeds_and_a_law(folder: Path) -> None:
    words = ("--events", folder / "e.json", "--estimates", "noisy:0.5", "--seeds", "0-1", "--policy", "greedy")
    done = run("replay", folder / "x.json", *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("completed") == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--events", "nowhere.json"], "nowhere.json: no such file"),
        (["--events", "x.json"], 'format: expected "optsched-events/1"'),
        (["--events", "wrong.json"], "wrong.json: outages[0].place: unknown place 'Mars'"),
        (["--events", "typed.json"], "typed.json: outages[0].kind"),
        (["--events", "back.json"], "is 5, not after at_s = 7"),
        (["--estimates", "guess"], "estimates are true, user or noisy:0.3, got 'guess'"),
        (["--estimates", "noisy:-1"], "noisy takes a number from 0 to 3"),
        (["--estimates", "user"], "error: masac-J20-load1-s1: estimates: job"),
        (["--events", "e.json", "--policy", "greedy", "-o", "e.json"], "is a file that is read here"),
    ],
)
def test_bad_input_is_one_line(folder: Path, words: list[str], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    outage = {"place": "PL", "kind": "fails", "at_s": 7}
    for name, changed in (("wrong", {"place": "Mars"}), ("typed", {"kind": "explodes"}), ("back", {"back_s": 5})):
        Path(f"{name}.json").write_text(json.dumps({"format": "optsched-events/1", "outages": [outage | changed]}))
    before = Path("e.json").read_bytes()
    done = run("replay", "x.json", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert Path("e.json").read_bytes() == before


def test_a_family_without_events(tmp_path: Path) -> None:
    optsched.generate("day-ahead").save(tmp_path / "d.json")
    done = run("events", tmp_path / "d.json")
    assert (done.returncode, done.stderr) == (2, "error: day_ahead knows no events\n")


def test_where_nobody_can_be_cancelled_a_typed_share_is_refused(tmp_path: Path) -> None:
    optsched.generate("vcc", days=1, jobs=80, load=0.2).save(tmp_path / "v.json")
    done = run("events", tmp_path / "v.json", "--cancelled", "0.5")
    assert (done.returncode, done.stderr) == (2, "error: --cancelled 0.5: no job of vcc can be cancelled, expected 0\n")
    for words in ([], ["--cancelled", "0"]):
        assert "cancellations" not in json.loads(run("events", tmp_path / "v.json", *words).stdout)
