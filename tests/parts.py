"""What a slow test goes through in parts: CI takes the first of them, `make slow` all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def parts(values: Iterable[Any], in_ci: int) -> list[Any]:
    """The values, those after the first `in_ci` marked as the campaign's; a tuple is several arguments."""
    made = [value if isinstance(value, tuple) else (value,) for value in values]
    return [pytest.param(*value, marks=pytest.mark.campaign if i >= in_ci else ()) for i, value in enumerate(made)]
