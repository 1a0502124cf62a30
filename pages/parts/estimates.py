"""Draws a row of Estimates: each value as a point with its interval, on one named axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from core.estimate import Estimate
from pages.parts.charts import name_axis
from pages.parts.plain import plain

ROW = 26
"""Pixels that a row takes."""


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
    found = [
        (name, figure, kind) for (name, figure), kind in zip(rows, kinds or [""] * len(rows), strict=True)
    ]
    defined = [(name, figure, kind) for name, figure, kind in found if figure.defined]
    sizes = {figure.n for _, figure, _ in defined}
    same = f" (n = {defined[0][1].n})" if len(sizes) == 1 and sizes != {None} else ""
    st.markdown(f"##### {plain(title + same)}")
    if defined:
        st.altair_chart(_chart(defined, axis, domain, named=len(sizes) > 1), alt=title)
    reasons: dict[str, list[str]] = {}
    for name, figure, _ in found:
        if figure.reason:
            reasons.setdefault(figure.reason, []).append(name)
    for reason, names in reasons.items():
        st.caption(plain(f"{', '.join(names)}: {reason}"))


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
    scale = alt.Scale(domain=list(domain)) if domain else alt.Scale(zero=False)
    y = alt.Y("name:N", sort=list(data.name), title=None, axis=name_axis())
    several = list(dict.fromkeys(data.kind))
    legend = alt.Legend(orient="top", title=None, labelLimit=260) if len(several) > 1 else None
    color = alt.Color("kind:N", scale=alt.Scale(domain=several), legend=legend)
    base = alt.Chart(data)
    ends = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title=axis, scale=scale), x2="high:Q", y=y, color=color
    )
    points = base.mark_point(filled=True, size=90, opacity=1).encode(
        x=alt.X("value:Q", title=axis, scale=scale),
        y=y,
        color=color,
        tooltip=[
            alt.Tooltip("name:N", title="of"),
            alt.Tooltip("value:Q", format=".3f"),
            alt.Tooltip("low:Q", format=".3f", title="from"),
            alt.Tooltip("high:Q", format=".3f", title="to"),
            alt.Tooltip("n:Q"),
        ],
    )
    layers: list[Any] = [ends, points]
    if data[["value", "low"]].min().min() < 0 < data[["value", "high"]].max().max():
        zero = alt.Chart(pd.DataFrame({"value": [0.0]})).mark_rule(color="gray", strokeDash=[4, 4])
        layers.insert(0, zero.encode(x="value:Q"))
    return alt.layer(*layers).properties(height=alt.Step(ROW))
