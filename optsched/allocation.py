"""allocation in Python: which jobs run now, on which node, with how many GPUs (ANDREAS, Filippini et al.).

Examples
--------
>>> from optsched import allocation
>>> m = allocation.Model("one node", scheduling_interval_s=300, postponement_penalty=100)
>>> v100 = m.add_gpu_type("V100", node_cost_per_h=[1.0, 1.5])
>>> node = m.add_node(v100, gpus=2)
>>> job = m.add_job(time_s={v100: [7200, 3600]}, due_s=3600, weight_per_s=0.01)
>>> result = m.solve(time_limit=20)
>>> result.best.assignments[0].gpus, round(result.objective, 6)
(2, 1.5)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from optsched.building import Builder, Numbers
from optsched.errors import InputError
from optsched.instances.allocation import AllocationInstance as Instance
from optsched.instances.allocation import GpuType, Job, Node
from optsched.instances.files import validated
from optsched.instances.plain import plain
from optsched.schedules.allocation import AllocationHistory as History
from optsched.schedules.allocation import AllocationSchedule as Schedule
from optsched.schedules.allocation import Assignment, Run

__all__ = ["Assignment", "GpuType", "History", "Instance", "Job", "Model", "Node", "Run", "Schedule"]


class Model(Builder[Instance, Schedule]):
    """Build an instance: types of GPUs, nodes, jobs; then `instance` or `solve`.

    Parameters
    ----------
    name
        For people.
    scheduling_interval_s
        Seconds until the next rescheduling point, by which a postponed job is delayed.
    postponement_penalty
        Factor on the tardiness of a postponed job, without unit.
    currency
        Of all costs.
    now_s
        The present; jobs submitted later are not known yet.
    first_ending
        Whose energy a node is charged for, of the jobs that it runs: that of the one that ends ``"earliest"``, or the
        ``"cheapest"``.
    use_all_nodes
        Whether as many nodes as can be are in use.
    migration_cost_s
        Seconds of work that a job loses when it is moved, in a replay.

    Raises
    ------
    InputError
        In `instance`: one line with the place, what is wrong and what would be right.
    """

    def __init__(
        self,
        name: str,
        *,
        scheduling_interval_s: float,
        postponement_penalty: float,
        currency: str = "EUR",
        now_s: float = 0.0,
        first_ending: Literal["earliest", "cheapest"] = "earliest",
        use_all_nodes: bool = True,
        migration_cost_s: float = 0.0,
    ) -> None:
        self._gpu_types: dict[str, GpuType] = {}
        super().__init__(
            Instance,
            name,
            scheduling_interval_s=scheduling_interval_s,
            postponement_penalty=postponement_penalty,
            currency=currency,
            now_s=now_s,
            first_ending=first_ending,
            use_all_nodes=use_all_nodes,
            migration_cost_s=migration_cost_s,
            gpu_types=self._gpu_types,
            nodes=[],
            jobs=[],
        )

    def add_gpu_type(self, name: str, *, node_cost_per_h: Numbers) -> str:
        """Add a type of GPU; what is returned is its name, by which nodes and jobs refer to it.

        Parameters
        ----------
        name
            For instance ``"V100"``.
        node_cost_per_h
            What a node costs per hour while 1, 2, ... of its GPUs are in use.

        Raises
        ------
        InputError
            One line with the argument, what is wrong and what would be right.
        """
        where = f"{self._called}.add_gpu_type"
        if name in self._gpu_types:
            raise InputError(where, "name", f"{name!r} is there already")
        self._gpu_types[name] = validated(GpuType, {"node_cost_per_h": plain(node_cost_per_h)}, where)
        return name

    def add_node(self, gpu_type: str, *, gpus: int, id: str | None = None) -> Node:
        """Add a machine.

        Parameters
        ----------
        gpu_type
            A type that was added.
        gpus
            How many of them it has.
        id
            By default ``node`` and its number.

        Raises
        ------
        InputError
            One line with the argument, what is wrong and what would be right.
        """
        return self._add("nodes", Node, "add_node", {"id": id, "gpu_type": self._type(gpu_type, "add_node"), "gpus": gpus})

    def add_job(
        self,
        *,
        time_s: Mapping[str, Sequence[float | None] | Numbers],
        due_s: float,
        weight_per_s: float,
        submit_s: float = 0.0,
        id: str | None = None,
    ) -> Job:
        """Add a job.

        Parameters
        ----------
        time_s
            Its execution time in seconds by type, with 1, 2, ... GPUs; None where it cannot run so.
        due_s
            When it is due, absolute.
        weight_per_s
            What a second of tardiness costs.
        submit_s
            When it is submitted, absolute.
        id
            By default ``job`` and its number.

        Raises
        ------
        InputError
            One line with the argument, what is wrong and what would be right.
        """
        times = {self._type(n, "add_job"): row for n, row in time_s.items()} if isinstance(time_s, Mapping) else time_s
        fields = {"submit_s": submit_s, "due_s": due_s, "weight_per_s": weight_per_s, "time_s": times}
        return self._add("jobs", Job, "add_job", {"id": id, **fields})

    def _type(self, name: str, call: str) -> str:
        if name not in self._gpu_types:
            there = ", ".join(self._gpu_types) or "none yet"
            raise InputError(f"{self._called}.{call}", "GPU type", f"is {name!r}, which was not added: {there}")
        return name
