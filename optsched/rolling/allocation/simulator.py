"""allocation while time passes: event-driven, with preemption, migration and realised energy (ANDREAS, section V-B)."""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass
from math import inf, nextafter

from optsched.errors import OptschedError
from optsched.instances.allocation import AllocationInstance, Job
from optsched.rolling.allocation.match_running import match_running_nodes
from optsched.rolling.allocation.troubles import Troubles, runs_on
from optsched.rolling.estimates import corrected, multiples
from optsched.rolling.forecast import Forecast, perfect
from optsched.rolling.simulator import SNAPSHOT, Told
from optsched.schedules.allocation import AllocationHistory, AllocationSchedule, Decided, Run
from optsched.schedules.allocation import check as violations
from optsched.schedules.allocation.history import WORK_TOLERANCE
from optsched.schedules.base import Violation

FINISHED = 1e-9  # of a job's work


@dataclass
class _Running:
    """A job that runs: where, since when, until when its start brings no progress, and its whole time there."""

    node: str
    gpus: int
    start_s: float
    useful_from_s: float
    time_s: float
    left: float  # of its work when it was started here


class AllocationSimulator:
    """The truth of a replay: `snapshot` shows what may be known now, `apply` carries a decision out until the next event.

    Events: a job is submitted, a job ends, every `period_s` while work is pending, and what goes wrong. Where nothing runs
    although jobs wait, time goes on by the instance's scheduling interval. A snapshot shows the nodes that there are, without
    those that drain and what runs there, and the jobs that one of them can run.

    Attributes
    ----------
    now_s : the present. event : what made this a time to decide. preemptions : running jobs sent back to the queue.
    migrations : running jobs moved or resized. killed : runs that a failure has ended. gone : jobs cancelled before their end.
    """

    def __init__(
        self, instance: AllocationInstance, period_s: float | None = None, forecast: Forecast = perfect, seed: int = 0
    ) -> None:
        if forecast is not perfect:
            raise OptschedError("allocation has no signal to forecast: its costs are constant")
        fits = instance.model_copy(update={"now_s": inf}).runnable.any(axis=1)
        if not fits.all():
            stuck = instance.jobs[int((~fits).argmax())].id
            raise OptschedError(f"job {stuck!r} fits on no node: a replay would never end")
        self.truth, self.period_s = instance, period_s
        multiple = multiples(instance, instance.jobs, seed)
        believed = [] if multiple is None else multiple.tolist()
        self.believed = {job.id: m for job, m in zip(instance.jobs, believed, strict=bool(believed))}
        self.troubles = Troubles(instance)
        self.killed, self.gone = 0, 0
        self.event, self.stalled = "submitted", False
        self.kind = {node.id: node.gpu_type for node in instance.nodes}
        self.left = {job.id: 1.0 for job in instance.jobs}
        self.running: dict[str, _Running] = {}
        self.runs: list[Run] = []
        self.started: set[str] = set()
        self.preemptions = self.migrations = 0
        self.jobs = {job.id: job for job in instance.jobs}
        self.order = sorted(range(len(instance.jobs)), key=lambda j: instance.jobs[j].submit_s)
        self.come = 0
        self.known: list[int] = []  # submitted and unfinished, in the file's order: a decision costs what waits, not what was
        self.now_s = min((job.submit_s for job in instance.jobs), default=0.0)
        self._submit()

    def due(self) -> bool:
        """Until all work is done; time has come to the next event already, or goes on to where there is something to decide."""
        while self.unfinished and self.truth.events is not None and not self._open():
            self._advance()
        return self.unfinished > 0

    def _open(self) -> list[Job]:
        """The known jobs that can be decided about: those that run on no node that drains, and can run on one that is there."""
        nodes = {node.id: node for node in self.troubles.nodes}
        held = {job for job, run in self.running.items() if run.node not in nodes}
        most: dict[str, int] = {}
        for node in nodes.values():
            most[node.gpu_type] = max(node.gpus, most.get(node.gpu_type, 0))
        jobs = [self.truth.jobs[j] for j in self.known]
        return [job for job in jobs if job.id not in held and runs_on(job, most)]

    def _submit(self) -> None:
        jobs = self.truth.jobs
        for kind, who in self.troubles.until(self.now_s):
            if kind == "cancelled" and who in self.left:
                self._cancel(who)
            elif kind == "failed":
                for job in [job for job, run in self.running.items() if run.node == who]:
                    self._kill(job)
        while self.come < len(self.order) and jobs[self.order[self.come]].submit_s <= self.now_s:
            insort(self.known, self.order[self.come])
            self.come += 1

    def snapshot(self) -> AllocationInstance | None:
        """The submitted unfinished jobs with their remaining times, or None when all work is done."""
        if not self.due():
            return None
        if self.truth.events is None:
            known, nodes = [self.truth.jobs[j] for j in self.known], self.truth.nodes
        else:
            known, nodes = self._open(), self.troubles.nodes
        jobs = tuple([self._remaining(job) if job.id in self.started or self.believed else job for job in known])
        shown: dict[str, object] = {"now_s": self.now_s, "jobs": jobs, "nodes": nodes, "meta": {}, "name": SNAPSHOT}
        return self.truth.model_copy(update=shown | {"events": None})

    def _remaining(self, job: Job) -> Job:
        left = self._left(job.id)
        if left == 1.0 and not self.believed:
            return job
        return job.lasting(left)

    def _left(self, job: str) -> float:
        """What is believed to be left of a job's work, as a multiple of all of it."""
        left = self.left[job]
        if job not in self.believed:
            return left
        return corrected(self.believed[job], 1.0 - left) - (1.0 - left)

    def refuses(self, snapshot: AllocationInstance, decision: Decided) -> list[Violation]:
        """Why a decision cannot be carried out. That all nodes are in use is the proxy's wish, not the cluster's rule."""
        return violations(snapshot.model_copy(update={"use_all_nodes": False}), decision)

    @property
    def unfinished(self) -> int:
        """Jobs with work left."""
        return len(self.known) + len(self.order) - self.come

    def present(self, decision: Decided) -> AllocationSchedule:
        """All of it."""
        return _snapshot(decision)

    def apply(self, decision: Decided) -> list[Told]:
        """Start, stop and move jobs as decided, then go to the next event."""
        done: list[Told] = []
        there = {node.id for node in self.troubles.nodes}
        here = {job: (r.node, r.gpus) for job, r in self.running.items() if r.node in there}
        cluster = self.truth if self.truth.events is None else self.truth.model_copy(update={"nodes": self.troubles.nodes})
        wanted = {a.job: (a.node, a.gpus) for a in match_running_nodes(cluster, _snapshot(decision), here).assignments}
        for job, place in here.items():
            if wanted.get(job) != place:
                self._stop(job)
                self.migrations += job in wanted
                self.preemptions += job not in wanted
                done += [] if job in wanted else [{"job": job, "preempted": True}]
        for job, (node, gpus) in wanted.items():
            if job not in self.running:
                lost = self.truth.migration_cost_s if job in self.started else 0.0
                time = self.jobs[job].time_s[self.kind[node]][gpus - 1]
                assert time is not None
                self.running[job] = _Running(node, gpus, self.now_s, self.now_s + lost, time, self.left[job])
                self.started.add(job)
                done.append({"job": job, "node": node, "gpus": gpus})
        self.stalled = not self._advance()
        return done

    def _stop(self, job: str) -> None:
        run = self.running.pop(job)
        if self.now_s > run.start_s:
            self.runs.append(Run(job=job, node=run.node, gpus=run.gpus, start_s=run.start_s, end_s=self.now_s))

    def _kill(self, job: str) -> None:
        """Its node has failed: what it has done there is lost, but for what the referee takes for the end."""
        self.killed += 1
        self.left[job] = self.running[job].left if self.left[job] > WORK_TOLERANCE else 0.0
        self._stop(job)
        if not self.left[job]:
            self.known = [j for j in self.known if self.truth.jobs[j].id != job]

    def _cancel(self, job: str) -> None:
        """Nobody wants it any more; void where it has ended."""
        if not self.left[job]:
            return
        self.gone += 1
        self.left[job] = 0.0
        if job in self.running:
            self._stop(job)
        self.known = [j for j in self.known if self.truth.jobs[j].id != job]
        self.order = [j for i, j in enumerate(self.order) if i < self.come or self.truth.jobs[j].id != job]

    def _advance(self) -> bool:
        """Go to the next event; whether work was done until then."""
        ends = {job: self._until(run, self.left[job]) for job, run in self.running.items()}
        coming = self.truth.jobs[self.order[self.come]].submit_s if self.come < len(self.order) else inf
        events = {"ended": min(ends.values(), default=inf), "submitted": coming}
        events["trouble"] = self.troubles.next_s
        if self.believed:
            events["outlived"] = min((self._until(run, self._left(job)) for job, run in self.running.items()), default=inf)
        if self.period_s is not None and self.known:
            events["period"] = self.now_s + self.period_s
        if min(events.values()) == inf:
            events["idle"] = self.now_s + max(1.0, self.truth.scheduling_interval_s)
        until = min(events.values())
        self.event = "+".join(name for name, time in events.items() if time == until)
        progress = False
        for job, run in self.running.items():
            worked = max(0.0, until - max(self.now_s, run.useful_from_s))
            progress = progress or worked > 0.0
            self.left[job] = max(0.0, self.left[job] - worked / run.time_s)
        self.now_s = until
        if events["trouble"] == until:
            self.event = self.event.replace("trouble", self.troubles.words)
        ended = [j for j, end in ends.items() if end <= until or self.left[j] <= FINISHED]
        for job in ended:
            self.left[job] = 0.0
            self._stop(job)
        if ended:
            self.known = [j for j in self.known if self.left[self.truth.jobs[j].id]]
        self._submit()
        return progress or bool(ended)

    def _until(self, run: _Running, left: float) -> float:
        """When a run has done so much of its job's work; later than now, however little that is."""
        return max(nextafter(self.now_s, inf), max(self.now_s, run.useful_from_s) + left * run.time_s)

    def history(self) -> AllocationHistory:
        """What has run until now."""
        going = [
            Run(job=job, node=r.node, gpus=r.gpus, start_s=r.start_s, end_s=self.now_s)
            for job, r in self.running.items()
            if self.now_s > r.start_s
        ]
        return AllocationHistory(runs=tuple(self.runs + going))

    def figures(self) -> dict[str, float]:
        """Makespan (s), preemptions, migrations, and the share of GPU-seconds in use until the makespan."""
        makespan = max((run.end_s for run in self.runs), default=0.0)
        begin = min((run.start_s for run in self.runs), default=0.0)
        used = sum(run.gpus * (run.end_s - run.start_s) for run in self.runs)
        whole = sum(node.gpus for node in self.truth.nodes) * max(makespan - begin, 1e-9)
        return {
            "makespan_s": makespan,
            "preemptions": self.preemptions,
            "migrations": self.migrations,
            "utilisation": used / max(whole, 1e-9),
        } | ({} if self.truth.events is None else {"runs_cut": self.killed, "jobs_cancelled": self.gone})


def _snapshot(decision: Decided) -> AllocationSchedule:
    """A decision about the present.

    Raises
    ------
    OptschedError : it is a history.
    """
    if not isinstance(decision, AllocationSchedule):
        raise OptschedError(f"a decision of allocation is an AllocationSchedule, got a {type(decision).__name__}")
    return decision
