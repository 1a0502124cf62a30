"""STSS on the leaderboard page: agents by what they bring about and by what they say, and the gap between the two.

After Wang et al., tables 3 and 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from core.benchmarks.stss import STSS_LANGUAGE
from core.benchmarks.stss import standings as written
from core.benchmarks.stss import tables as boards
from core.benchmarks.stss.tables import Agent, Gap, Tables
from core.benchmarks.stss.tasks import TITLES
from core.reports.leaderboards import Figure
from core.store import tables as stored
from pages.parts.links import go
from pages.parts.plain import plain
from pages.parts.session import workspace

Chart = Any
"""A chart of Altair, whose types say little."""
ROW, AROUND = 46, 130
"""Pixels an agent takes in the chart, and what stands around the agents."""
SAID, DONE = "said: SR on conversations", "done: action score"


@st.cache_resource(max_entries=8, show_spinner="Scoring what happened …")
def _board(folder: str, stamp: object, judges: tuple[str, ...]) -> Tables:
    """The tables; measured anew when the store has grown."""
    with workspace().read() as db:
        return boards.leaderboard(db, judges=judges)


def draw() -> None:
    """Draw it. Raises ConcordError where nothing was simulated or talked."""
    with workspace().read() as db:
        stamp = stored.stamp(db)
        judges = [name for name, _ in stored.judges(db, STSS_LANGUAGE.name).values()]
    panel = []
    if judges:
        panel = st.multiselect(
            "Judges of what was said", judges, key="judges", bind="query-params", placeholder="every judge"
        )
    found = _board(str(workspace().path), stamp, tuple(panel))
    st.subheader("Action level: what was brought about", anchor=False)
    if found.action:
        _action(found)
    else:
        st.caption("Nothing has been simulated yet.")
    st.subheader("Language level: what was said", anchor=False)
    if found.language:
        _language(found)
    else:
        st.caption(
            "No conversation of the language level is stored. Freeze scenes out of the simulations with `concord stss freeze`, then `concord run stss-language`."
        )
    if found.gaps:
        st.subheader("The gap: words and deeds", anchor=False)
        st.altair_chart(_words_and_deeds(found.gaps), alt="Words and deeds of each agent")
        rows = [
            _row(
                g.agent,
                {"SR on conversations": g.said, "action score": g.done, "gap": g.gap},
                {"tasks": g.tasks},
            )
            for g in found.gaps
        ]
        st.dataframe(_frame(rows), height="content", alt="Words and deeds")
    st.caption("  \n".join(plain(note) for note in written.notes(found)))
    with st.container(horizontal=True):
        for label, write, end in (("CSV", written.as_csv, "csv"), ("LaTeX", written.as_latex, "tex")):
            st.download_button(
                label, write(found), f"leaderboard-stss.{end}", icon=":material/download:", on_click="ignore"
            )


def _action(found: Tables) -> None:
    rows = [
        _row(
            row.agent,
            {
                **{kind.capitalize(): figure for kind, figure in row.kinds.items()},
                "Overall": row.overall,
                "Conv. ratio": row.conversation_ratio,
            },
            {"n": row.n},
        )
        for row in found.action
    ]
    chosen = st.dataframe(
        _frame(rows), height="content", key="agents", on_select="rerun", selection_mode="single-row", alt="What was brought about",
        column_config={
            **{kind.capitalize(): st.column_config.Column(help=title) for kind, title in TITLES.items()},
            "Conv. ratio": st.column_config.Column(help="Conversation ratio: people talked to about it before the event ÷ people wanted"),
            "n": st.column_config.Column(help="Simulations"),
        },
    )  # fmt: skip
    told = "Select an agent to see a simulation of it in the town."
    if any(figure.ci is None for row in found.action for figure in row.kinds.values()):
        told += " A figure without ± rests on a single task."
    st.caption(told)
    selected = chosen["selection"]["rows"]
    if selected and selected[0] < len(found.action):
        agent = found.action[selected[0]].agent
        go("town", architecture=agent.architecture, player=agent.player)


def _language(found: Tables) -> None:
    """Columns under their headings, as the paper has them."""
    rows = [
        {
            **_row(row.agent, {}, {}),
            **{(f"On the {of}", f"{metric} {mean}"): _cell(row.figures[of, metric, mean]) for of, metric, mean in boards.COLUMNS},
            **{("Marks, 0–10", name): _cell(figure) for name, figure in row.marks.items()},
            **{("Counts", "conversations"): row.n, ("Counts", "tasks"): row.tasks},
        }
        for row in found.language
    ]  # fmt: skip
    frame = _frame(rows)
    frame.columns = pd.MultiIndex.from_tuples([tuple(column) for column in frame.columns])
    st.dataframe(frame, height="content", alt="What was said")


def _words_and_deeds(gaps: Sequence[Gap]) -> Chart:
    """For each agent a line from its action score to its success rate on conversations."""
    table = pd.DataFrame(
        [
            (f"{g.agent.player} · {g.agent.called}", figure.value, of, g.said.value, g.done.value)
            for g in gaps
            for of, figure in ((SAID, g.said), (DONE, g.done))
        ],
        columns=["agent", "value", "of", "said", "done"],
    )
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
    base = alt.Chart(table)
    lines = base.mark_rule(strokeWidth=3, opacity=0.5, color="#85898c").encode(y=y, x="said:Q", x2="done:Q")
    points = base.mark_point(filled=True, opacity=1).encode(
        x=x, y=y, color=alt.Color("of:N", scale=alt.Scale(domain=[SAID, DONE], range=["#9a6fc0", "#d9721e"]), legend=legend),
        # Of two equal figures the upper point is the smaller one.
        size=alt.Size("of:N", scale=alt.Scale(domain=[SAID, DONE], range=[200, 90]), legend=None),
        tooltip=["agent:N", alt.Tooltip("of:N", title="what"), alt.Tooltip("value:Q", format=".3f")],
    )  # fmt: skip
    # The height is that of everything, legend and axis too; without padding points at 0 and 1 would be cut.
    return (lines + points).properties(
        height=AROUND + ROW * len(gaps), padding={"left": 4, "right": 14, "top": 4, "bottom": 4}
    )


def _frame(rows: Sequence[Mapping[Any, str | int]]) -> pd.DataFrame:
    """A row for each agent; the two columns that name it stay in sight."""
    return pd.DataFrame(rows).set_index(["model", "agent"])


def _row(agent: Agent, figures: Mapping[str, Figure], counts: Mapping[str, int]) -> dict[Any, str | int]:
    cells = {name: _cell(figure) for name, figure in figures.items()}
    return {"model": agent.player, "agent": agent.called, **cells, **counts}


def _cell(figure: Figure) -> str:
    if figure.value is None:
        return "–"
    half = figure.half_width
    return f"{figure.value:.3f}" + (f" ± {half:.3f}" if half is not None else "")
