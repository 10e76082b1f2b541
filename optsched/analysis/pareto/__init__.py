"""The front of two parts of an objective: what one costs in the other, and what is proven that no schedule reaches."""

from optsched.analysis.pareto.front import Front, Point
from optsched.analysis.pareto.search import pareto

__all__ = ["Front", "Point", "pareto"]
