"""What several benchmarks are asked, and end, alike."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable

from optsched.errors import InputError, OptschedError
from optsched.quantities import read_seeds


def add_seeds(parser: argparse.ArgumentParser, default: str) -> None:
    """``--seeds``, those of the instances."""
    parser.add_argument("--seeds", type=_seeds, default=default, help="As in 0-9 or 1,5,7.")


def _seeds(text: str) -> tuple[int, ...]:
    try:
        return read_seeds(text)
    except OptschedError as wrong:
        raise argparse.ArgumentTypeError(str(wrong)) from None


def told(main: Callable[[], None]) -> None:
    """Run it; one line and exit code 2 where a trace is not there, or cannot be read."""
    try:
        main()
    except subprocess.CalledProcessError:
        sys.exit(2)  # the command has said why
    except (InputError, FileNotFoundError) as wrong:
        print(f"error: {wrong} (real traces are looked up in $OPTSCHED_DATA)", file=sys.stderr)
        sys.exit(2)
