"""A conversation of the benchmark as the conversations page shows it, with links to its moment in the town.

`head`, `background`, `speakers` and `dialogue` are called by that page.
"""

from dataclasses import replace
from datetime import datetime
from itertools import groupby

import streamlit as st

from concord.benchmarks.stss import language, system, views
from concord.benchmarks.stss.tasks import task_from
from concord.benchmarks.stss.trajectory import STAMP, from_stored
from concord.conversation import Conversation, Message
from concord.errors import NotFound
from concord.store import conversations, scenarios, trajectories
from concord.store.conversations import Found
from pages.parts.address import link
from pages.parts.plain import plain
from pages.parts.session import workspace
from pages.parts.transcript import transcript
from pages.stss import moment

ICON = ":material/location_city:"


def head(row: Found, what: Conversation) -> bool:
    """Link to the town. True for a simulation, which is scored by rule and not by judges."""
    if row.benchmark == system.NAME:
        st.caption("A simulation is scored by rule from what everybody did in the town, not by judges.")
        link("town", "See the score and who counted", icon=ICON, **_simulation(row))
        return True
    with workspace().read() as db:
        try:
            scene = scenarios.get(db, language.NAME, language.SCENARIO, row.facets.get("scenario", ""))
        except NotFound:
            return False
        source = conversations.find_id(db, scene.source)
        simulation = conversations.listed(db, source) if source is not None else None
    if simulation is not None:
        _to_town(simulation, datetime.strptime(scene.body["time"], STAMP), scene.body["partner"])
    return False


def background(row: Found, what: Conversation) -> None:
    """Show what the performer planned for its task, where it planned."""
    if row.benchmark == language.NAME:
        moment.planned(views.planned(what.meta.get("reminders")))
    elif "_task" in what.context:
        with workspace().read() as db:
            values = trajectories.find(db, row.id)
        if values is not None:
            task = task_from(what.context["_task"])
            moment.planned(views.planned_in(task, from_stored(values)))


def speakers(what: Conversation) -> tuple[str, str]:
    """The names of the user's side and the assistant's side."""
    if what.benchmark == language.NAME and "Partner" in what.context and "Performer" in what.context:
        return str(what.context["Partner"]), str(what.context["Performer"])
    return "User", what.player


def dialogue(row: Found, what: Conversation) -> bool:
    """Draw the talks of a simulation, each with a link to the town. False for any other dialogue."""
    if row.benchmark != system.NAME or not all(_placed(m) for m in what.messages):
        return False
    performer = str(what.context.get("Performer") or what.facets.get("performer", ""))
    for (time, partner), spoken in groupby(what.messages, key=lambda m: (m.meta["time"], m.meta["with"])):
        messages = tuple(spoken)
        with st.container(horizontal=True, vertical_alignment="center"):
            when = datetime.strptime(time, STAMP)
            where = str(messages[0].meta.get("place") or "an unknown place")
            st.markdown(f"**{plain(partner)}** · {when:%a} {when.day} {when:%b, %H\\:%M} · {plain(where)}")
            _to_town(row, when, performer)
        transcript(replace(what, messages=messages), speakers=(partner, performer))
    return True


def _to_town(simulation: Found, when: datetime, resident: str) -> None:
    at = f"{when:%Y-%m-%dT%H:%M}"
    link("town", "See it in the town", icon=ICON, **_simulation(simulation), at=at, resident=resident)


def _simulation(row: Found) -> dict[str, str]:
    """A simulation in the address of the town page."""
    facets = {name: row.facets[name] for name in ("task", "architecture") if name in row.facets}
    return {**facets, "player": row.player, "simulation": str(row.id)}


def _placed(message: Message) -> bool:
    """Whether a message says when and with whom it was said; an imported one may not."""
    return all(isinstance(message.meta.get(name), str) for name in ("time", "with"))
