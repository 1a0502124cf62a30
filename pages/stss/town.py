"""A simulation: the task and who counted, who is where at any moment, a resident's day, the talks."""

import pandas as pd
import streamlit as st

from concord.benchmarks.stss import language, system, views
from concord.benchmarks.stss.tasks import TITLES, SocialTask, task_from
from concord.benchmarks.stss.trajectory import STAMP, Talk, from_stored
from concord.benchmarks.stss.views import Simulation
from concord.conversation import Conversation
from concord.runs.planning import materials
from concord.store import conversations, scenarios, trajectories
from concord.store.conversations import Filter
from pages.parts.address import asked, checked, link, shown
from pages.parts.navigation import heading
from pages.parts.plain import plain
from pages.parts.session import live, workspace
from pages.stss import moment, town_tables
from pages.stss.moment import go

CHOICES = {"task": "Task", "architecture": "Agent", "player": "Model"}
TALKS_ABOUT, TALKS_ALL = "About the task", "All"


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
    if any(e.time for e in of.score.evidence):
        st.caption("Select a row to show its moment above.")
    town_tables.counted(of, go)
    town_tables.close(of, go)
    for note in (*of.lived.notes, *of.score.notes):
        st.caption(plain(note))
    town_tables.repairs(of)
    town_tables.planned(views.planned_in(of.task, of.lived))
    st.subheader("Conversations", anchor=False)
    _talks(of, which, key, go)


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
                told = "No language model played this."
                st.badge("mock", color="orange", icon=":material/smart_toy:", help=told)
        st.text(task.goal)
        town_tables.events(of)
        left, right = st.columns(2)
        left.metric("Score", f"{score.value:.2f}")
        left.caption(plain(views.reckoned(of)))
        ratio = score.conversation_ratio
        right.metric("Conversation ratio", "–" if ratio is None else f"{ratio:.2f}")
        right.caption(plain(views.ratio_reckoned(of)))


@live
def _moment(of: Simulation) -> None:
    """The moment that the slider chooses, drawn alone."""
    moment.draw(of)


def _talks(of: Simulation, which: int, key: str, go: town_tables.Go) -> None:
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
    with st.container(border=True, key=f"town talk {opened.number}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            who, when = plain(" and ".join(talk.pair)), town_tables.clock(talk.time)
            st.markdown(f"**{who}** · {when} · {plain(talk.place)}")
            at = (talk.time, talk.pair[0])
            st.button("Show on the map", icon=":material/location_on:", on_click=go, args=at)
        _links(which, key, of.task, talk)
        town_tables.transcript(talk, of.task.performer)


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


def _open(number: int | None) -> None:
    if number is None:
        st.query_params.pop("talk", None)
    else:
        st.query_params["talk"] = str(number)


page()
