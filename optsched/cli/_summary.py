"""How comparisons of many runs look: what each is in the mean, and where a policy loses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optsched.cli._lines import say
from optsched.cli._show import number, percent
from optsched.cli._table import Column, show

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

HEADS = ("on", "mean gap", "95 %", "worst", "rank", "behind the first (95 %)", "times the first (95 %)", "seconds")
MOST_DOUBTS = 3  # of a policy that are shown
STEPS = {
    "solver": "from the bound to the best schedule found offline",
    "online": "not knowing what comes: rolling, perfect forecasts",
    "forecast": "forecasts: rolling",
    "policy": "another policy than rolling",
}


def points(value: float | None) -> str:
    """A gap in per cent with two digits behind the point; nothing where it is not known."""
    return "-" if value is None or value != value else f"{round(100 * value, 2) + 0.0:.2f} %"


def span(low: float | None, high: float | None) -> str:
    """An interval."""
    return "" if low is None or low != low else f"{points(low)} to {points(high)}"


def multiple(mean: float | None, low: float | None, high: float | None) -> str:
    """A factor with its interval; nothing where it is not known."""
    if mean is None or mean != mean:
        return ""
    return f"{mean:.3g}" + (f" ({low:.3g} to {high:.3g})" if low is not None and low == low else "")


def show_summaries(out: Console, table: pd.DataFrame) -> None:
    """A table of what is judged alike: of a snapshot's proxy, and of what all jobs have cost."""
    from optsched.analysis.statistics import KINDS, judged_alike

    parts = judged_alike(table)
    for i, (kind, part) in enumerate(parts.items()):
        if i:
            out.print()
        if len(parts) > 1:
            say(out, f"{KINDS[kind]}:")
        show_summary(out, part)


def show_summary(out: Console, table: pd.DataFrame) -> None:
    """A row a method or policy, the best first; what is in no mean is told."""
    from optsched.analysis.statistics import summary

    rows: list[list[str]] = []
    said: list[str] = []
    listed = summary(table)
    if len(listed) > 1 and listed["rank"].isna().all() and not listed["mean"].isna().all():
        said.append("* no ranks: there is no instance on which all have a gap; the least mean gap stands first")
    for found in listed.to_dict("records"):
        behind = "" if found["ahead"] is None or not rows else f"{points(-found['ahead'])}"
        if behind and found["ahead_low"] is not None and found["ahead_low"] == found["ahead_low"]:
            behind += f" ({span(-found['ahead_high'], -found['ahead_low'])})"
        rank = "-" if found["rank"] != found["rank"] else f"{found['rank']:.2f}"
        cells = [str(found["instances"]), points(found["mean"]), span(found["low"], found["high"]), points(found["worst"])]
        times = multiple(found["times"], found["times_low"], found["times_high"]) if rows else ""
        seconds = "-" if found["seconds"] != found["seconds"] else f"{found['seconds']:.3g}"
        rows.append([found["name"], *cells, rank, behind, times, seconds])
        for word, why in (
            ("missing", "it failed, or nothing is proven"),
            ("absent", "it was not run, or its family is another"),
        ):
            if count := found[word]:
                where = "an instance" if count == 1 else f"{count} instances"
                said.append(f"* {found['name']} has no gap on {where}, where {why}: in no mean, and not in the ranks")
    show(out, [Column("name"), *(Column(name, right=True) for name in HEADS)], rows)
    for line in said:
        say(out, line)


def show_remarks(out: Console, table: pd.DataFrame) -> None:
    """What rows with an objective have to say: how often a guard decided, in all, and each doubt once."""
    from optsched.rolling.loop import GUARDED

    table = table[table["objective"].notna()]
    judged = table["objective_kind"]
    if {"proxy", "realised"} <= set(judged):
        names = ", ".join(dict.fromkeys(table["name"][judged == "proxy"]))
        say(out, f"{names}: the proxy of a decision for the jobs that are known now, with a bound of its own, and not to be")
        say(out, "compared with what all jobs have cost in the end, as of the others")
    for name, part in table.groupby("name", sort=False):
        if times := int(part["overruled"].fillna(0).sum()):
            decided, held = int(part["decisions"].fillna(0).sum()), int((part["overruled"] > 0).sum())
            say(out, f"{name}: {GUARDED} {times:,} of {decided:,} times, in {held} of {len(part)} runs")
        said = (
            part["message"].dropna().str.replace(rf"(?:^|; ){GUARDED} \d+ of \d+ times", "", regex=True).str.removeprefix("; ")
        )
        doubts = said[said != ""].value_counts(sort=False)
        for doubt, count in list(doubts.items())[:MOST_DOUBTS]:
            say(out, f"{name}: {doubt}" + (f" ({count} runs)" if count > 1 else ""))
        if (more := len(doubts) - MOST_DOUBTS) > 0:
            say(out, f"{name}: and {more} more such, in the column `message` of -o FILE.csv")


def show_rows(out: Console, table: pd.DataFrame) -> None:
    """A row a run."""
    from optsched.analysis.statistics import labels

    several = table["seed"].nunique() > 1
    columns = [Column("instance"), Column("name"), *([Column("seed", right=True)] if several else [])]
    columns += [Column(name, right=True) for name in ("objective", "bound", "gap", "seconds")]
    rows = []
    for label, found in zip(labels(table), table.to_dict("records"), strict=True):
        figures = [number(_given(found["objective"])), number(_given(found["bound"])), percent(_given(found["gap"]))]
        seed = [str(found["seed"])] if several else []
        rows.append([found["instance"], label, *seed, *figures, f"{found['seconds']:.2f}", ended(found)])
    show(out, [*columns, Column("ended")], rows)


def ended(found: dict[str, object]) -> str:
    """How a run ended; what failed is told."""
    if _given(found["objective"]) is None and found["kind"] == "online":
        return "failed"
    return str(found["termination"])


def _given(value: object) -> float | None:
    return None if value is None or value != value else float(value)  # type: ignore[arg-type]


def show_loss(out: Console, table: pd.DataFrame) -> None:
    """Where the gap of policies comes from, where `rolling` is among them."""
    from optsched.analysis.loss import loss

    steps = loss(table)
    if not (steps["step"] == "online").any():
        return
    out.print()
    say(out, "where the gap comes from, in points of it")
    rows = []
    for found in steps.to_dict("records"):
        told = STEPS[found["step"]]
        if found["step"] == "forecast":
            told += f", {found['forecast']}"
        if found["step"] == "policy":
            told = f"{found['name']} instead of rolling" + (f", {found['forecast']}" if found["forecast"] != "perfect" else "")
        rows.append([told, str(found["instances"]), points(found["mean"]), span(found["low"], found["high"])])
    show(out, [Column("step"), Column("on", right=True), Column("mean", right=True), Column("95 %", right=True)], rows)
