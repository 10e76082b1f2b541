"""`printed`: the MINLP (3)-(4v) constraint by constraint, bilinear objective included (docs/formulations/allocation.md)."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import pyomo.core as pyo

from optsched.instances.allocation import AllocationInstance
from optsched.instances.grid import beyond
from optsched.models.base import Model
from optsched.problems.allocation.options import options
from optsched.problems.allocation.placed import by_node
from optsched.schedules.allocation import AllocationSchedule, Assignment

LARGEST = 20_000
LARGE = (
    2.0**10
)  # the median energy, in the unit in which money is counted: a solver's absolute tolerances of 1e-9 are then nothing beside it


class Printed(Model[AllocationInstance, AllocationSchedule]):
    """The MINLP as printed, for a MINLP solver.

    Errata A2-A4 are read as in docs/errata.md: `now` is added in (4i), (4j) is gated by 1 - sum z, (4n) asks for the
    maximum matching. As printed, (4l)-(4m) let the minimisation pick the cheapest job of a node; for the text's
    reading two rows a job and node tie alpha to the first-ending one.
    """

    name: ClassVar[str] = "printed"
    linear: ClassVar[bool] = False

    @classmethod
    def refuses(cls, instance: AllocationInstance) -> str | None:
        """Too large for a MINLP solver."""
        size = len(instance.known_jobs) * sum(node.gpus for node in instance.nodes)
        return f"{size} variables x_jng, the MINLP is kept to {LARGEST}" if size > LARGEST else None

    @classmethod
    def magnified(cls, instance: AllocationInstance) -> Printed:
        """Money in a unit of which the median energy is about a thousand."""
        energy = options(instance).energy
        usual = float(np.median(energy)) if len(energy) else 0.0
        scale = LARGE * 2.0 ** -math.floor(math.log2(usual)) if usual > 0 else 1.0
        made: Printed = type("MagnifiedPrinted", (cls,), {"scale": scale})(instance)
        return made

    def build(self) -> None:
        """Variables and constraints under their printed numbers."""
        instance, m = self.instance, self.pyomo
        listed = options(instance)
        node_class = {n: k for k, c in enumerate(instance.node_classes) for n in c.nodes}
        jobs, nodes = range(len(instance.known_jobs)), range(len(instance.nodes))
        sizes = {n: range(1, instance.nodes[n].gpus + 1) for n in nodes}
        time = {
            (j, n, g): float(instance.columns.time_s[j, node_class[n], g - 1])
            for j in jobs
            for n in nodes
            for g in sizes[n]
            if np.isfinite(instance.columns.time_s[j, node_class[n], g - 1])
        }
        rate = {(n, g): float(instance.cost_per_h[node_class[n], g - 1]) for n in nodes for g in sizes[n]}
        weight, due = instance.columns.weight_per_s.tolist(), instance.columns.due_s.tolist()
        rho, now = instance.postponement_penalty, instance.now_s
        worst = beyond(instance.columns.due_s, now, instance.scheduling_interval_s, instance.columns.longest_s)
        late = dict(zip(time, beyond([due[j] for j, _, _ in time], now, list(time.values())).tolist(), strict=True))
        runs = {(j, n) for j, n, _ in time}
        longest = max(time.values(), default=0.0)
        most = self.scale * float(listed.energy.max(initial=0.0))

        m.w = pyo.Var(nodes, domain=pyo.Binary)
        m.y = pyo.Var([(n, g) for n in nodes for g in sizes[n]], domain=pyo.Binary)
        m.z = pyo.Var(sorted(runs), domain=pyo.Binary)
        m.x = pyo.Var(list(time), domain=pyo.Binary)
        m.alpha = pyo.Var(sorted(runs), domain=pyo.Binary)
        m.pi = pyo.Var(sorted(runs), bounds=(0, most))
        m.tau = pyo.Var(jobs, bounds=lambda _, j: (0, float(beyond(due[j], now, longest))))
        m.tau_hat = pyo.Var(jobs, bounds=lambda _, j: (0, float(worst[j])))

        def x(j: int, n: int) -> list[tuple[int, int, int]]:
            return [(j, n, g) for g in sizes[n] if (j, n, g) in time]

        def z(j: int) -> list[tuple[int, int]]:
            return [(j, n) for n in nodes if (j, n) in runs]

        def on(n: int) -> list[tuple[int, int]]:
            return [(j, n) for j in jobs if (j, n) in runs]

        def in_use(n: int) -> object:
            return sum(i[2] * m.x[i] for j, _ in on(n) for i in x(j, n))

        m.objective = pyo.Objective(
            expr=sum(self.scale * weight[j] * (m.tau[j] + rho * m.tau_hat[j]) for j in jobs)
            + sum(m.alpha[i] * m.pi[i] for i in sorted(runs))
        )
        pairs, triples = sorted(runs), list(time)
        busy = [n for n in nodes if on(n)]
        placeable = [j for j in jobs if z(j)]
        m.c4a = pyo.Constraint(pairs, rule=lambda _, j, n: sum(m.x[i] for i in x(j, n)) <= m.z[j, n])
        m.c4b = pyo.Constraint(pairs, rule=lambda _, j, n: m.z[j, n] <= m.w[n])
        m.c4c = pyo.Constraint(triples, rule=lambda _, j, n, g: m.x[j, n, g] <= m.z[j, n])
        m.c4d = pyo.Constraint(placeable, rule=lambda _, j: sum(m.z[i] for i in z(j)) <= 1)
        m.c4e = pyo.Constraint(
            placeable,
            rule=lambda _, j: sum(m.x[i] for _, n in z(j) for i in x(j, n)) == sum(m.z[i] for i in z(j)),
        )
        m.c4f = pyo.Constraint(nodes, rule=lambda _, n: sum(m.y[n, g] for g in sizes[n]) == m.w[n])
        gpus = {n: instance.nodes[n].gpus for n in nodes}
        sized = [(n, g) for n in busy for g in sizes[n]]
        m.c4g = pyo.Constraint(sized, rule=lambda _, n, g: in_use(n) <= g * m.y[n, g] + gpus[n] * (1 - m.y[n, g]))
        m.c4h = pyo.Constraint(sized, rule=lambda _, n, g: g * m.y[n, g] <= in_use(n))
        m.c4i = pyo.Constraint(
            placeable,
            rule=lambda _, j: sum(late[i] * m.x[i] for _, n in z(j) for i in x(j, n)) <= m.tau[j],
        )
        m.c4j = pyo.Constraint(
            jobs,
            rule=lambda _, j: float(worst[j]) * (1 - sum(m.z[i] for i in z(j))) <= m.tau_hat[j],
        )
        m.c4k = pyo.Constraint(
            pairs,
            rule=lambda _, j, n: sum(self.scale * time[i] * rate[n, i[2]] / 3600 * m.x[i] for i in x(j, n)) <= m.pi[j, n],
        )
        m.c4l = pyo.Constraint(nodes, rule=lambda _, n: sum(m.alpha[i] for i in on(n)) == m.w[n])
        m.c4m = pyo.Constraint(pairs, rule=lambda _, j, n: m.alpha[j, n] <= m.z[j, n])
        if instance.use_all_nodes and len(nodes):
            m.c4n = pyo.Constraint(expr=sum(m.w[n] for n in nodes) == instance.nodes_to_use)
        if instance.first_ending == "earliest":
            m.first = pyo.Var(nodes, bounds=(0, longest))
            m.no_earlier = pyo.Constraint(
                pairs,
                rule=lambda _, j, n: m.first[n] <= sum(time[i] * m.x[i] for i in x(j, n)) + longest * (1 - m.z[j, n]),
            )
            m.is_first = pyo.Constraint(
                pairs,
                rule=lambda _, j, n: sum(time[i] * m.x[i] for i in x(j, n)) <= m.first[n] + longest * (1 - m.alpha[j, n]),
            )
        self.time = time

    def encode(self, schedule: AllocationSchedule) -> None:
        """Set every variable."""
        m, instance = self.pyomo, self.instance
        for variable in (m.w, m.y, m.z, m.x, m.alpha, m.pi, m.tau):
            for data in variable.values():
                data.set_value(0, skip_validation=True)
        jobs = instance.columns
        worst = beyond(jobs.due_s, instance.now_s, instance.scheduling_interval_s, jobs.longest_s)
        for j, data in m.tau_hat.items():
            data.set_value(float(worst[j]), skip_validation=True)
        if instance.first_ending == "earliest":
            for data in m.first.values():
                data.set_value(0, skip_validation=True)
        for n, placed in by_node(instance, schedule).items():
            m.w[n].set_value(1)
            m.y[n, sum(p.gpus for p in placed)].set_value(1)
            m.alpha[placed[0].job, n].set_value(1)
            if instance.first_ending == "earliest":
                m.first[n].set_value(placed[0].time_s)
            for p in placed:
                m.x[p.job, n, p.gpus].set_value(1)
                m.z[p.job, n].set_value(1)
                m.pi[p.job, n].set_value(self.scale * p.energy, skip_validation=True)
                m.tau[p.job].set_value(float(beyond(jobs.due_s[p.job], instance.now_s, p.time_s)), skip_validation=True)
                m.tau_hat[p.job].set_value(0)

    def decode(self) -> AllocationSchedule:
        """Assignments of the x that are (nearly) one."""
        jobs, nodes = self.instance.known_jobs, self.instance.nodes
        return AllocationSchedule(
            assignments=tuple(
                Assignment(job=jobs[j].id, node=nodes[n].id, gpus=g)
                for (j, n, g), data in self.pyomo.x.items()
                if (data.value or 0) > 0.5
            )
        )
