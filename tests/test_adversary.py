"""Harsh instances against a referee and optima that share nothing with the package (`tests/oracle/exact_referee.py`).

What is demanded: no exception but a one-line refusal; the package's referee agrees with the second one about every schedule,
its own and mutated ones; a bound is never on the wrong side of the true optimum; "optimal" means it; no heuristic beats it.
Relative 1e-9 is allowed, and 1e-12 of the largest component, which is what floats lose where components cancel.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from fractions import Fraction
from math import inf, nextafter
from random import Random
from typing import Any

import pytest

import optsched
from optsched import CertificateError, OptschedError
from optsched.methods import catalogue
from optsched.models import formulations
from optsched.reading import parse
from optsched.referee import parse as parse_schedule
from optsched.solvers import BACKENDS
from tests.oracle import enumerate_exact, exact_referee
from tests.oracle.harsh import MAKERS, harsh, near_fit
from tests.parts import parts

Json = dict[str, Any]
MAXIMISED = ("deferrable", "geo")
CLOSE, FLOATS = Fraction(1, 10**9), Fraction(1, 10**12)
HEURISTICS = {f: [m.name for m in catalogue() if f in m.families and not m.proves_bound] for f in MAKERS}
EXACT = {f: [(form, back) for form in formulations(f) for back in BACKENDS] for f in MAKERS}
ELSEWHERE = ("exact", "offline-plan")  # each form of it has its turn; and of histories the second referee knows nothing
PROVING = {f: [m.name for m in catalogue() if f in m.families and m.proves_bound and m.name not in ELSEWHERE] for f in MAKERS}


def attempts(family: str, seed: int, everything: bool) -> Iterator[tuple[str, Json]]:
    """All ways to solve; or the default one, those with a bound, and one each of the others, in turn."""
    pairs, heuristics = EXACT[family], HEURISTICS[family]
    if not everything:
        pairs, heuristics = [pairs[0], pairs[1 + seed % (len(pairs) - 1)]], [heuristics[seed % len(heuristics)]]
    for formulation, backend in pairs:
        yield f"exact/{formulation}/{backend}", {"method": "exact", "formulation": formulation, "backend": backend}
    for method in [*PROVING[family], *heuristics]:
        yield method, {"method": method}


def attack(family: str, raw: Json, seed: int, everything: bool, refusals: Counter[str]) -> list[str]:
    """Solve in many ways and judge; returns what went wrong, a line each."""
    raw = json.loads(json.dumps(raw))
    best = enumerate_exact.best(raw)
    try:
        instance = parse(json.dumps(raw).encode(), raw["name"])
    except OptschedError as error:
        refusals[f"{family} instance: {reason(error)}"] += 1
        if "\n" in str(error).strip():
            return [f"refusal of more than a line: {error}"]
        if family == "day_ahead" and best.value is not None and ("no room" in str(error) or "least peaks" in str(error)):
            return [f"refused as infeasible, yet the optimum is {float(best.value)!r}: {error}"]
        return []
    wrong, rng = list(confirmed(raw, instance, best)), Random(seed)
    for label, arguments in attempts(family, seed, everything):
        try:
            result = optsched.solve(instance, time_limit=3, **arguments)
        except CertificateError as error:
            wrong.append(f"{label}: CertificateError {error}")
        except OptschedError as error:
            refusals[f"{family} {label}: {reason(error)}"] += 1
            if "\n" in str(error).strip() or " option '" in str(error):
                wrong.append(f"{label}: a refusal of more than a line, or of an option that nobody gave: {error}")
        except Exception as error:
            wrong.append(f"{label}: {type(error).__name__} {error}")
        else:
            wrong += [f"{label}: {line}" for line in judge(raw, instance, best, result)]
            if result.schedule is not None and (
                everything or label == f"exact/{'/'.join(EXACT[family][0])}" or raw.get("preempt")
            ):
                wrong += [f"{label}, mutated: {line}" for line in mutated(raw, instance, result.to_json()["schedule"], rng)]
    return wrong


def confirmed(raw: Json, instance: Any, best: enumerate_exact.Best) -> Iterator[str]:
    """The package's referee on the true optimum's own schedule."""
    if best.schedule is not None:
        parsed = parse_schedule(raw["problem"], best.schedule, "optimum")
        if own := optsched.check(instance, parsed):
            yield f"check of the optimum: {own[0]}"
        value = optsched.evaluate(instance, parsed).objective
        if abs(Fraction(value) - best.value) > CLOSE * best.largest + best.rounding:
            yield f"evaluation of the optimum: {value!r}, second referee {float(best.value)!r}"


def reason(error: Exception) -> str:
    """An error's message without its numbers and names."""
    words = [w for w in str(error).split() if not any(c.isdigit() for c in w)]
    return " ".join(words)[:110]


def judge(raw: Json, instance: Any, best: enumerate_exact.Best, result: Any) -> Iterator[str]:
    """(a) to (e) of one result."""
    sign = -1 if raw["problem"] in MAXIMISED else 1
    if result.schedule is not None:
        schedule = json.loads(json.dumps(result.to_json()["schedule"]))
        if broken := exact_referee.check(raw, schedule):
            yield f"second referee: infeasible, {broken[0]}"
            return
        if own := optsched.check(instance, result):
            yield f"its own check: {own[0]}"
        true, parts = exact_referee.objective(raw, schedule), exact_referee.components(raw, schedule)
        largest = max(map(abs, parts.values()), default=Fraction(0))
        if abs(Fraction(result.objective) - true) > CLOSE * max(largest, abs(true)):
            yield f"objective {result.objective!r}, second referee {float(true)!r}"
    elif best.value is not None and result.solution != "none":
        yield "no schedule, yet a solution"
    if best.value is None:
        if (
            raw["problem"] != "vcc"
            and result.bound is not None
            and result.schedule is None
            and result.termination != "infeasible"
        ):
            yield f"infeasible, yet {result.termination}"
        return
    if result.termination == "infeasible":
        yield f"infeasible, yet the optimum is {float(best.value)!r}"
    allowed = CLOSE * abs(best.value) + FLOATS * best.largest + best.rounding
    if result.bound is not None and sign * (Fraction(result.bound) - best.value) > allowed:
        yield f"bound {result.bound!r} beyond the optimum {float(best.value)!r}"
    if result.objective is not None and sign * (best.value - Fraction(result.objective)) > allowed + best.slack:
        yield f"objective {result.objective!r} better than the optimum {float(best.value)!r}"
    if (result.method, result.termination, result.message) == ("exact", "completed", None) and not result.options.get("gap"):
        yield "ended without a proof, and no word why"
    if result.solution == "optimal" and sign * (Fraction(result.objective) - best.value) > allowed:
        yield f"'optimal' {result.objective!r}, the optimum is {float(best.value)!r}"


def mutated(raw: Json, instance: Any, schedule: Json, rng: Random) -> Iterator[str]:
    """(f): both referees on a few changed schedules."""
    for _ in range(3):
        changed = MUTATIONS[raw["problem"]](raw, json.loads(json.dumps(schedule)), rng)
        broken = exact_referee.check(raw, changed)
        try:
            parsed = parse_schedule(raw["problem"], changed, "mutated")
            own = [str(v) for v in optsched.check(instance, parsed)]
            value = None if own else optsched.evaluate(instance, parsed).objective
        except CertificateError as error:
            yield f"CertificateError {error}"
            continue
        except OptschedError as error:
            own, value = [str(error)], None
        if bool(broken) != bool(own):
            yield f"second referee {broken[:1]}, check {own[:1]}: {json.dumps(changed)}"
        elif value is not None:
            largest = max(map(abs, exact_referee.components(raw, changed).values()), default=Fraction(0))
            true = exact_referee.objective(raw, changed)
            if abs(Fraction(value) - true) > CLOSE * largest:
                yield f"objective {value!r}, second referee {float(true)!r}: {json.dumps(changed)}"


def edit(rows: list[Json], new: list[Json], rng: Random, fields: dict[str, list[Any]]) -> None:
    """Drop a row, add one, or change a field of one."""
    kind = rng.choice(["drop", "add", "change", "change", "change"])
    if kind == "drop" and rows:
        rows.pop(rng.randrange(len(rows)))
    elif kind == "add" and new:
        rows.append(rng.choice(new))
    elif rows:
        row, name = rng.choice(rows), rng.choice(list(fields))
        change = rng.choice(fields[name])
        row[name] = row[name] + change if isinstance(change, int) and isinstance(row[name], int) else change
        for key in ("start", "departure"):
            if isinstance(row.get(key), int):
                row[key] = max(0, row[key])


def mutate_allocation(raw: Json, schedule: Json, rng: Random) -> Json:
    nodes = [n["id"] for n in raw["nodes"]]
    new = [{"job": j["id"], "node": rng.choice(nodes), "gpus": rng.choice([1, 1, 2])} for j in raw["jobs"]]
    edit(schedule["assignments"], new, rng, {"node": nodes, "gpus": [1]})
    return schedule


def mutate_deferrable(raw: Json, schedule: Json, rng: Random) -> Json:
    new = [{"job": j["id"], "start": j["earliest"]} for j in raw["jobs"]]
    edit(schedule["starts"], new, rng, {"start": [1, -1, 2]})
    return schedule


def mutate_geo(raw: Json, schedule: Json, rng: Random) -> Json:
    new = [{"job": j["id"], "site": j["source"], "start": j["submitted"], "departure": None} for j in raw["jobs"]]
    for job in raw["jobs"]:
        site = rng.choice(raw["sites"])["id"]
        if site != job["source"]:
            start = job["submitted"] + rng.randint(0, job["slack"])
            new.append({"job": job["id"], "site": site, "start": start, "departure": rng.randint(job["submitted"], start)})
    edit(
        schedule["starts"], new, rng, {"start": [1, -1], "departure": [1, -1, None, 0], "site": [s["id"] for s in raw["sites"]]}
    )
    return schedule


def mutate_vcc(raw: Json, schedule: Json, rng: Random) -> Json:
    """A cap moved to where a job just fits, or a hair beside; the starts as they were, or as they are under the new cap."""
    cap = schedule["cap"]
    t, capacity = rng.randrange(len(cap)), exact_referee.num(raw["capacity_ncu"])
    loads = exact_referee.simulate(raw, [exact_referee.num(c) for c in cap])[1]
    sizes = [exact_referee.num(j["ncu"]) for j in raw["jobs"]] or [Fraction(0)]
    just = float(min(1, max(0, rng.choice([(loads[t] + rng.choice(sizes)) / capacity, loads[t] / capacity]))))
    cap[t] = rng.choice([just, min(1.0, nextafter(just, inf)), max(0.0, nextafter(just, 0)), 1.0, rng.random(), 0.0])
    if rng.random() < 0.6:
        starts = exact_referee.simulate(raw, [exact_referee.num(c) for c in cap])[0]
        schedule["starts"] = [{"job": job, "start": start, "until": until} for job, start, until in starts]
    elif rng.random() < 0.3 and schedule["starts"]:
        rng.choice(schedule["starts"])["start"] += 1
    return schedule


def mutate_day_ahead(raw: Json, schedule: Json, rng: Random) -> Json:
    """Changes far above the 1e-9 of a row's magnitude that is allowed; deviations of no flexible usage at all stay."""
    row = rng.choice(schedule["curves"])
    row["peak_mw"] *= rng.choice([1, 1 - 1e-6, 0.5, 1.01, 2])
    if not exact_referee.flexible_usage(next(c for c in raw["clusters"] if c["id"] == row["cluster"])):
        return schedule
    h, k, step = rng.randrange(len(row["delta"])), rng.randrange(len(row["delta"])), rng.choice([1e-4, 0.01, 0.3])
    row["delta"][h] += step
    if rng.random() < 0.7:
        row["delta"][k] -= step
    return schedule


MUTATIONS = {
    "allocation": mutate_allocation,
    "deferrable": mutate_deferrable,
    "geo": mutate_geo,
    "vcc": mutate_vcc,
    "day_ahead": mutate_day_ahead,
}


def campaign(family: str, seeds: range, everything: bool = False) -> tuple[list[str], Counter[str]]:
    """What went wrong on these seeds, and what was refused."""
    wrong, refusals = [], Counter[str]()
    for seed in seeds:
        wrong += [f"{family} seed {seed}: {line}" for line in attack(family, harsh(family, seed), seed, everything, refusals)]
    return wrong, refusals


def report(wrong: list[str], refusals: Counter[str], what: str) -> None:
    print(f"\n{what}: {len(wrong)} wrong; refusals:", *(f"\n  {n} {why}" for why, n in refusals.most_common()))  # noqa: T201
    assert not wrong, f"{what}: {len(wrong)} wrong:\n" + "\n".join(wrong[:12])


@pytest.mark.parametrize("family", MAKERS)
def test_every_way_to_solve_harsh_instances(family: str) -> None:
    report(*campaign(family, range(3), everything=True), f"{family}, all ways")


@pytest.mark.slow
@pytest.mark.parametrize("family", MAKERS)
def test_more_harsh_instances(family: str) -> None:
    report(*campaign(family, range(100, 112)), f"{family}, in turn")


def test_near_fits() -> None:
    wrong, refusals = near_fits(range(25))
    report(wrong, refusals, "near fits")


def near_fits(seeds: range) -> tuple[list[str], Counter[str]]:
    """The default exact method only, on many."""
    wrong, refusals = [], Counter[str]()
    for seed in seeds:
        raw = json.loads(json.dumps(near_fit(seed)))
        try:
            instance = parse(json.dumps(raw).encode(), raw["name"])
            result = optsched.solve(instance)
        except OptschedError as error:
            if isinstance(error, CertificateError):
                wrong.append(f"near fit {seed}: CertificateError {error}")
            refusals[f"near fit: {reason(error)}"] += 1
            continue
        best = enumerate_exact.best(raw)
        wrong += [f"near fit {seed}: {line}" for line in (*confirmed(raw, instance, best), *judge(raw, instance, best, result))]
    return wrong, refusals


def test_the_oracle_by_hand() -> None:
    """The second referee knows what the decimals say: 0.1 + 0.2 is 0.3, and 5.00002 does not fit beside 5 into 10."""
    raw = {"problem": "vcc", "capacity_ncu": 0.3, "carbon_kg_per_kwh": [1], "inflexible_ncu": [0.0], "jobs": []}
    raw["jobs"] = [{"id": k, "submitted": 0, "duration": 1, "ncu": v} for k, v in (("a", 0.1), ("b", 0.2))]
    starts = [{"job": k, "start": 0} for k in "ab"]
    assert exact_referee.check(raw, {"cap": [1.0], "starts": starts}) == []
    assert exact_referee.objective(raw, {"cap": [1.0], "starts": starts}) == Fraction(3, 10)
    assert exact_referee.check(raw, {"cap": [nextafter(1, 0)], "starts": starts}) != []
    tight = deepcopy(raw) | {"capacity_ncu": 10.0, "inflexible_ncu": [5.0], "unfinished_penalty_per_ncu_h": 1}
    tight["jobs"] = [{"id": "a", "submitted": 0, "duration": 2, "ncu": 5.00002}]
    assert exact_referee.check(tight, {"cap": [1.0], "starts": [{"job": "a", "start": 0}]}) != []
    assert enumerate_exact.best(tight).value == 5 + Fraction("10.00004")


@pytest.mark.slow
@pytest.mark.parametrize("chunk", parts(range(20), in_ci=1))
@pytest.mark.parametrize("family", MAKERS)
def test_two_thousand_harsh_instances(family: str, chunk: int) -> None:
    report(*campaign(family, range(chunk * 100 + 1000, chunk * 100 + 1100)), f"{family}, chunk {chunk}")


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.parametrize("family", MAKERS)
def test_harsh_instances_never_seen(family: str) -> None:
    first = int.from_bytes(os.urandom(4)) + 10_000
    report(*campaign(family, range(first, first + 150)), f"{family}, fresh seeds from {first}")


@pytest.mark.slow
@pytest.mark.parametrize("chunk", parts(range(20), in_ci=1))
def test_ten_thousand_near_fits(chunk: int) -> None:
    report(*near_fits(range(chunk * 500 + 100, chunk * 500 + 600)), f"near fits, chunk {chunk}")
