"""Tables of tasks: the number of each type, and a list with who decided."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
import streamlit as st

from core.benchmarks.simulbench.tasks import TYPES, SimulationTask
from core.scenario import Scenario

STATES = ("accepted", "proposed", "rejected")


def counts(in_use: Iterable[SimulationTask], stored: Sequence[Scenario]) -> None:
    """Tasks in use, waiting and rejected, by type."""
    used = list(in_use)
    with st.container(horizontal=True):
        for type in TYPES:
            waiting, rejected = (
                sum(s.state == state and s.body.get("type") == type for s in stored) for state in STATES[1:]
            )
            st.metric(
                f"{type.capitalize()}, in use",
                sum(task.type == type for task in used),
                f"{waiting} waiting · {rejected} rejected",
                delta_color="off",
                delta_arrow="off",
                border=True,
            )


def tasks(rows: Sequence[SimulationTask], decided: Mapping[str, Scenario]) -> str | None:
    """A list of tasks; returns the id of the one whose row is selected."""
    frame = pd.DataFrame(
        [
            {
                "name": row.act,
                "type": row.type,
                "from": row.source,
                "begins": row.task_description[:160],
                "decided by": decided[row.id].decided_by if row.id in decided else "",
                "on (UTC)": (decided[row.id].decided or "")[:16].replace("T", " ")
                if row.id in decided and decided[row.id].decided_by
                else "",
            }
            for row in rows
        ],
        columns=["name", "type", "from", "begins", "decided by", "on (UTC)"],
    )
    if frame.empty:
        st.info("There are none.")
        return None
    if not frame["decided by"].any():
        frame = frame.drop(columns=["decided by", "on (UTC)"])
    chosen = st.dataframe(
        frame,
        hide_index=True,
        key="tasks",
        on_select="rerun",
        selection_mode="single-row",
        alt="Tasks",
        height="content" if len(frame) < 16 else 560,
        column_config={"begins": st.column_config.TextColumn(width="large")},
    )
    selected = chosen["selection"]["rows"]
    return rows[selected[0]].id if selected and selected[0] < len(rows) else None
