"""STSS on the leaderboard page: the action table, the language table, and a chart of the gap."""

import streamlit as st

from concord.benchmarks.stss import STSS, STSS_LANGUAGE
from concord.benchmarks.stss import tables as boards
from concord.runs.benchmark import Benchmark
from concord.store import conversations
from concord.store import tables as stored
from concord.table import Table
from pages.parts import table
from pages.parts.address import go
from pages.parts.charts import Point, intervals, show
from pages.parts.session import workspace
from pages.results import filters


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
    with st.popover("Simulations, judges", icon=":material/tune:"):
        panel = filters.panel(judges) if judges else ()
        where = filters.where(benchmark, values)
    shown = _tables(str(workspace().path), stamp, where, panel)
    if "gap" in shown:
        _words_and_deeds(shown["gap"])
    if "action" in shown:
        st.caption("Select an agent to see a simulation of it in the town.")
        row = table.draw(shown["action"], selectable=True)
        if row is not None:
            go("town", architecture=str(row["architecture"]), player=str(row["player"]))
    else:
        st.caption("Nothing has been simulated yet.")
    if "language" in shown:
        table.draw(shown["language"])
    else:
        st.caption(
            "No conversation of the language level is stored. Freeze scenes of the simulations with "
            "`concord stss freeze`, then `concord run stss-language`."
        )
    if "gap" in shown:
        table.draw(shown["gap"])


def _words_and_deeds(gaps: Table) -> None:
    """For each agent its success rate on conversations beside its action score."""
    agents = [
        " · ".join(filter(None, [str(row["player"]), str(row["architecture"]), str(row["embeddings"] or "")]))
        for row in gaps.rows
    ]
    points = [
        Point(agent, figure, kind)
        for name, kind in (("said", "said: SR on conversations"), ("done", "done: action score"))
        for agent, figure in zip(agents, gaps.estimates(name), strict=True)
    ]
    show(intervals(points, "Score, 0 to 1", domain=(0.0, 1.0)), "Words and deeds of each agent")
