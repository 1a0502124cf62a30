"""A simulation of the town: the task and who counted, who is where at any moment, anybody's day, and what was said."""

from __future__ import annotations

from datetime import datetime, timedelta
from datetime import time as time_of_day

import pandas as pd
import streamlit as st

from core.benchmarks.stss import system, views
from core.benchmarks.stss.tasks import TITLES, task_from
from core.benchmarks.stss.town import Town
from core.benchmarks.stss.trajectory import STAMP, from_stored
from core.benchmarks.stss.views import Simulation
from core.conversation import Conversation
from core.store import conversations, trajectories
from core.store.conversations import Filter
from core.work import materials
from pages.parts import town_day, town_map, town_tables
from pages.parts.address import asked, shown
from pages.parts.links import link
from pages.parts.live import live
from pages.parts.plain import plain
from pages.parts.session import workspace

CLOCK = "ddd D MMM, HH:mm"
AT = "at"
"""The moment shown: the key of the slider, and its name in the address."""
NOON = time_of_day(12)
CHOICES = {"task": "Task", "architecture": "Agent", "player": "Model"}
TALKS_ABOUT, TALKS_ALL = "About the task", "All"


@st.cache_resource(max_entries=16, show_spinner="Reading what happened …")
def _opened(folder: str, which: int, key: str) -> tuple[Conversation, Simulation, bool]:
    """A simulation, read and scored once, and whether stand-ins lived in it."""
    with workspace().read() as db:
        conversation, values = conversations.load(db, which), trajectories.load(db, which)
        stand_in = conversations.found(db, which).stand_in
    town = views.town_of(conversation, materials(workspace()))
    task = task_from(conversation.context["_task"])
    return conversation, views.simulation(task, from_stored(values), town), stand_in


@st.cache_resource(max_entries=16, show_spinner=False)
def _map(folder: str, which: int, _of: Simulation, _town: Town) -> town_map.Spec:
    """The map of a simulation without people, written out once."""
    return town_map.specification(_of, _town)


def page() -> None:
    """Draw the page."""
    st.title("Town", anchor=False)
    with workspace().read() as db:
        known = conversations.table(db, Filter(benchmark=system.NAME))
    if known.empty:
        st.info("No town has been lived in yet. Start a run of STSS here, or with `concord run stss`.")
        return link("runs", "Start a run")
    which = _choose(known)
    conversation, of, stand_in = _opened(str(workspace().path), which, known.key[known.id == which].item())
    _task(conversation, of, stand_in)

    def go(time: datetime) -> None:
        st.session_state[AT] = of.lived.times[of.lived.moment(time)]

    town_tables.counted(of, go)
    town_tables.close(of, go)
    if any(e.time for e in of.score.evidence):
        st.caption("Select a row to see its moment on the map.")
    for note in (*of.lived.notes, *of.score.notes):
        st.caption(plain(note))
    st.subheader("Who is where", anchor=False)
    _moment(of, which)
    st.subheader("A day", anchor=False)
    _day(of, which)
    st.subheader("Conversations", anchor=False)
    _talks(of, go)


def _choose(known: pd.DataFrame) -> int:
    """The simulation asked for: by task, agent and model, and by its number where there are several of these."""
    before = ""
    for (name, label), place in zip(CHOICES.items(), st.columns([3, 2, 3]), strict=True):
        options = sorted(known[name].unique())
        # Of what the address names, only the task must be there: another task may have been played by others.
        wanted = st.query_params.get(name, "") if before else asked(name, options, options[0])
        index = options.index(wanted) if wanted in options else 0
        chosen = place.selectbox(
            label, options, index=index, key=f"{name} {before}", on_change=_another, args=(name,)
        )
        known, before = known[known[name] == shown(name, chosen)], f"{before} {chosen}"
    numbers = [str(number) for number in known.id]
    if len(numbers) == 1:
        st.query_params.pop("simulation", None)
        return int(numbers[0])
    first = asked("simulation", numbers, numbers[0])
    return int(
        shown(
            "simulation",
            st.segmented_control(
                "Simulation",
                numbers,
                default=first,
                required=True,
                key=f"simulation {before}",
                on_change=_another,
                args=("simulation",),
            ),
        )
    )


def _another(what: str) -> None:
    """Another simulation has other conversations; another task, other people at other times too."""
    for name in ("simulation", "talk", *(("resident", "day", AT) if what == "task" else ())):
        if name != what:
            st.query_params.pop(name, None)
    if what == "task":
        st.session_state.pop(AT, None)


def _task(conversation: Conversation, of: Simulation, stand_in: bool) -> None:
    """The task, its events, and the score with how it came about."""
    task, score = of.task, of.score
    with st.container(border=True):
        with st.container(horizontal=True):
            st.markdown(f"**{plain(task.performer)}**", width="content")
            st.badge(TITLES[task.kind], color="gray")
            st.badge(plain(f"residents: {conversation.meta.get('residents', 'unknown')}"), color="gray")
            if stand_in:
                st.badge(
                    "stand-in",
                    color="orange",
                    icon=":material/smart_toy:",
                    help="No language model lived here.",
                )
        st.text(task.goal)
        town_tables.events(of)
        left, right = st.columns(2)
        left.metric("Score", f"{score.value:.2f}")
        left.caption(plain(views.reckoned(of)))
        ratio = score.conversation_ratio
        right.metric("Conversation ratio", "–" if ratio is None else f"{ratio:.2f}")
        right.caption(plain(views.ratio_reckoned(of)))


@live
def _moment(of: Simulation, which: int) -> None:
    """Who is where at the time on the slider; redrawn by itself as it is dragged."""
    times = of.lived.times
    if AT in st.session_state and not times[0] <= st.session_state[AT] <= times[-1]:
        del st.session_state[AT]
    if AT not in st.session_state and AT not in st.query_params:
        st.session_state[AT] = _default(of)
    # Bound, so that the address follows without a step of the browser's history for every step of the clock.
    st.slider("Town time", times[0], times[-1], key=AT, step=of.step, format=CLOCK, bind="query-params")
    time = times[of.lived.moment(st.session_state[AT])]
    with st.container(horizontal=True):
        for label, icon, span in (
            ("1 hour back", "keyboard_double_arrow_left", timedelta(hours=-1)),
            ("A step back", "chevron_left", -of.step),
            ("A step on", "chevron_right", of.step),
            ("1 hour on", "keyboard_double_arrow_right", timedelta(hours=1)),
        ):
            st.button(label, icon=f":material/{icon}:", on_click=_move, args=(of, span))
    people = views.standing(of, time)
    if of.town is None:
        st.info("The file of this town is not at hand, so that there is no map.")
    else:
        spec = _map(str(workspace().path), which, of, of.town)
        st.vega_lite_chart(spec=town_map.peopled(spec, people), alt="Map of the town", key=f"map {which}")
        st.caption(town_map.LEGEND)
        off = [p.name for p in people if p.x is None]
        if off:
            st.caption(plain(f"At places that the map does not have: {', '.join(off)}."))
    with st.expander("The same in words", icon=":material/table_rows:"):
        town_tables.standing(people)


def _default(of: Simulation) -> datetime:
    """When something counted first; else the event begins, or noon of the last day."""
    times = [datetime.strptime(e.time, STAMP) for e in of.score.evidence if e.counted and e.time]
    times = times or [s.start for s in of.task.subgoals if s.start]
    time = min(times, default=datetime.combine(of.days[-1], NOON))
    return of.lived.times[of.lived.moment(time)]


def _move(of: Simulation, span: timedelta) -> None:
    st.session_state[AT] = of.lived.times[of.lived.moment(st.session_state[AT] + span)]


@live
def _day(of: Simulation, which: int) -> None:
    """One resident's day; redrawn by itself when another is chosen."""
    people = [of.task.performer, *(name for name in of.lived.residents if name != of.task.performer)]
    days = {f"{day:%A} {day.day} {day:%B}": day for day in of.days}
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    first = people.index(asked("resident", people, people[0]))
    name = shown("resident", left.selectbox("Resident", people, index=first, key=f"resident of {which}"))
    named = asked("day", list(days), list(days)[-1])
    day = right.segmented_control("Day", list(days), default=named, required=True, key=f"day of {which}")
    town_day.day(of, name, days[shown("day", day)])


def _talks(of: Simulation, go: town_tables.Go) -> None:
    if not of.talks:
        st.caption("Nobody talked with anybody.")
        return
    whose = st.segmented_control(
        "Which", [TALKS_ABOUT, TALKS_ALL], default=TALKS_ALL, required=True, label_visibility="collapsed"
    )
    spoken = [s for s in of.talks if s.about or whose == TALKS_ALL]
    if not spoken:
        st.caption("Nobody talked about the task.")
        return
    number = st.query_params.get("talk", "")
    opened = next((s for s in of.talks if str(s.number) == number), None)
    town_tables.talks(of, spoken, opened.number if opened else None, _open)
    if opened is None:
        st.caption("Select a conversation to read it.")
        return
    talk = opened.talk
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                f"**{plain(' and '.join(talk.pair))}** · {town_tables.clock(talk.time)} · {plain(talk.place)}"
            )
            st.button("Show on the map", icon=":material/location_on:", on_click=go, args=(talk.time,))
        town_tables.transcript(talk, of.task.performer)


def _open(number: int | None) -> None:
    if number is None:
        st.query_params.pop("talk", None)
    else:
        st.query_params["talk"] = str(number)


page()
