"""STSS on the leaderboard page: agents by what they bring about and by what they say, and the gap between the two.

After Wang et al., tables 3 and 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from core import leaderboards_stss as boards
from core.benchmarks.stss import STSS_LANGUAGE
from core.benchmarks.stss.tasks import TITLES
from core.exchange import standings_stss as written
from core.leaderboards import Figure
from core.leaderboards_stss import Agent, Tables
from core.store import ratings
from core.store import tables as stored
from pages.parts.links import go
from pages.parts.plain import plain
from pages.parts.session import workspace


@st.cache_resource(max_entries=8, show_spinner="Scoring what happened …")
def _board(folder: str, stamp: object, judges: tuple[str, ...]) -> Tables:
    """The tables; measured anew when the store has grown."""
    with workspace().read() as db:
        return boards.leaderboard(db, judges=judges)


def draw() -> None:
    """Draw it. Raises ConcordError where nothing was simulated or talked."""
    with workspace().read() as db:
        stamp = stored.stamp(db)
        judges = sorted({judge.name for judge in ratings.judges(db, STSS_LANGUAGE.name)})
    panel = []
    if judges:
        panel = st.multiselect(
            "Judges of what was said", judges, key="judges", bind="query-params", placeholder="every judge"
        )
    found = _board(str(workspace().path), stamp, tuple(panel))
    st.subheader("What was brought about", anchor=False)
    if found.action:
        _action(found)
    else:
        st.caption("Nothing has been simulated yet.")
    st.subheader("What was said", anchor=False)
    if found.language:
        _language(found)
    else:
        st.caption(
            "No conversation of the language level is stored. Freeze scenes out of the simulations with `concord freeze stss`, then `concord run stss-language`."
        )
    if found.gaps:
        st.subheader("Words and deeds", anchor=False)
        rows = [
            _row(
                g.agent,
                {"SR on conversations": g.said, "action score": g.done, "gap": g.gap},
                {"tasks": g.tasks},
            )
            for g in found.gaps
        ]
        _table(rows, "Words and deeds")
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
                **{TITLES[kind]: figure for kind, figure in row.kinds.items()},
                "Overall": row.overall,
                "Conversation ratio": row.conversation_ratio,
            },
            {"n": row.n},
        )
        for row in found.action
    ]
    chosen = st.dataframe(
        pd.DataFrame(rows), hide_index=True, height="content", key="agents", on_select="rerun", selection_mode="single-row",
        alt="What was brought about", column_config=_PINNED,
    )  # fmt: skip
    st.caption("Select an agent to see a simulation of it in the town.")
    selected = chosen["selection"]["rows"]
    if selected and selected[0] < len(found.action):
        agent = found.action[selected[0]].agent
        go("town", architecture=agent.architecture, player=agent.player)


def _language(found: Tables) -> None:
    rows = [
        _row(
            row.agent,
            {
                **{" ".join(column): row.figures[column] for column in boards.COLUMNS},
                **{name.capitalize(): figure for name, figure in row.marks.items()},
            },
            {"n": row.n, "tasks": row.tasks},
        )
        for row in found.language
    ]
    _table(rows, "What was said")


_PINNED = {
    "model": st.column_config.TextColumn(pinned=True),
    "agent": st.column_config.TextColumn(pinned=True),
}


def _table(rows: Sequence[Mapping[str, str | int]], alt: str) -> None:
    st.dataframe(pd.DataFrame(rows), hide_index=True, height="content", alt=alt, column_config=_PINNED)


def _row(agent: Agent, figures: Mapping[str, Figure], counts: Mapping[str, int]) -> dict[str, str | int]:
    cells = {name: _cell(figure) for name, figure in figures.items()}
    return {"model": agent.player, "agent": agent.architecture, **cells, **counts}


def _cell(figure: Figure) -> str:
    if figure.value is None:
        return "–"
    half = figure.half_width
    return f"{figure.value:.3f}" + (f" ± {half:.3f}" if half is not None else "")
