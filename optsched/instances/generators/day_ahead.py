"""Clusters of several campuses for one day, each with its own carbon wave."""

from __future__ import annotations

import numpy as np

from optsched.errors import expect
from optsched.instances.day_ahead import Campus, Cluster, DayAheadInstance


def day_ahead(clusters: int = 5, campuses: int = 2, share: float = 0.25, seed: int = 0) -> DayAheadInstance:
    """Clusters in turn on campuses.

    Parameters
    ----------
    share : flexible usage over inflexible usage; the paper's clusters have from a tenth to a half.
    """
    expect(1, 10**5, clusters=clusters)
    expect(1, clusters, campuses=campuses)
    expect(0, 1, share=share)
    rng = np.random.default_rng(seed)
    hour = np.arange(24)
    made, peaks = [], np.zeros(campuses)
    for c in range(clusters):
        size = rng.uniform(500, 2000)
        inflexible = size * (0.5 + 0.1 * np.sin(2 * np.pi * (hour - 8 - rng.integers(0, 6)) / 24) + rng.normal(0, 0.01, 24))
        flexible = share * float(inflexible.sum())
        ratio = 1.2 + 0.1 * np.sin(2 * np.pi * hour / 24)
        noon = rng.uniform(10, 15)
        carbon = 0.4 - rng.uniform(0.05, 0.25) * np.exp(-(((hour - noon) / 3.5) ** 2)) + rng.normal(0, 0.01, 24)
        reserved = float(((inflexible + flexible / 24) * ratio).sum())
        most = inflexible.max() + 2.2 * flexible / 24
        kw, idle = 1.0, 0.3 * size
        peaks[c % campuses] += (idle + kw * (inflexible + 1.6 * flexible / 24).max()) / 1000
        made.append(
            Cluster(
                id=f"cluster-{c}",
                campus=f"campus-{c % campuses}",
                inflexible_ncu=tuple(np.round(inflexible, 3).tolist()),
                inflexible_high_ncu=tuple(np.round(1.04 * inflexible, 3).tolist()),
                flexible_ncu_h=round(flexible, 3),
                reserved_ncu_h=round(reserved, 3),
                reserved_error=0.03,
                reservation_ratio=tuple(np.round(ratio, 4).tolist()),
                carbon_kg_per_kwh=tuple(np.round(carbon, 4).tolist()),
                idle_kw=round(idle, 3),
                kw_per_ncu=kw,
                capacity_ncu=round(1.45 * most, 3),
                usage_limit_ncu=round(1.06 * most, 3),
            )
        )
    return DayAheadInstance(
        name=f"day-ahead-{clusters}-s{seed}",
        meta={"generator": "day-ahead", "share": share, "seed": seed},
        campuses=tuple(Campus(id=f"campus-{k}", contract_mw=round(float(p), 4)) for k, p in enumerate(peaks.tolist())),
        clusters=tuple(made),
    )
