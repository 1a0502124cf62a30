"""What the charts of several pages have in common."""

import altair as alt

GREEN = "#3a927e"
"""Readable on white and on black."""


def name_axis() -> alt.Axis:
    """An axis of names: every one of them, at its row."""
    return alt.Axis(labelLimit=260, labelOverlap=False, labelFlush=False, ticks=False)
