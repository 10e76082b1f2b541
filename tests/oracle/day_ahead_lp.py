"""day_ahead as the linear program of its equations (6)-(11), by scipy; its dual proves a bound in fractions.

A solver is believed in nothing: whatever its multipliers are, the Lagrangian bound that they give is exact, and whatever its
usage is, its cost is that of the second referee.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

from tests.oracle import exact_referee as referee
from tests.oracle.exact_referee import ZERO, Json, excess, num


def bracket(raw: Json) -> tuple[Fraction, Fraction]:
    """A proven bound of the optimum, and the cost of the program's own usage, which may break rows by a solver's tolerance."""
    clusters, hours = raw["clusters"], len(raw["clusters"][0]["inflexible_ncu"])
    price, peak_price = num(raw["carbon_price"]), num(raw["peak_price"])
    tau, slope, eta, kw, most = [], [], [], [], []
    for c in clusters:
        usage, high = [num(u) for u in c["inflexible_ncu"]], [num(u) for u in c["inflexible_high_ncu"]]
        machines = [num(c["capacity_ncu"]) / num(r) - u for r, u in zip(c["reservation_ratio"], usage, strict=True)]
        most.append([excess(min(m, num(c["usage_limit_ncu"]) - u)) for m, u in zip(machines, high, strict=True)])
        tau.append(referee.flexible_usage(c))
        slope.append(num(c["kw_per_ncu"]))
        eta.append([num(v) for v in c["carbon_kg_per_kwh"]])
        kw.append([num(c["idle_kw"]) + slope[-1] * u for u in usage])
    n, size = len(clusters), len(clusters) * hours  # columns: usage by cluster and hour, then peaks in kW
    cost = [price * eta[c][h] * slope[c] for c in range(n) for h in range(hours)] + [peak_price / 1000] * n
    top = [most[c][h] for c in range(n) for h in range(hours)] + [max(kw[c]) + slope[c] * tau[c] for c in range(n)]
    constant = price * sum((eta[c][h] * kw[c][h] for c in range(n) for h in range(hours)), ZERO)
    equal, under, limit = [], [], []  # rows (7), then the peaks' and (9)
    for c in range(n):
        equal.append({c * hours + h: Fraction(1) for h in range(hours)})
        under += [{c * hours + h: slope[c], size + c: Fraction(-1)} for h in range(hours)]
        limit += [-kw[c][h] for h in range(hours)]
    for campus in raw["campuses"]:
        under.append({size + c: Fraction(1) for c, cluster in enumerate(clusters) if cluster["campus"] == campus["id"]})
        limit.append(num(campus["contract_mw"]) * 1000)

    def dense(rows: list[dict[int, Fraction]]) -> np.ndarray:
        return np.array([[float(row.get(k, 0)) for k in range(size + n)] for row in rows])

    found = linprog(
        [float(v) for v in cost],
        dense(under),
        [float(v) for v in limit],
        dense(equal),
        [float(v) for v in tau],
        [(0, float(v)) for v in top],
    )
    assert found.status == 0, found.message
    left, bound = list(cost), constant
    duals = [(equal, tau, [Fraction(v) for v in found.eqlin.marginals])]
    duals.append((under, limit, [min(ZERO, Fraction(v)) for v in found.ineqlin.marginals]))
    for rows, sides, multipliers in duals:
        for row, side, multiplier in zip(rows, sides, multipliers, strict=True):
            bound += multiplier * side
            for k, coefficient in row.items():
                left[k] -= multiplier * coefficient
    bound += sum((min(ZERO, reduced * u) for reduced, u in zip(left, top, strict=True)), ZERO)
    return bound, constant + sum((Fraction(x) * v for x, v in zip(found.x, cost, strict=True)), ZERO)
