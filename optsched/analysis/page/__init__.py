"""Results as one page of HTML that needs no network: tables, and pictures that can be hovered and zoomed."""

from __future__ import annotations

from optsched.analysis.page.build import page, plotly_js
from optsched.analysis.page.timeline import Bars, Column, Curve, Mark, Panel, Timeline

__all__ = ["Bars", "Column", "Curve", "Mark", "Panel", "Timeline", "page", "plotly_js"]
