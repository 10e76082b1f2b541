"""Durations and gaps on the command line; `optsched.quantities` reads them."""

from __future__ import annotations

import click

from optsched.errors import OptschedError
from optsched.quantities import read_duration, read_gap


class Duration(click.ParamType[float]):
    """A time from a plain number or from numbers with units.

    Parameters
    ----------
    unit_s
        Seconds of the unit in which it is handed on, and in which a plain number is read.
    """

    name = "duration"

    def __init__(self, unit_s: float = 1.0) -> None:
        self.unit_s = unit_s

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The time as a float; whether zero or less makes sense is the option's affair."""
        try:
            return read_duration(value, self.unit_s) / self.unit_s
        except OptschedError as error:
            self.fail(str(error), param, ctx)


class Gap(click.ParamType[float]):
    """A relative gap, as a share or in per cent."""

    name = "gap"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The share as a float, below 1."""
        try:
            return read_gap(value)
        except OptschedError as error:
            self.fail(str(error), param, ctx)


DURATION, HOURS, GAP = Duration(), Duration(3600.0), Gap()
