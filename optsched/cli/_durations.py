"""Durations and gaps as people write them: 90s, 5m, 1h30m; 1%."""

from __future__ import annotations

import math
import re
from typing import Any

import click

SECONDS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ms|min|s|m|h|d)")


def seconds(text: str) -> float | None:
    """Seconds of `90s`, `5m`, `1h30m` or `2d`; None where it is no duration."""
    word = text.strip().lower()
    parts = PART.findall(word)
    if not parts or "".join(number + unit for number, unit in parts) != word:
        return None
    return sum(float(number) * SECONDS[unit] for number, unit in parts)


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

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The time as a float; whether zero or less makes sense is the option's affair."""
        try:
            plain = float(value)
        except ValueError:
            found = seconds(str(value))
        else:
            found = plain * self.unit_s if math.isfinite(plain) else None
        if found is None:
            unit = "seconds" if self.unit_s == 1.0 else "a number"
            self.fail(f"{value!r} is no duration: write {unit}, or 90s, 5m, 1h, 1h30m", param, ctx)
        return found / self.unit_s


class Gap(click.ParamType[float]):
    """A relative gap, as a share or in per cent."""

    name = "gap"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The share as a float, below 1."""
        text = str(value).strip()
        try:
            share = float(text[:-1]) / 100 if text.endswith("%") else float(text)
        except ValueError:
            self.fail(f"{value!r} is no gap: write 0.01, or 1%, for one per cent", param, ctx)
        if share >= 1 and not text.endswith("%"):
            self.fail(f"{text} would be {100 * share:g} %: write {text}% or {share / 100:g} for {text} per cent", param, ctx)
        return share


DURATION, HOURS, GAP = Duration(), Duration(3600.0), Gap()
