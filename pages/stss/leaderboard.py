"""STSS on the leaderboard page: the action table, the language table, and a chart of the gap."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from concord.benchmarks.stss import STSS, STSS_LANGUAGE, texts
from concord.benchmarks.stss import tables as boards
from concord.errors import ConcordError
from concord.runs.benchmark import Benchmark
from concord.store import conversations
from concord.store import tables as stored
from concord.table import Cell, Table
from pages.parts import table
from pages.parts.address import go
from pages.parts.charts import show
from pages.parts.plain import plain
from pages.parts.session import workspace
from pages.parts.transcript import transcript
from pages.results import filters

Chart = Any
"""A chart of Altair, whose types say little."""
ROW, AROUND = 46, 130
"""Pixels of the chart for each agent, and for axis and legend."""
SAID, DONE = "said: SR on conversations", "done: action score"


@st.cache_resource(max_entries=8, show_spinner="Scoring what happened …")
def _tables(folder: str, stamp: object, where: filters.Chosen, judges: tuple[str, ...]) -> dict[str, Table]:
    """The tables by name; measured anew when the store has grown."""
    with workspace().read() as db:
        return {made.name: made for made in boards.leaderboard(db, where=dict(where), judges=judges)}


def draw(benchmark: Benchmark) -> None:
    """Draw it. Raises ConcordError where nothing was simulated or talked."""
    with workspace().read() as db:
        stamp = stored.stamp(db)
        judges = list(stored.judges(db, STSS_LANGUAGE.name))
        values = conversations.values(db, STSS.name)
    values = {name: known for name, known in values.items() if name not in boards.AGENT}
    panel = filters.panel(judges) if judges else ()
    where = filters.where(benchmark, values)
    found = _tables(str(workspace().path), stamp, where, panel)
    if "action" in found:
        st.caption("Select an agent to see a simulation of it in the town.")
        row = table.draw(found["action"], selectable=True)
        if row is not None:
            go("town", architecture=str(row["architecture"]), player=str(row["player"]))
    else:
        st.caption("Nothing has been simulated yet.")
    if "language" in found:
        table.draw(found["language"])
    else:
        st.caption(
            "No conversation of the language level is stored. Freeze scenes of the simulations with "
            "`concord stss freeze`, then `concord run stss-language`."
        )
    if "gap" in found:
        show(_words_and_deeds(found["gap"]), "Words and deeds of each agent")
        table.draw(found["gap"])
    with st.expander("What performers say under each architecture", key="texts expander"):
        _side_by_side(stamp, where)


@st.cache_resource(max_entries=8, show_spinner=False)
def _texts(folder: str, stamp: object, where: filters.Chosen) -> Table | None:
    """The texts of each architecture; None where no scene has several."""
    with workspace().read() as db:
        try:
            return texts.texts(db, dict(where))
        except ConcordError:
            return None


def _side_by_side(stamp: object, where: filters.Chosen) -> None:
    """What performers say under each architecture; a chosen row shows the conversations whole."""
    found = _texts(str(workspace().path), stamp, where)
    if found is None:
        st.caption("No scene was talked through under two architectures.")
        return
    row = table.draw(found, selectable=True)
    if row is None:
        st.caption("Select a row to read its conversations side by side.")
        return
    architectures = [column.name for column in found.shown[3:] if column.name in row]
    with workspace().read() as db:
        talks = [conversations.load(db, int(str(row[f"{name} conversation"]))) for name in architectures]
    for place, name, talk in zip(st.columns(len(talks)), architectures, talks, strict=True):
        with place:
            st.markdown(f"**{plain(name)}**")
            transcript(talk, speakers=(str(row["partner"]), str(talk.context["Performer"])))


def _words_and_deeds(gaps: Table) -> Chart:
    """For each agent a line from its action score to its success rate on conversations."""
    agents = [_name(row) for row in gaps.rows]
    said, done = ([figure.value for figure in gaps.estimates(name)] for name in ("said", "done"))
    pairs = pd.DataFrame({"agent": agents, "said": said, "done": done})
    points = pd.concat([pairs.assign(of=SAID, value=pairs.said), pairs.assign(of=DONE, value=pairs.done)])
    y = alt.Y(
        "agent:N",
        sort=None,
        title=None,
        scale=alt.Scale(type="point", padding=0.5),
        # In two lines a name leaves room for the figures on a phone, too.
        axis=alt.Axis(
            labelExpr="split(datum.label, ' · ')", labelLimit=150, labelPadding=8, ticks=False, grid=True
        ),
    )
    x = alt.X(
        "value:Q",
        title="Score, 0 to 1",
        scale=alt.Scale(domain=[0, 1], nice=False),
        axis=alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".2~f"),
    )
    legend = alt.Legend(orient="top", title=None, labelLimit=300, columns=1)
    base = alt.Chart(points)
    lines = base.mark_rule(strokeWidth=3, opacity=0.5, color="#85898c").encode(
        y=y, x=alt.X("said:Q"), x2=alt.X2("done:Q")
    )
    ends = base.mark_point(filled=True, opacity=1).encode(
        x=x,
        y=y,
        color=alt.Color(
            "of:N", scale=alt.Scale(domain=[SAID, DONE], range=["#9a6fc0", "#d9721e"]), legend=legend
        ),
        # Of two equal figures the upper point is the smaller one.
        size=alt.Size("of:N", scale=alt.Scale(domain=[SAID, DONE], range=[200, 90]), legend=None),
        tooltip=[
            alt.Tooltip("agent:N"),
            alt.Tooltip("of:N", title="what"),
            alt.Tooltip("value:Q", format=".3f"),
        ],
    )
    # Without padding, points at 0 and 1 would be cut.
    return (lines + ends).properties(
        height=AROUND + ROW * len(agents), padding={"left": 4, "right": 14, "top": 4, "bottom": 4}
    )


def _name(row: Mapping[str, Cell]) -> str:
    """An agent in two parts, which the axis of the chart puts on two lines."""
    memories = f", memories by {row['embeddings']}" if row["embeddings"] else ""
    return f"{row['player']} · {row['architecture']}{memories}"
