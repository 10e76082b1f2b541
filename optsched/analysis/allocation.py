"""Picture of an allocation: a Gantt chart, a lane for each GPU of each node; of a replay, what happened."""

from __future__ import annotations

from matplotlib.figure import Figure

from optsched.analysis import allocation_history
from optsched.analysis.allocation_history import COLOURS
from optsched.instances.allocation import AllocationInstance
from optsched.schedules.allocation import AllocationHistory, AllocationSchedule


def draw(instance: AllocationInstance, schedule: AllocationSchedule | AllocationHistory) -> Figure:
    """A snapshot's decision, or the history of a replay."""
    if isinstance(schedule, AllocationHistory):
        return allocation_history.draw(instance, schedule)
    return _snapshot(instance, schedule)


def _snapshot(instance: AllocationInstance, schedule: AllocationSchedule) -> Figure:
    """Nodes from top to bottom, hours from now; a bar as high as its GPUs, a red end where the job is late."""
    jobs = {job.id: job for job in instance.known_jobs}
    order = {job.id: j for j, job in enumerate(instance.known_jobs)}
    lanes = sum(node.gpus for node in instance.nodes)
    figure = Figure(figsize=(10, min(30, 1.6 + 0.32 * lanes)), layout="constrained")
    axes = figure.add_subplot()
    base = 0
    ticks: list[float] = []
    labels: list[str] = []
    for node in instance.nodes:
        axes.axhspan(base, base + node.gpus, color="0.94" if len(ticks) % 2 else "0.98", zorder=0)
        lane = base
        for a in (a for a in schedule.assignments if a.node == node.id):
            time = jobs[a.job].time_s[node.gpu_type][a.gpus - 1] or 0.0
            due = jobs[a.job].due_s - instance.now_s
            late = time > due
            axes.barh(
                lane + a.gpus / 2,
                time / 3600,
                height=a.gpus - 0.12,
                color=COLOURS[order[a.job] % len(COLOURS)],
                edgecolor="crimson" if late else "0.25",
                linewidth=1.6 if late else 0.6,
            )
            axes.text(time / 7200, lane + a.gpus / 2, a.job, ha="center", va="center", fontsize=8, parse_math=False)
            if due > 0:
                axes.plot(
                    [due / 3600] * 2,
                    [lane + 0.1, lane + a.gpus - 0.1],
                    color="black",
                    linewidth=1.2,
                    linestyle=":",
                )
            lane += a.gpus
        ticks.append(base + node.gpus / 2)
        labels.append(f"{node.id}\n{node.gpus} x {node.gpu_type}")
        base += node.gpus
    axes.set_yticks(ticks, labels, fontsize=8, parse_math=False)
    axes.set_ylim(base, 0)
    axes.set_xlim(left=0)
    axes.set_xlabel("hours from now (dotted: due date; red: late)")
    running = {a.job for a in schedule.assignments}
    postponed = [job.id for job in instance.known_jobs if job.id not in running]
    waiting = ", ".join(postponed[:12]) + (", ..." if len(postponed) > 12 else "")
    axes.set_title(
        f"{instance.name}: {len(running)} running, {len(postponed)} postponed" + (f" ({waiting})" if waiting else ""),
        fontsize=10,
        parse_math=False,
    )
    return figure
