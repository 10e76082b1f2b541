"""Shared by all tests: where the examples and the real traces are, and how long a property test may be."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parent.parent
settings.register_profile("optsched", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("optsched")


@pytest.fixture(scope="session")
def examples() -> Path:
    """The example instances that ship with the repository."""
    return ROOT / "instances"


@pytest.fixture(scope="session")
def traces() -> Path:
    """Real traces; a test that needs them is skipped where they are not."""
    folder = Path(os.environ.get("OPTSCHED_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no traces at {folder}: set OPTSCHED_DATA")
    return folder
