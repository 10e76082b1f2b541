"""The terms of a family's objective, each with a price of its own: what can be traded against what, and at which rate."""

from optsched.problems.terms.base import Group, PricedTerms, Term, Weighted

__all__ = ["Group", "PricedTerms", "Term", "Weighted"]
