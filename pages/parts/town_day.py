"""One resident's day as a timeline: what was planned in the morning, the plan as it stood at last, and what happened."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any, get_args

import altair as alt
import pandas as pd
import streamlit as st

from core.benchmarks.stss import views
from core.benchmarks.stss.clock import DAY
from core.benchmarks.stss.town import hour_of
from core.benchmarks.stss.views import Kind, Simulation, Stretch
from pages.parts.plain import plain

Chart = Any
"""A chart of Altair, whose types say little."""
COLORS: dict[Kind, str] = {
    "the task": "#d9721e",
    "conversation": "#9a6fc0",
    "on the way": "#b58b00",
    "asleep": "#85898c",
    "anything else": "#5f86b8",
}
"""Readable on white and on black, with white words on them."""
MORNING, LAST, LIVED = "morning’s plan", "last plan", "happened"
ROW = 46


def day(of: Simulation, name: str, when: date) -> None:
    """Draw it."""
    plans = views.plans(of, name, when)
    rows = [(MORNING, plans[0].stretches)] if plans else []
    if len(plans) > 1:
        rows.append((LAST, plans[-1].stretches))
    lived = views.happened(of, name, when)
    if not lived:
        st.caption(f"Nothing is recorded of {plain(name)} on this day.")
        return
    st.altair_chart(timeline([*rows, (LIVED, lived)]), alt=f"The day of {name}: plan and what happened")
    kept = views.kept(of, name, when)
    if kept is None:
        st.caption("The trajectory holds no plans, only what happened.")
        return
    told = [f"{_hours(kept.as_planned)} of {_hours(kept.planned)} planned in the morning went as planned"]
    told += [
        f"{_hours(minutes)} {what}"
        for minutes, what in (
            (kept.on_the_way, "were spent on the way"),
            (kept.talking, "talking"),
            (kept.changed, "otherwise after the plan was changed"),
            (kept.otherwise, "otherwise"),
        )
        if minutes
    ]
    changes = ", ".join(f"{plan.time:%H:%M}" for plan in plans[1:])
    st.caption(f"{'; '.join(told)}." + (f" The plan was changed at {changes}." if changes else ""))
    with st.expander("The morning’s plan part by part", icon=":material/checklist:"):
        _parts(of, name, when)


def timeline(rows: Sequence[tuple[str, Sequence[Stretch]]]) -> Chart:
    """A bar for each stretch, a row for each plan; words where they have room."""
    table = pd.DataFrame(
        [
            (row, s.start / 60, s.end / 60, f"{hour_of(s.start)} – {hour_of(s.end)}", s.action, s.place, s.kind)
            for row, stretches in rows
            for s in stretches
        ],
        columns=["row", "start", "end", "time", "what", "place", "kind"],
    )  # fmt: skip
    kinds = get_args(Kind)
    y = alt.Y("row:N", sort=[row for row, _ in rows], title=None, axis=alt.Axis(labelLimit=170, ticks=False))
    hours = alt.Axis(values=list(range(0, 25, 3)), labelExpr="datum.value + ':00'", grid=True)
    x = alt.X(
        "start:Q", title=None, axis=hours, scale=alt.Scale(domain=[0, DAY / 60], nice=False, zero=False)
    )
    legend = alt.Legend(orient="top", title=None, labelLimit=200, columns=3, symbolStrokeWidth=0)
    color = alt.Color(
        "kind:N", scale=alt.Scale(domain=list(kinds), range=[COLORS[k] for k in kinds]), legend=legend
    )
    base = alt.Chart(table)
    bars = base.mark_bar(stroke="white", strokeWidth=0.6, height=alt.RelativeBandSize(0.8)).encode(
        x=x, x2="end:Q", y=y, color=color,
        tooltip=[alt.Tooltip("time:N", title="when"), alt.Tooltip("what:N"), alt.Tooltip("place:N", title="where"), alt.Tooltip("kind:N", title="as")],
    )  # fmt: skip
    room = alt.ExprRef(f"max(1, width * (datum.end - datum.start) / {DAY // 60} - 8)")
    words = (
        base.transform_filter("datum.end - datum.start >= 0.75")
        .mark_text(align="left", dx=4, fontSize=11, color="white", limit=room)
        .encode(x=x, y=y, text="what:N")
    )
    return (bars + words).properties(height=alt.Step(ROW))


def _parts(of: Simulation, name: str, when: date) -> None:
    table = [
        {
            "from": hour_of(part.planned.start),
            "to": hour_of(part.planned.end),
            "planned": part.planned.action,
            "where": part.planned.place,
            "as planned": part.done / (part.planned.end - part.planned.start),
            "instead": ", ".join(f"{what} ({minutes} min)" for what, minutes in part.instead.items()),
        }
        for part in views.compared(of, name, when)
    ]
    st.dataframe(
        table,
        hide_index=True,
        height="content",
        placeholder="",
        alt="The morning's plan and what became of it",
        column_config={
            "as planned": st.column_config.ProgressColumn(format="percent", min_value=0, max_value=1),
            "instead": st.column_config.TextColumn(width="large"),
        },
    )


def _hours(minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    return (
        " ".join(part for part in (f"{hours} h" if hours else "", f"{rest} min" if rest else "") if part)
        or "0 min"
    )
