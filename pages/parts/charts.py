"""Charts: Estimates as points with their intervals on one named axis, and what all charts share."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import altair as alt
import pandas as pd
import streamlit as st

from concord.estimate import Estimate
from pages.parts.plain import plain
from pages.parts.session import on_telephone

GREEN = "#3a927e"
ORANGE = "#d2701f"
GREY = "#8a8f98"
"""Readable on white and on black."""
WIDE = 260
"""Pixels of a name beside a chart."""
VALUE = ("value:Q", "value", ".3f")
ENDS = (("low:Q", "from", ".3f"), ("high:Q", "to", ".3f"), ("n:Q", "items"))
"""What a mark with an interval says of itself, as `tips` takes it."""
Chart = Any
"""A chart of Altair, whose types say little."""

COLOURS = ("#2f7fc2", "#d2701f", "#3a927e", "#b0862a", "#c2566e", "#5f7fd6", "#7d8a2e", "#a262b8")
"""Of judges, panels and categories: 3:1 or more against the page in both themes, as marks need."""


def name_colours(names: Sequence[str]) -> alt.Scale:
    """The colours of judges, panels or categories in a chart, by their places."""
    return alt.Scale(domain=list(names), range=[COLOURS[n % len(COLOURS)] for n, _ in enumerate(names)])


CHECKED = False
"""Whether Altair checks a chart against the schema of Vega-Lite before it is drawn: in the tests only. The
check takes a quarter of the server's time for a page of charts.
"""


SPARSE = {"labelFlush": False, "labelSeparation": 6}
"""Settings of every axis: the last label stands at its tick, and labels that nearly touch are thinned out."""


class _Described(NamedTuple):
    """A chart as `st.altair_chart` uses it, which asks for its description only."""

    chart: Any

    def to_dict(self) -> dict[str, Any]:
        """The description in Vega-Lite."""
        described: dict[str, Any] = self.chart.to_dict(validate=CHECKED)
        axis = described.setdefault("config", {}).setdefault("axis", {})
        for name, value in SPARSE.items():
            axis.setdefault(name, value)
        return described


def show(chart: Any, description: str, **look: Any) -> Any:
    """Draw a chart of Altair; `description` is for screen readers, `look` as of `st.altair_chart`."""
    described: Any = _Described(chart)
    return st.altair_chart(described, alt=description, **look)


def in_rows(chart: Chart, pixels: int, rows: int) -> Chart:
    """A chart as wide as its place, with so many pixels a row."""
    fitting = alt.AutoSizeParams(type="fit-x", contains="padding")
    return chart.properties(height=pixels * max(rows, 1), autosize=fitting)


def name_axis(limit: int = WIDE, **look: Any) -> alt.Axis:
    """An axis of names: every one of them, at its row, of at most so many pixels.

    A name has as many lines as it is written in.
    """
    look = {"labelLimit": limit, "labelOverlap": False, "labelFlush": False, "ticks": False, **look}
    return alt.Axis(labelExpr="split(datum.label, '\\n')", **look)


def legend(names: Sequence[str], **look: Any) -> alt.Legend:
    """A legend above a chart, with as many names in a line as there is room for."""
    longest = min(max(map(len, names), default=0), WIDE // LETTER) + SWATCH
    columns = max(1, min(len(names), (NARROW if on_telephone() else BROAD) // longest))
    return alt.Legend(orient="top", title=None, labelLimit=WIDE, columns=columns, **look)


def tips(*fields: tuple[str, ...]) -> list[alt.Tooltip]:
    """What a mark says when it is pointed at: field with type, title, and a format where it has one."""
    return [
        alt.Tooltip(field, title=title, format=rounding[0] if rounding else alt.Undefined)
        for field, title, *rounding in fields
    ]


def line_at(value: float) -> Chart:
    """A dashed line across the rows, such as at no difference."""
    rule = alt.Chart(pd.DataFrame({"value": [value]})).mark_rule(color=GREY, strokeDash=[4, 4])
    return rule.encode(x=alt.X("value:Q"))


def text_colour() -> str:
    """The colour of words within a chart, of 4.5:1 or more against the page in the reader's theme."""
    return "#c9cdd1" if st.context.theme.type == "dark" else "#4a5157"


NARROW = 42
BROAD = 120
"""Letters of a legend that stand in one line on a telephone, and in a window."""
LETTER = 7
SWATCH = 5
"""Pixels of a letter; letters that the square before a name takes."""
ROW = 26
BETWEEN = 13
"""Pixels that a row takes, and one of several points in it."""
MOST_FIGURES = 60
"""Figures in one picture."""
MOST_NAMED = 6
"""Rows without a figure or an interval that are named one by one."""


class Point(NamedTuple):
    """A figure of a picture: its name, and a word for its colour, such as judge or person."""

    name: str
    figure: Estimate
    kind: str = ""


def frame(rows: Sequence[Point]) -> pd.DataFrame:
    """The defined figures as columns name, kind, value, low, high, n."""
    defined = [(r, r.figure) for r in rows if r.figure.defined]
    cells = [(r.name, r.kind, figure.value, figure.low, figure.high, figure.n) for r, figure in defined]
    data = pd.DataFrame(cells, columns=["name", "kind", "value", "low", "high", "n"])
    return data.astype(dict.fromkeys(("value", "low", "high"), float))


def sizes(numbers: Iterable[object]) -> str:
    """On how many items figures rest: “n = 12”, “n = 8 to 12”; “” where they do not say."""
    n = sorted({number for number in numbers if isinstance(number, int)})
    if not n:
        return ""
    return f"n = {n[0]:,}" if len(n) == 1 else f"n = {n[0]:,} to {n[-1]:,}"


def intervals(
    rows: Sequence[Point],
    axis: str | list[str],
    *,
    colours: alt.Scale | None = None,
    domain: tuple[float, float] | None = None,
    key: bool = True,
    pixels: int = ROW,
    limit: int = WIDE,
    around: Sequence[Chart] = (),
) -> Chart:
    """The figures that are defined, the first on top; those of one name stand below one another in its row.

    `colours` are those of the kinds, which a legend names (`key`). A dashed line marks 0 where figures lie on
    both sides of it. `around` are further layers.
    """
    data = frame(rows)
    kinds = list(dict.fromkeys(data.kind))
    names = list(dict.fromkeys(data.name))
    ends = data[["value", "low", "high"]].to_numpy().ravel()
    if domain is None and len(set(ends[~pd.isna(ends)])) == 1:  # an axis needs a length
        domain = min(ends) - 0.5, max(ends) + 0.5
    scale = alt.Scale(domain=list(domain), nice=False, clamp=True) if domain else alt.Scale(zero=False)
    # More than five ticks have labels that overlap, of which every second is excluded, 0 too.
    ticks = alt.Axis(tickCount=5)
    shades = colours or alt.Scale(domain=kinds)
    kind_legend = legend(kinds) if key and len(kinds) > 1 else None
    place: dict[str, Any] = {
        "y": alt.Y("name:N", sort=names, title=None, axis=name_axis(limit)),
        "color": alt.Color("kind:N", scale=shades, legend=kind_legend),
    }
    several = data.duplicated("name").any()
    if several:
        place["yOffset"] = alt.YOffset("kind:N", sort=kinds)
        pixels = max(pixels, BETWEEN * len(kinds))
    base = alt.Chart(data).encode(**place)
    low, value = (alt.X(f"{field}:Q", title=axis, scale=scale, axis=ticks) for field in ("low", "value"))
    tooltip = tips(("name:N", "of"), *([("kind:N", "by")] if len(kinds) > 1 else []), VALUE, *ENDS)
    layers: list[Chart] = [
        base.mark_rule(strokeWidth=2).encode(x=low, x2=alt.X2("high:Q")),
        base.mark_point(filled=True, size=70 if several else 90, opacity=1).encode(x=value, tooltip=tooltip),
    ]
    if data[["value", "low"]].min().min() < 0 < data[["value", "high"]].max().max():
        layers.insert(0, line_at(0.0))
    return in_rows(alt.layer(*layers, *around), pixels, len(names))


def forest(
    rows: Sequence[tuple[str, Estimate]],
    title: str,
    axis: str,
) -> None:
    """Draw a heading and the figures below it; rows that are undefined are named with their reason.

    `axis` says what is measured, in which unit. The number of items stands in the heading where it is the
    same for all rows, else behind each name. Of more than `MOST_FIGURES` rows the first are drawn.
    """
    points = [Point(*row) for row in rows[:MOST_FIGURES]]
    counts = {row.figure.n for row in points if row.figure.defined}
    is_constant = len(counts) == 1 and counts != {None}
    st.markdown(f"##### {plain(f'{title} ({sizes(counts)})' if is_constant else title)}")
    if counts:
        labelled = (
            points
            if len(counts) == 1
            else [row._replace(name=f"{row.name} (n = {row.figure.n})") for row in points]
        )
        show(intervals(labelled, axis), title)
    if len(rows) > MOST_FIGURES:
        st.caption(f"The first {MOST_FIGURES} of {len(rows)}; the table has all.")
    undefined_rows(rows)


def undefined_rows(rows: Sequence[tuple[str, Estimate]]) -> None:
    """Name the rows of a picture that are not drawn, with the reason."""
    for reason in dict.fromkeys(figure.reason for _, figure in rows if figure.reason):
        names = [name for name, figure in rows if figure.reason == reason]
        remainder = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        st.caption(plain(f"{', '.join(names[:MOST_NAMED])}{remainder}: {reason}"))
