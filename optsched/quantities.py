"""Durations, gaps and seeds as people write them: 90s, 5m, 1h30m; 1%."""

from __future__ import annotations

import math
import re
from numbers import Real
from operator import index
from typing import SupportsIndex, cast

from optsched.errors import OptschedError

SECONDS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ms|min|s|m|h|d)")


def seconds(text: str) -> float | None:
    """Seconds of `90s`, `5m`, `1h30m` or `2d`; None where it is no duration."""
    word = text.strip().lower()
    parts = PART.findall(word)
    if not parts or "".join(number + unit for number, unit in parts) != word:
        return None
    return sum(float(number) * SECONDS[unit] for number, unit in parts)


def read_duration(value: object, unit_s: float = 1.0) -> float:
    """A time in seconds, from a number or from numbers with units; whether zero or less makes sense is for others to say.

    Parameters
    ----------
    value
        A number, or text.
    unit_s
        Seconds of the unit in which a plain number is read.

    Raises
    ------
    OptschedError
        It is none.
    """
    plain = _number(value)
    found = seconds(str(value)) if plain is None and isinstance(value, str) else None
    if plain is not None and math.isfinite(plain):
        found = plain * unit_s
    if found is None:
        unit = "seconds" if unit_s == 1.0 else "a number"
        raise OptschedError(f"{value!r} is no duration: write {unit}, or 90s, 5m, 1h, 1h30m")
    return found


def read_seconds(value: float | str | None) -> float | None:
    """A time in seconds, as `read_duration` reads it, or None.

    Parameters
    ----------
    value
        A number, text, or None.

    Raises
    ------
    OptschedError
        It is none of them.
    """
    return None if value is None else read_duration(value)


def read_gap(value: object) -> float:
    """A relative gap as a share, from a number or from text, which may be in per cent.

    Parameters
    ----------
    value
        A number, or text; as text, a share must be below 1: one that is not was meant in per cent.

    Raises
    ------
    OptschedError
        It is none.
    """
    text = value.strip() if isinstance(value, str) else None
    percent = text is not None and text.endswith("%")
    share = _number(text[:-1] if text is not None and percent else value)
    if share is None:
        raise OptschedError(f"{value!r} is no gap: write 0.01, or 1%, for one per cent")
    if percent:
        return share / 100
    if text is not None and share >= 1:
        raise OptschedError(f"{text} would be {100 * share:g} %: write {text}% or {share / 100:g} for {text} per cent")
    return share


def read_seed(value: object) -> int:
    """A seed.

    Parameters
    ----------
    value
        A whole number.

    Raises
    ------
    OptschedError
        It is none.
    """
    try:
        return index(cast(SupportsIndex, value))
    except TypeError:
        raise OptschedError(f"a seed is a whole number, got {value!r:.60}") from None


def _number(value: object) -> float | None:
    if not isinstance(value, Real | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None
