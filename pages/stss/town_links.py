"""Between the town and the conversations: where in a simulation something was said, and where what was said there is read."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from itertools import groupby

import streamlit as st

from core.benchmarks.stss import language, system, views
from core.benchmarks.stss.tasks import Task, task_from
from core.benchmarks.stss.trajectory import STAMP, Talk, from_stored
from core.conversation import Conversation, Message
from core.errors import NotFound
from core.store import conversations, scenarios, trajectories
from core.store.conversations import Filter, Found
from pages.parts.links import link
from pages.parts.plain import plain
from pages.parts.session import workspace
from pages.parts.transcript import transcript
from pages.stss import town_tables

TO_TOWN = "See it in the town"
ICON = ":material/location_city:"


def from_talk(which: int, key: str, task: Task, talk: Talk) -> None:
    """Links from a conversation in the town: to the simulation among the conversations, and to what was made of this moment without a world."""
    if task.performer not in talk.pair:
        return
    link("conversations", f"All that {task.performer} said", conversation=str(which))
    now, partner = talk.time.strftime(STAMP), talk.partner(task.performer)
    with workspace().read() as db:
        frozen = scenarios.page(db, language.NAME, language.SCENARIO, source=key, limit=-1)
        for scene in frozen:
            if scene.body["time"] != now or scene.body["partner"] != partner:
                continue
            n = conversations.count(db, Filter(language.NAME, facets={"scenario": (scene.key,)}))
            if n:
                said = "conversation" if n == 1 else "conversations"
                link(
                    "conversations",
                    f"{n} {said} from this moment without a world",
                    benchmark=language.NAME,
                    scenario=scene.key,
                )


def dialogue(which: int, found: Found, what: Conversation) -> bool:
    """Draw the dialogue of a simulation, each of its conversations with the way to its moment in the town. False for any other dialogue."""
    if found.benchmark != system.NAME or not all(_placed(m) for m in what.messages):
        return False
    for (time, partner), said in groupby(what.messages, key=lambda m: (m.meta["time"], m.meta["with"])):
        messages = tuple(said)
        with st.container(horizontal=True, vertical_alignment="center"):
            when = datetime.strptime(time, STAMP)
            where = str(messages[0].meta.get("place") or "an unknown place")
            st.markdown(f"**{plain(partner)}** · {when:%a} {when.day} {when:%b, %H\\:%M} · {plain(where)}")
            _to_town(which, found, when, _performer(what))
        transcript(replace(what, messages=messages), speakers=(partner, _performer(what)))
    return True


def by_deeds(found: Found) -> bool:
    """Whether a conversation is part of a simulation, which is scored by what was done; says so, with the way to the score."""
    if found.benchmark != system.NAME:
        return False
    st.caption("A simulation is scored by what everybody did in the town, not by judges of what was said.")
    link("town", "See the score and who counted", icon=ICON, **_simulation(found.id, found))
    return True


def to_moment(found: Found, what: Conversation) -> None:
    """The way from a conversation without a world to the moment in the town that it was frozen from, where both are stored."""
    if found.benchmark != language.NAME:
        return
    with workspace().read() as db:
        try:
            scene = scenarios.get(db, language.NAME, language.SCENARIO, found.facets.get("scenario", ""))
        except NotFound:
            return
        which = conversations.find_id(db, scene.source)
        simulation = conversations.found(db, which) if which is not None else None
    if which is not None and simulation is not None:
        _to_town(which, simulation, datetime.strptime(scene.body["time"], STAMP), scene.body["partner"])


def planned(which: int, found: Found, what: Conversation) -> None:
    """What the performer of a simulation, or of a conversation without a world, had planned for its task; nothing where it did not."""
    if found.benchmark == language.NAME:
        return town_tables.planned(views.planned(what.meta.get("reminders")))
    if found.benchmark == system.NAME and "_task" in what.context:
        with workspace().read() as db:
            values = trajectories.find(db, which)
        if values is not None:
            task = task_from(what.context["_task"])
            town_tables.planned(views.planned_in(task, from_stored(values)))


def speakers(what: Conversation) -> tuple[str, str]:
    """Who speaks as the user and who as the assistant."""
    if what.benchmark == language.NAME and "Partner" in what.context and "Performer" in what.context:
        return str(what.context["Partner"]), str(what.context["Performer"])
    return "User", what.player


def _to_town(which: int, simulation: Found, when: datetime, resident: str) -> None:
    at = f"{when:%Y-%m-%dT%H:%M}"
    link("town", TO_TOWN, icon=ICON, **_simulation(which, simulation), at=at, resident=resident)


def _simulation(which: int, found: Found) -> dict[str, str]:
    """A simulation in the address of the town page."""
    facets = {name: found.facets[name] for name in ("task", "architecture") if name in found.facets}
    return {**facets, "player": found.player, "simulation": str(which)}


def _performer(what: Conversation) -> str:
    return str(what.context.get("Performer") or what.facets.get("performer", ""))


def _placed(message: Message) -> bool:
    """Whether a message says when and with whom; one that was imported from elsewhere may not."""
    return all(isinstance(message.meta.get(name), str) for name in ("time", "with"))
