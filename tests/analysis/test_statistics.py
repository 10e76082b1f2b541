"""What a table says in the mean: by hand where that can be done, and properties where it cannot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import optsched
from optsched.analysis.across import compare_all, held_together
from optsched.analysis.gaps import Interrupted
from optsched.analysis.loss import loss
from optsched.analysis.profiles import draw_gaps_over_time, draw_profile
from optsched.analysis.statistics import by_instance, interval, judged_alike, labels, performance_profile, summary
from optsched.errors import CertificateError, OptschedError
from optsched.instances.base import Instance
from optsched.instances.generators import andreas
from optsched.result import Result
from optsched.schedules.base import Schedule
from tests.oracle import tiny


def table(*rows: tuple[str, str, int, float | None], kind: str = "offline") -> pd.DataFrame:
    """Rows of (instance, name, seed, gap)."""
    frame = pd.DataFrame(rows, columns=["instance", "name", "seed", "gap"])
    frame = frame.assign(kind=kind, seconds=np.arange(1.0, len(rows) + 1), objective=1.0, objective_kind=None, forecast=None)
    return frame.assign(objective=frame["objective"].where(frame["gap"].notna()))


def test_means_are_over_instances_not_over_rows() -> None:
    """Two seeds on one instance weigh as much as one on another."""
    found = summary(table(("a", "m", 0, 0.0), ("a", "m", 1, 0.2), ("b", "m", 0, 0.3)))
    assert found["mean"].tolist() == pytest.approx([0.2])
    assert found[["instances", "missing", "worst"]].iloc[0].tolist() == pytest.approx([2, 0, 0.3])


def test_what_failed_is_said_and_not_averaged() -> None:
    """A method that fails on the hard instance is not the best for that."""
    rows = [("a", "good", 0, 0.1), ("b", "good", 0, 0.5), ("a", "crash", 0, 0.2), ("b", "crash", 0, None)]
    found = summary(table(*rows)).set_index("name")
    assert found.loc["crash", "missing"] == 1
    assert found["rank"].to_dict() == {"good": 1.0, "crash": 2.0}
    assert found.index.tolist() == ["good", "crash"]
    part = table(("a", "m", 0, 0.1), ("a", "m", 1, None))
    assert by_instance(part).isna().all(axis=None)


def test_costs_are_multiples_of_the_first() -> None:
    """Twice and eight times as dear: four times, in the geometric mean; none where a figure is not positive."""
    rows = [("a", "x", 0, 0.1), ("b", "x", 0, 0.1), ("a", "y", 0, 0.5), ("b", "y", 0, 0.6)]
    given = table(*rows).assign(objective=[1.0, 2.0, 2.0, 16.0])
    assert summary(given)["times"].tolist() == pytest.approx([1.0, 4.0])
    assert summary(given.assign(objective=[1.0, 2.0, 2.0, -1.0]))["times"].isna().tolist() == [False, True]
    assert summary(given.assign(sense=["minimize", "maximize"] * 2))["times"].isna().all()


def test_ties_share_a_rank() -> None:
    found = summary(table(("a", "x", 0, 0.1), ("a", "y", 0, 0.1 + 1e-13), ("a", "z", 0, 0.2)))
    assert sorted(found["rank"]) == [1.5, 1.5, 3.0]


def test_differences_are_paired() -> None:
    """One is a point behind everywhere, however much instances differ: the interval of the difference is a point."""
    gaps = np.random.default_rng(3).random(12)
    rows = [(f"i{i}", name, 0, gap + more) for i, gap in enumerate(gaps) for name, more in (("x", 0.0), ("y", 0.01))]
    found = summary(table(*rows)).set_index("name")
    assert found.loc["y", ["ahead", "ahead_low", "ahead_high"]].tolist() == pytest.approx([-0.01] * 3)
    assert found.loc["y", "high"] - found.loc["y", "low"] > 0.1


@pytest.mark.parametrize("count", [4, 8, 30])
def test_the_interval_covers_the_mean_about_as_often_as_it_says(count: int) -> None:
    """Of few values too, where plain percentiles cover it four times in five."""
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(300):
        low, high = interval(rng.normal(1.0, 1.0, count), resamples=400) or (0.0, 0.0)
        hits += low <= 1.0 <= high
    assert 0.9 <= hits / 300 <= 0.985
    assert interval(np.array([1.0, 2.0])) is None


def test_an_interval_over_training_runs_knows_how_much_they_differ() -> None:
    """Runs that are alike add nothing to the interval of the instances; runs that differ widen it, about the mean of all."""
    values = np.random.default_rng(5).normal(1.0, 0.1, 12)
    assert interval(np.array([values] * 3)) == pytest.approx(interval(values))
    low, high = interval(np.array([values - 0.2, values, values + 0.2])) or (0.0, 0.0)
    alone = interval(values) or (0.0, 0.0)
    assert low < alone[0] - 0.05 < alone[1] + 0.05 < high
    assert interval(np.ones((3, 2))) is None


def test_who_never_has_a_gap_takes_the_rank_from_nobody() -> None:
    rows = [
        ("a", "x", 0, 0.1),
        ("b", "x", 0, 0.5),
        ("a", "y", 0, 0.2),
        ("b", "y", 0, 0.4),
        ("a", "z", 0, None),
        ("b", "z", 0, None),
    ]
    found = summary(table(*rows)).set_index("name")
    assert found["rank"].tolist()[:2] == [1.5, 1.5]
    assert found.index[-1] == "z"
    assert found.loc["z", ["missing", "absent"]].tolist() == [2, 0]


def test_an_objective_near_nothing_is_not_all_of_the_mean() -> None:
    found = summary(table(("a", "x", 0, 1e12), ("b", "x", 0, 0.0)))
    assert found["mean"].tolist() == [0.5]


def test_equal_names_are_not_one_instance() -> None:
    rows = table(("a", "x", 0, 0.1), ("a", "x", 0, 0.3)).assign(sha256=["1", "2"])
    assert summary(rows)["instances"].tolist() == [2]


def test_profiles_by_hand() -> None:
    rows = table(("a", "x", 0, 0.0), ("a", "y", 0, 0.0), ("b", "x", 0, 0.0), ("b", "y", 0, None))
    rows["seconds"], rows["objective"] = [1.0, 3.0, 4.0, 0.1], [1.0, 1.0, 1.0, None]
    found = performance_profile(rows)
    assert found["x"][0].tolist() == [1.0, 1.0]
    assert found["y"][0].tolist() == [3.0]  # who failed at once is not the fastest
    assert found["y"][1].tolist() == [0.5]
    by_gap = performance_profile(rows, "gap")
    assert by_gap["y"][1].tolist() == [0.5]
    with pytest.raises(OptschedError, match="needs gap"):
        performance_profile(table(("a", "x", 0, None)), "gap")


def test_labels_tell_options_and_forecasts_apart_where_there_are_several() -> None:
    rows = table(("a", "x", 0, 0.0), ("a", "x", 0, 0.1), ("a", "y", 0, 0.1)).assign(options=["k=1", "k=2", "k=1"])
    assert labels(rows).tolist() == ["x k=1", "x k=2", "y"]


def test_every_row_is_held_against_the_best_bound_of_its_instance() -> None:
    rows = table(("a", "x", 0, None), ("a", "y", 0, None)).assign(objective=[10.0, 8.0], bound=[6.0, 7.0], sense="minimize")
    found = held_together(rows)
    assert found["bound"].tolist() == [7.0, 7.0]
    assert found["gap"].tolist() == pytest.approx([0.3, 0.125])
    with pytest.raises(CertificateError, match=r"a: y has 8, which the proven bound 9 excludes"):
        held_together(rows.assign(bound=[6.0, 9.0]))


def test_ctrl_c_in_the_first_run_has_an_empty_table() -> None:
    def stopped(instance: Instance) -> None:
        raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        compare_all([tiny.deferrable(1)], [stopped])
    assert len(caught.value.table) == 0
    assert len(compare_all([tiny.deferrable(1)], [], [])) == 0
    with pytest.raises(OptschedError, match="goes with a single instance"):
        compare_all([tiny.deferrable(1), tiny.deferrable(2)], ["exact"], bound=3.0)


def test_ctrl_c_in_the_middle_keeps_whole_rows() -> None:
    """With the seed and forecast of each, whatever the block in which it came; the table has its loss and means."""
    asked: list[int] = []

    class Impatient:
        def reset(self, seed: int) -> None:
            asked.append(seed)

        def decide(self, snapshot: Instance) -> Schedule:
            if asked[-1] == 1:
                raise KeyboardInterrupt
            return optsched.solve(snapshot, "greedy").best

    how: dict[str, Any] = {"seeds": (0, 1), "forecasts": ("noisy:0.3",)}
    with pytest.raises(Interrupted) as caught:
        compare_all([tiny.deferrable(1), tiny.deferrable(2)], [], ["rolling", "fifo", Impatient], **how)
    found = caught.value.table
    assert found["name"].tolist() == ["rolling", "fifo", "Impatient", "rolling", "fifo"]
    assert found["seed"].tolist() == [0, 0, 0, 1, 1]
    assert set(found["forecast"]) == {"noisy:0.3"}
    assert not loss(found).empty


def test_many_instances_and_seeds() -> None:
    """The loss adds up to the policy's gap; no row beats a bound; the same seeds, the same table."""
    instances = [tiny.deferrable(seed) for seed in (1, 2, 4)]
    results: list[Result] = []
    how = {"seeds": (0, 1), "forecasts": ("perfect", "noisy:0.3"), "time_limit": 20, "keep": results.append}
    found = compare_all(instances, ["exact", "greedy"], ["rolling", "fifo"], **how)
    assert len(found) == len(results) == 3 * 2 * (2 + 2 * 2)
    assert (found["gap"].dropna() >= 0).all()
    again = compare_all(instances, ["exact", "greedy"], ["rolling", "fifo"], **how)
    assert found.drop(columns="seconds").equals(again.drop(columns="seconds"))
    steps = loss(found).set_index(["step", "name"])["mean"]
    noisy = found[(found["name"] == "rolling") & (found["forecast"] == "noisy:0.3")]["gap"].mean()
    assert steps["solver"].iloc[0] + steps["online", "rolling"] + steps["forecast", "rolling"] == pytest.approx(noisy)
    assert len(draw_profile(found).axes) == 2
    assert draw_gaps_over_time(found, results).axes


def test_pictures_keep_apart_what_is_judged_differently() -> None:
    """And lose no run of a family that has no proxy, where another family has one."""
    instances: list[Instance] = [tiny.deferrable(1), tiny.deferrable(2), andreas(nodes=2, jobs=4)]
    results: list[Result] = []
    found = compare_all(instances, ["exact"], ["rolling"], keep=results.append)
    assert len(draw_profile(found).subfigs) == 3
    (line,) = draw_gaps_over_time(found, [result for result in results if result.method == "exact"]).axes[0].lines
    assert line.get_label() == "exact (3)"


def test_what_failed_is_judged_as_its_family_is() -> None:
    """Also where the same policy was played in another family, which has a proxy."""
    found = table(("a", "x", 0, 0.1), ("a", "y", 0, None), ("b", "x", 0, 0.2), ("b", "z", 0, 0.3), ("c", "y", 0, None))
    found["kind"] = ["online", "online", "online", "offline", "offline"]
    found["objective_kind"] = [None, None, "realised", "proxy", None]
    parts = {kind: part.index.tolist() for kind, part in judged_alike(found).items()}
    assert parts == {"proxy": [3, 4], "realised": [2], "plain": [0, 1]}


def test_an_interval_of_gaps_is_one_of_gaps() -> None:
    """Between none and the whole, as they count in means."""
    found = summary(table(*((name, "m", 0, gap) for name, gap in (("a", 0.0), ("b", 1.0), ("c", 1.0), ("d", 0.1)))))
    low, high = found[["low", "high"]].iloc[0]
    assert 0.0 == low < found["mean"].iloc[0] < high == 1.0


def test_without_a_common_instance_there_are_no_ranks_and_the_least_gap_stands_first() -> None:
    found = summary(table(("a", "x", 0, 0.5), ("b", "x", 0, None), ("a", "y", 0, None), ("b", "y", 0, 0.1)))
    assert found["rank"].isna().all()
    assert found["name"].tolist() == ["y", "x"]


def test_no_difference_of_gaps_is_beyond_all_there_is() -> None:
    rows = [(name, "x", 0, 0.0) for name in "abc"] + [("a", "y", 0, 1.0), ("b", "y", 0, 1.0), ("c", "y", 0, 0.25)]
    found = summary(table(*rows)).set_index("name")
    assert found.loc["y", ["ahead_low", "ahead_high"]].between(-1.0, 1.0).all()
