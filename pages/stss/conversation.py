"""A conversation of the benchmark as the conversations page shows it, with a link to the town.

`head` and `background` are called by that page.
"""

import streamlit as st

from concord.benchmarks.stss import language, system, views
from concord.benchmarks.stss.tasks import task_from
from concord.benchmarks.stss.trajectory import from_stored
from concord.conversation import Conversation
from concord.store import trajectories
from concord.store.conversations import Found
from pages.parts.address import link
from pages.parts.session import workspace


def head(row: Found, what: Conversation) -> bool:
    """Link to the town. True for a simulation, which is scored by rule and not by judges."""
    if row.benchmark == system.NAME:
        st.caption("A simulation is scored by rule from what everybody did in the town, not by judges.")
        icon = ":material/location_city:"
        link("town", "See the score and who counted", icon=icon, simulation=str(row.id))
    return row.benchmark == system.NAME


def background(row: Found, what: Conversation) -> None:
    """Show what the performer planned for its task, where it planned."""
    if row.benchmark == language.NAME:
        planned(views.planned(what.meta.get("reminders") or {}))
    elif "_task" in what.context:
        with workspace().read() as db:
            values = trajectories.find(db, row.id)
        if values is not None:
            planned(views.planned_in(task_from(what.context["_task"]), from_stored(values)))


def planned(what: dict[str, str]) -> None:
    """What the performer had planned for its task; nothing where it did not."""
    if what:
        with st.expander("What the performer planned (TDP)", icon=":material/checklist:"):
            for heading, text in what.items():
                st.caption(heading)
                st.text(text)
