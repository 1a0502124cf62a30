"""The picture of the section glance: each judge and panel beside a held-out annotator."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import altair as alt
import numpy as np
import pandas as pd

from concord.estimate import Estimate
from concord.statistics.glance import measured
from concord.table import Table
from pages.parts.charts import in_rows, judge_colours, name_axis, text_colour

ROW = 32
NARROW = 200
"""With names of at most so many pixels the picture is small, and its axis says less in a line."""
SAME = 0.001
"""Two annotators nearer than this are drawn as one."""

HUMAN = "a held-out annotator"
BAND = "#8a8f98"
"""Grey that shows on white and on black."""


def glance(tables: Mapping[str, Table], *, limit: int = 260) -> Iterator[tuple[str, Any]]:
    """Judges and panels and a held-out annotator with their intervals, on the same other people and items.

    The annotator is that of the panel of all, else of the last row; a row with another one has a tick.
    Names have at most `limit` pixels.
    """
    table = tables["glance"]
    what = measured(table)
    rows = [row for row in table.rows if _defined(row[what])]
    if not rows:
        return
    person = rows[-1].get("person")
    compared = what == "judge" and isinstance(person, Estimate) and person.defined
    found = [_row(str(row["name"]), row[what], row["n"], row.get("verdict", ""), row) for row in rows]
    if compared:
        found.append(_row(HUMAN, person, rows[-1]["n"], "the human ceiling", rows[-1]))
    data = pd.DataFrame(found).astype(dict.fromkeys(("value", "low", "high", "person"), float))
    least = float(np.nanmin(data[["value", "low", "person"]].to_numpy()))
    n = sorted({int(one["n"]) for one in found})
    sizes = f"n = {n[0]:,} items" if len(n) == 1 else f"n = {n[0]:,} to {n[-1]:,} items"
    of = "with the other people" if compared else "with the mean of people"
    axis = [f"Spearman's ρ {of}", f"({sizes})"] if limit > NARROW else ["Spearman's ρ", of, f"({sizes})"]
    scale = alt.Scale(domain=[min(0.0, least), 1.0], nice=False)
    ticks = alt.Axis(tickCount=6, labelFlush=False)

    def x(field: str) -> Any:
        return alt.X(f"{field}:Q", title=axis, scale=scale, axis=ticks)

    names = list(data.name)
    y = alt.Y("name:N", sort=names, title=None, axis=name_axis(limit))
    base = alt.Chart(data).encode(y=y)
    colours = judge_colours([name for name in names if name != HUMAN])
    shades = alt.Scale(domain=[*colours.domain, HUMAN], range=[*colours.range, BAND])
    color = alt.Color("name:N", scale=shades, legend=None)
    said = [
        alt.Tooltip("name:N", title="of"),
        alt.Tooltip("value:Q", format=".3f", title="ρ"),
        alt.Tooltip("low:Q", format=".3f", title="from"),
        alt.Tooltip("high:Q", format=".3f", title="to"),
        alt.Tooltip("n:Q", title="items"),
    ]
    layers = [
        base.mark_rule(strokeWidth=2).encode(x=x("low"), x2=alt.X2("high:Q"), color=color),
        base.mark_point(filled=True, size=90, opacity=1).encode(x=x("value"), color=color, tooltip=said),
    ]
    text = "Correlation of each judge and panel with people's mean, with 95% intervals."
    if compared:
        human = alt.Chart(data.tail(1))
        band = human.mark_rect(opacity=0.18, color=BAND).encode(x=x("low"), x2=alt.X2("high:Q"))
        ceiling = human.mark_rule(strokeDash=[4, 4], color=BAND).encode(x=x("value"))
        ticks_of = alt.Chart(data[(data.person - data.value.iloc[-1]).abs() > SAME])
        tick = ticks_of.mark_tick(thickness=3, size=18, color=BAND).encode(x=x("person"), y=y)
        middle = (float(scale.domain[0]) + 1) / 2
        sides: tuple[tuple[Any, Literal["left", "right"], int], ...] = (
            (alt.datum.value <= middle, "left", 8),
            (alt.datum.value > middle, "right", -8),
        )
        words = [
            base.transform_filter(half)
            .mark_text(align=side, baseline="bottom", dx=dx, dy=-3, fontSize=11, color=text_colour())
            .encode(x=x("value"), text=alt.Text("verdict:N"))
            for half, side, dx in sides
        ]
        layers = [band, ceiling, tick, *layers, *words]
        text = (
            "Dots: correlations with the same other people on the same items, with 95% intervals. Grey band: "
            "a held-out annotator. A judge's words are the verdict of its paired difference from that "
            "annotator, which is narrower than the intervals suggest; a grey bar marks the annotator on a "
            "judge's own items where these are others."
        )
    yield text, in_rows(alt.layer(*layers), ROW, len(names))


def _row(name: str, figure: Any, n: object, verdict: object, row: Mapping[str, Any]) -> dict[str, Any]:
    person = row.get("person")
    ends = {"value": figure.value, "low": figure.low, "high": figure.high}
    beside = person.value if isinstance(person, Estimate) else None
    return {"name": name, "n": n, "verdict": str(verdict or ""), "person": beside, **ends}


def _defined(cell: Any) -> bool:
    return isinstance(cell, Estimate) and cell.defined
