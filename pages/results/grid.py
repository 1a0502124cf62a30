"""A player's scores by two facets, as a table coloured by score."""

from typing import Any

import pandas as pd
import streamlit as st

from concord.questions import Scale


def draw(cells: pd.DataFrame, down: str, across: str, scale: Scale, key: str) -> dict[str, Any] | None:
    """Draw the cells that `leaderboards.grid` gives; returns the one that is selected."""
    wide, refused = (cells.pivot(index="row", columns="column", values=of) for of in ("value", "refused"))
    words = wide.map(lambda v: "" if pd.isna(v) else f"{v:.2f}").mask(wide.isna() & refused.gt(0), "refused")
    colours = wide.map(lambda v: _heat(v, scale))
    words.index.name = down
    chosen = st.dataframe(
        words.style.apply(lambda _: colours, axis=None),
        height="content",
        key=key,
        on_select="rerun",
        selection_mode="single-cell",
        alt=f"Scores by {down} and {across}",
        column_config={
            name: st.column_config.TextColumn(str(name), alignment="center") for name in words.columns
        },
    )
    selected = chosen["selection"]["cells"]
    if not selected:
        return None
    row, column = selected[0]
    if column not in wide.columns or row >= len(wide):
        return None
    found = cells[(cells.row == wide.index[row]) & (cells.column == column)]
    return None if found.empty else found.iloc[0].to_dict()


def _heat(value: float, scale: Scale) -> str:
    """From red at the low end of the scale to green at its high end, pale enough for text."""
    if pd.isna(value):
        return ""
    middle = (scale.low + scale.high) / 2
    away = (value - middle) / (scale.high - middle)
    colour = "46,125,106" if away > 0 else "190,80,50"
    return f"background-color: rgba({colour},{min(1.0, abs(away)) * 0.65:.2f})"
