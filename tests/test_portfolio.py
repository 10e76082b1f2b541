"""The default method: which parts run, from what, and that the best schedule and the best bound of all are kept."""

from __future__ import annotations

import contextlib
import dataclasses
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

import optsched
from optsched import portfolio
from optsched.instances.generators import osdec
from optsched.monitor import Progress
from optsched.problems.size import ExactSize
from optsched.result import Proof
from optsched.scaffold import BaseMethod, Call, Found
from optsched.schedules.deferrable import DeferrableSchedule
from optsched.stop import Stop

INSTANCE: Any = osdec(jobs=20, horizon=48)
GREEDY = optsched.solve(INSTANCE, "greedy")
OPTIMUM = optsched.solve(INSTANCE, "exact")
EMPTY = DeferrableSchedule(starts=())
FAR = 10 * (OPTIMUM.objective or 0.0)
LATE: list[Any] = [(EMPTY, FAR, "time_limit")] * 3


@dataclass
class Script:
    """What the stub parts answer, in the order in which they are called, and what they were given."""

    answers: list[tuple[Any, float | None, str]]
    calls: list[tuple[str, Any, float | None]] = field(default_factory=list)


class Stub(BaseMethod[Any]):
    """A part that answers from the script."""

    name: ClassVar[str] = "stub"
    script: ClassVar[Script]

    def search(self, call: Call[Any]) -> Found:
        given = None if call.start is None else call.start.objective  # type: ignore[union-attr]
        self.script.calls.append((type(self).name, given, call.stop.seconds))
        schedule, bound, ended = self.script.answers[len(self.script.calls) - 1]
        return Found(schedule, ended, bound=bound, proof=Proof(kind="integers"))


@dataclass(frozen=True)
class StubExact(Stub):
    name: ClassVar[str] = "exact"
    elsewhere: Any = None


class StubDecomposition(Stub):
    name: ClassVar[str] = "decomposition"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Auto over stub parts; the exact model is `load` times what is surely solved."""

    def solve(
        answers: list[tuple[Any, float | None, str]], load: float = 0.5, seconds: float | None = 100.0, progress: Any = None
    ) -> Any:
        Stub.script = Script(answers)
        own = type(optsched.registry.family("deferrable"))

        class Family(own):  # type: ignore[misc, valid-type]
            def bounding(self) -> dict[str, Any]:
                return {"decomposition": StubDecomposition}

            def exact_size(self, instance: Any) -> ExactSize:
                return ExactSize(round(100 * load), "options", 100)

        monkeypatch.setattr(portfolio, "Exact", StubExact)
        monkeypatch.setattr(portfolio, "family_of", lambda _: Family())
        return portfolio.Auto()(INSTANCE, stop=Stop(seconds=seconds), progress=progress), Stub.script.calls

    return solve


def test_proven_at_once_is_enough(run: Any) -> None:
    result, calls = run([(OPTIMUM.schedule, OPTIMUM.objective, "optimal")])
    assert [name for name, _, _ in calls] == ["exact"]
    assert (result.solution, result.method) == ("optimal", "auto")


def test_parts_each_from_the_best_so_far(run: Any) -> None:
    """A second for either, then for long. The best schedule is the fourth's, the best bound the first's: both are kept."""
    bound = 1.5 * OPTIMUM.objective
    result, calls = run(
        [
            (EMPTY, bound, "time_limit"),
            (EMPTY, FAR, "time_limit"),
            (GREEDY.schedule, FAR, "time_limit"),
            (OPTIMUM.schedule, FAR, "time_limit"),
            (GREEDY.schedule, FAR, "time_limit"),
        ]
    )
    assert [name for name, _, _ in calls] == ["exact", "decomposition", "exact", "decomposition", "exact"]
    assert [given for _, given, _ in calls] == [None, 0.0, 0.0, GREEDY.objective, OPTIMUM.objective]
    assert (result.objective, result.bound, result.solution) == (OPTIMUM.objective, bound, "feasible")
    assert result.verify(INSTANCE) == []
    assert [seconds for _, _, seconds in calls] == pytest.approx([1.0, 1.0, 5.0, 15.0, 100.0], abs=0.5)


def test_a_bound_that_closes_the_gap_of_another_part_ends_it(run: Any) -> None:
    result, calls = run([(OPTIMUM.schedule, FAR, "time_limit"), (EMPTY, OPTIMUM.objective, "time_limit")])
    assert len(calls) == 2
    assert result.solution == "optimal"


def test_a_part_that_has_ended_by_itself_is_not_asked_again(run: Any) -> None:
    """Exact with a gap of rounding: the decomposition for a moment. With an open one: for long, and exact never again."""
    nearly = OPTIMUM.objective * (1 + 1e-8)
    result, calls = run([(OPTIMUM.schedule, nearly, "completed"), (OPTIMUM.schedule, FAR, "time_limit")])
    assert [name for name, _, _ in calls] == ["exact", "decomposition"]
    assert calls[1][2] == pytest.approx(1.0, abs=0.1)
    assert result.termination == "completed"
    result, calls = run([(OPTIMUM.schedule, nearly, "completed"), (EMPTY, OPTIMUM.objective, "completed")], seconds=4.0)
    assert (len(calls), result.solution) == (2, "optimal")
    assert calls[1][2] == pytest.approx(0.2, abs=0.05)
    _, calls = run([(OPTIMUM.schedule, nearly, "completed")], load=3)
    assert [name for name, _, _ in calls] == ["decomposition"]
    _, calls = run([(GREEDY.schedule, FAR, "completed"), (EMPTY, FAR, "time_limit"), *LATE])
    assert [name for name, _, _ in calls] == ["exact", "decomposition", "decomposition"]
    _, calls = run([(GREEDY.schedule, FAR, "time_limit"), (EMPTY, FAR, "completed"), (EMPTY, FAR, "time_limit"), *LATE])
    assert [name for name, _, _ in calls] == ["exact", "decomposition", "exact"]


NEARLY: Any = (OPTIMUM.schedule, (OPTIMUM.objective or 0.0) * (1 + 1e-8), "time_limit")


@pytest.mark.parametrize(
    "answers",
    [[(EMPTY, FAR, "time_limit"), (EMPTY, FAR, "completed"), NEARLY], [(EMPTY, FAR, "error"), NEARLY, NEARLY]],
)
def test_who_used_up_the_time_or_failed_has_not_ended_by_itself(answers: list[Any], run: Any) -> None:
    """The schedule is as good as proven, by somebody who did not end by itself."""
    assert run(answers)[0].termination == "time_limit"


def test_a_short_limit_is_not_cut_into_many_parts(run: Any) -> None:
    _, calls = run([(EMPTY, FAR, "time_limit"), *LATE], seconds=4.0)
    assert [name for name, _, _ in calls] == ["exact", "decomposition", "exact"]
    assert calls[0][2] == pytest.approx(1.0, abs=0.1)


def test_prices_are_those_that_prove_the_bound(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two decompositions, the second of which proves less."""
    told = [{"cores": (1.0,)}, {"cores": (2.0,)}]

    def search(self: Any, call: Call[Any]) -> Found:
        found = Stub.search(self, call)
        return dataclasses.replace(found, shadow_prices=told.pop(0))

    monkeypatch.setattr(StubDecomposition, "search", search)
    answers = [(EMPTY, None, "time_limit"), (EMPTY, FAR, "time_limit"), (EMPTY, None, "time_limit")]
    result, _ = run([*answers, (GREEDY.schedule, 2 * FAR, "time_limit"), (EMPTY, None, "time_limit")])
    assert (result.bound, result.shadow_prices) == (FAR, {"cores": (1.0,)})


class Working:
    """What has been found beside exact."""

    def __init__(self, found: Any) -> None:
        self.found, self.stopped, self.heard = found, False, list[str]()
        self.gone_on: list[Any] = []
        self.first: Any = None

    def go_on(self, start: Any) -> None:
        self.gone_on.append(start)

    def stop(self) -> None:
        self.heard.append("stop")
        self.stopped = True

    def result(self, enough: Any) -> Any:
        self.heard.append("result")
        enough()
        return self.found


@pytest.fixture
def working(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A decomposition beside exact that finds the optimum."""
    made = Working(OPTIMUM.model_copy(update={"bound": FAR, "gap": 9.0, "termination": "time_limit"}))
    monkeypatch.setattr(portfolio, "beside", lambda method, call, start: contextlib.nullcontext(made if method else None))
    return made


def test_what_is_found_beside_exact_counts(run: Any, working: Working) -> None:
    result, calls = run([(GREEDY.schedule, FAR, "time_limit"), (EMPTY, 0.9 * FAR, "time_limit")], load=3)
    assert [name for name, _, _ in calls] == ["decomposition", "exact"]
    assert working.heard == ["result"]
    assert (result.objective, result.bound, result.termination) == (OPTIMUM.objective, 0.9 * FAR, "time_limit")
    assert result.message.endswith("exact from there; then the decomposition beside it")
    assert [part["method"] for part in result.options["parts"]] == ["decomposition", "exact", "decomposition"]


@pytest.mark.parametrize("seconds", [10.0, 100.0])
def test_with_cores_exact_begins_once_for_all_the_time(run: Any, working: Working, seconds: float) -> None:
    tasted: list[Any] = [(EMPTY, FAR, "time_limit"), (GREEDY.schedule, FAR, "time_limit")]
    result, calls = run([*tasted, (EMPTY, OPTIMUM.objective, "time_limit")], seconds=seconds)
    assert [(name, given) for name, given, _ in calls] == [("exact", None), ("decomposition", 0.0), ("exact", GREEDY.objective)]
    assert [tasted_s for _, _, tasted_s in calls] == pytest.approx([min(1.0, 0.05 * seconds)] * 2 + [seconds], rel=0.1)
    assert (result.solution, working.heard) == ("optimal", ["result"])


def test_nobody_waits_for_it_where_exact_has_proven_its_schedule(run: Any, working: Working) -> None:
    result, _ = run([(GREEDY.schedule, FAR, "time_limit"), (OPTIMUM.schedule, OPTIMUM.objective, "optimal")], load=3)
    assert (result.termination, working.heard) == ("optimal", [])


def test_it_is_waited_for_where_exact_has_ended_with_an_open_gap(run: Any, working: Working) -> None:
    """And not begun anew in its place."""
    tasted: list[Any] = [(EMPTY, FAR, "time_limit"), (GREEDY.schedule, FAR, "time_limit")]
    working.found = working.found.model_copy(update={"termination": "completed"})
    result, calls = run([*tasted, (EMPTY, 1.1 * OPTIMUM.objective, "iteration_limit")])
    assert [name for name, _, _ in calls] == ["exact", "decomposition", "exact"]
    assert (result.objective, result.termination, working.heard) == (OPTIMUM.objective, "iteration_limit", ["result"])


def test_it_is_waited_for_where_exact_has_failed(run: Any, working: Working) -> None:
    result, _ = run([(GREEDY.schedule, FAR, "time_limit"), (EMPTY, FAR, "error")], load=3)
    assert (result.objective, working.heard) == (OPTIMUM.objective, ["result"])


def test_it_is_stopped_where_exact_was(run: Any, working: Working) -> None:
    result, _ = run([(GREEDY.schedule, FAR, "time_limit"), (EMPTY, FAR, "interrupted")], load=3)
    assert working.heard == ["stop", "result"]
    assert result.objective == OPTIMUM.objective


@pytest.mark.parametrize("word", ["completed", "time_limit"])
def test_nothing_follows_a_request(word: str, run: Any, working: Working) -> None:
    """Whatever the one beside it says that it ended with."""
    working.found = working.found.model_copy(update={"termination": word})
    tasted: list[Any] = [(EMPTY, FAR, "time_limit"), (GREEDY.schedule, FAR, "time_limit")]
    result, calls = run([*tasted, (EMPTY, FAR, "interrupted")])
    assert len(calls) == 3
    assert (result.objective, result.termination) == (OPTIMUM.objective, "interrupted")


def test_a_request_is_told_though_it_had_nothing(run: Any, working: Working) -> None:
    """Ctrl-C while it was waited for."""
    working.found, working.stopped = None, True
    result, _ = run([(GREEDY.schedule, FAR, "time_limit"), (EMPTY, FAR, "error")], load=3)
    assert result.termination == "interrupted"


def test_exact_is_stopped_where_it_has_closed_the_gap(run: Any, working: Working, monkeypatch: pytest.MonkeyPatch) -> None:
    working.found = working.found.model_copy(update={"bound": OPTIMUM.objective, "gap": 0.0, "termination": "optimal"})
    heard: list[type[BaseException]] = []

    def search(self: Any, call: Call[Any]) -> Found:
        for _ in range(2):
            try:
                call.progress(Progress(1.0, None, None))  # type: ignore[misc]
            except KeyboardInterrupt as enough:  # as whoever waits for a solver does
                heard.append(type(enough))
        return Stub.search(self, call)

    monkeypatch.setattr(StubExact, "search", search)
    result, _ = run([(GREEDY.schedule, FAR, "time_limit"), (EMPTY, FAR, "interrupted")], load=3)
    assert len(heard) == 1
    assert (result.solution, result.termination) == ("optimal", "optimal")
    assert [part["method"] for part in result.options["parts"]] == ["decomposition", "exact", "decomposition"]
    assert result.message.endswith("the decomposition beside it")
    assert working.gone_on == []


def test_exact_hears_at_once_of_what_is_found_beside(run: Any, working: Working, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the second leg there begins with the best of both."""
    offered: list[Any] = []
    found, working.found = working.found, None

    def search(self: Any, call: Call[Any]) -> Found:
        for working.found in (None, found, found):
            call.progress(Progress(1.0, None, None))  # type: ignore[misc]
            offered.append(self.elsewhere())
        return Stub.search(self, call)

    monkeypatch.setattr(StubExact, "search", search)
    shown: list[Progress] = []
    answers = [(GREEDY.schedule, FAR, "time_limit"), (EMPTY, FAR, "time_limit")]
    result, _ = run(answers, load=3, progress=shown.append)
    assert offered == [GREEDY.schedule, OPTIMUM.schedule, OPTIMUM.schedule]
    assert [start.objective for start in working.gone_on] == [OPTIMUM.objective]
    assert (result.objective, shown[-1].objective) == (OPTIMUM.objective, OPTIMUM.objective)


def test_what_has_ended_by_itself_is_not_begun_beside_exact(run: Any, working: Working) -> None:
    run([(GREEDY.schedule, FAR, "completed"), (EMPTY, FAR, "time_limit")], load=3)
    assert working.heard == []


def test_larger_models_begin_with_the_decomposition(run: Any) -> None:
    answers = [(GREEDY.schedule, FAR, "time_limit"), (OPTIMUM.schedule, FAR, "time_limit")]
    for load, share in ((3, 25.0), (8, 50.0)):
        _, calls = run(answers, load=load)
        assert [name for name, _, _ in calls] == ["decomposition", "exact"]
        assert calls[0][2] == pytest.approx(share, rel=0.1)
    _, calls = run(answers, load=30)
    assert [name for name, _, _ in calls] == ["decomposition"]
    assert calls[0][2] == pytest.approx(100.0, rel=0.1)


def test_what_no_method_takes_is_solved_by_greedy() -> None:
    """Evictions: exact and decomposition both say no, and the message says so."""
    from optsched.instances.generators import vcc

    result = optsched.solve(vcc(jobs=30, days=1, load=0.1, preempt=True))
    assert (result.termination, result.bound) == ("completed", None)
    assert "auto chose greedy" in (result.message or "")
    assert "preempt" in (result.message or "")


@pytest.mark.parametrize("name", ["allocation-small", "deferrable-small", "geo-small", "vcc-small", "day-ahead"])
def test_the_examples_are_proven(name: str, examples: Any) -> None:
    instance = optsched.load(examples / f"{name}.json")
    result = optsched.solve(instance)
    assert (result.method, result.solution) == ("auto", "optimal")
    assert result.verify(instance) == []


def test_short_limits_are_the_decompositions() -> None:
    """Of two seconds and less all that is left, from five on little, unless exact hardly finishes."""
    shares = [portfolio._share(1.0, limit) for limit in (0.5, 2.0, 3.0, 4.0, 5.0, 60.0)]
    assert shares[:2] == [1.0, 1.0]
    assert sorted(shares, reverse=True) == shares
    assert shares[-2:] == [portfolio.SMALL_SHARE] * 2 == [portfolio._share(1.0, None)] * 2
    assert portfolio._share(portfolio.PERHAPS, 60.0) == portfolio.SECOND_SHARE
