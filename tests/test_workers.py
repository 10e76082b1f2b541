"""Cores that are this process's: of a container fewer than of its machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from optsched import workers


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"cpu.max": "200000 100000\n"}, 2),
        ({"cpu.max": "150000 100000\n"}, 2),
        ({"cpu.max": "max 100000\n"}, None),
        ({"cpu/cpu.cfs_quota_us": "50000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 1),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ({"cpu.max": "200000 0\n"}, None),
        ({"cpu.max": "200000 -100000\n"}, None),
        ({"cpu.max": "200000\n"}, None),
        ({"cpu.max": "", "cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
        ({}, None),
    ],
)
def test_the_quota_of_a_container(tmp_path: Path, files: dict[str, str], cores: int | None) -> None:
    (tmp_path / "cpu").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert workers._quota(tmp_path, own=tmp_path / "nowhere") == cores


@pytest.mark.parametrize(
    ("groups", "files", "cores"),
    [
        ("0::/system.slice/one.service\n", {"system.slice/one.service/cpu.max": "200000 100000\n"}, 2),
        ("0::/a.slice/b.scope\n", {"a.slice/cpu.max": "300000 100000\n", "a.slice/b.scope/cpu.max": "max 100000\n"}, 3),
        ("0::/a/b\n", {"a/cpu.max": "100000 100000\n", "a/b/cpu.max": "400000 100000\n"}, 1),
        ("\nno group\n0::/a\n", {"a/cpu.max": "200000 100000\n"}, 2),
        ("0::/../a\n", {"../a/cpu.max": "100000 100000\n", "cpu.max": "200000 100000\n"}, 2),
        ("0::/a\n", {"other/cpu.max": "100000 100000\n"}, None),
        (
            "4:memory:/m\n2:cpu,cpuacct:/job_7/step\n0::/\n",
            {"cpu/job_7/cpu.cfs_quota_us": "600000\n", "cpu/job_7/cpu.cfs_period_us": "100000\n", "m/cpu.max": "1 1\n"},
            6,
        ),
        ("2:cpu:/docker/0123\n", {"cpu/cpu.cfs_quota_us": "200000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 2),
    ],
)
def test_the_quota_of_a_group_and_of_those_above(tmp_path: Path, groups: str, files: dict[str, str], cores: int | None) -> None:
    (tmp_path / "own").write_text(groups)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert workers._quota(tmp_path, own=tmp_path / "own") == cores


@pytest.mark.parametrize(("quota", "cores"), [(1, 1), (3, 3), (8, 4), (None, 4)])
def test_no_more_cores_than_the_quota_or_the_machine(monkeypatch: pytest.MonkeyPatch, quota: int | None, cores: int) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)
    monkeypatch.setattr(workers, "_quota", lambda: quota)
    assert workers.of_machine() == cores
