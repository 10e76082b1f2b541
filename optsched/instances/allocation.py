"""allocation: which jobs run now, on which node, with how many GPUs (ANDREAS, Filippini et al., sections IV and A)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from optsched.instances.base import (
    Bools,
    Counting,
    Data,
    Finite,
    Floats,
    Identifier,
    Instance,
    Ints,
    NonNegative,
    Penalty,
    Positive,
    frozen,
    refuse,
    refuse_duplicates,
)
from optsched.instances.events import Events, Multiple, Trouble, refuse_misfits
from optsched.instances.plain import counted

if TYPE_CHECKING:
    from optsched.schedules.allocation import AllocationHistory, AllocationSchedule


class GpuType(Data):
    """A type of GPU.

    Attributes
    ----------
    node_cost_per_h
        What a node of this type costs, in currency per hour, while 1..G of its GPUs are in use.
    """

    node_cost_per_h: tuple[NonNegative, ...] = Field(min_length=1, max_length=64)


class Node(Data):
    """A machine.

    Attributes
    ----------
    id
        By which schedules name it.
    gpu_type
        Of all its GPUs, a key of the instance's `gpu_types`.
    gpus
        How many it has.
    """

    id: Identifier
    gpu_type: str
    gpus: Counting


class Job(Data):
    """A job.

    Attributes
    ----------
    id
        By which schedules name it.
    submit_s, due_s
        When it is submitted and due, absolute, in seconds.
    weight_per_s
        What a second of tardiness costs.
    time_s
        ``time_s[type][g - 1]``: its remaining time in seconds with g GPUs of a type; None where it cannot run so.
    estimate
        What its user says it takes, as a multiple of what it does take; read in a replay that asks for users' estimates.
    """

    id: Identifier
    submit_s: NonNegative
    due_s: Finite
    weight_per_s: NonNegative
    time_s: dict[str, tuple[Positive | None, ...]]
    estimate: Multiple | None = None

    @cached_property
    def longest_s(self) -> float:
        """M_j: the longest of all its execution times, in seconds (Table IV)."""
        return max(t for times in self.time_s.values() for t in times if t is not None)

    def lasting(self, multiple: float) -> Job:
        """The same, but that it takes so many times as long; its user's estimate was of something else."""
        times = {kind: tuple(None if t is None else t * multiple for t in times) for kind, times in self.time_s.items()}
        return self.model_copy(update={"time_s": times, "estimate": None})


@dataclass(frozen=True)
class NodeClass:
    """Interchangeable nodes: same GPU type and number of GPUs. `nodes` are indices into the instance's nodes."""

    gpu_type: str
    gpus: int
    nodes: tuple[int, ...]


@dataclass(frozen=True)
class JobColumns:
    """Known jobs as columns, J rows in the file's order.

    `time_s` has shape (J, classes, G) with NaN where a job cannot run; times in seconds, weights per second.
    """

    index: Ints
    submit_s: Floats
    due_s: Floats
    weight_per_s: Floats
    longest_s: Floats
    time_s: Floats


class AllocationInstance(Instance["AllocationSchedule", "AllocationHistory"]):
    """One rescheduling point of a GPU cluster.

    Attributes
    ----------
    currency
        Of all costs.
    now_s
        The present, in seconds; jobs submitted later are not known yet.
    scheduling_interval_s
        Seconds until the next rescheduling point, by which a postponed job is delayed.
    postponement_penalty
        rho: factor on the tardiness of a postponed job.
    first_ending
        Whose energy a node is charged for, of the jobs that it runs: that of the one that ends ``"earliest"``, or the
        ``"cheapest"``.
    use_all_nodes
        Whether as many nodes as can be are in use.
    migration_cost_s
        Seconds of work that a job loses when it is moved, in a replay.
    gpu_types
        By name.
    nodes, jobs
        What there is.
    events
        What goes wrong in a replay; None in a snapshot.
    """

    sense: ClassVar[Literal["minimize", "maximize"]] = "minimize"
    nonnegative: ClassVar[bool] = True
    problem: ClassVar[str] = "allocation"
    troubles: ClassVar[frozenset[Trouble]] = frozenset({"fails", "drains", "cancelled"})
    first_position: ClassVar[int] = 1  # a list of times by number of GPUs

    currency: Identifier
    now_s: NonNegative
    scheduling_interval_s: NonNegative
    postponement_penalty: Penalty
    first_ending: Literal["earliest", "cheapest"] = "earliest"
    use_all_nodes: bool = True
    migration_cost_s: NonNegative = 0.0
    gpu_types: dict[str, GpuType]
    nodes: tuple[Node, ...]
    jobs: tuple[Job, ...]
    events: Events | None = None

    @model_validator(mode="after")
    def _consistent(self) -> AllocationInstance:
        refuse_duplicates("nodes", (node.id for node in self.nodes))
        refuse_duplicates("jobs", (job.id for job in self.jobs))
        known = ", ".join(sorted(self.gpu_types)) or "none"
        for n, node in enumerate(self.nodes):
            if node.gpu_type not in self.gpu_types:
                refuse(f"nodes[{n}].gpu_type", f"unknown GPU type {node.gpu_type!r}, known: {known}")
            priced = len(self.gpu_types[node.gpu_type].node_cost_per_h)
            if node.gpus > priced:
                refuse(
                    f"nodes[{n}].gpus",
                    f"{node.gpus} GPUs, but gpu_types.{node.gpu_type}.node_cost_per_h has costs for 1..{priced}",
                )
        for j, job in enumerate(self.jobs):
            for gpu_type in job.time_s:
                if gpu_type not in self.gpu_types:
                    refuse(f"jobs[{j}].time_s", f"unknown GPU type {gpu_type!r}, known: {known}")
            if not any(t is not None for times in job.time_s.values() for t in times):
                refuse(f"jobs[{j}].time_s", "no execution time at all, expected at least one number")
        refuse_misfits(self.events, self.troubles, [node.id for node in self.nodes], self.jobs)
        return self

    @cached_property
    def known_jobs(self) -> tuple[Job, ...]:
        """Jobs submitted by `now_s`; the others do not exist for a single solve."""
        return tuple(job for job in self.jobs if job.submit_s <= self.now_s)

    @cached_property
    def node_classes(self) -> tuple[NodeClass, ...]:
        """Nodes grouped by what distinguishes them, in order of first appearance."""
        groups: dict[tuple[str, int], list[int]] = {}
        for n, node in enumerate(self.nodes):
            groups.setdefault((node.gpu_type, node.gpus), []).append(n)
        return tuple(NodeClass(kind, gpus, tuple(nodes)) for (kind, gpus), nodes in groups.items())

    @cached_property
    def columns(self) -> JobColumns:
        """NumPy columns of the known jobs."""
        jobs, classes = self.known_jobs, self.node_classes
        most = max((c.gpus for c in classes), default=1)
        times = np.full((len(jobs), len(classes), most), np.nan)
        for j, job in enumerate(jobs):
            for k, node_class in enumerate(classes):
                listed = job.time_s.get(node_class.gpu_type, ())[: node_class.gpus]
                times[j, k, : len(listed)] = [np.nan if t is None else t for t in listed]
        return JobColumns(
            index=frozen(np.array([j for j, job in enumerate(self.jobs) if job.submit_s <= self.now_s], dtype=np.int64)),
            submit_s=frozen(np.array([job.submit_s for job in jobs], dtype=float)),
            due_s=frozen(np.array([job.due_s for job in jobs], dtype=float)),
            weight_per_s=frozen(np.array([job.weight_per_s for job in jobs], dtype=float)),
            longest_s=frozen(np.array([job.longest_s for job in jobs], dtype=float)),
            time_s=frozen(times),
        )

    @cached_property
    def cost_per_h(self) -> Floats:
        """Node cost rates by class and GPUs in use, shape (classes, G), NaN beyond a node's GPUs."""
        rates = np.full((len(self.node_classes), self.columns.time_s.shape[2]), np.nan)
        for k, node_class in enumerate(self.node_classes):
            rates[k, : node_class.gpus] = self.gpu_types[node_class.gpu_type].node_cost_per_h[: node_class.gpus]
        return frozen(rates)

    @cached_property
    def class_of_node(self) -> dict[str, int]:
        """Index of each node's class, by the node's id."""
        return {self.nodes[n].id: k for k, c in enumerate(self.node_classes) for n in c.nodes}

    @cached_property
    def type_of_node(self) -> dict[str, str]:
        """GPU type of each node, by the node's id."""
        return {node.id: node.gpu_type for node in self.nodes}

    @property
    def places(self) -> tuple[str | None, ...]:
        """Where there may be outages."""
        return tuple(node.id for node in self.nodes)

    @property
    def submissions_s(self) -> dict[str, float]:
        """When each job is submitted, in seconds, by its id."""
        return {job.id: job.submit_s for job in self.jobs}

    @property
    def ends_s(self) -> float:
        """By when all jobs might have ended, in seconds; who has time until then waits for no more than all the others."""
        longest = [job.longest_s for job in self.jobs]
        last = max((job.submit_s for job in self.jobs), default=0.0)
        run_on = [
            sum(len(c.nodes) for c in self.node_classes if any(job.time_s.get(c.gpu_type, ())[: c.gpus])) for job in self.jobs
        ]
        done = last + sum(longest) / max(1, min(run_on, default=1)) + max(longest, default=0.0)
        return max((max(min(job.due_s, done), job.submit_s + job.longest_s) for job in self.jobs), default=0.0)

    @cached_property
    def cancelled(self) -> dict[str, float]:
        """When jobs are cancelled, in seconds, by id."""
        return {} if self.events is None else {gone.job: gone.at_s for gone in self.events.cancellations}

    @cached_property
    def failures(self) -> frozenset[tuple[str | None, float]]:
        """(node, time in seconds) of the failures."""
        outages = () if self.events is None else self.events.outages
        return frozenset((outage.place, outage.at_s) for outage in outages if outage.kind == "fails")

    @cached_property
    def runnable(self) -> Bools:
        """Shape (J, classes): whether a job has an execution time on a class of nodes."""
        return frozen(np.any(np.isfinite(self.columns.time_s), axis=2))

    @cached_property
    def matching(self) -> dict[tuple[bool, ...], dict[int, int]]:
        """A maximum matching of jobs to nodes, by signature of a job (where it runs) and class of nodes.

        Jobs with equal signatures and nodes of one class are interchangeable, so a small flow stands for the matching.
        """
        if self.runnable.all() and len(self.nodes) <= len(self.known_jobs):  # as nearly always: every node has a job
            return {(True,) * len(self.node_classes): {k: len(c.nodes) for k, c in enumerate(self.node_classes)}}
        import networkx as nx  # here: it takes 0.2 s to load

        signatures = Counter(map(tuple, self.runnable.tolist()))
        graph = nx.DiGraph()
        graph.add_nodes_from(["source", "sink"])
        for k, node_class in enumerate(self.node_classes):
            graph.add_edge(("class", k), "sink", capacity=len(node_class.nodes))
        for signature, count in signatures.items():
            graph.add_edge("source", ("jobs", signature), capacity=count)
            graph.add_edges_from((("jobs", signature), ("class", k)) for k, runs in enumerate(signature) if runs)
        _, flow = nx.maximum_flow(graph, "source", "sink")
        return {s: {k: n for (_, k), n in flow[("jobs", s)].items() if n} for s in signatures}

    @cached_property
    def nodes_to_use(self) -> int:
        """How many nodes can be in use at once: what (4n) asks for, made feasible (docs/errata.md, A4)."""
        return sum(n for flow in self.matching.values() for n in flow.values())

    @property
    def unit(self) -> str:
        """Unit of the objective."""
        return self.currency

    @property
    def job_count(self) -> int:
        """Known jobs."""
        return len(self.known_jobs)

    def summary(self) -> str:
        """One line about the size of the instance."""
        gpus = sum(node.gpus for node in self.nodes)
        return (
            f"{counted(len(self.known_jobs), 'known job')} of {len(self.jobs)}, {counted(len(self.nodes), 'node')} with "
            f"{counted(gpus, 'GPU')}, "
            f"now {self.now_s:g} s, costs count until the first job of a node ends ({self.first_ending} reading)"
            f"{', as many nodes as can be must be in use' if self.use_all_nodes else ''}"
        )
