"""The slope chart of two rankings.

Fields have names of our own, so that nobody's name is read as an expression.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from pages.parts.charts import GREEN

Chart = Any
"""A chart of Altair, whose types say little."""
ORANGE, GREY = "#d2701f", "#8a8f91"
"""Readable on white and on black, as GREEN is."""
KINDS = {"higher here": GREEN, "lower here": ORANGE, "the same rank": GREY}
COLOURS = alt.Scale(domain=list(KINDS), range=list(KINDS.values()))
HERE, THERE = "This leaderboard", "The other ranking"
ROW, AROUND = 26, 110
"""Pixels a rank takes, and what stands around the ranks."""


def slopes(models: Sequence[Mapping[str, Any]]) -> Chart:
    """A line for each model from its rank in the other ranking to its rank here, the best on top.

    `models` are the rows of `rank_stability.beside`'s second table.
    """
    both = pd.DataFrame(models)[["player", "model", "rise", "rank_here", "rank_there"]]
    both["kind"] = [list(KINDS)[0 if rise > 0 else 1 if rise < 0 else 2] for rise in both.rise]
    table = pd.concat(
        [both.assign(side=THERE, rank=both.rank_there), both.assign(side=HERE, rank=both.rank_here)]
    )
    n = len(both)
    x = alt.X(
        "side:N",
        sort=[THERE, HERE],
        title=None,
        scale=alt.Scale(type="point", padding=0.75),
        axis=alt.Axis(orient="top", labelAngle=0, domain=False, ticks=False, labelLimit=150),
    )
    y = alt.Y(
        "rank:Q",
        title=f"Rank among the {n} in both, 1 = best",
        scale=alt.Scale(domain=[n + 0.5, 0.5], nice=False, zero=False),
        axis=alt.Axis(values=list(range(1, n + 1)), format="d", grid=False, labelOverlap=True),
    )
    legend = alt.Legend(orient="bottom", title=None, symbolType="stroke", columns=3)
    color = alt.Color("kind:N", scale=COLOURS, legend=legend)
    tip = [
        alt.Tooltip("player:N"),
        alt.Tooltip("model:N", title="there called"),
        alt.Tooltip("rank_here:Q", title="rank here"),
        alt.Tooltip("rank_there:Q", title="rank there"),
        alt.Tooltip("rise:Q", title="rise", format="+"),
    ]
    base = alt.Chart(table).encode(x=x, y=y, color=color, tooltip=tip)
    lines = base.mark_line(strokeWidth=2, opacity=0.85).encode(detail=alt.Detail("player:N"))
    dots = base.mark_point(filled=True, size=70, opacity=1)
    return (
        alt.layer(lines, dots, _names(table, x, y, THERE, "model"), _names(table, x, y, HERE, "player"))
        .properties(height=AROUND + ROW * n)
        .configure_view(stroke=None)
    )


def _names(table: pd.DataFrame, x: alt.X, y: alt.Y, side: str, name: str) -> Chart:
    """The names beside one end; those of one rank on one line."""
    rows = table[table.side == side]
    named = rows.groupby("rank", as_index=False).agg(name=(name, ", ".join), kind=("kind", "first"))
    left = side == THERE
    return (
        alt.Chart(named.assign(side=side))
        .mark_text(
            align="right" if left else "left",
            dx=-9 if left else 9,
            fontSize=12,
            limit=alt.ExprRef("width * 0.28"),
        )
        .encode(x=x, y=y, text=alt.Text("name:N"), color=alt.Color("kind:N", scale=COLOURS, legend=None))
    )
