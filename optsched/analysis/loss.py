"""Where a policy loses: what the solver leaves, what not knowing costs, what forecasts cost, what the policy itself does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optsched.analysis.statistics import WHOLE, identity, interval, labels

if TYPE_CHECKING:
    import pandas as pd

PLANNER, PERFECT = "rolling", "perfect"  # what stands for deciding well online, and for knowing prices beforehand


def loss(table: pd.DataFrame) -> pd.DataFrame:
    """The gap to the bound in steps, each the mean over the instances that have both of its ends.

    ``solver``: the bound to the best schedule found offline; ``online``: from there to `rolling` with perfect forecasts;
    ``forecast``: from there to `rolling` with others; ``policy``: from there to other policies with the same forecast. Gaps are
    relative to each row's own objective, at most 100 %; where all rows are there, steps add up to the policy's gap.

    Parameters
    ----------
    table
        As `compare_all` returns it, where offline and online schedules are judged alike.

    Returns
    -------
    pandas.DataFrame
        ``step``, ``name``, ``forecast``, ``instances``, ``mean`` (points of gap), ``low``, ``high``; empty where there is none.
    """
    import pandas as pd

    gaps, instance = table["gap"].astype(float).clip(upper=WHOLE), identity(table)
    judged = table["objective_kind"].fillna("")
    offline = table["kind"] == "offline"
    online = table["kind"] == "online"
    found = offline & (judged != "proxy")
    best = gaps[found].groupby(instance[found]).min()
    plain = table.drop(columns="forecast").assign(kind="")
    label = labels(plain)  # by options where there are several; forecasts are told apart here
    rows: list[dict[str, object]] = []

    def step(word: str, name: str, forecast: str | None, end: pd.Series, begin: pd.Series | None) -> None:
        moved = (end if begin is None else end - begin).dropna()
        if moved.empty:
            return
        low, high = interval(moved.to_numpy()) or (None, None)
        low = max(0.0, low) if begin is None and low is not None else low  # a gap is never less
        told: dict[str, object] = {"step": word, "name": name, "forecast": forecast, "instances": len(moved)}
        rows.append(told | {"mean": float(moved.mean()), "low": low, "high": high})

    def played(name: str, forecast: str) -> pd.Series:
        chosen = online & (label == name) & (table["forecast"] == forecast)
        return gaps[chosen].groupby(instance[chosen]).agg(lambda part: part.mean(skipna=False))

    step("solver", "best offline", None, best, None)
    planned = played(PLANNER, PERFECT)
    if not best.empty:
        step("online", PLANNER, PERFECT, planned, best)
    forecasts = [f for f in dict.fromkeys(table.loc[online, "forecast"]) if isinstance(f, str)]
    for forecast in forecasts:
        if forecast != PERFECT:
            step("forecast", PLANNER, forecast, played(PLANNER, forecast), planned)
        for name in dict.fromkeys(label[online]):
            if name != PLANNER:
                step("policy", name, forecast, played(name, forecast), played(PLANNER, forecast))
    columns = ["step", "name", "forecast", "instances", "mean", "low", "high"]
    return pd.DataFrame(rows, columns=columns)
