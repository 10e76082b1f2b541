"""A timeline as compact JSON that is safe inside an element of a page."""

from __future__ import annotations

import json
from collections.abc import Iterable

import numpy as np

from optsched.analysis.page.timeline import Bars, Column, Curve, Panel, Timeline

DAY_MS = 86_400_000
SHORT = {"minutes": "min", "hours": "h", "days": "d", "seconds": "s"}
DIGITS = 9


def embedded(timeline: Timeline) -> str:
    """JSON without a character that could end the element it stands in, or begin another."""
    text = json.dumps(_told(timeline), separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _told(timeline: Timeline) -> dict[str, object]:
    time = timeline.time
    unit = SHORT.get(time.label.split()[0], "")
    axis = {"label": time.label, "dated": time.dated, "scale": time.scale_s, "unit": unit}
    axis["origin"] = round(time.origin * DAY_MS) if time.dated else 0
    panels = [_panel(panel) for panel in timeline.panels]
    return {"time": axis, "end": _number(timeline.end_s), "bars": timeline.bars and _bars(timeline.bars), "panels": panels}


def _panel(panel: Panel) -> dict[str, object]:
    told = {"title": panel.title, "unit": panel.unit, "px": panel.px, "curves": [_curve(curve) for curve in panel.curves]}
    return told | {"log": panel.log, "least": panel.least, "fromZero": panel.from_zero}


def _curve(curve: Curve) -> dict[str, object]:
    """Edges at which a value changes, and the values from there on."""
    rows = np.stack([curve.values, np.zeros(len(curve.values)) if curve.base is None else curve.base])
    same = (rows[:, 1:] == rows[:, :-1]) | (np.isnan(rows[:, 1:]) & np.isnan(rows[:, :-1]))
    kept = np.append(True, ~same.all(axis=0))[: rows.shape[1]]
    told: dict[str, object] = {"name": curve.name, "role": curve.role, "fill": curve.fill, "series": curve.series}
    told |= {"x": _numbers(curve.edges_s[:-1][kept]), "y": _numbers(rows[0, kept]), "end": _number(curve.edges_s[-1])}
    return told if curve.base is None else told | {"base": _numbers(rows[1, kept])}


def _bars(bars: Bars) -> dict[str, object]:
    return {
        "title": bars.title,
        "kinds": [{"name": name, "role": role} for name, role in bars.kinds],
        "kind": bars.kind.tolist(),
        "job": bars.job.tolist(),
        "begin": _numbers(bars.begin_s),
        "end": _numbers(bars.end_s),
        "low": _numbers(bars.low),
        "high": _numbers(bars.high),
        "jobs": [_column(column) for column in bars.jobs],
        "own": [_column(column) for column in bars.own],
        "rows": [[*_numbers(row[:2]), row[2]] for row in bars.rows],
        "marks": [
            {"name": m.name, "at": _numbers(m.at_s), "low": _numbers(m.low), "high": _numbers(m.high)} for m in bars.marks
        ],
    }


def _column(column: Column) -> dict[str, object]:
    values = list(column.values) if column.kind == "text" else _numbers(column.values)
    return {"label": column.label, "kind": column.kind, "values": values}


def _numbers(values: Iterable[object]) -> list[float | None]:
    return [_number(value) for value in values]


def _number(value: object) -> float | None:
    """As many digits as can be seen; None for what is not known."""
    if value is None:
        return None
    assert isinstance(value, int | float | np.number)
    found = float(f"{value:.{DIGITS}g}")
    if not np.isfinite(found):
        return None
    return int(found) if found.is_integer() else found
