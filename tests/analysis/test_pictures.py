"""Pictures of all families: titles, axes and legends say what is drawn, and everything drawn is within the frame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import optsched
from optsched.analysis import allocation, day_ahead, deferrable, geo, vcc
from optsched.analysis.marks import FILLS, LATE, VERMILLION
from optsched.instances.day_ahead import DayAheadInstance
from optsched.instances.deferrable import DeferrableInstance, Job
from optsched.instances.geo import GeoInstance
from optsched.instances.vcc import VccInstance
from optsched.schedules.deferrable import DeferrableSchedule, Start
from optsched.schedules.deferrable import evaluate as evaluate_deferrable
from optsched.schedules.geo import GeoSchedule
from optsched.schedules.vcc import VccSchedule

DRAW: dict[str, Any] = {
    "allocation-small": allocation.draw,
    "armida-snapshot": allocation.draw,
    "day-ahead": day_ahead.draw,
    "deferrable-small": deferrable.draw,
    "geo-small": geo.draw,
    "vcc-small": vcc.draw,
}
LEGENDS = {
    "allocation-small": {"job", "after its due date", "due (if within the axis)"},
    "armida-snapshot": {"job", "after its due date", "due (if within the axis)"},
    "day-ahead": {"inflexible load", "load before", "load after", "virtual capacity curve", "carbon intensity (right)"},
    "deferrable-small": {"load", "capacity", "window", "run"},
    "geo-small": {"GPUs in use: jobs of the site", "capacity", "price (right)"},
    "vcc-small": {"inflexible load", "flexible load", "inflexible load + cap", "capacity", "carbon intensity"},
}


def title(figure: Figure) -> str:
    return str(figure.get_suptitle())


def legend(figure: Figure) -> set[str]:
    legends = [*figure.legends, *(axes.get_legend() for axes in figure.axes if axes.get_legend())]
    return {text.get_text() for found in legends for text in found.get_texts()}


def bars(figure: Figure, gid: str) -> list[Any]:
    """Extents (left, right, low, top) of the bars of one kind, in the order in which they were drawn."""
    found = [c for axes in figure.axes for c in axes.collections if c.get_gid() == gid]
    boxes = [path.get_extents() for collection in found for path in collection.get_paths()]
    return [(box.x0, box.x1, box.y0, box.y1) for box in boxes]


def stairs(axes: Any, label: str) -> Any:
    """Values and edges of what has that label."""
    (found,) = (patch for patch in axes.patches if patch.get_label() == label)
    return found.get_data()


def draw(figure: Figure) -> Figure:
    figure.canvas.draw()  # what cannot be laid out shows here
    return figure


@pytest.mark.parametrize("name", DRAW)
def test_title_axes_and_legend(examples: Path, name: str) -> None:
    instance = optsched.load(examples / f"{name}.json")
    result = optsched.solve(instance, "greedy")
    assert result.objective is not None
    bare = draw(DRAW[name](instance, result.schedule))
    assert title(bare).startswith(f"{instance.name}: ")
    shown = f"{result.objective:,.6g}" if result.objective < 1e6 else f"{result.objective:,.1f}"
    assert f"objective {shown} {instance.unit}" in title(bare)
    assert title(result.plot()) == f"{title(bare)}, no bound, by greedy"
    other = result.objective * (1.25 if instance.sense == "maximize" else 0.75)
    close = title(result.model_copy(update={"bound": other, "gap": 0.25}).plot(instance))
    assert close.startswith(title(bare) + ", bound ")
    assert close.endswith(", gap 25 %, by greedy")
    proven = {"bound": result.objective, "gap": 0.0, "solution": "optimal"}
    assert title(result.model_copy(update=proven).plot(instance)).endswith(", proven optimal, by greedy")
    assert LEGENDS[name] <= legend(bare)
    words = [axes.get_xlabel() for axes in bare.axes if axes.get_xlabel()]
    assert words == ["hours from now" if "allocation" in name or "armida" in name else "hours"]
    dated = instance.model_copy(update={"meta": {"start": "2026-03-28T00:00:00+00:00"}})
    words = [axes.get_xlabel() for axes in draw(DRAW[name](dated, result.schedule)).axes if axes.get_xlabel()]
    assert words == ["date and time (UTC)"]


def test_lateness_is_hatched_and_no_fill() -> None:
    assert LATE["facecolor"] == "none"
    assert LATE["hatch"]
    assert VERMILLION not in FILLS
    assert len(set(FILLS)) == len(FILLS)


def test_pictures_leave_no_state_behind() -> None:
    folder = Path(allocation.__file__).parent
    assert not [path for path in folder.glob("*.py") if "pyplot" in path.read_text()]


def test_deferrable_draws_every_job(examples: Path) -> None:
    instance = optsched.load(examples / "deferrable-small.json")
    assert isinstance(instance, DeferrableInstance)
    starts = {"j2": 7, "j7": 17}
    schedule = DeferrableSchedule(starts=tuple(Start(job=job, start=start) for job, start in starts.items()))
    figure = draw(deferrable.draw(instance, schedule))
    jobs = {job.id: job for job in instance.jobs}
    expected = [(start / 12, (start + jobs[job].duration) / 12) for job, start in starts.items()]  # slots of 5 minutes
    assert [bar[:2] for bar in bars(figure, "run")] == [pytest.approx(pair) for pair in expected]
    assert bars(figure, "window")[0][:2] == pytest.approx((6 / 12, 14 / 12))
    assert len(bars(figure, "window")) == 2
    assert len(bars(figure, "not run")) == 10
    assert figure.axes[1].get_xlim() == (0, 2)
    names = [label.get_text() for label in figure.axes[1].get_yticklabels()]
    assert names[:2] == ["j2", "j7"]
    assert len(names) == 12
    assert "window of a job not run" in legend(figure)


def test_deferrable_draws_ten_thousand_jobs() -> None:
    rng = np.random.default_rng(0)
    earliest = rng.integers(0, 900, 10_000).tolist()
    jobs = tuple(Job(id=f"j{n}", cores=1, duration=3, earliest=e, latest=e + 9, submitted=0) for n, e in enumerate(earliest))
    instance = DeferrableInstance(
        name="many", slot_s=300, capacity=(50.0,) * 1000, delay_penalty=0, overload_penalty=1, jobs=jobs
    )
    schedule = DeferrableSchedule(starts=tuple(Start(job=job.id, start=job.earliest) for job in jobs[:9000]))
    figure = draw(deferrable.draw(instance, schedule))
    assert len(bars(figure, "run")) == 9000
    assert len(bars(figure, "not run")) == 1000
    assert len(figure.axes[1].get_yticks()) < 20  # no names
    assert figure.get_size_inches()[1] < 20
    low, high, *_ = bars(figure, "run")[0][2:]
    pixels = (high - low) / 10_000 * figure.axes[1].bbox.height
    assert pixels >= 0.8  # thinner would fade away
    assert figure.axes[1].get_xlabel() == "hours"


@pytest.mark.filterwarnings("error")  # what does not fit is only a warning
def test_long_names_leave_room_for_the_picture() -> None:
    name = "$x_" * 66
    job = Job(id=name, cores=3, duration=1, earliest=0, latest=0, submitted=0)
    instance = DeferrableInstance(name=name, slot_s=300, capacity=(1.0,), delay_penalty=0, overload_penalty=1, jobs=(job,))
    figure = draw(deferrable.draw(instance, DeferrableSchedule(starts=(Start(job=name, start=0),))))
    assert figure.axes[1].bbox.width > 0.7 * figure.bbox.width
    assert len(title(figure).split("\n")[0]) < 100


def test_deferrable_marks_overload(examples: Path) -> None:
    instance = optsched.load(examples / "deferrable-small.json")
    assert isinstance(instance, DeferrableInstance)
    everything = DeferrableSchedule(starts=tuple(Start(job=job.id, start=job.earliest) for job in instance.jobs))
    nothing, all_run = (draw(deferrable.draw(instance, schedule)) for schedule in (DeferrableSchedule(starts=()), everything))
    over = evaluate_deferrable(instance, everything).components["overload"] / instance.overload_penalty
    assert not any("overload" in text for text in legend(nothing))
    assert f"overload, {over:g} core-slots in all" in legend(all_run)
    (marked,) = (patch for patch in all_run.axes[0].patches if str(patch.get_label()).startswith("overload"))
    values, _, baseline = marked.get_data()
    assert (values - baseline).sum() == pytest.approx(over)
    assert marked.get_hatch()
    assert all_run.axes[0].get_ylim()[1] > values.max()


def test_the_cap_stays_within_the_frame(examples: Path) -> None:
    instance = optsched.load(examples / "vcc-small.json")
    assert isinstance(instance, VccInstance)
    for cap in (0.0, 0.4, 1.0):
        schedule = VccSchedule(cap=(cap,) * instance.horizon, starts=())
        above, _, below = draw(vcc.draw(instance, schedule)).axes
        values, edges, _ = stairs(above, "inflexible load + cap")
        assert values == pytest.approx(instance.inflexible + cap * 10)
        assert edges[-1] == 48
        low, high = above.get_ylim()
        assert low == 0
        assert high > max(values.max(), instance.capacity_ncu)
        waiting, *_ = stairs(below, "jobs not started yet")
        assert waiting[-1] == pytest.approx(sum(job.ncu for job in instance.jobs))
        assert below.get_ylim()[1] > waiting.max()


def test_geo_has_a_panel_a_strip_and_a_price_a_site(examples: Path) -> None:
    instance = optsched.load(examples / "geo-small.json")
    schedule = optsched.solve(instance, "greedy").schedule
    assert isinstance(instance, GeoInstance)
    assert isinstance(schedule, GeoSchedule)
    figure = draw(geo.draw(instance, schedule))
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels.count("USD/MWh") == 5
    assert sum("GPUs" in label for label in labels) == 5
    assert any("g CO2/kWh" in label for label in labels)
    assert len(figure.axes) == 5 * 3 + 1


def test_of_many_places_the_busiest_are_drawn(examples: Path) -> None:
    instance = optsched.load(examples / "geo-small.json")
    assert isinstance(instance, GeoInstance)
    more = tuple(instance.sites[0].model_copy(update={"id": f"idle-{n}"}) for n in range(50))
    schedule = optsched.solve(instance, "greedy").schedule
    assert isinstance(schedule, GeoSchedule)
    wide = instance.model_copy(update={"sites": more + instance.sites})
    figure = draw(geo.draw(wide, schedule))
    shown = {axes.get_ylabel().split("\n")[0] for axes in figure.axes if axes.get_ylabel().endswith("GPUs")}
    assert len(shown) == geo.MOST
    assert {start.site for start in schedule.starts} <= shown
    assert f"the {geo.MOST} busiest of 55 sites" in title(figure)


def test_of_many_clusters_those_with_most_to_shift(examples: Path) -> None:
    instance = optsched.load(examples / "day-ahead.json")
    assert isinstance(instance, DayAheadInstance)
    schedule: Any = optsched.solve(instance, "greedy").schedule
    most = max(range(3), key=lambda c: instance.demand[c])
    few = instance.clusters[0].model_copy(update={"flexible_ncu_h": 0.0})
    clusters = (*(few.model_copy(update={"id": f"few-{n}"}) for n in range(20)), instance.clusters[most])
    wide = instance.model_copy(update={"clusters": clusters})
    curves = tuple(
        schedule.curves[most].model_copy(update={"cluster": c.id, "delta": (0.0,) * 24 if c.id[:3] == "few" else curve.delta})
        for c in clusters
        for curve in (schedule.curves[most],)
    )
    figure = draw(day_ahead.draw(wide, schedule.model_copy(update={"curves": curves})))
    named = [axes.get_title(loc="left") for axes in figure.axes if axes.get_title(loc="left")]
    assert len(named) == day_ahead.MOST
    assert instance.clusters[most].id in named
    assert f"21 clusters, the {day_ahead.MOST} with the most to shift" in title(figure)
