"""The Python of the pages runs, as pasted."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from tests.test_docs import PAGES, ROOT, label


@pytest.mark.parametrize("page", [page for page in PAGES if ">>> " in page.read_text()], ids=label)
def test_python_in_pages_runs(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page in a namespace of its own, from the repository's root; fences are no part of what is expected."""
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"^```python\n(>>> .*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, label(page), str(page), 0)
    told: list[str] = []
    assert doctest.DocTestRunner().run(test, out=told.append).failed == 0, "".join(told)
