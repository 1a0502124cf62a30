"""A simulation of the town: the task and who counted, who is where at any moment, anybody's day, and what was said."""

from __future__ import annotations

from datetime import datetime, timedelta

import pandas as pd
import streamlit as st

from core.benchmarks.stss import system, views
from core.benchmarks.stss.tasks import TITLES, task_from
from core.benchmarks.stss.trajectory import STAMP, from_stored
from core.benchmarks.stss.views import Simulation
from core.conversation import Conversation
from core.store import conversations, trajectories
from core.store.conversations import Filter
from core.work import materials
from pages.parts import town_map
from pages.parts.address import asked, shown
from pages.parts.links import link
from pages.parts.live import live
from pages.parts.plain import plain
from pages.parts.session import workspace

CLOCK = "ddd D MMM, HH:mm"
JUMPS = ((-60, "1 h", "keyboard_double_arrow_left"), (-5, "5 min", "chevron_left"), (5, "5 min", "chevron_right"), (60, "1 h", "keyboard_double_arrow_right"))  # fmt: skip


@st.cache_resource(max_entries=16, show_spinner="Reading what happened …")
def _opened(folder: str, which: int, key: str) -> tuple[Conversation, Simulation]:
    """A simulation, read and scored once."""
    with workspace().read() as db:
        conversation, values = conversations.load(db, which), trajectories.load(db, which)
    town = views.town_of(conversation, materials(workspace()))
    task = task_from(conversation.context["_task"])
    return conversation, views.simulation(task, from_stored(values), town)


def page() -> None:
    """Draw the page."""
    st.title("Town", anchor=False)
    with workspace().read() as db:
        known = conversations.table(db, Filter(benchmark=system.NAME))
    if known.empty:
        st.info("No town has been lived in yet. Start a run of STSS here, or with `concord run stss`.")
        return link("runs", "Start a run")
    which = _choose(known)
    row = known[known.id == which].iloc[0]
    conversation, of = _opened(str(workspace().path), which, row.key)
    _task(conversation, of, which)
    _moment(of, which)


def _choose(known: pd.DataFrame) -> int:
    """The simulation asked for: by task, agent and model, and by its number where there are several of these."""
    for name, label, place in zip(
        ("task", "architecture", "player"), ("Task", "Agent", "Model"), st.columns([3, 2, 3]), strict=True
    ):
        options = sorted(known[name].unique())
        first = options.index(asked(name, options, options[0]))
        known = known[known[name] == shown(name, place.selectbox(label, options, index=first))]
    numbers = [str(n) for n in known.id]
    if len(numbers) == 1:
        st.query_params.pop("simulation", None)
        return int(numbers[0])
    return int(shown("simulation", st.segmented_control("Simulation", numbers, default=asked("simulation", numbers, numbers[0]), required=True)))  # fmt: skip


def _task(conversation: Conversation, of: Simulation, which: int) -> None:
    task, score = of.task, of.score
    with st.container(border=True):
        st.markdown(f"**{plain(task.performer)}** · {TITLES[task.kind]}")
        st.text(task.goal)
        left, right = st.columns(2)
        left.metric("Score", f"{score.value:.2f}")
        left.caption(plain(views.reckoned(of)))
        ratio = score.conversation_ratio
        right.metric("Conversation ratio", "–" if ratio is None else f"{ratio:.2f}")
        right.caption(plain(views.ratio_reckoned(of)))


@live
def _moment(of: Simulation, which: int) -> None:
    """Who is where at the time on the slider; redrawn by itself as it is dragged."""
    key = f"moment of {which}"
    first, last = of.lived.times[0], of.lived.times[-1]
    st.session_state.setdefault(key, _interesting(of))
    time = st.slider("Town time", first, last, key=key, step=of.step, format=CLOCK)
    with st.container(horizontal=True):
        for minutes, label, icon in JUMPS:
            st.button(
                label,
                icon=f":material/{icon}:",
                key=f"{minutes}",
                on_click=_step,
                args=(key, minutes, first, last),
            )
    people = views.standing(of, time)
    if of.town is None:
        st.info("The town's file is not at hand, so that there is no map.")
    else:
        st.altair_chart(town_map.town_map(of, of.town, people), alt="Map of the town", key=f"map {which}")


def _interesting(of: Simulation) -> datetime:
    """The moment at which something counted first, or the event begins, or noon of the last day."""
    times = [datetime.strptime(e.time, STAMP) for e in of.score.evidence if e.counted and e.time]
    times += [s.start for s in of.task.subgoals if s.start] if not times else []
    noon = datetime.combine(of.days[-1], datetime.min.time()) + timedelta(hours=12)
    return of.lived.times[of.lived.moment(min(times, default=noon))]


def _step(key: str, minutes: int, first: datetime, last: datetime) -> None:
    st.session_state[key] = min(last, max(first, st.session_state[key] + timedelta(minutes=minutes)))


page()
