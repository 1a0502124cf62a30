"""Scores of players against the length of their replies."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from concord.reports.leaderboards import PlayerResult
from pages.parts.charts import GREEN, text_colour, tips

HEIGHT = 320
NAMED = 24
"""With more players than this, names stand in the tooltips only."""


def lengths(standings: Sequence[PlayerResult], axis: str) -> Any:
    """A point for each player with a score and replies; None for fewer than two of them."""
    rows = [
        {"player": s.player, "chars": s.reply_chars, "final": s.final.value, "n": s.n}
        | {"score": s.score.value, "low": s.score.low, "high": s.score.high}
        for s in standings
        if s.score.defined and s.reply_chars
    ]
    if len(rows) < 2:
        return None
    data = pd.DataFrame(rows).astype({"low": float, "high": float})
    x = alt.X(
        "chars:Q",
        title="Mean characters of a reply",
        scale=alt.Scale(zero=False, padding=24),
        axis=alt.Axis(tickCount=8),
    )

    def y(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title=axis, scale=alt.Scale(zero=False, padding=12))

    said = tips(
        ("player:N", "player"),
        ("chars:Q", "characters of a reply", ",.0f"),
        ("score:Q", "score", ".2f"),
        ("final:Q", "without penalty", ".2f"),
        ("n:Q", "conversations"),
    )
    base = alt.Chart(data).encode(x=x)
    layers = [
        base.mark_rule(color=GREEN).encode(y=y("low"), y2=alt.Y2("high:Q")),
        base.mark_point(size=80, color=GREEN).encode(y=y("final")),
        base.mark_point(filled=True, size=80, opacity=1, color=GREEN).encode(y=y("score"), tooltip=said),
    ]
    if len(data) <= NAMED:
        middle = (data.chars.min() + data.chars.max()) / 2
        left, right = data[data.chars <= middle], data[data.chars > middle]

        def named(some: pd.DataFrame) -> Any:
            return alt.Chart(some).encode(x=x, y=y("score"), text=alt.Text("player:N"))

        # A name stands on the side of its point that has room for it.
        look: dict[str, Any] = {"fontSize": 11, "limit": 160, "color": text_colour()}
        layers.append(named(left).mark_text(align="left", dx=9, **look))
        layers.append(named(right).mark_text(align="right", dx=-9, **look))
    return alt.layer(*layers).properties(height=HEIGHT)
