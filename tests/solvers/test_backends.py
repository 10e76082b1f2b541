"""Backends: the same answers, validated options, honest bounds, limits that hold, and words for what cannot be used."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest

import optsched
from optsched.errors import BackendUnavailable, OptschedError
from optsched.exact import Exact
from optsched.instances.base import Floats
from optsched.instances.generators import andreas, osdec
from optsched.models import choose
from optsched.monitor import Monitor, run_with_deadline
from optsched.schedules.base import Schedule
from optsched.solvers import BACKENDS, SolverSettings, backend, linear_form
from optsched.solvers.highs import clash, relaxation
from optsched.solvers.mathopt import termination
from optsched.solvers.minlp import WORKER
from optsched.solvers.pdlp import dual_bound
from optsched.stop import Clock, Stop
from tests.oracle import brute, tiny
from tests.solvers.models import knapsack, solve, stuffing, wrapped

ORDERS = [
    "import highspy, ortools.math_opt.python.mathopt as o",
    "import ortools.math_opt.python.mathopt as o, highspy",
]


@pytest.mark.parametrize("imports", ORDERS)
def test_highspy_and_ortools_live_in_one_process(imports: str) -> None:
    """Versions as pinned; highspy 1.15 beside ortools 9.15 fails here (google/or-tools #5246)."""
    code = (
        f"{imports}; h = highspy.Highs(); h.silent(); x = h.addVariable(0, 4, -1.0); h.run(); "
        "assert h.getInfo().objective_function_value == -4; "
        "from ortools.sat.python import cp_model; assert cp_model.CpSolver().solve(cp_model.CpModel()) == cp_model.OPTIMAL"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_highs_goes_on_from_what_it_is_offered() -> None:
    """Nothing that it finds after that is worse."""
    instance = osdec(jobs=20, horizon=48)
    model = choose(instance, None).of(instance)
    model.encode(optsched.solve(instance, "greedy").schedule)
    form = linear_form(model)
    offered = form.start()
    assert offered is not None

    class Heard(Monitor):
        def incumbent(self, objective: float, x: Floats | None = None) -> None:
            found.append(objective)

    for told, worse in ((None, True), (lambda: offered, False)):
        found: list[float] = []
        settings = SolverSettings(offered=told, options={"presolve": "off"})
        assert backend("highs").solve(model, form, settings, Heard(Clock(), 1)).termination == "optimal"
        assert (max(found) > form.value(offered)) == worse


def test_exact_keeps_what_is_found_elsewhere() -> None:
    """With a gap that greedy's schedule fulfils it would end with that."""
    instance = osdec(jobs=20, horizon=48)
    greedy, better = optsched.solve(instance, "greedy"), optsched.solve(instance, "exact")
    assert greedy.objective < better.objective
    asked: list[bool] = []

    def elsewhere() -> Schedule | None:
        asked.append(True)
        return better.schedule

    found = Exact(elsewhere=elsewhere, options={"presolve": "off"})(instance, stop=Stop(gap=0.9), start=greedy)
    assert asked
    assert found.objective >= better.objective
    assert found.verify(instance) == []


@pytest.mark.parametrize("name", ["highs", "scip"])
def test_no_wrong_optimum_by_stuffing(name: str) -> None:
    outcome = solve(name, stuffing())
    assert outcome.objective == pytest.approx(9)
    assert outcome.bound == pytest.approx(9)


@pytest.mark.parametrize(
    ("highspy", "ortools", "word"),
    [
        ("1.13.1", "9.15.1", None),
        ("1.15.1", None, None),
        ("1.15.1", "9.15.6755", "or-tools #5246"),
        ("1.14.0", "9.15.6755", "#2957"),
        (None, "9.15.6755", "not installed"),
    ],
)
def test_clash_says_why(highspy: str | None, ortools: str | None, word: str | None) -> None:
    reason = clash(highspy, ortools)
    assert (reason is None) if word is None else (word in (reason or "") and "pip install" in (reason or ""))


def test_unavailable_backend_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optsched.solvers.highs.installed", {"highspy": "1.15.1", "ortools": "9.15.0"}.get)
    with pytest.raises(BackendUnavailable, match=r"backend highs cannot be used: highspy 1\.15\.1 and ortools 9\.15\.0"):
        backend("highs")
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    with pytest.raises(BackendUnavailable, match="ortools cannot be loaded"):
        backend("cp-sat")


def test_cp_sat_refuses_continuous_models() -> None:
    with pytest.raises(OptschedError, match="all-integer models only: x is continuous"):
        solve("cp-sat", stuffing())


@pytest.mark.parametrize(("count", "others"), [(1, ""), (2, " and one more is"), (4, " and 3 more are")])
def test_cp_sat_counts_what_is_continuous(count: int, others: str) -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(count), bounds=(0, 1))
    m.o = pyo.Objective(expr=sum(m.x[i] for i in m.x))
    with pytest.raises(OptschedError, match=rf"only: x\[0\] is continuous{others}; try"):
        solve("cp-sat", m)


def test_an_error_of_mathopt_has_no_empty_end() -> None:
    from ortools.math_opt.python import mathopt

    reason = mathopt.TerminationReason.NUMERICAL_ERROR
    for detail, said in (("", "MathOpt ended with numerical_error"), ("why", "MathOpt ended with numerical_error: why")):
        result: Any = SimpleNamespace(termination=SimpleNamespace(reason=reason, limit=None, detail=detail))
        assert termination(result, Monitor(Clock(), 1)) == ("error", said)


def test_cp_sat_refuses_rows_that_do_not_scale() -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var([1, 2], domain=pyo.Binary)
    m.c = pyo.Constraint(expr=m.x[1] / 3 + m.x[2] / 7 <= 1 / 2)
    m.o = pyo.Objective(expr=-m.x[1] - m.x[2])
    with pytest.raises(OptschedError, match="integer rows: c cannot be scaled exactly"):
        solve("cp-sat", m)


@pytest.mark.parametrize("divisor", [1.0, 10.0, 8.0])
def test_cp_sat_scales_decimals_exactly(divisor: float) -> None:
    """0.1 is read as one tenth, as the file shows it."""
    plain, scaled = solve("cp-sat", knapsack(12)), solve("cp-sat", knapsack(12, divisor=divisor))
    assert scaled.objective == plain.objective == solve("highs", knapsack(12)).objective


def test_cp_sat_charges_the_rounded_objective_to_the_bound() -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(20), domain=pyo.Binary)
    m.c = pyo.Constraint(expr=sum(m.x.values()) >= 7)
    m.o = pyo.Objective(expr=sum(float(np.sqrt(i + 2)) * m.x[i] for i in range(20)))
    outcome = solve("cp-sat", m)
    true = sum(float(np.sqrt(i + 2)) for i in range(7))
    assert outcome.objective == pytest.approx(true, rel=1e-12)
    assert true - 1e-6 < outcome.bound <= true


@pytest.mark.parametrize("name", BACKENDS)
def test_misspelt_options_are_refused(examples: Path, name: str) -> None:
    instance = optsched.load(examples / "geo-small.json")
    with pytest.raises(OptschedError, match=f"{name} has no option 'tim_limit'"):
        optsched.solve(instance, backend=name, options={"tim_limit": 3})


@pytest.mark.parametrize(
    ("name", "option", "bad"),
    [
        ("highs", "mip_rel_gap", "wide"),
        ("highs", "presolve", "perhaps"),
        ("cp-sat", "num_workers", "two"),
        ("cp-sat", "log_search_progress", "maybe"),
        ("scip", "limits/nodes", "many"),
        ("pdlp", "num_threads", "many"),
    ],
)
def test_options_of_the_wrong_type_are_refused(examples: Path, name: str, option: str, bad: str) -> None:
    instance = optsched.load(examples / "geo-small.json")
    with pytest.raises(OptschedError, match=f"{name} option '{option}' does not take the value '{bad}'"):
        optsched.solve(instance, backend=name, options={option: bad})


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("highs", {"presolve": "off", "mip_max_nodes": "100000"}),
        ("cp-sat", {"num_workers": "2", "cp_model_presolve": "false"}),
        ("scip", {"limits/nodes": "100000"}),
    ],
)
def test_good_options_are_used(examples: Path, name: str, options: dict[str, str]) -> None:
    instance = optsched.load(examples / "deferrable-small.json")
    result = optsched.solve(instance, backend=name, options=options)
    assert result.solution == "optimal"
    assert result.options["solver_options"] == options


@pytest.mark.parametrize("family", tiny.TINY)
def test_pdlp_bounds_and_the_greedy_schedules(family: str) -> None:
    for seed in range(20):
        instance = tiny.TINY[family](seed)
        result, best = optsched.solve(instance, backend="pdlp"), optsched.solve(instance).objective
        assert result.proof is None or result.proof.kind in ("duals", "sign")
        assert (result.solution == "optimal") == (result.gap is not None and result.gap <= 1e-9)
        noise = 1e-9 * max(1, abs(best))
        assert result.bound <= best + noise if instance.sense == "minimize" else result.bound >= best - noise


def test_dual_bound_holds_for_any_multipliers() -> None:
    """Lagrangian duality: whatever y is, the bound is no better than the relaxation's optimum."""
    rng = np.random.default_rng(7)
    for seed in range(30):
        instance = tiny.deferrable(seed)
        form = linear_form(choose(instance, None).of(instance))
        if not form.columns:
            continue
        optimum = form.sign * form.scale * relaxation(form)[0]
        for scale in (0, 0.1, 1, 30):
            bound = dual_bound(form, rng.normal(0, scale, form.matrix.shape[0]))
            assert bound is not None
            assert bound <= optimum + 1e-9 * max(1, abs(optimum))


@pytest.mark.parametrize("name", ["highs", "cp-sat", "scip"])
def test_gap_limit(name: str) -> None:
    instance = osdec(jobs=60, horizon=48, seed=2)
    result = optsched.solve(instance, backend=name, gap=0.05, time_limit=60)
    assert result.gap is not None
    assert result.gap <= 0.05
    assert result.termination in ("gap_limit", "optimal")
    assert (result.solution == "optimal") == (result.gap <= 1e-6)


@pytest.mark.parametrize("name", ["highs", "cp-sat", "scip"])
def test_same_seed_same_result(name: str) -> None:
    instance = osdec(jobs=25, horizon=36, seed=3)
    runs = [optsched.solve(instance, backend=name, seed=11, threads=1) for _ in range(2)]
    assert runs[0].schedule == runs[1].schedule
    assert runs[0].objective == runs[1].objective


def test_trace_rises_to_the_result() -> None:
    seen = []
    instance = osdec(jobs=40, horizon=48, seed=5)
    result = optsched.solve(instance, progress=seen.append, time_limit=30)
    objectives = [o for _, o, _ in result.incumbents if o is not None]
    bounds = [b for _, _, b in result.incumbents if b is not None]
    assert objectives == sorted(objectives)
    assert bounds == sorted(bounds, reverse=True)
    assert objectives[-1] == pytest.approx(result.objective)
    assert seen
    assert all(b >= result.objective - 1e-6 for b in bounds)


def test_start_is_taken() -> None:
    """With no time to search, the given schedule is what comes back."""
    instance = osdec(jobs=150, horizon=96, seed=1)
    good = optsched.solve(instance, time_limit=4)
    again = optsched.solve(instance, start=good, time_limit=0.05)
    assert again.objective >= good.objective
    assert again.objective > optsched.solve(instance, "greedy").objective


def test_infeasible_start_is_refused() -> None:
    instance, other = osdec(jobs=20, horizon=24, seed=1), osdec(jobs=20, horizon=24, seed=2)
    with pytest.raises(OptschedError, match="the start is not feasible"):
        optsched.solve(instance, start=optsched.solve(other))


@pytest.mark.timing
def test_a_deaf_solver_is_left_behind() -> None:
    """A thread that never listens: the watcher returns shortly after the deadline all the same."""
    monitor = Monitor(Clock(), 1)
    began = time.perf_counter()
    run_with_deadline(lambda: time.sleep(3), monitor, 0.2)
    assert time.perf_counter() - began < 1.5
    assert monitor.left_behind
    assert monitor.stopping == "time_limit"


def test_ctrl_c_leaves_the_solver_its_last_word() -> None:
    """CPython's `Thread.join` takes a thread for ended where Ctrl-C comes into it: nobody waited for it."""
    monitor, ended = Monitor(Clock(), 1), []

    def works() -> None:
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)
        while monitor.stopping is None:
            time.sleep(0.01)
        time.sleep(0.05)
        ended.append(monitor.stopping)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # not what the command line listens with
    try:
        run_with_deadline(works, monitor, None)
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended == ["interrupted"]


def test_a_thread_that_swallows_its_end_is_told_again() -> None:
    """Python drops what is raised in a destructor: of the thread's end nobody hears, and the thread ends all the same."""
    threads: list[threading.Thread] = []

    class Slow:
        def __del__(self) -> None:
            until = time.perf_counter() + 0.6
            while time.perf_counter() < until:
                time.sleep(0.01)

    def works() -> None:
        threads.append(threading.current_thread())
        slow: Slow | None = Slow()
        slow = None
        while slow is None:
            time.sleep(0.01)

    run_with_deadline(works, Monitor(Clock(), 1), 0.05)
    threads[0].join(20)
    assert not threads[0].is_alive()


def test_an_error_in_the_solver_thread_reaches_the_caller() -> None:
    def fails() -> None:
        raise OptschedError("no")

    with pytest.raises(OptschedError, match="no"):
        run_with_deadline(fails, Monitor(Clock(), 1), None)


@pytest.mark.timing
@pytest.mark.parametrize("name", ["highs", "cp-sat"])
def test_time_limits_hold(name: str) -> None:
    """30,000 binaries, 3 s: within 5 s there is a checked schedule and an honest bound or none."""
    instance = osdec(2, 1, jobs=2500, horizon=576, window=60, seed=1)
    assert len(choose(instance, None).of(instance).program) > 30_000  # type: ignore[attr-defined]
    began = time.perf_counter()
    result = optsched.solve(instance, backend=name, time_limit=3)
    assert time.perf_counter() - began < 5
    assert result.termination == "time_limit"
    assert result.solution == "feasible"
    assert result.verify(instance) == []


def test_nonlinear_model_is_refused_by_linear_backends(examples: Path) -> None:
    instance = optsched.load(examples / "armida-snapshot.json")
    with pytest.raises(OptschedError, match="'printed' is a MINLP"):
        optsched.solve(instance, backend="highs", formulation="printed")


def test_scip_keeps_the_optimum_of_the_minlp() -> None:
    """With strong dual reductions SCIP 10 presolves this feasible MINLP (one job, two equal nodes) to infeasible."""
    result = optsched.solve(tiny.allocation(73), formulation="printed")
    assert (result.solution, result.objective) == ("optimal", 0)


def test_linear_form_is_the_model() -> None:
    m = knapsack(6)
    m.extra = pyo.Constraint(expr=(1, 2 * m.x[0] + 3 + m.x[1] - m.x[0], 5))
    form = linear_form(wrapped(m))
    assert form.sign == -1
    assert form.matrix.shape == (2, 6)
    assert form.matrix.toarray()[1].tolist() == [1, 1, 0, 0, 0, 0]
    assert (form.row_lower[1], form.row_upper[1]) == (-2, 2)
    assert form.integer.all()
    x = np.array([1.0, 0, 0, 0, 0, 0.5])
    assert form.violation(x) == 0.5
    form.store(np.round(x))
    assert -form.value(np.round(x)) / form.scale == pytest.approx(pyo.value(m.o))


def test_unknown_names() -> None:
    instance = osdec(jobs=3, horizon=12)
    for arguments, message in (
        ({"backend": "gurobi"}, "no backend 'gurobi', there are: highs, cp-sat, scip, pdlp"),
        ({"formulation": "fluid"}, "deferrable has no formulation 'fluid', it has: cover, state"),
        ({"method": "magic"}, "deferrable has no method 'magic', it has: auto, exact, decomposition, greedy"),
        ({"method": "greedy", "backend": "highs"}, "method greedy does not take backend"),
        ({"time_limit": -1.0}, "time limit must be a positive number"),
        ({"gap": float("nan")}, "gap must be a number from 0 on"),
        ({"threads": 0}, "threads are a whole number from 1 to 64"),
        ({"threads": 65}, "threads are a whole number from 1 to 64 .cores of this machine: .*, got 65"),
        ({"threads": 10**6, "backend": "cp-sat"}, "threads are a whole number from 1 to 64"),
        ({"threads": 65, "method": "decomposition"}, "threads are a whole number from 0 to 64"),
        ({"options": {"threads": 65}, "method": "decomposition"}, "threads are a whole number from 0 to 64"),
    ):
        with pytest.raises(OptschedError, match=message):
            optsched.solve(instance, **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(("seed", "slot_s"), [(64, 1), (105, 1), (39, 0.06), (212, 0.06)])
def test_small_money_is_not_pruned_away(seed: int, slot_s: float) -> None:
    """HiGHS prunes with absolute tolerances: unscaled, these optima of 1e-5 USD came back wrong by up to 83 %, as optimal."""
    base = tiny.geo(seed)
    ratio = base.signal_slot_s / base.slot_s  # type: ignore[attr-defined]
    instance = base.model_copy(update={"slot_s": slot_s, "signal_slot_s": slot_s * ratio})
    best = brute.optimum(instance)
    assert abs(best) < 1e-3
    for name in ("highs", "cp-sat", "scip"):
        result = optsched.solve(instance, backend=name)
        assert result.solution == "optimal", name
        assert result.objective == pytest.approx(best, rel=1e-6, abs=1e-15), name


@pytest.mark.timing
@pytest.mark.parametrize("name", ["highs", "cp-sat"])
def test_a_stop_before_the_search_is_not_lost(name: str) -> None:
    instance = osdec(2, 1, jobs=400, horizon=288, window=40, seed=1)
    model = choose(instance, None).of(instance)
    form = linear_form(model)
    monitor = Monitor(Clock(), form.sign)
    monitor.stop("interrupted")
    began = time.perf_counter()
    assert backend(name).solve(model, form, SolverSettings(seconds=20), monitor).termination == "interrupted"
    assert time.perf_counter() - began < 10


def test_the_minlp_worker_survives_a_crash_and_keeps_what_scip_found() -> None:
    instance = tiny.allocation(5)
    first = optsched.solve(instance, formulation="printed")
    assert WORKER._process is not None
    WORKER.end()
    assert optsched.solve(instance, formulation="printed").objective == first.objective
    limited = optsched.solve(andreas(1, 3, jobs=9, seed=2, all_submitted=True), formulation="printed", time_limit=60)
    assert limited.bound is not None


@pytest.mark.timing
def test_a_time_limit_on_the_minlp_keeps_its_schedule_and_bound() -> None:
    instance = andreas(2, 8, jobs=40, seed=2, all_submitted=True)
    greedy = optsched.solve(instance, "greedy").objective
    began = time.perf_counter()
    result = optsched.solve(instance, formulation="printed", time_limit=15)
    assert time.perf_counter() - began < 17
    assert result.bound is not None
    assert result.objective < greedy


def test_gap_words_follow_the_gap() -> None:
    for seed in range(40):
        result = optsched.solve(tiny.geo(seed), backend="cp-sat", gap=0.2)
        assert (result.termination == "optimal") == (result.gap <= 1e-6)
    one = optsched.solve(osdec(jobs=40, horizon=48), backend="cp-sat", options={"stop_after_first_solution": "true"})
    assert one.termination == "iteration_limit"


def test_start_of_another_family_is_refused() -> None:
    with pytest.raises(OptschedError, match=r"the start is of class GeoSchedule .* starts from DeferrableSchedule"):
        optsched.solve(osdec(jobs=3, horizon=12), start=optsched.solve(tiny.geo(1), "greedy"))


def test_heuristics_return_a_better_start() -> None:
    instance = osdec(jobs=60, horizon=48, seed=2)
    best = optsched.solve(instance, time_limit=5)
    assert optsched.solve(instance, "greedy", start=best).objective == best.objective


def test_no_import_is_cut_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a thread that is left behind: parts of the module would stay, and the next part of a run could not import it."""
    (tmp_path / "imported_slowly.py").write_text("import time\nfor _ in range(30):\n    time.sleep(0.02)\nDONE = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    went_on = threading.Event()

    def work() -> None:
        import imported_slowly  # type: ignore[import-not-found]  # noqa: F401

        while True:
            went_on.set()
            time.sleep(0.01)

    run_with_deadline(work, Monitor(Clock(), 1), 0.1)
    (thread,) = (thread for thread in threading.enumerate() if thread.name == "optsched-solver")
    assert not went_on.is_set()
    thread.join(60.0)
    assert went_on.is_set()  # it has imported, and been told
    assert not thread.is_alive()
    assert sys.modules["imported_slowly"].DONE
