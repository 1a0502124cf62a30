"""What the charts of several pages have in common."""

from typing import Any

import altair as alt

GREEN = "#3a927e"
"""Readable on white and on black."""


def in_rows(chart: Any, pixels: int) -> Any:
    """A chart as wide as its place, with so many pixels a row."""
    fitting = alt.AutoSizeParams(type="fit-x", contains="padding")
    return chart.properties(height=alt.Step(pixels), autosize=fitting)


def name_axis() -> alt.Axis:
    """An axis of names: every one of them, at its row."""
    return alt.Axis(labelLimit=260, labelOverlap=False, labelFlush=False, ticks=False)
