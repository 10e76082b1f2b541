"""What stands above every picture: the instance, what was decided, the objective and how far it is proven."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from optsched.instances.base import Instance
from optsched.result import relative_gap
from optsched.schedules.base import PROVEN, Evaluation, Schedule

LONGEST = 70  # characters of a name in a title
BESIDE = 28  # characters of a name beside an axis


def put_heading(figure: Figure, instance: Instance, schedule: Schedule, judged: Evaluation, decided: str) -> None:
    """Write two lines above a picture: the instance with what was decided, and the objective.

    Parameters
    ----------
    judged
        The referee's word on the schedule.
    decided
        What the schedule does, in a few words.
    """
    kind = f" ({schedule.objective_kind})" if schedule.objective_kind else ""
    words = f"objective {figures(judged.objective)} {instance.unit}{kind}"
    _write(figure, f"{short(instance.name)}: {decided}\n{words}")


def add_certainty(figure: Figure, objective: float | None, bound: float | None, method: str | None = None) -> None:
    """Add to the heading what a family, which draws a schedule, does not know.

    Parameters
    ----------
    objective
        Of the schedule that is drawn.
    bound
        Proven, on the objective; None where there is none.
    method
        What found the schedule.
    """
    words = [certainty(objective, bound)] + ([f"by {short(method)}"] if method else [])
    _write(figure, ", ".join([text for text in [figure.get_suptitle()] if text] + words))


def _write(figure: Figure, heading: str) -> None:
    figure.suptitle(heading, fontsize=10, parse_math=False)


def certainty(objective: float | None, bound: float | None) -> str:
    """Bound and gap in words."""
    gap = relative_gap(objective, bound)
    if gap is None:
        return "no bound" if bound is None else f"bound {figures(bound)}"
    return f"bound {figures(bound)}, " + ("proven optimal" if gap <= PROVEN else f"gap {100 * gap:.3g} %")


def figures(value: Any) -> str:
    """A figure with as many digits as a reader can use."""
    return "-" if value is None else f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.1f}"


def short(name: str, longest: int = LONGEST) -> str:
    """A name that fits into a title, or beside an axis."""
    return name if len(name) <= longest else name[: longest - 1] + "…"
