"""allocation: ANDREAS's scenarios, wider nodes, and jobs of GPU clusters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from optsched.origins import Given, JobTarget, Option, Origins, Reading, Scenario

if TYPE_CHECKING:
    from optsched.instances.allocation import AllocationInstance
    from optsched.instances.readers.own_fields import Field
    from optsched.instances.readers.trace import Trace


def _andreas(case: int, gpus: str) -> Scenario[AllocationInstance]:
    def load() -> Callable[..., AllocationInstance]:
        from optsched.instances.generators.andreas import andreas

        return partial(andreas, case)

    options = (
        Option("nodes", "N; half V100, half T4.", int, 10),
        Option("jobs", "J. [default: 10 N]", int),
        Option("rate", "Arrival rate.", ("high", "mixed"), "high"),
        Option("all_submitted", "Set now to the last submission, so that `solve` sees every job.", bool, False),
        Option("first_ending", "Which first ending the proxy counts.", ("earliest", "cheapest"), "earliest"),
        Option("use_all_nodes", "Whether no node may be idle while jobs wait.", bool, True),
    )
    return Scenario(f"ANDREAS case {case} ({gpus}): an allocation instance.", options, load)


def _wide_nodes() -> Callable[..., AllocationInstance]:
    from optsched.instances.generators.wide_nodes import wide_nodes

    return wide_nodes


class _Jobs(JobTarget["AllocationInstance"]):
    fields_told = "SUBMIT, DURATION (or time.V100.1, time.V100.2, ...), gpus, due, weight or priority, requested, id"
    traces = ("gpu",)
    timed = True
    options = (
        Option(
            "nodes", "The cluster. [default: V100:4x10, or T4:4x10 where times are for T4]", str, metavar="TYPE:GPUSxCOUNT,..."
        ),
        Option("all_submitted", "Set now to the last submission, so that `solve` sees every job.", bool),
    )

    def fields(self) -> Mapping[str, Field]:
        from optsched.instances.readers.to_allocation import FIELDS

        return FIELDS

    def from_trace(self, trace: Trace, reading: Reading, options: Given) -> AllocationInstance:
        from optsched.instances.readers.to_allocation import to_allocation

        build: Callable[..., AllocationInstance] = to_allocation
        return build(trace, seed=reading.seed, **options)


ORIGINS = Origins(
    {
        "andreas-1": _andreas(1, "2 GPUs a V100 node, 1 a T4 node"),
        "andreas-2": _andreas(2, "4 GPUs a V100 node, 2 a T4 node"),
        "wide-nodes": Scenario(
            "Beyond the papers: ANDREAS's jobs, all submitted, on nodes with 8 GPUs of four types: an allocation instance.",
            (
                Option("nodes", "N; with 8 A100, V100, P100 or T4 each, in turn.", int, 20),
                Option("jobs", "J. [default: 5 N]", int),
            ),
            _wide_nodes,
        ),
    },
    _Jobs(),
)
