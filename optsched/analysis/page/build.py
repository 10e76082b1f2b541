"""The page of some results, put together: one file, no network, the same bytes for the same inputs."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from string import Template

from optsched.analysis.page import convergence, tables
from optsched.analysis.page.payload import embedded
from optsched.analysis.page.timeline import Timeline, spared
from optsched.analysis.page.words import certificate
from optsched.certificate import versions
from optsched.errors import OptschedError
from optsched.instances.base import Instance
from optsched.registry import family_of
from optsched.result import Result

HERE = Path(__file__).parent
SCRIPTS = ("theme", "format", "table", "bars", "panel", "figure", "tip", "jobs", "main")
MISSING = "a page needs plotly: pip install 'optsched[report]'"
KEYS = "Drag to zoom, double click to reset. Keys: arrows step through, + and - zoom, Shift and arrows move, 0 resets."


def page(results: Sequence[Result], instances: Iterable[Instance], names: Sequence[str] | None = None) -> str:
    """A page of HTML with the results, a section an instance.

    Parameters
    ----------
    results
        What is shown; of one instance or of several.
    instances
        Those that the results are about, in any order.
    names
        Of the results, to tell those of one method apart; their files, say.

    Raises
    ------
    OptschedError
        There are no results, an instance is missing, the referee does not confirm a result, or plotly is not installed.
    """
    library = plotly_js()
    known = {instance.sha256: instance for instance in instances}
    if not results:
        raise OptschedError("there are no results to make a page of")
    groups: dict[str, list[int]] = {}
    for i, result in enumerate(results):
        instance = known.get(result.instance.sha256)
        if instance is None:
            raise OptschedError(f"the instance {result.instance.name!r} of the result of {result.method} is not given")
        if found := result.verify(instance):
            raise OptschedError(f"the result of {result.method} on {instance.name!r} does not pass the referee: {found[0]}")
        groups.setdefault(instance.sha256, []).append(i)
    shown = list(names) if names is not None else [f"{i + 1}" for i in range(len(results))]
    sections = []
    for k, (sha256, members) in enumerate(groups.items()):
        mine = [results[i] for i in members]
        sections.append(_section(k, known[sha256], mine, labels(mine, [shown[i] for i in members])))
    titles = [known[sha256].name for sha256 in groups]
    script = f'"use strict";\n(() => {{\n{"".join(_own(f"{name}.js") for name in SCRIPTS)}}})();\n'
    what = titles[0] if len(titles) == 1 else f"{len(results)} results of {len(titles)} instances"
    return Template(_own("page.html")).substitute(
        title=tables.text(f"{what}: optsched report"),
        policy=_policy(library, script),
        version=versions()["optsched"],
        plotly=tables.text(_release(library)),
        style=_own("page.css"),
        contents=_contents(titles),
        body="\n".join(sections),
        library=library,
        script=script,
    )


def labels(results: Sequence[Result], names: Sequence[str]) -> list[str]:
    """What results are called: by method or policy, with their names where that does not tell them apart."""
    methods = [result.method for result in results]
    times = Counter(methods)
    return [m if times[m] == 1 else f"{m} ({name})" for m, name in zip(methods, names, strict=True)]


def _contents(titles: Sequence[str]) -> str:
    if len(titles) < 2:
        return ""
    links = "".join(f'<li><a href="#i{k}">{tables.text(title)}</a></li>' for k, title in enumerate(titles))
    return f'<nav aria-label="Instances"><ul class="contents">{links}</ul></nav>'


def _section(k: int, instance: Instance, results: Sequence[Result], called: Sequence[str]) -> str:
    """An instance: what it is, its results side by side, and a tab for each."""
    ids = [f"i{k}r{n}" for n in range(len(results))]
    goal = f"{instance.sense.replace('ize', 'ise')} {instance.unit}".rstrip()
    parts = [
        f'<section class="instance" id="i{k}">',
        f"<h2>{tables.text(instance.name)}</h2>",
        f'<p class="about"><b>{tables.text(instance.problem)}</b>, {tables.text(goal)}. {tables.text(instance.summary())}</p>',
        tables.comparison(instance, results, called, ids),
    ]
    if len(results) > 1:
        tabs = "".join(
            f'<button type="button" role="tab" id="{target}-tab" aria-controls="{target}" '
            f'aria-selected="{"true" if n == 0 else "false"}" tabindex="{0 if n == 0 else -1}">{tables.text(name)}</button>'
            for n, (target, name) in enumerate(zip(ids, called, strict=True))
        )
        parts.append(f'<div class="tabs" role="tablist" aria-label="Results">{tabs}</div>')
    for n, (result, name, target) in enumerate(zip(results, called, ids, strict=True)):
        parts.append(_result(instance, result, name, target, hidden=n > 0, tabbed=len(results) > 1))
    return "\n".join([*parts, "</section>"])


def _result(instance: Instance, result: Result, name: str, target: str, *, hidden: bool, tabbed: bool) -> str:
    """A result: its certificate, its pictures, and what else there is to say."""
    role = f' role="tabpanel" aria-labelledby="{target}-tab"' if tabbed else ""
    drawn = None if result.schedule is None else family_of(instance).timeline(instance, result.schedule)
    progress = convergence.timeline(result, instance.unit)
    decided = f": {tables.text(drawn.decided)}" if drawn is not None and drawn.decided else ""
    parts = [
        f'<article id="{target}"{role}{" hidden" if hidden else ""}>',
        f"<h3>{tables.text(name)}{decided}</h3>",
        f'<p class="certificate">{tables.text(certificate(result, instance.unit, instance.sense))}</p>',
    ]
    if result.schedule is None:
        parts.append('<p class="note">There is no schedule to draw.</p>')
    elif drawn is None:
        parts.append(
            f'<p class="note">{tables.text(instance.problem)} has no picture for a page; optsched plot may have one.</p>'
        )
    else:
        parts.append(_figure(f"{target}-time", "Schedule over time", spared(drawn)))
    if progress is None:
        missing = f"{result.method} keeps no trace of objective and bound over time, so there is no convergence to draw."
        parts.append(f'<p class="note">{tables.text(missing)}</p>')
    else:
        parts.append(_figure(f"{target}-gap", "Objective, bound and gap while solving", progress))
    parts.append(f"<details><summary>All figures of this result</summary>{tables.facts(result, instance)}</details>")
    return "\n".join([*parts, "</article>"])


def _figure(target: str, title: str, timeline: Timeline) -> str:
    """Where a script draws, and what it draws."""
    notes = "".join(f'<p class="note">{tables.text(note)}</p>' for note in timeline.notes)
    return (
        f'<h4>{title}</h4>{notes}<div class="figure" id="{target}" data-from="{target}-data" tabindex="0" role="group" '
        f'aria-label="{title}. {KEYS}"></div>'
        f'<script type="application/json" id="{target}-data">{embedded(timeline)}</script>'
    )


@cache
def plotly_js() -> str:
    """The library that draws, whole.

    Raises
    ------
    OptschedError
        It is not installed.
    """
    spec = find_spec("plotly")
    if spec is None or spec.origin is None:
        raise OptschedError(MISSING)
    path = Path(spec.origin).parent / "package_data" / "plotly.min.js"
    try:
        return path.read_text("utf-8").replace("\r\n", "\n").strip()
    except OSError:
        raise OptschedError(f"{MISSING} (this one comes without {path.name})") from None


def _release(library: str) -> str:
    found = re.search(r"plotly\.js v([\w.-]+)", library[:500])
    return found[1] if found else ""


def _policy(*scripts: str) -> str:
    """Nothing is loaded, and no script runs but these."""
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    run = " ".join(f"'sha256-{value}'" for value in hashes)
    rest = "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; script-src {run}; {rest}"


@cache
def _own(name: str) -> str:
    return (HERE / name).read_text("utf-8")
