"""What the referee of a history forgives, and what rounding does: bounds allow for as much, and a little more."""

from __future__ import annotations

import numpy as np

from optsched.instances.base import Floats
from optsched.schedules.allocation.history import WORK_TOLERANCE

WHOLE = 1.0 - WORK_TOLERANCE - 1e-12  # of a job's work
SPACINGS = 8  # of floating point numbers as large as the times


def forgiven_s(submit_s: Floats, due_s: Floats) -> Floats:
    """Seconds by which a job may run too early or twice at a time, together, shape (J,)."""
    return 2 * WORK_TOLERANCE + SPACINGS * np.spacing(np.maximum(np.abs(submit_s), np.abs(due_s)))
