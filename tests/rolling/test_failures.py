"""A policy that fails ends its replay, unless somebody asks for a fallback; whose outcome that is, is told."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import optsched
from optsched import interrupts
from optsched.instances.generators import osdec
from optsched.rolling.loop import replay
from optsched.rolling.policy import Settings, policies
from optsched.rolling.run import MOST_STALLS, PolicyFailed
from optsched.schedules.allocation import AllocationSchedule
from tests.rolling.test_budget import (
    Confuses,
    Dies,
    Hangs,
    HangsInOneSlot,
    IsLate,
    Raises,
    Sane,
    SaysNonsense,
    SaysNothing,
    batch,
)

FAILING = [
    (Raises, "Raises raised ZeroDivisionError: oops"),
    (SaysNothing, "SaysNothing returned NoneType, expected a schedule of deferrable"),
    (SaysNonsense, "SaysNonsense returned str, expected a schedule of deferrable"),
    (Confuses, "Confuses"),
    (IsLate, "IsLate: starts after its latest slot"),
]


@pytest.mark.parametrize(("policy", "word"), FAILING)
def test_a_failing_policy_raises(policy: type[Sane], word: str) -> None:
    with pytest.raises(PolicyFailed) as failed:
        replay(batch(), policy())
    assert str(failed.value).startswith(f"the policy failed at 0 s: {word}")
    assert "\n" not in str(failed.value)
    assert (failed.value.policy, failed.value.time_s) == (policy.__name__, 0.0)


def fails() -> None:
    raise PolicyFailed("mine", 3.0, "oops")


def test_a_failure_comes_back_from_a_worker() -> None:
    """Whole: what cannot be read looks like a worker that died."""
    with ProcessPoolExecutor(1) as pool, pytest.raises(PolicyFailed) as failed:
        pool.submit(fails).result()
    again = failed.value
    assert (again.policy, again.time_s, again.reason, str(again)) == (
        "mine",
        3.0,
        "oops",
        str(PolicyFailed("mine", 3.0, "oops")),
    )


def test_what_was_raised_is_the_cause() -> None:
    with pytest.raises(optsched.OptschedError) as failed:
        optsched.replay(batch(), Raises())
    assert isinstance(failed.value.__cause__, ZeroDivisionError)


def test_a_worker_that_dies_is_a_failure() -> None:
    with pytest.raises(PolicyFailed, match="its worker died"):
        replay(batch(), Dies(), settings=Settings(budget_s=30))


def test_a_budget_falls_back_by_design() -> None:
    """Whatever happens to failures: it is asked for, counted, and told."""
    result = replay(batch(), HangsInOneSlot(), settings=Settings(budget_s=0.5))
    figures = result.options["figures"]
    assert (figures["decisions"], figures["fallbacks"], figures["out_of_time"]) == (3, 1, 1)
    assert "HangsInOneSlot took more than 0.5 s" in (result.message or "")


class ByDict(Sane):
    def decide(self, snapshot: Any) -> Any:
        return super().decide(snapshot).model_dump(mode="json")


class Leaves(Sane):
    def decide(self, snapshot: Any) -> Any:
        sys.exit(3)


class Odd(BaseException):
    """Neither an Exception nor an exit."""


class Throws(Sane):
    def __init__(self, error: BaseException) -> None:
        self.error = error

    def decide(self, snapshot: Any) -> Any:
        raise self.error


@pytest.mark.parametrize("settings", [Settings(), Settings(budget_s=30)])
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (GeneratorExit(), "GeneratorExit"),
        (Odd("two\nlines"), "Odd: two lines"),
        (SystemExit(3), "SystemExit: 3"),
        (ZeroDivisionError("oops"), "ZeroDivisionError: oops"),
    ],
)
def test_whatever_is_raised_is_told_as_it_is(error: BaseException, said: str, settings: Settings) -> None:
    """With a budget and without one."""
    result = replay(batch(), Throws(error), settings=settings, on_failure="fallback")
    assert (result.message or "").endswith(f"first: Throws raised {said}")
    with pytest.raises(PolicyFailed, match=f": Throws raised {said} "):
        replay(batch(), Throws(error), settings=settings)


def test_a_reset_that_raises_what_is_no_exception() -> None:
    class Mine(Sane):
        def reset(self, seed: int) -> None:
            raise Odd

    with pytest.raises(optsched.OptschedError, match=r"^Mine: reset raised Odd$"):
        replay(batch(), Mine())


def test_an_interrupt_that_nobody_asked_for_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where requests to stop are listened to, it is known whether one has come."""
    with pytest.raises(KeyboardInterrupt):
        replay(batch(), Throws(KeyboardInterrupt()))
    monkeypatch.setattr(interrupts, "listening", lambda: True)
    with pytest.raises(PolicyFailed, match="Throws raised KeyboardInterrupt "):
        replay(batch(), Throws(KeyboardInterrupt()))
    monkeypatch.setattr(interrupts, "asked", lambda: True)
    monkeypatch.setattr(interrupts, "check", lambda: None)
    with pytest.raises(KeyboardInterrupt):
        replay(batch(), Throws(KeyboardInterrupt()))


class NeverBegins(Sane):
    def reset(self, seed: int) -> None:
        raise KeyError("seed")


class WithoutReset:
    def decide(self, snapshot: Any) -> Any: ...


def test_an_object_is_guarded_as_a_name_is() -> None:
    """It may decide by a dict, no exit of its ends the program, and what else it raises is one line with its name."""
    assert replay(batch(), ByDict()).schedule == replay(batch(), Sane()).schedule
    with pytest.raises(PolicyFailed, match="Leaves raised SystemExit: 3"):
        replay(batch(), Leaves())
    with pytest.raises(optsched.OptschedError, match=r"^NeverBegins: reset raised KeyError: 'seed'$"):
        replay(batch(), NeverBegins())
    wrongs = [(3, "3 has no reset and no decide"), (WithoutReset(), "has no reset"), (WithoutReset, "has no reset")]
    for wrong, lacks in wrongs:
        said = rf"is no policy, an object with reset\(seed\) and decide\(snapshot\): .*{lacks}$"
        with pytest.raises(optsched.OptschedError, match=said):
            replay(batch(), wrong)  # type: ignore[arg-type]


def test_a_class_is_made() -> None:
    assert replay(batch(), Sane).schedule == replay(batch(), Sane()).schedule  # type: ignore[arg-type]


def test_an_agent_doubts_as_an_object_too(examples: Path) -> None:
    instance = optsched.load(examples / "vcc-small.json")
    told = [replay(instance, agent).message for agent in ("vcc-ppo", policies("vcc")["vcc-ppo"](Settings()))]
    assert told[0] == told[1]
    assert "trained on fitted forecasts, and shown perfect ones" in str(told[0])


class Idles:
    def reset(self, seed: int) -> None: ...

    def decide(self, snapshot: Any) -> AllocationSchedule:
        return AllocationSchedule(assignments=())


def test_leaving_everything_idle_is_a_failure(examples: Path) -> None:
    armida = optsched.load(examples / "armida.json")
    with pytest.raises(PolicyFailed, match=f"Idles left everything idle for {MOST_STALLS} decisions"):
        replay(armida, Idles())
    assert replay(armida, Idles(), on_failure="fallback").options["figures"]["fallbacks"] > 0


def test_words(examples: Path) -> None:
    with pytest.raises(optsched.OptschedError, match="on_failure is 'raise' or 'fallback', got 'ignore'"):
        replay(batch(), "fifo", on_failure="ignore")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"history": "past.json"}, r"expected an instance, got 'past.json'; optsched.load\(FILE\) reads one"),
        ({"history": {"jobs": []}}, "expected an instance, got {'jobs': "),
        ({"forecast": None}, "a forecast is a name, got None"),
        ({"every": 0}, "every is how many decisions lie between checkpoints, at least 1, got 0"),
        ({"resume": True}, "resume goes with the folder of a checkpoint"),
    ],
)
def test_wrong_words_are_one_line(words: dict[str, Any], message: str) -> None:
    with pytest.raises(optsched.OptschedError, match=message):
        optsched.replay(osdec(jobs=5), "rolling", **words)


class Later(Sane):
    """Raises in the second decision, and can be kept."""

    def decide(self, snapshot: Any) -> Any:
        if snapshot.now == 1:
            raise ZeroDivisionError("oops")
        return super().decide(snapshot)

    def state(self) -> Any:
        return self.seen

    def restore(self, state: Any) -> None:
        self.seen = list(state)


class Mended(Later):
    def decide(self, snapshot: Any) -> Any:
        return Sane.decide(self, snapshot)


Mended.__name__ = "Later"


def test_a_replay_that_failed_goes_on_once_the_policy_is_mended(tmp_path: Path) -> None:
    with pytest.raises(PolicyFailed, match="failed at 300 s"):
        replay(batch(), Later(), checkpoint=tmp_path, every=1)
    assert len((tmp_path / "log.jsonl").read_text().splitlines()) == 1
    result = replay(batch(), Mended(), checkpoint=tmp_path, resume=True)
    assert result.options["figures"]["fallbacks"] == 0
    assert result.objective == pytest.approx(3)


def test_a_checkpoint_with_fallbacks_is_nobodys_own(tmp_path: Path) -> None:
    whole = replay(batch(), Later(), checkpoint=tmp_path, on_failure="fallback")
    assert whole.options["figures"]["fallbacks"] == 1
    with pytest.raises(PolicyFailed, match=r"has fallbacks, e\.g\. Later raised"):
        replay(batch(), Later(), checkpoint=tmp_path, resume=True)
    again = replay(batch(), Later(), checkpoint=tmp_path, resume=True, on_failure="fallback")
    assert again.schedule == whole.schedule
    assert again.options["figures"]["fallbacks"] == 1


class HangsAndStays(Hangs, Later):
    decide = Hangs.decide


def test_spent_budgets_are_told_apart_after_resuming(tmp_path: Path) -> None:
    given: dict[str, Any] = {"settings": Settings(budget_s=0.2), "checkpoint": tmp_path}
    replay(batch(), HangsAndStays(), **given)
    kept = [json.loads(line)["kept"] for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert all(row["late"] for row in kept)
    figures = replay(batch(), HangsAndStays(), resume=True, **given).options["figures"]
    assert (figures["fallbacks"], figures["out_of_time"]) == (3, 3)
