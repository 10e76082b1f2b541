"""Exact formulations in Pyomo: per family, interchangeable, each with the same optimum."""

from optsched.models.base import Model, choose, formulations

__all__ = ["Model", "choose", "formulations"]
