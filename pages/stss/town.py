"""A simulation: the task and its score, who is where and says what at any moment, and who counted."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from concord.benchmarks.stss import system, views
from concord.benchmarks.stss.tasks import TITLES, SocialTask, task_from
from concord.benchmarks.stss.town import Town
from concord.benchmarks.stss.trajectory import STAMP, from_stored
from concord.benchmarks.stss.views import Presence, Simulation, clock
from concord.conversation import Conversation
from concord.runs.planning import materials
from concord.store import conversations
from concord.store.conversations import Filter
from concord.table import Cell, Column, Table
from pages.parts import table
from pages.parts.address import bound_value, link, listed
from pages.parts.charts import show, text_colour
from pages.parts.navigation import heading
from pages.parts.plain import plain
from pages.parts.session import live, workspace
from pages.stss import map_labels
from pages.stss.map_labels import EDGE, MapLabel

MOMENT = "at"
"""What the address says of the moment shown."""
GREY = "#8a8f98"
HEIGHT = 520
BOLD = "datum.task ? 'bold' : 'normal'"
DOT_COLOUR = f"datum.here ? '#2f7fc2' : '{GREY}'"
MOST_NAMED = 3
"""So many people in one place are named; of more the first, and how many others."""


@st.cache_resource(max_entries=16, show_spinner="Reading the simulation …")
def _simulation(folder: str, number: int, key: str) -> tuple[Conversation, Simulation, bool]:
    """A simulation, read and scored once, and whether mock models played it."""
    with workspace().read() as db:
        conversation = conversations.load(db, number)
        values = conversations.required_trajectory(db, number)
        simulated = conversations.listed(db, number).simulated
    town = system.town_named(materials(workspace()), conversation.facets.get("town", ""))
    simulation = Simulation(task_from(conversation.context["_task"]), from_stored(values), town)
    return conversation, simulation, simulated


def page() -> None:
    """Draw the page."""
    heading("town")
    with workspace().read() as db:
        simulations = conversations.table(db, Filter(benchmark=system.NAME))
    if simulations.empty:
        st.info("No simulations yet. Start a run of STSS first.")
        return link("runs", "Start a run")
    number = _choose(simulations)
    conversation, simulation, simulated = _simulation(
        str(workspace().path), number, simulations.key[simulations.id == number].item()
    )
    _task(conversation, simulation, simulated)
    st.subheader("Who is where", anchor=False)
    _moment(simulation)
    st.subheader("What counted", anchor=False)
    st.caption("Select a row to show its moment above.")
    table.draw(views.evidence(simulation.score), select=_to_moment)
    table.draw(views.talks(simulation), select=_to_moment)
    if plan := views.planned(simulation.task, simulation.lived):
        with st.expander("What the performer planned (TDP)", icon=":material/checklist:"):
            for title, text in plan.items():
                st.caption(title)
                st.text(text)
    return link("conversations", f"All that {simulation.task.performer} said", conversation=str(number))


def _choose(simulations: pd.DataFrame) -> int:
    """The simulation that the address names, of one task, agent and model."""
    simulations = simulations.sort_values(["task", "architecture", "player", "id"])
    names = {
        str(row.id): f"{row.task} · {row.architecture} · {row.player} ({row.id})"
        for row in simulations.itertuples()
    }
    first = next(iter(names))
    return int(listed("Simulation", "conversation", list(names), first, format_func=names.__getitem__))


def _task(conversation: Conversation, simulation: Simulation, simulated: bool) -> None:
    """The task, its events, and the score with its arithmetic."""
    task = simulation.task
    score = simulation.score
    with st.container(border=True):
        with st.container(horizontal=True):
            st.markdown(f"**{plain(task.performer)}**", width="content")
            st.badge(TITLES[task.kind], color="gray")
            st.badge(plain(f"residents: {conversation.meta.get('residents', 'unknown')}"), color="gray")
            if simulated:
                mock_note = "A rule-based mock model generated this; it says nothing about language models."
                st.badge("mock", color="orange", icon=":material/smart_toy:", help=mock_note)
        st.text(task.goal)
        _events(task)
        left, right = st.columns(2)
        left.metric("Score", f"{score.value:.2f}")
        left.caption(views.RULES[task.kind])
        ratio = score.conversation_ratio
        right.metric("Conversation ratio", "–" if ratio is None else f"{ratio:.2f}")
        if ratio is not None:
            before = f"{len(score.invited)} told of it before the day of the event"
            right.caption(f"{before} ÷ {task.wanted - 1} wanted.")


def _events(task: SocialTask) -> None:
    """What has to be done: the words, the window, the place."""
    for number, s in enumerate(task.subgoals, start=1):
        time_window = f"from {clock(s.start)} to {s.end:%H:%M}" if s.start and s.end else "at any time"
        place = f"at {s.location}" if s.location else "anywhere"
        words = " or ".join(f"“{word}”" for word in s.keywords)
        event = f"**Event {number}**" if len(task.subgoals) > 1 else "**What counts**"
        st.markdown(f"{event}: doing something with {plain(words)} in it, {plain(place)}, {time_window}")


def _to_moment(row: Mapping[str, Cell]) -> None:
    if row["time"]:
        st.query_params[MOMENT] = _address(datetime.strptime(str(row["time"]), STAMP))


@live
def _moment(simulation: Simulation) -> None:
    """The map, who does what, and what is said at the moment that the slider chooses; drawn alone."""
    presences = views.people_at(simulation, _time(simulation))
    elsewhere = [h.name for h in presences if h.room[0] not in simulation.town.sectors]
    words = "Map of the town: " + "; ".join(f"{h.name}: {', '.join(h.room)}" for h in presences)
    show(_map(simulation.town, simulation.sectors, presences), words)
    st.caption(
        "Blue: a resident is there. Bold: the place of the task."
        + (plain(f" At places outside the map: {', '.join(elsewhere)}.") if elsewhere else "")
    )
    columns = tuple(map(Column, ("who", "part", "does", "where", "since")))
    rows = tuple(
        {
            "who": h.name,
            "part": h.part,
            "does": h.action,
            "where": ", ".join(h.room),
            "since": clock(h.arrival),
        }
        for h in presences
    )
    table.draw(Table("people", "Who is where", columns, rows), titled=False)
    for number in sorted({h.talk for h in presences if h.talk is not None}):
        _talk(simulation, number)


def _time(simulation: Simulation) -> datetime:
    """The slider; the moment chosen."""
    times = simulation.lived.times

    def draw(key: str) -> datetime:
        step: timedelta = times[1] - times[0]
        return st.slider("Town time", times[0], times[-1], step=step, format="ddd D MMM, HH:mm", key=key)

    def read(text: str) -> datetime | None:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return None
        is_in_range = not moment.tzinfo and times[0] <= moment <= times[-1]
        return times[simulation.lived.moment(moment)] if is_in_range else None

    return bound_value(MOMENT, views.opens(simulation), draw, read=read, encode=_address)


def _address(time: datetime) -> str:
    return f"{time:%Y-%m-%dT%H:%M}"


def _map(town: Town, task: list[str], presences: list[Presence]) -> Any:
    """Places, ways between them, and who is there."""
    names_by_place: dict[str, list[str]] = {}
    for h in presences:
        names_by_place.setdefault(h.room[0], []).append(h.name)
    room = alt.Scale(zero=False, nice=False, padding=EDGE)
    x = alt.X("x:Q", axis=None, scale=room)
    y = alt.Y("y:Q", axis=None, scale=room)
    ends = [(town.sectors[a].at, town.sectors[b].at) for a, b in town.doors]
    ways = pd.DataFrame([(*a, *b) for a, b in ends], columns=["x", "y", "x2", "y2"])
    places = pd.DataFrame(
        {
            "x": s.at[0],
            "y": s.at[1],
            "task": name in task,
            "here": name in names_by_place,
            "name": f"{name}\n{_crowd(names_by_place.get(name, []))}"
            if name in task or name in names_by_place
            else "",
            "words": f"{name}: {', '.join(s.arenas)}. Here: "
            f"{', '.join(names_by_place.get(name, [])) or 'nobody'}.",
        }
        for name, s in town.sectors.items()
    )
    rows = places[["x", "y", "name", "task"]].itertuples(index=False, name=None)
    labels = map_labels.place([MapLabel(*row) for row in rows], HEIGHT)
    places["name"] = [text for text, _ in labels]
    places["dy"] = [offset for _, offset in labels]
    label = text_colour()
    base = alt.Chart(places).encode(x=x, y=y, tooltip="words:N")
    names = base.encode(text="name:N").transform_filter("datum.name")
    layers = [
        alt.Chart(ways).mark_rule(color=GREY, opacity=0.4).encode(x=x, y=y, x2="x2:Q", y2="y2:Q"),
        base.mark_square(size=260, fill={"expr": DOT_COLOUR}, opacity=0.5),
        names.mark_text(
            dy={"expr": "datum.dy"}, color=label, fontSize=12, lineBreak="\n", fontWeight={"expr": BOLD}
        ),
    ]
    return alt.layer(*layers).properties(height=HEIGHT)


def _crowd(names: list[str]) -> str:
    """The first names of people in one place; of a crowd the first ones, and how many more."""
    first = [name.split()[0] for name in names]
    remainder = [f"{len(first) - MOST_NAMED} more"] if len(first) > MOST_NAMED else []
    return ", ".join([*first[:MOST_NAMED], *remainder])


def _talk(simulation: Simulation, number: int) -> None:
    """What was said in a conversation, as plain text, and what each of the two kept of it."""
    talk = simulation.lived.talks[number - 1]
    with st.expander(plain(f"What {' and '.join(talk.pair)} say"), icon=":material/forum:"):
        for speaker, text in talk.messages:
            is_performer = speaker == simulation.task.performer
            icon = ":material/flag:" if is_performer else ":material/person:"
            with st.chat_message("assistant" if is_performer else "user", avatar=icon):
                st.caption(plain(speaker))
                st.text(text or "(nothing)")
        for name in talk.pair if talk.summary else ():
            st.caption(plain(f"What {name} kept of it"))
            st.text(talk.summary.get(name) or "(nothing)")


page()
