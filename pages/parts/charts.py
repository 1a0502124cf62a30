"""The charts of the results pages: one function a chart."""

from __future__ import annotations

import altair as alt
import pandas as pd

from core.reports.leaderboards import Leaderboard

ROW = 30
"""Pixels a row takes."""
GREEN = "#3a927e"
"""Readable on white and on black."""


def standings(board: Leaderboard) -> alt.LayerChart | None:
    """Every player's score as a point with its 95% interval, best on top; None where nobody has a score."""
    rows = []
    for s in board.standings:
        if s.score.value is not None:
            low, high = s.score.ci or (s.score.value, s.score.value)
            rows.append(
                {
                    "player": s.player,
                    "score": s.score.value,
                    "low": low,
                    "high": high,
                    "final": s.final.value,
                    "n": s.n,
                }
            )
    if not rows:
        return None
    order = [s.player for s in board.standings if s.score.value is not None]
    base = alt.Chart(pd.DataFrame(rows)).encode(
        y=alt.Y("player:N", sort=order, title=None, axis=name_axis()),
        tooltip=[
            "player",
            *(alt.Tooltip(f"{name}:Q", format=".3f") for name in ("score", "low", "high", "final")),
            "n:Q",
        ],
    )
    rule = base.mark_rule(strokeWidth=2, color=GREEN).encode(
        x=alt.X("low:Q", title="Score, 95% interval", scale=alt.Scale(zero=False)), x2="high:Q"
    )
    points = base.mark_point(filled=True, size=90, opacity=1, color=GREEN).encode(x="score:Q")
    both: alt.LayerChart = rule + points
    return both.properties(height=alt.Step(ROW))


def name_axis() -> alt.Axis:
    """An axis of names: every one of them, at its row."""
    return alt.Axis(labelLimit=260, labelOverlap=False, labelFlush=False, ticks=False)
