"""allocation: ANDREAS' (3)-(4v) as printed, linearised, and with nodes counted by pattern (docs/formulations/allocation.md)."""

from typing import Any

from optsched.models.allocation.aggregated import Aggregated
from optsched.models.allocation.linearized import Linearized
from optsched.models.allocation.printed import Printed
from optsched.models.base import Model

FORMULATIONS: dict[str, type[Model[Any, Any]]] = {m.name: m for m in (Aggregated, Linearized, Printed)}
