"""What several benchmarks are asked alike."""

from __future__ import annotations

import argparse

from optsched.errors import OptschedError
from optsched.quantities import read_seeds


def add_seeds(parser: argparse.ArgumentParser, default: str) -> None:
    """``--seeds``, those of the instances."""
    parser.add_argument("--seeds", type=_seeds, default=default, help="As in 0-9 or 1,5,7.")


def _seeds(text: str) -> tuple[int, ...]:
    try:
        return read_seeds(text)
    except OptschedError as wrong:
        raise argparse.ArgumentTypeError(str(wrong)) from None
