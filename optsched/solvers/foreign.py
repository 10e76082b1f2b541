"""A backend of somebody else's: what it raises, and what it should have returned, is one line that names it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from optsched.errors import OptschedError
from optsched.models.base import PyomoModel
from optsched.monitor import Monitor
from optsched.registry import guarded
from optsched.solvers.base import Backend, Capabilities, SolverResult, SolverSettings
from optsched.solvers.linear_form import LinearForm

T = TypeVar("T")
PARTS = ("name", "capabilities", "packages", "unavailable", "refuse_options", "solve")


@dataclass(frozen=True)
class ForeignBackend:
    """A `Backend` around one.

    Attributes
    ----------
    reference
        Where it comes from, for messages.
    backend
        Somebody else's.
    """

    reference: str
    backend: Backend

    @property
    def name(self) -> str:
        """As it calls itself."""
        with guarded(self.reference, "name"):
            return str(self.backend.name)

    @property
    def capabilities(self) -> Capabilities:
        """What it says that it can do."""
        with guarded(self.reference, "capabilities"):
            return self._expect("capabilities", self.backend.capabilities, Capabilities)

    @property
    def packages(self) -> tuple[str, ...]:
        """Distributions that it needs."""
        with guarded(self.reference, "packages"):
            return tuple(self.backend.packages)

    def unavailable(self) -> str | None:
        """Why it cannot be used here, or None."""
        with guarded(self.reference, "unavailable()"):
            return self.backend.unavailable()

    def refuse_options(self, options: Mapping[str, object]) -> None:
        """Refuse what it does not take."""
        with guarded(self.reference, "refuse_options()"):
            self.backend.refuse_options(options)

    def solve(self, model: PyomoModel, form: LinearForm | None, task: SolverSettings, monitor: Monitor) -> SolverResult:
        """Solve, in a thread."""
        with guarded(self.reference, "solve()"):
            return self._expect("solve()", self.backend.solve(model, form, task, monitor), SolverResult)

    def _expect(self, part: str, found: object, kind: type[T]) -> T:
        if not isinstance(found, kind):
            raise OptschedError(f"{self.reference}: {part} gave {found!r:.60}, expected a {kind.__name__} of optsched.solvers")
        return found
