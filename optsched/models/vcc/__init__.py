"""vcc: exact starts for small instances, the fluid relaxation for large ones (docs/formulations/vcc.md)."""

from optsched.models.base import Model
from optsched.models.vcc.starts import FifoStarts

FORMULATIONS: dict[str, type[Model]] = {FifoStarts.name: FifoStarts}  # type: ignore[type-arg]
