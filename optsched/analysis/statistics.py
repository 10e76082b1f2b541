"""What a table of gaps says in the mean: intervals, ranks, paired differences, and profiles.

Rows of one instance are not independent, whatever their seeds: what is resampled is instances, each with all of its rows, so
that every method is judged on the same ones (a paired bootstrap).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from optsched.errors import OptschedError
from optsched.instances.base import Floats

if TYPE_CHECKING:
    import pandas as pd

RESAMPLES = 10_000
LEVEL = 0.95
LEAST = 3  # instances that an interval needs
WHOLE = 1.0  # a gap that counts as all there is: an objective near nothing would be all of the mean
ALIKE = ("sense", "objective_kind")  # of rows whose objectives may be divided by each other
PLAIN = "plain"  # families whose decisions and histories are judged alike
KINDS = {  # of rows whose gaps can be compared, in words
    "proxy": "decided now, for the jobs that are known, and judged by the proxy of the paper",
    "realised": "what all jobs have cost in the end",
    PLAIN: "where the two are one",
}
TIED = 1e-9  # of a gap: closer ones share their rank


def judged_alike(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The rows whose gaps can be compared: of a snapshot's proxy, of what all jobs have cost, and where the two are one.

    Parameters
    ----------
    table
        As `compare` and sweeps return it.

    Returns
    -------
    By a name of `KINDS`; the whole as ``plain`` where not both of the first two are there.
    """
    kinds = table["objective_kind"]
    if not {"proxy", "realised"} <= set(kinds):
        return {PLAIN: table}
    instance = identity(table)
    two = kinds.notna().groupby(instance).transform("any")  # its family has a proxy
    one = (kinds.isna() & table["objective"].notna()).groupby(instance).transform("any")
    own = kinds.fillna(table["kind"].map({"offline": "proxy", "online": "realised"})).where(two | ~one, PLAIN)
    return {kind: table[own == kind] for kind in KINDS if (own == kind).any()}


def by_instance(table: pd.DataFrame, value: str = "gap") -> pd.DataFrame:
    """A row an instance, a column a method: the mean over seeds; NaN where any of its rows has none.

    Parameters
    ----------
    table
        As `compare` and sweeps return it.
    value
        A column of numbers: a gap above 100 % counts as 100 %, and other figures of a run that failed are none.
    """
    label, instance = labels(table), identity(table)
    values = table[value].astype(float)
    values = values.clip(upper=WHOLE) if value == "gap" else values.where(table["objective"].notna())
    grouped = values.groupby([instance, label], sort=False)
    return grouped.agg(lambda part: part.mean(skipna=False)).unstack().reindex(columns=list(dict.fromkeys(label)))


def by_rows(table: pd.DataFrame) -> pd.DataFrame:
    """A row an instance, a column a method: whether it was run there."""
    label = labels(table)
    counted = table["kind"].groupby([identity(table), label], sort=False).size()
    return counted.unstack(fill_value=0).reindex(columns=list(dict.fromkeys(label))) > 0


def labels(table: pd.DataFrame) -> pd.Series:
    """The name of each row, with options and forecast where there are several of the name."""
    label = table["name"].astype(str)
    for column, word in (("options", " {}"), ("forecast", " @ {}"), ("time_limit_s", " {:g} s"), ("version", " v{}")):
        if column in table:
            several = table.groupby("name")[column].transform(lambda part: part.dropna().nunique()) > 1
            extra = table[column].map(partial(_extra, word))
            label = label.where(~several, label + extra)
    offline_too = table.groupby(label)["kind"].transform("nunique") > 1
    return label.where(~(offline_too & (table["kind"] == "online")), label + " (online)")


def _extra(word: str, value: object) -> str:
    return "" if value is None or value == "" or value != value else word.format(value)


def identity(table: pd.DataFrame) -> pd.Series:
    """What tells instances apart: their sha256 where the table has it, else their names."""
    return table["sha256"] if "sha256" in table else table["instance"]


def interval(values: Floats, resamples: int = RESAMPLES, seed: int = 0) -> tuple[float, float] | None:
    """The 95 % bootstrap interval of a mean: percentiles, expanded for few values as Student's t is.

    Parameters
    ----------
    values
        One an instance, shape (n,); or of several training runs on the same instances, shape (runs, n): both are then drawn
        (the pigeonhole bootstrap, Owen 2007). Where three runs differ more than instances do it covers the mean 84 to 89 times
        in a hundred (sd 1 against 0.3), and more often than it says where they are alike.
    resamples, seed
        How often it is drawn with replacement, and of that.

    Returns
    -------
    None for fewer than three instances.
    """
    table = np.atleast_2d(values)
    runs, count = table.shape
    if count < LEAST:
        return None
    from scipy.stats import norm  # here: beside Pyomo it takes a second to load, and few tables have intervals
    from scipy.stats import t as student

    rng = np.random.default_rng(seed)
    drawn = rng.integers(count, size=(resamples, count))
    by_instance = table[rng.integers(runs, size=(resamples, runs))].mean(axis=1)
    low, high = np.quantile(np.take_along_axis(by_instance, drawn, axis=1).mean(axis=1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    mean = float(table.mean())
    wider = float(student.ppf((1 + LEVEL) / 2, count - 1) / norm.ppf((1 + LEVEL) / 2) * np.sqrt(count / (count - 1)))
    return mean - wider * (mean - float(low)), mean + wider * (float(high) - mean)


def summary(table: pd.DataFrame, resamples: int = RESAMPLES, seed: int = 0) -> pd.DataFrame:
    """A row a method or policy, the best mean rank first.

    Parameters
    ----------
    table
        As `compare` and sweeps return it.
    resamples, seed
        Of the intervals.

    Returns
    -------
    pandas.DataFrame
        ``name``; ``instances`` that it has a gap on; ``missing`` ones, where it failed or nothing is proven, and ``absent``
        ones, where it has no row: these are in no mean; ``mean``, ``low``, ``high`` (95 % of the mean) and ``worst`` gap;
        ``rank``, the mean over the instances that all have a gap on, of 1 for the least; ``ahead`` and ``ahead_low``,
        ``ahead_high``: by how much its gap is below that of the first row on the same instances, in the mean, negative where it
        is behind; ``times``, ``times_low``, ``times_high``: its objective as a multiple of the first row's, in the geometric
        mean over the same instances, where all are positive and judged by the same; ``seconds``, the mean.
    """
    import pandas as pd

    gaps, seconds, objectives = by_instance(table), by_instance(table, "seconds"), by_instance(table, "objective")
    alike = not table.empty and all(table[column].nunique(dropna=False) <= 1 for column in ALIKE if column in table)
    logs = np.log(objectives.where((objectives > 0) & alike))
    there = by_rows(table)
    whole = gaps.dropna(axis=1, how="all").dropna()  # who has no gap at all takes the rank from nobody
    ranks = whole.div(TIED).round().rank(axis=1).mean().reindex(gaps.columns)
    order = sorted(gaps.columns, key=lambda name: tuple(np.nan_to_num((ranks[name], gaps[name].mean()), nan=np.inf)))
    rows = []
    for name in order:
        own = gaps[name].dropna()
        pair = (gaps[order[0]] - gaps[name]).dropna()
        low, high = _within(interval(own.to_numpy(), resamples, seed), 0.0)
        below, above = _within(interval(pair.to_numpy(), resamples, seed), -WHOLE)
        times = _multiples((logs[name] - logs[order[0]])[pair.index].to_numpy(), resamples, seed)
        count = int(there[name].sum())
        told = {"name": name, "instances": len(own), "missing": count - len(own), "absent": len(gaps) - count}
        told |= {"mean": own.mean(), "low": low, "high": high, "worst": own.max(), "rank": ranks[name]}
        told |= {"ahead": pair.mean() if len(pair) else None, "ahead_low": below, "ahead_high": above}
        rows.append(told | times | {"seconds": seconds[name].mean()})
    return pd.DataFrame(rows)


def _within(ends: tuple[float, float] | None, least: float) -> tuple[float, float] | tuple[None, None]:
    """An interval no further than what it is of may be, and counts."""
    return (None, None) if ends is None else (min(max(least, ends[0]), WHOLE), min(max(least, ends[1]), WHOLE))


def _multiples(apart: Floats, resamples: int, seed: int) -> dict[str, float | None]:
    """The geometric mean of multiples, from their logarithms, and its interval; None where one is not a number."""
    if not len(apart) or np.isnan(apart).any():
        return dict.fromkeys(("times", "times_low", "times_high"))
    low, high = interval(apart, resamples, seed) or (None, None)
    ends = [None if end is None else float(np.exp(end)) for end in (low, high)]
    return {"times": float(np.exp(apart.mean())), "times_low": ends[0], "times_high": ends[1]}


def performance_profile(table: pd.DataFrame, by: str = "seconds") -> dict[str, tuple[Floats, Floats]]:
    """Dolan and Moré's performance profile (2002): the share of instances on which a method is within a factor of the best.

    Parameters
    ----------
    table
        As `compare` and sweeps return it.
    by
        A column that is the better the smaller: ``seconds``, or ``gap`` (the factor is then of 1 + gap, i.e. of the cost).

    Returns
    -------
    By name, factors from 1 on and the share of instances that are reached by each, both shape (n,), n as many as it has.

    Raises
    ------
    OptschedError
        There is no such figure in the table.
    """
    values = by_instance(table, by)
    if values.empty or values.isna().all(axis=None):
        raise OptschedError(f"a profile needs {by} of at least one row")
    cost = values + 1 if by == "gap" else values.clip(lower=1e-9)
    ratios = cost.div(cost.min(axis=1), axis=0)
    found = {}
    for name in ratios:
        reached = np.sort(ratios[name].dropna().to_numpy())
        found[str(name)] = (reached, np.arange(1, len(reached) + 1) / len(ratios))
    return found
