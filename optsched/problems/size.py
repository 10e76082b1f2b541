"""How large an exact model would be, told without building it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ExactSize:
    """The size of an exact model beside what is solved to optimality within seconds.

    Attributes
    ----------
    count
        Of what the effort grows with.
    what
        Its name, in the plural.
    limit
        Up to so many are nearly always solved within seconds.
    estimated
        Whether the count is from a sample.
    """

    count: int
    what: str
    limit: int
    estimated: bool = False

    @property
    def load(self) -> float:
        """The count as a multiple of the limit."""
        return self.count / self.limit

    def __str__(self) -> str:
        return f"{'about ' * self.estimated}{self.count:,} {self.what}, exact finishes up to about {self.limit:,}"
