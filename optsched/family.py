"""What ties a family's modules together: one typed record, its parts loaded when they are asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Generic, Protocol

from optsched.errors import OptschedError
from optsched.instances.base import I, I_contra
from optsched.schedules.base import Evaluation, S, S_co, Violation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from optsched.analysis.page.timeline import Timeline
    from optsched.methods import Method
    from optsched.models.base import Model
    from optsched.origins import Origins
    from optsched.problems.size import ExactSize
    from optsched.problems.terms.base import PricedTerms
    from optsched.problems.view import TimeIndexedView
    from optsched.rolling.online import Online
    from optsched.stop import Spare


class Heuristic(Protocol[I_contra, S_co]):
    """A schedule without a bound; its options are keyword arguments with numbers as defaults."""

    def __call__(self, instance: I_contra, seed: int = 0, *, spare: Spare | None = None) -> S_co:
        """Construct a schedule.

        Parameters
        ----------
        instance
            What is given.
        seed
            Of whatever is drawn: the same seed, the same schedule.
        spare
            Says whether there is time left: where there is none, what has been placed so far is the schedule.
        """


class Family(ABC, Generic[I, S]):
    """A family of instances `I`, decided by schedules `S`: which parts it has in each room.

    Parts are methods, so that a module is loaded when its part is asked for and not before: who validates an instance loads no
    solver. A part that a family need not have says so by what its default returns.

    Attributes
    ----------
    name
        As in ``"problem"`` of the family's files.
    trouble_only_costs
        Whether no outage and no cancelled job makes the best history better: then a bound without them holds with them.
    """

    name: str
    trouble_only_costs: ClassVar[bool] = False

    @property
    @abstractmethod
    def instance(self) -> type[I]:
        """The instance's class; files are validated by it."""

    @property
    @abstractmethod
    def schedules(self) -> tuple[type[S], ...]:
        """The schedule's classes, told apart in a file by their keys; the first is what methods return."""

    @abstractmethod
    def evaluate(self, instance: I, schedule: S) -> Evaluation:
        """Recompute the objective of a schedule and its components: the referee.

        Parameters
        ----------
        instance
            What is given.
        schedule
            What was decided.
        """

    @abstractmethod
    def check(self, instance: I, schedule: S) -> list[Violation]:
        """Every rule of the instance that the schedule violates: the referee.

        Parameters
        ----------
        instance
            What is given.
        schedule
            What was decided.
        """

    @abstractmethod
    def heuristics(self) -> Mapping[str, Heuristic[I, S]]:
        """Schedules without a bound, by name; ``greedy`` is among them, and where everything else starts."""

    def formulations(self) -> Mapping[str, type[Model[I, S]]]:
        """Exact formulations by name, the recommended one first; none by default."""
        return {}

    @property
    def has_formulations(self) -> bool:
        """Whether there are any, without loading them."""
        return type(self).formulations is not Family.formulations

    @property
    def is_time_indexed(self) -> bool:
        """Whether instances are time-indexed problems, without making one."""
        return type(self).time_indexed is not Family.time_indexed

    def bounding(self) -> Mapping[str, Callable[..., Method[I]]]:
        """Methods that prove a bound besides ``exact`` and ``auto``, by name; none by default.

        The one called ``decomposition`` is what ``auto`` begins with.
        """
        return {}

    def relaxations(self) -> Mapping[str, Callable[[I, tuple[float, ...]], float | None]]:
        """What multipliers in a file prove, or None where they are of another instance; by the `formulation` that they name.

        Only of relaxations that are no formulation.
        """
        return {}

    def exact_size(self, instance: I) -> ExactSize | None:
        """How large the exact model would be, in a fraction of the time to build it; None where it is never large.

        Parameters
        ----------
        instance
            What is given.
        """
        return None

    def empty(self, instance: I) -> S | None:
        """The schedule that decides nothing, where that is one; None by default.

        Parameters
        ----------
        instance
            What is given.
        """
        return None

    def time_indexed(self, instance: I) -> TimeIndexedView[S] | None:
        """The instance as a time-indexed problem; None where the family is none.

        Parameters
        ----------
        instance
            What is given.
        """
        return None

    def chosen(self, instance: I, options: Sequence[tuple[int, int, int]]) -> S:
        """The schedule of some options of a time-indexed problem, the others of which need not be listed.

        Parameters
        ----------
        instance
            What is given.
        options
            (job, place, start) of each, in that order.
        """
        view = self.time_indexed(instance)
        assert view is not None
        return view.schedule(view.problem.find(options))

    def priced_terms(self) -> PricedTerms[I, S] | None:
        """The terms of the objective, each with a price of its own, for `optsched.pareto`; None where there are none."""
        return None

    def clairvoyant(self, instance: I) -> float | None:
        """A bound on the realised objective of whoever knows everything, quickly; None where there is none.

        Parameters
        ----------
        instance
            What is given.
        """
        return None

    def online(self) -> Online[I, S] | None:
        """What a replay needs; None where the family has none."""
        return None

    def draw(self, instance: I, schedule: S) -> Figure:
        """The schedule as a picture.

        Parameters
        ----------
        instance
            What is given.
        schedule
            What was decided.

        Raises
        ------
        OptschedError
            The family has no picture.
        """
        raise OptschedError(f"{self.name} has no picture")

    def timeline(self, instance: I, schedule: S) -> Timeline | None:
        """The schedule over time, for a page of HTML (`optsched report`); None by default.

        Parameters
        ----------
        instance
            What is given.
        schedule
            What was decided.
        """
        return None

    def origins(self) -> Origins[I] | None:
        """Where instances come from: generated scenarios, and tables of one's own; None by default."""
        return None
