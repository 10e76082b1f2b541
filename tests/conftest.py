"""Shared by all tests: where the examples and the real traces are, and which examples a property test is given.

Property tests draw the same examples every time, so that a fast run says the same twice. `pytest -m slow` runs them too, on
fresh ones, and many; with OPTSCHED_HYPOTHESIS=fresh any run does. What fails then prints how to see it again.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parent.parent
settings.register_profile("fixed", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("fresh", deadline=None, derandomize=False, max_examples=400, print_blob=True)


def is_slow(config: pytest.Config) -> bool:
    """Whether the slow tests were asked for."""
    words = str(config.getoption("markexpr")).split()
    return any(word == "slow" and words[i - 1 : i] != ["not"] for i, word in enumerate(words))


def pytest_configure(config: pytest.Config) -> None:
    """Choose the profile, unless `--hypothesis-profile` names one of hypothesis's own, and hear Ctrl-C, as children then do."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background job has it so, and children inherit that
        signal.signal(signal.SIGINT, signal.default_int_handler)
    default = "fresh" if is_slow(config) else "fixed"
    settings.load_profile(config.getoption("--hypothesis-profile") or os.environ.get("OPTSCHED_HYPOTHESIS", default))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Property tests are slow ones as well where those are asked for; not CI's, which fresh examples must not decide."""
    if is_slow(config):
        for item in items:
            if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
                item.add_marker("slow")
                item.add_marker("campaign")


@pytest.fixture(scope="session")
def examples() -> Path:
    """The example instances that ship with the repository."""
    return ROOT / "instances"


@pytest.fixture(scope="session")
def traces() -> Path:
    """Real traces; a test that needs them is skipped where they are not, and fails if OPTSCHED_DATA_REQUIRED=1 says so."""
    folder = Path(os.environ.get("OPTSCHED_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        missing = pytest.fail if os.environ.get("OPTSCHED_DATA_REQUIRED", "0") not in ("", "0") else pytest.skip
        missing(f"no traces at {folder}: set OPTSCHED_DATA")
    return folder
