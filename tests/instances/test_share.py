"""A share of a whole number is taken in the decimals that JSON shows, whatever the number's size."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from optsched.instances.grid import exact, share_of


@given(st.floats(0.0, 1.0), st.integers(0, 10**40))
def test_a_share_is_exact(share: float, whole: int) -> None:
    assert share_of(share, whole) == int((exact(share) * whole).__floor__())


def test_by_hand() -> None:
    assert share_of(0.1, 10**20) == 10**19
    assert share_of(0.07, 100) == 7  # 7.000000000000001 in floats
    assert share_of(0.29, 100) == 29  # 28.999999999999996
    assert share_of(1.0, 10**30 + 7) == 10**30 + 7
