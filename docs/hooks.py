"""What GitHub does with these pages and MkDocs does not: links out of docs/ and to folders, formulas; and the changelog."""

from __future__ import annotations

import logging
import os
import re
from html import unescape
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
REPOSITORY = "https://github.com/optsched/optsched"
LOG = logging.getLogger("mkdocs.hooks.optsched")  # what it warns of is an error in a strict build

FENCED = re.compile(r"(^```.*?^```|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!\w+:|#)([^)\s#]+)(#[^)\s]*)?\)")
INCLUDE = re.compile(r"^<!-- the site shows (\S+) here -->$", re.MULTILINE)
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


def linked(text: str, folder: Path, to: Path, name: str) -> str:
    """The text of a file in `folder` with its links as a page in `to` needs them: pages, and what is not in docs/ online."""

    def replace(found: re.Match[str]) -> str:
        target, anchor = (folder / found[1]).resolve(), found[2] or ""
        if not target.exists():
            LOG.warning("%s: %s leads nowhere", name, found[1])
            return found[0]
        if target.is_relative_to(DOCS):
            page = target / "README.md" if target.is_dir() else target
            return f"]({os.path.relpath(page, to)}{anchor})"
        kind = "tree" if target.is_dir() else "blob"
        return f"]({REPOSITORY}/{kind}/main/{target.relative_to(ROOT).as_posix()}{anchor})"

    parts = FENCED.split(text)
    # code in a link's text splits it: what is left of a link, `](target)`, begins the next part
    return "".join(part if k % 2 else LINK.sub(replace, part) for k, part in enumerate(parts))


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links, and files that a page includes."""
    source = DOCS / page.file.src_uri
    text = linked(markdown, source.parent, source.parent, page.file.src_uri)

    def include(found: re.Match[str]) -> str:
        path = (source.parent / found[1]).resolve()
        body = path.read_text(encoding="utf-8").partition("\n")[2]  # the page has a title of its own
        return linked(body, path.parent, source.parent, found[1])

    return INCLUDE.sub(include, text)


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Formulas as MathML, which browsers show without a script."""

    def replace(found: re.Match[str]) -> str:
        try:
            return convert(unescape(found[2]), display="inline" if found[1] == "span" else "block")
        except Exception as error:  # whatever the converter does not know
            LOG.warning("%s: formula %s: %r", page.file.src_uri, found[2], error)
            return found[0]

    return FORMULA.sub(replace, html)
