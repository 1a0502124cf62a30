"""The charts of the results pages: one function a chart."""

from __future__ import annotations

import altair as alt
import pandas as pd

from core.leaderboards import Leaderboard

ROW = 30
"""Pixels a row takes."""
GREEN = "#3a927e"
"""Readable on white and on black."""


def standings(board: Leaderboard) -> alt.LayerChart | None:
    """Every player's score as a point with its 95% interval, best on top; None where nobody has a score."""
    rows = [
        {"player": s.player, "score": s.score.value, "low": s.score.ci[0], "high": s.score.ci[1], "final": s.final.value, "n": s.n}
        if s.score.ci
        else {"player": s.player, "score": s.score.value, "low": s.score.value, "high": s.score.value, "final": s.final.value, "n": s.n}
        for s in board.standings
        if s.score.value is not None
    ]  # fmt: skip
    if not rows:
        return None
    order = [row["player"] for row in rows]
    base = alt.Chart(pd.DataFrame(rows)).encode(
        y=alt.Y("player:N", sort=order, title=None, axis=alt.Axis(labelLimit=260)),
        tooltip=[
            "player",
            *(alt.Tooltip(f"{name}:Q", format=".3f") for name in ("score", "low", "high", "final")),
            "n:Q",
        ],
    )
    rule = base.mark_rule(strokeWidth=2, color=GREEN).encode(
        x=alt.X("low:Q", title="Score, 95% interval", scale=alt.Scale(zero=False)), x2="high:Q"
    )
    return (
        rule + base.mark_point(filled=True, size=90, opacity=1, color=GREEN).encode(x="score:Q")
    ).properties(height=alt.Step(ROW))
