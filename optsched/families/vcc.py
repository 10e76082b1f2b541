"""vcc: which parts it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from optsched.family import Family, Heuristic
from optsched.instances.vcc import VccInstance
from optsched.schedules import vcc as referee
from optsched.schedules.base import Evaluation, Violation
from optsched.schedules.vcc import VccSchedule

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from optsched.analysis.page.timeline import Timeline
    from optsched.methods import Method
    from optsched.models.base import Model
    from optsched.origins import Origins
    from optsched.problems.size import ExactSize
    from optsched.problems.terms.base import PricedTerms
    from optsched.rolling.online import Online


class Vcc(Family[VccInstance, VccSchedule]):
    """A virtual capacity curve over one data centre's queue (DatacenterEnv)."""

    name = "vcc"
    instance = VccInstance
    schedules = (VccSchedule,)

    def evaluate(self, instance: VccInstance, schedule: VccSchedule) -> Evaluation:
        """Carbon and penalties."""
        return referee.evaluate(instance, schedule)

    def check(self, instance: VccInstance, schedule: VccSchedule) -> list[Violation]:
        """Broken rules."""
        return referee.check(instance, schedule)

    def heuristics(self) -> Mapping[str, Heuristic[VccInstance, VccSchedule]]:
        """Caps by rule."""
        from optsched.heuristics.vcc import HEURISTICS

        return HEURISTICS

    def formulations(self) -> Mapping[str, type[Model[VccInstance, VccSchedule]]]:
        """By start slots in FIFO order."""
        from optsched.models.vcc import FORMULATIONS

        return FORMULATIONS

    def bounding(self) -> Mapping[str, Callable[..., Method[VccInstance]]]:
        """The decomposition over staircases, and the fluid relaxation."""
        from optsched.decomposition.vcc.fluid import FluidBound
        from optsched.decomposition.vcc.method import VccDecomposition

        return {"decomposition": VccDecomposition, "fluid": FluidBound}

    def exact_size(self, instance: VccInstance) -> ExactSize:
        """Binaries."""
        from optsched.decomposition.vcc import exact_size

        return exact_size(instance)

    def clairvoyant(self, instance: VccInstance) -> float:
        """Some evaluations of the decomposition's bound, in kg."""
        from optsched.decomposition.vcc import clairvoyant

        return clairvoyant(instance)

    def online(self) -> Online[VccInstance, VccSchedule]:
        """Replays."""
        from optsched.rolling.vcc import ONLINE

        return ONLINE

    def priced_terms(self) -> PricedTerms[VccInstance, VccSchedule]:
        """Carbon and penalties."""
        from optsched.problems.terms.vcc import TERMS

        return TERMS

    def draw(self, instance: VccInstance, schedule: VccSchedule) -> Figure:
        """Load under the cap."""
        from optsched.analysis.vcc import draw

        return draw(instance, schedule)

    def timeline(self, instance: VccInstance, schedule: VccSchedule) -> Timeline:
        """The same as data, for a page."""
        from optsched.analysis.page.vcc import timeline

        return timeline(instance, schedule)

    def origins(self) -> Origins[VccInstance]:
        """Scenarios of the paper, and tables of one's own."""
        from optsched.origins.vcc import ORIGINS

        return ORIGINS


FAMILY = Vcc()
