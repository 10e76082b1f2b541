"""The benchmark library: what a run says of what is known, by hand; and that the one that comes along is sound."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from optsched.analysis.library.best import Finding, Known, judged, read_best, write_best
from optsched.analysis.library.entries import Entry, chosen, read_entries
from optsched.analysis.sweep.trial import Identity
from optsched.errors import InputError, OptschedError
from optsched.registry import own_families

LIBRARY = Path(__file__).parents[2] / "benchmarks" / "library"
ENTRY = Entry("one", "generate osdec --jobs 5", "small")
HERE = Identity(ENTRY.recipe, "a" * 64, "one", "deferrable", 5)


def row(objective: float | None, bound: float | None, sense: str = "minimize", **more: Any) -> dict[str, Any]:
    told = {"status": "done", "objective": objective, "bound": bound, "sense": sense, "unit": "EUR", "name": "auto"}
    return told | {"seconds": 1.0} | more


def told(found: list[Finding]) -> list[str]:
    return [finding.kind for finding in found]


def known(objective: float, bound: float | None, sense: str = "minimize") -> Known:
    now, found = judged(ENTRY, HERE, row(objective, bound, sense), 10.0, None)
    assert found == []
    assert now is not None
    return now


def test_the_first_run_is_what_is_known() -> None:
    now = known(10.0, 8.0)
    assert (now.best and now.best.value, now.bound and now.bound.value, now.gap) == (10.0, 8.0, pytest.approx(0.2))
    assert now.gaps == {"10": pytest.approx(0.2)}


@pytest.mark.parametrize(("sense", "sign"), [("minimize", 1.0), ("maximize", -1.0)])
def test_better_worse_and_the_same(sense: str, sign: float) -> None:
    before = known(sign * 10.0, sign * 8.0, sense)

    def after(objective: float, bound: float) -> tuple[Known | None, list[str]]:
        now, found = judged(ENTRY, HERE, row(sign * objective, sign * bound, sense), 10.0, before)
        return now, told(found)

    assert after(10.0, 8.0) == (before, [])
    now, kinds = after(9.5, 8.5)
    assert kinds == ["better", "better"]
    assert now is not None
    assert (now.best and now.best.value, now.bound and now.bound.value) == (sign * 9.5, sign * 8.5)
    assert after(10.9, 8.0)[1] == []  # noise: half of what the gap was
    now, kinds = after(20.0, 8.0)
    assert (now, kinds) == (before, ["worse"])


def test_contradictions_are_errors_and_change_nothing() -> None:
    before = known(10.0, 8.0)
    for objective, bound in ((7.9, 7.0), (12.0, 10.5)):
        now, found = judged(ENTRY, HERE, row(objective, bound), 10.0, before)
        assert (now, told(found)) == (before, ["wrong"])
    other = Identity(ENTRY.recipe, "b" * 64, "one", "deferrable", 5)
    now, found = judged(ENTRY, other, row(10.0, 8.0), 10.0, before)
    assert (now, told(found)) == (before, ["wrong"])
    assert "another instance now" in found[0].told
    now, found = judged(ENTRY, HERE, {"status": "failed", "message": "no"}, 10.0, before)
    assert (now, told(found)) == (before, ["failed"])


def test_a_lost_bound_is_worse() -> None:
    _, found = judged(ENTRY, HERE, row(10.0, None), 10.0, known(10.0, 8.0))
    assert told(found) == ["worse"]


def test_what_is_known_is_kept(tmp_path: Path) -> None:
    write_best(tmp_path, {"one": known(10.0, 8.0)})
    assert read_best(tmp_path) == {"one": known(10.0, 8.0)}
    assert read_best(tmp_path / "nowhere") == {}


def test_the_library_that_comes_along() -> None:
    """Some 120 names over five families, each once; no schedule beyond a bound; the small suite made anew is as recorded."""
    entries, best = read_entries(LIBRARY), read_best(LIBRARY)
    assert len(entries) >= 120
    assert set(best) <= {entry.name for entry in entries}
    assert {known.problem for known in best.values()} == set(own_families())
    for name, it in best.items():
        assert it.gap is None or it.gap >= 0, name
        assert it.best is not None, name
        if it.bound is not None:
            sign = 1 if it.sense == "minimize" else -1
            assert sign * (it.best.value - it.bound.value) >= -1e-9 * abs(it.best.value), name
    small = chosen(entries, "small", ())
    assert {entry.name for entry in small} <= set(best)
    assert not any(entry.needs_data for entry in small)


def test_which_are_chosen() -> None:
    entries = [ENTRY, Entry("two", "x", "full")]
    assert chosen(entries, "small", ()) == [ENTRY]
    assert chosen(entries, "full", ()) == entries
    assert chosen(entries, "small", ("t*",)) == entries[1:]
    with pytest.raises(OptschedError, match="no instance 'tow', did you mean two"):
        chosen(entries, "small", ("tow",))


def test_a_library_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_entries(tmp_path)
    (tmp_path / "library.toml").write_text('[[instances]]\nname = "x"\nrecipe = "generate osdec --seed {seed}"\nseed = "0-1"\n')
    with pytest.raises(InputError, match="names 'x' twice"):
        read_entries(tmp_path)
