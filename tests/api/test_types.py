"""mypy knows which schedule decides an instance, ours and others', and finds what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_a_type_checker_sees_through_solve_and_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    api = pytest.importorskip("mypy.api")
    monkeypatch.chdir(ROOT)  # its cache is that of `make types`
    said, failed, _ = api.run(["--config-file", "pyproject.toml", "--warn-unused-ignores", "tests/api/typed.py"])
    assert not failed
    assert "1 source file" in said
    assert [line for line in said.splitlines() if "typed.py" in line] == []  # faults of the package itself: `make types`
