"""What every environment draws: the family's picture of an episode so far, as an array, or nothing."""

from __future__ import annotations

import numpy as np

from optsched.errors import OptschedError
from optsched.instances.base import I
from optsched.registry import family_of
from optsched.schedules.base import Schedule

MODES = ("rgb_array",)


def refuse_mode(render_mode: str | None) -> None:
    """Refuse to draw otherwise.

    Raises
    ------
    OptschedError : there is no such render mode.
    """
    if render_mode not in (None, *MODES):
        raise OptschedError(f"the environment draws as 'rgb_array' or not at all, got render_mode {render_mode!r}")


def pictured(instance: I, history: Schedule) -> np.ndarray:
    """The family's picture of what has happened, shape (height, width, 3), 8 bits each."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # who trains draws nothing

    canvas = FigureCanvasAgg(family_of(instance).draw(instance, history))
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()
