"""Draws Estimates: each value as a point with its interval, on one named axis."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import altair as alt
import pandas as pd
import streamlit as st

from concord.estimate import Estimate
from pages.parts.charts import (
    ENDS,
    VALUE,
    WIDE,
    Chart,
    in_rows,
    legend,
    line_at,
    name_axis,
    show,
    side_by_side,
    tips,
)
from pages.parts.plain import plain

ROW, BETWEEN = 26, 13
"""Pixels that a row takes, and one of several points in it."""
LONG = 22
"""Characters of a kind, of which two do not fit beside one another on a phone."""
NAMED = 6
"""Rows without a figure or an interval that are named one by one."""


class Point(NamedTuple):
    """A figure of a picture: its name, and a word for its colour, such as judge or person."""

    name: str
    figure: Estimate
    kind: str = ""
    panel: str = ""
    """Which of several small charts has it."""


def frame(rows: Sequence[Point]) -> pd.DataFrame:
    """The defined figures as columns name, kind, panel, value, low, high, n."""
    cells = [
        (r.name, r.kind, r.panel, r.figure.value, r.figure.low, r.figure.high, r.figure.n)
        for r in rows
        if r.figure.defined
    ]
    data = pd.DataFrame(cells, columns=["name", "kind", "panel", "value", "low", "high", "n"])
    return data.astype(dict.fromkeys(("value", "low", "high"), float))


def sizes(numbers: Iterable[object]) -> str:
    """On how many items figures rest: “n = 12”, “n = 8 to 12”; “” where they do not say."""
    n = sorted({number for number in numbers if isinstance(number, int)})
    return "" if not n else f"n = {n[0]:,}" if len(n) == 1 else f"n = {n[0]:,} to {n[-1]:,}"


def intervals(
    rows: Sequence[Point],
    axis: str | list[str],
    *,
    colours: alt.Scale | None = None,
    domain: tuple[float, float] | None = None,
    percent: bool = False,
    key: bool = True,
    pixels: int = ROW,
    limit: int = WIDE,
    around: Sequence[Chart] = (),
    panels: Sequence[str] = (),
) -> Chart:
    """The figures that are defined, the first on top; those of one name stand below one another in its row.

    `colours` are those of the kinds, which a legend names (`key`). A dashed line marks 0 where figures lie
    on both sides of it. `around` are further layers; each of the `panels` has a small chart of its own.
    """
    data = frame(rows)
    kinds, names = list(dict.fromkeys(data.kind)), list(dict.fromkeys(data.name))
    ends = data[["value", "low", "high"]].to_numpy().ravel()
    if domain is None and len(set(ends[~pd.isna(ends)])) == 1:  # an axis needs a length
        domain = min(ends) - 0.5, max(ends) + 0.5
    scale = alt.Scale(domain=list(domain), nice=False) if domain else alt.Scale(zero=False)
    # More than five ticks have labels that overlap, of which every second is left out, 0 too.
    ticks = alt.Axis(tickCount=5, format="%" if percent else alt.Undefined)
    shades = colours or alt.Scale(domain=kinds)
    shown = legend(2 if max(map(len, kinds), default=0) < LONG else 1) if key and len(kinds) > 1 else None
    place: dict[str, Any] = {
        "y": alt.Y("name:N", sort=names, title=None, axis=name_axis(limit)),
        "color": alt.Color("kind:N", scale=shades, legend=shown),
    }
    several = data.duplicated(["name", "panel"]).any()
    if several:
        place["yOffset"] = alt.YOffset("kind:N", sort=kinds)
        pixels = max(pixels, BETWEEN * len(kinds))
    base = alt.Chart(data).encode(**place)
    low, value = (alt.X(f"{field}:Q", title=axis, scale=scale, axis=ticks) for field in ("low", "value"))
    rounding = ".1%" if percent else ".3f"
    said = tips(
        ("name:N", "of"),
        *([("kind:N", "by")] if len(kinds) > 1 else []),
        *((*f[:2], rounding) if f[2:] else f for f in (VALUE, *ENDS)),
    )
    layers: list[Chart] = [
        base.mark_rule(strokeWidth=2).encode(x=low, x2=alt.X2("high:Q")),
        base.mark_point(filled=True, size=70 if several else 90, opacity=1).encode(x=value, tooltip=said),
    ]
    if not panels and data[["value", "low"]].min().min() < 0 < data[["value", "high"]].max().max():
        layers.insert(0, line_at(0.0))
    if panels:
        return side_by_side(alt.layer(*layers).properties(height=pixels * len(names)), panels)
    return in_rows(alt.layer(*layers, *around), pixels, len(names))


def forest(
    rows: Sequence[tuple[str, Estimate]],
    title: str,
    axis: str,
    *,
    domain: tuple[float, float] | None = None,
    most: int = 60,
) -> None:
    """Draw a heading and the figures below it; rows that are undefined are named with their reason.

    `axis` says what is measured, in which unit. The number of items stands in the heading where it is the
    same for all rows, else behind each name. Of more than `most` rows the first are drawn.
    """
    every = [Point(*row) for row in rows[:most]]
    counts = {row.figure.n for row in every if row.figure.defined}
    same = len(counts) == 1 and counts != {None}
    st.markdown(f"##### {plain(f'{title} ({sizes(counts)})' if same else title)}")
    if counts:
        named = (
            every
            if len(counts) == 1
            else [row._replace(name=f"{row.name} (n = {row.figure.n})") for row in every]
        )
        show(intervals(named, axis, domain=domain), title)
    if len(rows) > most:
        st.caption(f"The first {most} of {len(rows)}; the table has all.")
    for reason in dict.fromkeys(figure.reason for _, figure in rows if figure.reason):
        names = [name for name, figure in rows if figure.reason == reason]
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        st.caption(plain(f"{', '.join(names[:NAMED])}{more}: {reason}"))
