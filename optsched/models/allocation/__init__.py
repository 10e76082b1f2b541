"""allocation: ANDREAS' (3)-(4v) as printed, linearised, and with nodes counted by pattern (docs/formulations/allocation.md)."""

from typing import cast

from optsched.instances.allocation import AllocationInstance
from optsched.models.allocation.aggregated import Aggregated
from optsched.models.allocation.linearized import Linearized
from optsched.models.allocation.printed import Printed
from optsched.models.base import Model
from optsched.schedules.allocation import Decided

FORMULATIONS = cast(  # none is started from a history: a start is of the kind that `greedy` makes
    "dict[str, type[Model[AllocationInstance, Decided]]]", {m.name: m for m in (Aggregated, Linearized, Printed)}
)
