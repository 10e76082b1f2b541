"""What stands above every picture: the instance, what was decided, and the objective; bound and gap in words."""

from __future__ import annotations

from matplotlib.figure import Figure

from optsched.certificate import relative_gap
from optsched.instances.base import Instance
from optsched.report import number, percent
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
    words = f"objective {number(judged.objective)} {instance.unit}{kind}"
    figure.suptitle(f"{short(instance.name)}: {decided}\n{words}", fontsize=10, parse_math=False)


def certainty(objective: float | None, bound: float | None) -> str:
    """Bound and gap in words."""
    gap = relative_gap(objective, bound)
    if gap is None:
        return "no bound" if bound is None else f"bound {number(bound)}"
    return f"bound {number(bound)}, " + ("proven optimal" if gap <= PROVEN else f"gap {percent(gap)}")


def short(name: str, longest: int = LONGEST) -> str:
    """A name that fits into a title, or beside an axis."""
    return name if len(name) <= longest else name[: longest - 1] + "…"
