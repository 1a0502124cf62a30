"""A simulation: the task and who counted, who is where at any moment, a resident's day, the talks."""

from collections.abc import Mapping
from datetime import datetime

import pandas as pd
import streamlit as st

from concord.benchmarks.stss import language, system, views
from concord.benchmarks.stss.tasks import TITLES, SocialTask, task_from
from concord.benchmarks.stss.trajectory import STAMP, Talk, from_stored
from concord.benchmarks.stss.views import Simulation, clock
from concord.conversation import Conversation
from concord.runs.planning import materials
from concord.store import conversations, scenarios, trajectories
from concord.store.conversations import Filter
from concord.table import Cell
from pages.parts import table
from pages.parts.address import asked, checked, link, shown
from pages.parts.navigation import heading
from pages.parts.plain import plain
from pages.parts.session import live, workspace
from pages.stss import moment

CHOICES = {"task": "Task", "architecture": "Agent", "player": "Model"}


@st.cache_resource(max_entries=16, show_spinner="Reading what happened …")
def _opened(folder: str, which: int, key: str) -> tuple[Conversation, Simulation, bool]:
    """A simulation, read and scored once, and whether mock models played it."""
    with workspace().read() as db:
        conversation, values = conversations.load(db, which), trajectories.load(db, which)
        simulated = conversations.listed(db, which).simulated
    town = views.town_of(conversation, materials(workspace()))
    of = views.simulation(task_from(conversation.context["_task"]), from_stored(values), town)
    return conversation, of, simulated


def page() -> None:
    """Draw the page."""
    heading("town")
    with workspace().read() as db:
        known = conversations.table(db, Filter(benchmark=system.NAME))
    if known.empty:
        st.info("No simulation is stored yet. Start a run of STSS here, or with `concord run stss`.")
        return link("runs", "Start a run")
    which = _choose(known)
    key = known.key[known.id == which].item()
    conversation, of, simulated = _opened(str(workspace().path), which, key)
    _task(conversation, of, simulated)

    st.subheader("Who is where", anchor=False)
    _moment(of)
    st.subheader("What counted", anchor=False)
    st.caption("Select a row to show its moment above.")
    counted, close = views.evidence(of.score)
    st.markdown(f"**Who counted** ({len(counted.rows)})")
    table.draw(counted, select=_to_moment, titled=False)
    st.markdown(f"**{close.title}** ({len(close.rows)})")
    table.draw(close, select=_to_moment, titled=False)
    for note in (*of.lived.notes, *of.score.notes):
        st.caption(plain(note))
    if (repairs := views.repairs(of)).rows:
        with st.expander(plain(repairs.title), icon=":material/build:"):
            table.draw(repairs, titled=False)
    moment.planned(views.planned_in(of.task, of.lived))
    st.subheader("Conversations", anchor=False)
    _talks(of, which, key)


def _to_moment(row: Mapping[str, Cell]) -> None:
    """Show the moment of a row of the evidence, and the resident whom it is about."""
    if row["time"]:
        moment.go(datetime.strptime(str(row["time"]), STAMP), str(row["who"]))


def _choose(known: pd.DataFrame) -> int:
    """The simulation asked for: by task, agent and model, and by its number if there are several."""
    before, everything = "", known
    for (name, label), place in zip(CHOICES.items(), st.columns([3, 2, 3]), strict=True):
        options = sorted(known[name].unique())
        # What the address names must exist; it may have played another task.
        wanted = st.query_params.get(name, "")
        checked(name, everything[name].unique().tolist())
        index = options.index(wanted) if wanted in options else 0
        chosen = place.selectbox(
            label, options, index=index, key=f"{name} {before}", on_change=_another, args=(name,)
        )
        known, before = known[known[name] == shown(name, chosen)], f"{before} {chosen}"
    numbers = [str(number) for number in known.id]
    if len(numbers) == 1:
        st.query_params.pop("simulation", None)
        return int(numbers[0])
    chosen = st.segmented_control(
        "Simulation",
        numbers,
        default=asked("simulation", numbers, numbers[0]),
        required=True,
        key=f"simulation {before}",
        on_change=_another,
        args=("simulation",),
    )
    return int(shown("simulation", chosen))


def _another(what: str) -> None:
    """Forget the talk of the former simulation; with another task, its moment and resident as well."""
    for name in ("simulation", "talk", *((moment.AT, moment.RESIDENT) if what == "task" else ())):
        if name != what:
            st.query_params.pop(name, None)


def _task(conversation: Conversation, of: Simulation, simulated: bool) -> None:
    """The task, its events, and the score with its arithmetic."""
    task, score = of.task, of.score
    with st.container(border=True):
        with st.container(horizontal=True):
            st.markdown(f"**{plain(task.performer)}**", width="content")
            st.badge(TITLES[task.kind], color="gray")
            st.badge(plain(f"residents: {conversation.meta.get('residents', 'unknown')}"), color="gray")
            if simulated:
                st.badge(
                    "mock",
                    color="orange",
                    icon=":material/smart_toy:",
                    help="No language model played this.",
                )
        st.text(task.goal)
        _events(task)
        left, right = st.columns(2)
        left.metric("Score", f"{score.value:.2f}")
        left.caption(views.RULES[task.kind])
        ratio = score.conversation_ratio
        right.metric("Conversation ratio", "–" if ratio is None else f"{ratio:.2f}")
        if ratio is not None:
            right.caption(
                f"{len(of.told)} told of it before the day of the event ÷ {task.wanted - 1} wanted."
            )


def _events(task: SocialTask) -> None:
    """What has to be done: the words, the window, the place."""
    for number, s in enumerate(task.subgoals, start=1):
        when = f"from {clock(s.start)} to {s.end:%H:%M}" if s.start and s.end else "at any time"
        where = f"at {s.location}" if s.location else "anywhere"
        words = " or ".join(f"“{word}”" for word in s.keywords)
        event = f"**Event {number}**" if len(task.subgoals) > 1 else "**What counts**"
        st.markdown(f"{event}: doing something with {plain(words)} in it, {plain(where)}, {when}")


@live
def _moment(of: Simulation) -> None:
    """The moment that the slider chooses, drawn alone."""
    moment.draw(of)


def _talks(of: Simulation, which: int, key: str) -> None:
    """The conversations, and the one that is opened."""
    if not of.lived.talks:
        st.caption("Nobody talked with anybody.")
        return
    table.draw(views.talks(of), select=_open, titled=False)
    number = st.query_params.get("talk", "")
    if not number.isdecimal() or not 1 <= int(number[:9]) <= len(of.lived.talks):
        st.caption("Select a conversation to read it.")
        return
    talk = of.lived.talks[int(number) - 1]
    with st.container(border=True, key=f"town talk {number}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            who = plain(" and ".join(talk.pair))
            st.markdown(f"**{who}** · {clock(talk.time)} · {plain(talk.place)}")
            at = (talk.time, talk.pair[0])
            st.button("Show on the map", icon=":material/location_on:", on_click=moment.go, args=at)
        _links(which, key, of.task, talk)
        moment.transcript(talk, of.task.performer)


def _links(which: int, key: str, task: SocialTask, talk: Talk) -> None:
    """Links from a talk to its simulation, and to the conversations frozen from this moment."""
    if task.performer not in talk.pair:
        return
    link("conversations", f"All that {task.performer} said", conversation=str(which))
    now, partner = talk.time.strftime(STAMP), talk.partner(task.performer)
    with workspace().read() as db:
        for scene in scenarios.page(db, language.NAME, language.SCENARIO, source=key, limit=-1):
            if scene.body["time"] != now or scene.body["partner"] != partner:
                continue
            n = conversations.count(db, Filter(language.NAME, facets={"scenario": (scene.key,)}))
            if n:
                label = f"{n} conversation{'s' if n > 1 else ''} from this moment without a world"
                link("conversations", label, benchmark=language.NAME, scenario=scene.key)


def _open(row: Mapping[str, Cell]) -> None:
    st.query_params["talk"] = str(row["number"])


page()
