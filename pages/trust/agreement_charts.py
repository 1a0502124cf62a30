"""The charts of the agreement page; a rater's name is data, never the name of a field."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from concord.estimate import Estimate
from concord.messages import VERDICTS
from concord.questions import Scale
from concord.statistics.glance import agreement_column
from concord.table import Cell, Table
from pages.parts.charts import (
    COLOURS,
    GREEN,
    GREY,
    ORANGE,
    ROW,
    Chart,
    Point,
    frame,
    in_rows,
    intervals,
    legend,
    line_at,
    name_axis,
    name_colours,
    sizes,
    tips,
)

HUMAN = "another annotator"
TALL_ROW = 32
TILE = 12
"""Pixels of a pair of annotators, at least."""


def glance(tables: Mapping[str, Table], *, limit: int = 260) -> Iterator[tuple[str, Chart]]:
    """Judges and panels and another annotator with their intervals, on the same other people and items,
    after a sentence that says so; nothing where no figure is defined.

    The annotator is that of the panel of all, else of the last row. Names have at most `limit` pixels.
    """
    table = tables["glance"]
    what = agreement_column(table)
    figures = table.defined(what)
    if not figures:
        return
    defined = [row for row, _ in figures]
    person = defined[-1].get("person")
    compared = what == "judge" and isinstance(person, Estimate) and person.defined
    rows = [Point(_with_verdict(row), figure, str(row["name"])) for row, figure in figures]
    if compared:
        rows.append(Point(HUMAN, person, HUMAN))  # type: ignore[arg-type]
    lows = [end for row in rows for end in (row.figure.value, row.figure.low) if end is not None]
    domain = min(0.0, *lows), 1.0
    on = sizes(row["n"] for row in defined)
    symbol, of = next(column.title for column in table.columns if column.name == what).split(" ", 1)
    title = [f"{symbol} {of}", f"({on} items)"]
    colours = name_colours([row.kind for row in rows if row.kind != HUMAN])
    shades = alt.Scale(domain=[*colours.domain, HUMAN], range=[*colours.range, GREY])
    around: list[Chart] = []
    text = f"Agreement of each judge and panel ({symbol} {of}), with 95% intervals."
    if compared:
        data = frame(rows)
        human = alt.Chart(data.tail(1))
        band = human.mark_rect(opacity=0.18, color=GREY).encode(x="low:Q", x2=alt.X2("high:Q"))
        around = [band, line_at(float(data.value.iloc[-1]))]
        text = (
            f"{symbol} with the same other annotators, with 95% intervals; grey: another annotator. Each "
            "verdict compares the judge with a held-out annotator on the same items, so it can be clear even "
            "where the bars overlap."
        )
    how: dict[str, Any] = {"colours": shades, "domain": domain, "key": False, "pixels": TALL_ROW}
    yield text, intervals(rows, title, limit=limit, around=around, **how)


def _with_verdict(row: Mapping[str, Cell]) -> str:
    """The name of a judge or panel, its verdict in the line below."""
    return "\n".join(filter(None, [str(row["name"]), VERDICTS.get(str(row.get("verdict")), "")]))


def distribution(table: Table, scale: Scale | None) -> Chart:
    """How often each rater gives which answer, a bar each, from low answers to high ones; in words where they
    are answers of one `scale`. Categories without an order have colours without one.
    """
    data = pd.DataFrame(table.rows)
    data["answer"] = [scale.word(score, level=True) if scale else f"{score:g}" for score in data.score]
    answers = list(dict.fromkeys(data.sort_values("score").answer))
    shades = alt.Scale(domain=answers, range=_shades(len(answers)))
    if scale is not None and not scale.ordered:
        shades = name_colours(answers)
    share = alt.X(
        "share:Q", title="share of answers", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])
    )
    bars = (
        alt.Chart(data)
        .mark_bar()
        .encode(
            y=alt.Y("rater:N", sort=list(dict.fromkeys(data.rater)), title=None, axis=name_axis()),
            x=share,
            color=alt.Color("answer:N", sort=answers, scale=shades, legend=legend(answers)),
            order=alt.Order("score:Q"),
            tooltip=tips(
                ("rater:N", "who"), ("answer:N", "answer"), ("share:Q", "share", ".1%"), ("n:Q", "answers")
            ),
        )
    )
    return in_rows(bars, ROW, data.rater.nunique())


def scatter(dots: pd.DataFrame, ends: tuple[float, float] | None) -> Chart:
    """A judge's scores by annotators' means; dots have columns mean, score, items.

    `ends` are those of the scale, where both answer on it: the axes have them, and the diagonal says where
    both agree. Without them each axis has the ends of its own values. No dot is cut at an edge.
    """
    x, y = (_axis_scale(dots[name], ends) for name in ("mean", "score"))
    largest = int(dots["items"].max())
    marks = alt.Chart(dots).encode(
        x=alt.X("mean:Q", title="Annotators' mean", scale=x),
        y=alt.Y("score:Q", title="Judge", scale=y),
        tooltip=[
            alt.Tooltip("mean:Q", title="annotators' mean", format=".2f"),
            alt.Tooltip("score:Q", title="judge", format=".2f"),
            alt.Tooltip("items:Q", title="items", format="d"),
        ],
    )
    if largest > 1:
        steps = sorted({1, max(2, round(largest / 2)), largest})
        legend = alt.Legend(title="items", format="d", values=steps, orient="bottom")
        size = alt.Size("items:Q", scale=alt.Scale(domain=[1, largest], range=[40, 400]), legend=legend)
        points = marks.mark_circle(color=GREEN, opacity=0.6).encode(size=size)
    else:
        points = marks.mark_circle(color=GREEN, opacity=0.6, size=70)
    if ends is None:
        return points
    corners = pd.DataFrame({"mean": list(ends), "score": list(ends)})
    diagonal = alt.Chart(corners).mark_line(color=GREY, strokeDash=[4, 4]).encode(x="mean:Q", y="score:Q")
    return alt.layer(diagonal, points)


def _axis_scale(values: pd.Series, ends: tuple[float, float] | None) -> alt.Scale:
    """The scale of an axis, a little wider than its ends, so that dots there are whole."""
    low, high = ends or (float(values.min()), float(values.max()))
    room = (high - low or 1.0) * 0.05
    return alt.Scale(domain=[low - room, high + room], zero=False, nice=False)


def people_pairs(pairs: Sequence[tuple[str, str, Estimate]], names: Sequence[str]) -> Chart:
    """Spearman's ρ of each pair of annotators as a square of tiles; pairs without a value have none."""
    cells = [(first, second, figure.value, figure.n) for first, second, figure in pairs if figure.defined]
    data = pd.DataFrame(cells, columns=["one", "other", "rho", "n"])
    shade = alt.Scale(domain=[-1, 0, 1], range=[ORANGE, "#e8e8e8", COLOURS[0]])
    axis = name_axis(120)
    tiles = (
        alt.Chart(data)
        .mark_rect()
        .encode(
            x=alt.X("one:N", sort=list(names), title=None, axis=alt.Axis(labelLimit=120, labelAngle=-90)),
            y=alt.Y("other:N", sort=list(names), title=None, axis=axis),
            color=alt.Color("rho:Q", scale=shade, legend=alt.Legend(orient="top", title="Spearman's ρ")),
            tooltip=tips(
                ("one:N", "annotator"), ("other:N", "annotator"), ("rho:Q", "ρ", ".3f"), ("n:Q", "items")
            ),
        )
    )
    return in_rows(tiles, max(TILE, min(ROW, 480 // max(len(names), 1))), len(names))


def _shades(steps: int) -> list[str]:
    """Blue to orange by way of a grey that shows on white and on black."""
    channels = zip((43, 92, 155), (168, 168, 168), (217, 114, 30), strict=True)
    at = np.linspace(0, 2, steps) if steps > 1 else np.zeros(1)
    mixed = [np.interp(at, [0, 1, 2], channel).round().astype(int) for channel in channels]
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in zip(*mixed, strict=True)]
