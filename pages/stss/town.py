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
from pages.parts.address import held, link, listed
from pages.parts.charts import show, text_colour
from pages.parts.navigation import heading
from pages.parts.plain import plain
from pages.parts.session import live, workspace
from pages.stss import map_labels
from pages.stss.map_labels import EDGE, MapLabel

AT = "at"
"""What the address says of the moment shown."""
GREY, HEIGHT = "#8a8f98", 520
BOLD = "datum.task ? 'bold' : 'normal'"
FILLED = f"datum.here ? '#2f7fc2' : '{GREY}'"
NAMED = 3
"""So many people in one place are named; of more the first, and how many others."""


@st.cache_resource(max_entries=16, show_spinner="Reading the simulation …")
def _opened(folder: str, which: int, key: str) -> tuple[Conversation, Simulation, bool]:
    """A simulation, read and scored once, and whether mock models played it."""
    with workspace().read() as db:
        conversation, values = conversations.load(db, which), conversations.required_trajectory(db, which)
        simulated = conversations.listed(db, which).simulated
    town = system.town_named(materials(workspace()), conversation.facets.get("town", ""))
    of = Simulation(task_from(conversation.context["_task"]), from_stored(values), town)
    return conversation, of, simulated


def page() -> None:
    """Draw the page."""
    heading("town")
    with workspace().read() as db:
        known = conversations.table(db, Filter(benchmark=system.NAME))
    if known.empty:
        st.info("No simulations yet. Start a run of STSS first.")
        return link("runs", "Start a run")
    which = _choose(known)
    conversation, of, simulated = _opened(str(workspace().path), which, known.key[known.id == which].item())
    _task(conversation, of, simulated)
    st.subheader("Who is where", anchor=False)
    _moment(of)
    st.subheader("What counted", anchor=False)
    st.caption("Select a row to show its moment above.")
    table.draw(views.evidence(of.score), select=_to_moment)
    table.draw(views.talks(of), select=_to_moment)
    if plan := views.planned(of.task, of.lived):
        with st.expander("What the performer planned (TDP)", icon=":material/checklist:"):
            for title, text in plan.items():
                st.caption(title)
                st.text(text)
    return link("conversations", f"All that {of.task.performer} said", conversation=str(which))


def _choose(known: pd.DataFrame) -> int:
    """The simulation that the address names, of one task, agent and model."""
    known = known.sort_values(["task", "architecture", "player", "id"])
    names = {
        str(row.id): f"{row.task} · {row.architecture} · {row.player} ({row.id})"
        for row in known.itertuples()
    }
    first = next(iter(names))
    return int(listed("Simulation", "conversation", list(names), first, format_func=names.__getitem__))


def _task(conversation: Conversation, of: Simulation, simulated: bool) -> None:
    """The task, its events, and the score with its arithmetic."""
    task, score = of.task, of.score
    with st.container(border=True):
        with st.container(horizontal=True):
            st.markdown(f"**{plain(task.performer)}**", width="content")
            st.badge(TITLES[task.kind], color="gray")
            st.badge(plain(f"residents: {conversation.meta.get('residents', 'unknown')}"), color="gray")
            if simulated:
                about = "A rule-based mock model generated this; it says nothing about language models."
                st.badge("mock", color="orange", icon=":material/smart_toy:", help=about)
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
        when = f"from {clock(s.start)} to {s.end:%H:%M}" if s.start and s.end else "at any time"
        where = f"at {s.location}" if s.location else "anywhere"
        words = " or ".join(f"“{word}”" for word in s.keywords)
        event = f"**Event {number}**" if len(task.subgoals) > 1 else "**What counts**"
        st.markdown(f"{event}: doing something with {plain(words)} in it, {plain(where)}, {when}")


def _to_moment(row: Mapping[str, Cell]) -> None:
    if row["time"]:
        st.query_params[AT] = _address(datetime.strptime(str(row["time"]), STAMP))


@live
def _moment(of: Simulation) -> None:
    """The map, who does what, and what is said at the moment that the slider chooses; drawn alone."""
    here = views.people_at(of, _time(of))
    off = [h.name for h in here if h.room[0] not in of.town.sectors]
    words = "Map of the town: " + "; ".join(f"{h.name}: {', '.join(h.room)}" for h in here)
    show(_map(of.town, of.sectors, here), words)
    st.caption(
        "Blue: a resident is there. Bold: the place of the task."
        + (plain(f" At places outside the map: {', '.join(off)}.") if off else "")
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
        for h in here
    )
    table.draw(Table("people", "Who is where", columns, rows), titled=False)
    for number in sorted({h.talk for h in here if h.talk is not None}):
        _talk(of, number)


def _time(of: Simulation) -> datetime:
    """The slider; the moment chosen."""
    times = of.lived.times

    def draw(key: str) -> datetime:
        step: timedelta = times[1] - times[0]
        return st.slider("Town time", times[0], times[-1], step=step, format="ddd D MMM, HH:mm", key=key)

    def read(text: str) -> datetime | None:
        try:
            wanted = datetime.fromisoformat(text)
        except ValueError:
            return None
        known = not wanted.tzinfo and times[0] <= wanted <= times[-1]
        return times[of.lived.moment(wanted)] if known else None

    return held(AT, views.opens(of), draw, read=read, written=_address)


def _address(time: datetime) -> str:
    return f"{time:%Y-%m-%dT%H:%M}"


def _map(town: Town, task: list[str], here: list[Presence]) -> Any:
    """Places, ways between them, and who is there."""
    there: dict[str, list[str]] = {}
    for h in here:
        there.setdefault(h.room[0], []).append(h.name)
    room = alt.Scale(zero=False, nice=False, padding=EDGE)
    x, y = alt.X("x:Q", axis=None, scale=room), alt.Y("y:Q", axis=None, scale=room)
    ends = [(town.sectors[a].at, town.sectors[b].at) for a, b in town.doors]
    ways = pd.DataFrame([(*a, *b) for a, b in ends], columns=["x", "y", "x2", "y2"])
    places = pd.DataFrame(
        {
            "x": s.at[0],
            "y": s.at[1],
            "task": name in task,
            "here": name in there,
            "name": f"{name}\n{_crowd(there.get(name, []))}" if name in task or name in there else "",
            "words": f"{name}: {', '.join(s.arenas)}. Here: {', '.join(there.get(name, [])) or 'nobody'}.",
        }
        for name, s in town.sectors.items()
    )
    rows = places[["x", "y", "name", "task"]].itertuples(index=False, name=None)
    labels = map_labels.place([MapLabel(*row) for row in rows], HEIGHT)
    places["name"], places["dy"] = [text for text, _ in labels], [offset for _, offset in labels]
    label = text_colour()
    base = alt.Chart(places).encode(x=x, y=y, tooltip="words:N")
    names = base.encode(text="name:N").transform_filter("datum.name")
    layers = [
        alt.Chart(ways).mark_rule(color=GREY, opacity=0.4).encode(x=x, y=y, x2="x2:Q", y2="y2:Q"),
        base.mark_square(size=260, fill={"expr": FILLED}, opacity=0.5),
        names.mark_text(
            dy={"expr": "datum.dy"}, color=label, fontSize=12, lineBreak="\n", fontWeight={"expr": BOLD}
        ),
    ]
    return alt.layer(*layers).properties(height=HEIGHT)


def _crowd(names: list[str]) -> str:
    """The first names of people in one place; of a crowd the first ones, and how many more."""
    first = [name.split()[0] for name in names]
    more = [f"{len(first) - NAMED} more"] if len(first) > NAMED else []
    return ", ".join([*first[:NAMED], *more])


def _talk(of: Simulation, number: int) -> None:
    """What was said in a conversation, as plain text, and what each of the two kept of it."""
    talk = of.lived.talks[number - 1]
    with st.expander(plain(f"What {' and '.join(talk.pair)} say"), icon=":material/forum:"):
        for speaker, text in talk.messages:
            own = speaker == of.task.performer
            icon = ":material/flag:" if own else ":material/person:"
            with st.chat_message("assistant" if own else "user", avatar=icon):
                st.caption(plain(speaker))
                st.text(text or "(nothing)")
        for name in talk.pair if talk.summary else ():
            st.caption(plain(f"What {name} kept of it"))
            st.text(talk.summary.get(name) or "(nothing)")


page()
