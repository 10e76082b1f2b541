"""Durations, gaps and seeds as people write them: 90s, 5m, 1h30m; 1%."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from itertools import pairwise
from numbers import Real
from operator import index
from typing import SupportsIndex, cast

from optsched.errors import OptschedError

SECONDS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ms|min|s|m|h|d)")

MOST_SEEDS = 100_000  # of a comparison: more is a slip


def seconds(text: str) -> float | None:
    """Seconds of `90s`, `5m`, `1h30m` or `2d`; None where it is no duration."""
    word = text.strip()
    parts = PART.findall(word)
    units = [SECONDS[unit] for _, unit in parts]
    falling = all(larger > smaller for larger, smaller in pairwise(units))  # 1m1h is a slip, whatever was meant
    if not parts or not falling or "".join(number + unit for number, unit in parts) != word:
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
    if not 0 <= share < math.inf:
        raise OptschedError(f"gap must be a number from 0 on, got {value}")
    if percent:
        return share / 100
    if text is not None and share >= 1:
        ways = f"{text}% or {share / 100:g}" if share < 100 else f"{text}%"
        raise OptschedError(f"{text} would be {100 * share:g} %: write {ways} for {text} per cent")
    return share


def read_seed(value: object) -> int:
    """A seed.

    Parameters
    ----------
    value
        A whole number from 0 on.

    Raises
    ------
    OptschedError
        It is none.
    """
    try:
        seed = index(cast(SupportsIndex, value))
    except TypeError:
        seed = -1
    if seed < 0:
        raise OptschedError(f"a seed is a whole number from 0 on, got {value!r:.60}")
    return seed


def read_seeds(text: str) -> tuple[int, ...]:
    """Several seeds from text: ``"0-9"``, ``"1,5,7"``, ``"0-3,8"``.

    Raises
    ------
    OptschedError
        It is no such list, or names none or one twice.
    """
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = (word.strip() for word in part.partition("-"))
        if not first.isdecimal() or (dash and not (last.isdecimal() and int(last) >= int(first))):
            raise OptschedError(f"seeds are whole numbers as in 0-9 or 1,5,7, got {text!r:.60}")
        if int(last or first) - int(first) >= MOST_SEEDS:
            raise OptschedError(f"seeds {text!r:.60} are more than {MOST_SEEDS:,}")
        found += range(int(first), int(last or first) + 1)
    if len(set(found)) < len(found):
        raise OptschedError(f"seeds {text!r:.60} name one twice")
    return tuple(found)


def read_options(value: object) -> dict[str, object]:
    """Options by name.

    Parameters
    ----------
    value
        A dict, or None.

    Raises
    ------
    OptschedError
        It is none.
    """
    if value is not None and not isinstance(value, Mapping):
        raise OptschedError(f"options are a dict of values by name, got {value!r:.60}")
    return dict(value or {})


def _number(value: object) -> float | None:
    if not isinstance(value, Real | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None
