"""The page of tasks: their number, what a model proposed, and what a person decided."""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
import streamlit as st

from concord.benchmarks.simulbench import proposals, review
from concord.benchmarks.simulbench.tasks import STORED, TASK, TYPES, SimulationTask, task_of
from concord.benchmarks.simulbench.tasks import tasks as usable
from concord.errors import ConcordError
from concord.llm.models import load_models
from concord.runs.planning import materials
from concord.runs.plans import ProposePlan
from concord.scenario import Scenario
from concord.scores import marked
from concord.store import scenarios
from concord.store.actor import acting
from pages.parts import person
from pages.parts.address import asked, checked, shown
from pages.parts.menu import as_cards
from pages.parts.navigation import heading
from pages.parts.plain import plain
from pages.parts.session import live, workspace
from pages.parts.table import rows_as_cards
from pages.study import run_form, run_watch

MOST = 500
"""Proposals of a type in one run."""
LIST, CHOSEN = "tasks", "task of a card"
STATES = {"accepted": "In use", "proposed": "Waiting", "rejected": "Rejected"}


def page() -> None:
    """Draw the list of tasks; one that is opened can be decided about."""
    heading("tasks")
    run_watch.draw(STORED)
    brought = materials(workspace())
    with workspace().read() as db:
        stored = scenarios.page(db, STORED, TASK, limit=-1)
    in_use = usable(brought)
    _counts(in_use.values(), stored)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        who = person.ask()
        if st.button("Propose tasks", icon=":material/lightbulb:"):
            _propose()
    state = st.segmented_control(
        "Show",
        list(STATES),
        default=asked("state", list(STATES), "accepted"),
        required=True,
        format_func=STATES.__getitem__,
    )
    shown("state", state)
    decided = {s.key: s for s in stored}
    rows = list(in_use.values()) if state == "accepted" else [task_of(s) for s in stored if s.state == state]
    checked("type", TYPES)
    kind = st.pills("Type", TYPES, key="type", bind="query-params")
    rows = [row for row in rows if kind in (None, row.type)]
    # Below cards, which are long, nobody would see it.
    above = st.container()
    row = _table(rows, decided)
    if row is not None:
        with above if as_cards() else st.container():
            _opened(row, decided.get(row.id), who)


def _counts(in_use: Iterable[SimulationTask], stored: Sequence[Scenario]) -> None:
    """Tasks in use, waiting and rejected, by type."""
    used = list(in_use)
    with st.container(horizontal=True):
        for type in TYPES:
            states = [s.state for s in stored if s.body.get("type") == type]
            st.metric(
                f"{type.capitalize()}, in use",
                sum(task.type == type for task in used),
                f"{states.count('proposed')} waiting · {states.count('rejected')} rejected",
                delta_color="off",
                delta_arrow="off",
                border=True,
            )


def _table(rows: Sequence[SimulationTask], decided: Mapping[str, Scenario]) -> SimulationTask | None:
    """A list of tasks, with who decided; returns the one whose row is selected."""
    columns = ["name", "type", "from", "begins", "decided by", "on (UTC)"]
    cells = []
    for row in rows:
        known = decided.get(row.id)
        who = (known.decided_by, _moment(known)) if known and known.decided_by else ("", "")
        cells.append((row.act, row.type, row.source, row.task_description[:160], *who))
    frame = pd.DataFrame(cells, columns=columns)
    if frame.empty:
        st.info("There are none.")
        return None
    if not frame["decided by"].any():
        frame = frame.drop(columns=columns[4:])
    # Without the beginnings, which stand in the task that is opened.
    cards = [{"name": row.act, "type": row.type, "from": row.source} for row in rows]

    def choose(place: int) -> None:
        st.session_state[CHOSEN] = rows[place].id

    if rows_as_cards(LIST, cards, choose):
        return next((row for row in rows if row.id == st.session_state.get(CHOSEN)), None)
    chosen = st.dataframe(
        frame,
        hide_index=True,
        key=LIST,
        on_select="rerun",
        selection_mode="single-row",
        alt="Tasks",
        height="content" if len(frame) < 16 else 560,
        column_config={"begins": st.column_config.TextColumn(width="large")},
    )
    selected = chosen["selection"]["rows"]
    return rows[selected[0]] if selected and selected[0] < len(rows) else None


def _moment(scenario: Scenario) -> str:
    return (scenario.decided or "")[:16].replace("T", " ")


def _opened(row: SimulationTask, scenario: Scenario | None, who: str) -> None:
    """One task in full; a proposed one to be accepted, edited or rejected."""
    with st.container(border=True):
        if scenario is not None and scenario.state == "proposed":
            return _decide(row, scenario, who)
        st.markdown(f"**{plain(row.act)}**")
        st.text(row.task_description)
        st.markdown(f"Every request is {plain(row.request_type)}.")
        st.caption("Strategies: " + plain(", ".join(way.title for way in row.ways)))
        if scenario is None:
            return None
        if scenario.decided and scenario.decided_by:
            st.caption(plain(f"{scenario.state} by {scenario.decided_by}, {_moment(scenario)} UTC"))
        for name, words in (scenario.body.get("proposed") or {}).items():
            st.caption(plain(f"Proposed {name}:"))
            st.text(str(words))
        if scenario.source == proposals.GENERATED:
            st.button("Take the decision back", icon=":material/undo:", on_click=_reopen, args=(row.id,))
    return None


def _decide(row: SimulationTask, scenario: Scenario, who: str) -> None:
    """A proposed task as a form; it stays with what was typed until its words can be kept."""
    by = str(scenario.body.get("model") or scenario.source)
    st.caption(plain(f"Proposed by {marked(by, bool(scenario.body.get('simulated')))}."))
    with st.form(f"decide {row.id}", border=False):
        edited = {
            "act": st.text_input("Name", row.act, max_chars=200),
            "task_description": st.text_area(
                "Description, ending with the first request",
                row.task_description,
                max_chars=20_000,
                height=240,
            ),
            "request_type": st.text_input("Every request is", row.request_type, max_chars=400),
            "type": st.selectbox("Type", TYPES, TYPES.index(row.type)),
        }
        with st.container(horizontal=True):
            accepted = st.form_submit_button("Accept", type="primary", icon=":material/check:")
            rejected = st.form_submit_button("Reject", icon=":material/close:")
    changed = {name: value for name, value in edited.items() if value != getattr(row, name)}
    try:
        if accepted or rejected:
            with acting(who), workspace().write() as db:
                if accepted:
                    review.accept(db, row.id, who, changed)
                else:
                    review.reject(db, row.id, who)
            st.rerun()
    except ConcordError as error:
        st.error(plain(f"Not kept: {error}"))


def _reopen(key: str) -> None:
    with workspace().write() as db:
        review.reopen(db, key)


@st.dialog("Propose tasks")
def _propose() -> None:
    """Open it over the page; it closes when it has begun."""
    live(_proposal)()


def _proposal() -> None:
    models = {name: m for name, m in load_models(workspace().models_path).items() if m.kind == "chat"}
    if not models:
        st.info(f"No model is configured. Add a \\[models.NAME\\] table to {plain(workspace().models_path)}.")
        return

    def shown(name: str) -> str:
        return marked(name, models[name].simulated)

    st.caption("Each call shows the model five tasks in use, drawn at random, and asks for one more.")
    model = st.selectbox("Model", list(models), index=None, format_func=shown, placeholder="Choose a model")
    types = st.pills("Types", TYPES, selection_mode="multi", default=TYPES, format_func=str.capitalize)
    left, right = st.columns(2)
    count = left.number_input(
        "Of each type", 1, MOST, 5, help="A larger number goes on where a smaller one ended."
    )
    seed = right.number_input("Seed", 0, value=0, help="Another seed draws other examples.")
    if model and types:
        chosen = tuple(type for type in TYPES if type in types)
        run_form.estimate(ProposePlan(STORED, model, chosen, int(count), int(seed)), key="propose")
    else:
        st.caption("Choose a model and a type to see what it will take.")


page()
