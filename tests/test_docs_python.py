"""The Python of the pages runs, as pasted."""

from __future__ import annotations

import doctest
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_docs import DOCS, PAGES, ROOT, label


@pytest.mark.parametrize("page", [page for page in PAGES if ">>> " in page.read_text()], ids=label)
def test_python_in_pages_runs(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page in a namespace of its own, from the repository's root; fences are no part of what is expected."""
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"^```python\n(>>> .*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, label(page), str(page), 0)
    told: list[str] = []
    assert doctest.DocTestRunner().run(test, out=told.append).failed == 0, "".join(told)


def test_the_family_of_the_page_is_a_plug_in(tmp_path: Path) -> None:
    """As pasted: a distribution on the path, and the command line knows the family."""
    page = (DOCS / "extending.md").read_text()
    (code,) = (block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "FAMILY = " in block)
    (tmp_path / "knapsack.py").write_text(code)
    made = tmp_path / "knapsack-1.0.dist-info"
    made.mkdir()
    (made / "METADATA").write_text("Metadata-Version: 2.1\nName: knapsack\nVersion: 1.0\n")
    (made / "entry_points.txt").write_text("[optsched.families]\nknapsack = knapsack:FAMILY\n")
    jobs = [{"id": "a", "gpus": 4, "value": 5}, {"id": "b", "gpus": 4, "value": 4.9}, {"id": "c", "gpus": 3, "value": 3}]
    given = {"format": "optsched-instance/1", "problem": "knapsack", "name": "k", "gpus": 7, "jobs": jobs}
    (tmp_path / "k.json").write_text(json.dumps(given))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    for words, said in ((["solve", "k.json", "--method", "exact", "--json"], '"objective": 8'), (["validate", "k.json"], "ok")):
        run = [sys.executable, "-m", "optsched", *words]
        done = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, said in done.stdout) == (0, True), done.stdout + done.stderr
