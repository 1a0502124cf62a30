"""Draws a row of Estimates: each value as a point with its interval, on one named axis."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from concord.estimate import Estimate
from pages.parts.charts import in_rows, name_axis, show
from pages.parts.plain import plain

ROW = 26
"""Pixels that a row takes."""
NAMED = 6
"""Rows without a figure or an interval that are named one by one."""


def forest(
    rows: Sequence[tuple[str, Estimate]],
    title: str,
    axis: str,
    *,
    kinds: Sequence[str] = (),
    domain: tuple[float, float] | None = None,
) -> None:
    """Draw a forest plot, the first row on top; rows that are undefined are named below it with their reason.

    `axis` says what is measured, in which unit. `kinds` colours the rows: one word each, such as judge or
    panel. The number of items stands above the chart where it is the same for all rows, else behind each
    name.
    """
    found = [(*row, kind) for row, kind in zip(rows, kinds or [""] * len(rows), strict=True)]
    defined = [row for row in found if row[1].defined]
    sizes = {figure.n for _, figure, _ in defined}
    same = f" (n = {defined[0][1].n})" if len(sizes) == 1 and sizes != {None} else ""
    st.markdown(f"##### {plain(title + same)}")
    if defined:
        show(_chart(defined, axis, domain, named=len(sizes) > 1), title)
    for reason in dict.fromkeys(figure.reason for _, figure in rows if figure.reason):
        names = [name for name, figure in rows if figure.reason == reason]
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        st.caption(plain(f"{', '.join(names[:NAMED])}{more}: {reason}"))


def _chart(
    rows: Sequence[tuple[str, Estimate, str]], axis: str, domain: tuple[float, float] | None, *, named: bool
) -> Any:
    data = pd.DataFrame(
        [
            {"name": f"{name} (n = {figure.n})" if named else name, "value": figure.value, "kind": kind}
            | {"low": figure.low, "high": figure.high, "n": figure.n}
            for name, figure, kind in rows
        ]
    ).astype({"value": float, "low": float, "high": float})
    ends = {
        end for _, figure, _ in rows for end in (figure.value, figure.low, figure.high) if end is not None
    }
    if domain is None and len(ends) == 1:  # an axis needs a length
        domain = min(ends) - 0.5, max(ends) + 0.5
    scale = alt.Scale(domain=list(domain)) if domain else alt.Scale(zero=False)
    y = alt.Y("name:N", sort=list(data.name), title=None, axis=name_axis())
    several = list(dict.fromkeys(data.kind))
    legend = alt.Legend(orient="top", title=None, labelLimit=260) if len(several) > 1 else None
    color = alt.Color("kind:N", scale=alt.Scale(domain=several), legend=legend)
    base = alt.Chart(data).encode(y=y, color=color)
    ticks = alt.Axis(tickCount=5)  # more have labels that overlap, of which every second is left out, 0 too
    low, value = (alt.X(f"{field}:Q", title=axis, scale=scale, axis=ticks) for field in ("low", "value"))
    rules = base.mark_rule(strokeWidth=2).encode(x=low, x2=alt.X2("high:Q"))
    points = base.mark_point(filled=True, size=90, opacity=1).encode(
        x=value,
        tooltip=[
            alt.Tooltip("name:N", title="of"),
            alt.Tooltip("value:Q", format=".3f"),
            alt.Tooltip("low:Q", format=".3f", title="from"),
            alt.Tooltip("high:Q", format=".3f", title="to"),
            alt.Tooltip("n:Q"),
        ],
    )
    layers: list[Any] = [rules, points]
    if data[["value", "low"]].min().min() < 0 < data[["value", "high"]].max().max():
        zero = alt.Chart(pd.DataFrame({"value": [0.0]})).mark_rule(color="gray", strokeDash=[4, 4])
        layers.insert(0, zero.encode(x=alt.X("value:Q")))
    return in_rows(alt.layer(*layers), ROW, len(data))
