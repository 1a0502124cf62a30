"""The page of tasks: those in use, what a model proposed, and what a person decided."""

from collections.abc import Mapping, Sequence

import streamlit as st

from concord.benchmarks.simulbench.tasks import STORED, TASK, TYPES, SimulationTask, task_of
from concord.benchmarks.simulbench.tasks import tasks as usable
from concord.llm.models import load_models
from concord.runs.planning import materials
from concord.runs.plans import ProposePlan
from concord.scenario import Scenario, State
from concord.scores import marked
from concord.store import scenarios
from concord.store.actor import acting
from concord.table import Column, Table
from pages.parts import person, table
from pages.parts.address import choice
from pages.parts.navigation import heading
from pages.parts.plain import plain
from pages.parts.session import live, workspace
from pages.study import run_form, run_watch

MOST = 500
"""Proposals of a type in one run."""
STATES = {"accepted": "In use", "proposed": "Waiting", "rejected": "Rejected"}


def page() -> None:
    """Draw the list of tasks; one that is opened can be decided about."""
    heading("tasks")
    run_watch.draw(STORED)
    with workspace().read() as db:
        stored = {s.key: s for s in scenarios.page(db, STORED, TASK)}
    by_state = {state: [task_of(s) for s in stored.values() if s.state == state] for state in STATES} | {
        "accepted": list(usable(materials(workspace())).values())
    }
    with st.container(horizontal=True, vertical_alignment="bottom"):
        who = person.ask()
        if st.button("Propose tasks", icon=":material/lightbulb:"):
            _propose()
    words = {name: f"{title} ({len(by_state[name])})" for name, title in STATES.items()}
    state = choice("Show", "state", list(STATES), "accepted", format_func=words.__getitem__)
    # Below a long list nobody would see the one that is opened.
    above = st.container()
    listed = _listed(state, by_state[state], stored)
    row = table.draw(listed, key=f"tasks {state}", selectable=True, titled=False)
    if row is not None:
        task = next(task for task in by_state[state] if task.id == row["id"])
        with above:
            _opened(task, stored.get(task.id), who)


def _listed(state: str, tasks: Sequence[SimulationTask], stored: Mapping[str, Scenario]) -> Table:
    """The tasks of a state, with who decided."""
    rows = []
    for task in tasks:
        known = stored.get(task.id)
        decided = (known.decided or "")[:16].replace("T", " ") if known else ""
        by = known.decided_by if known else ""
        words = {
            "task": task.act,
            "type": task.type,
            "from": task.source,
            "begins": task.task_description[:160],
        }
        rows.append({**words, "decided by": by, "on": decided, "id": task.id})
    columns = [Column(name) for name in ("task", "type", "from", "begins")]
    if any(row["decided by"] for row in rows):
        columns += [Column("decided by"), Column("on", "on (UTC)")]
    notes = () if rows else ("There are none.",)
    return Table(
        f"tasks-{state}", "Tasks", (*columns, Column("id", file_only=True)), tuple(rows), notes=notes
    )


def _opened(task: SimulationTask, stored: Scenario | None, who: str) -> None:
    """One task in full; on one of the store somebody decides."""
    with st.container(border=True):
        st.markdown(f"**{plain(task.act)}**")
        st.text(task.task_description)
        st.markdown(f"Every request is {plain(task.request_type)}.")
        st.caption("Strategies: " + plain(", ".join(way.title for way in task.ways)))
        if stored is None:
            return
        by = str(stored.body.get("model") or stored.source)
        st.caption(plain(f"From {marked(by, bool(stored.body.get('simulated')))}."))
        looks: dict[State, tuple[str, str]] = {
            "accepted": ("Accept", ":material/check:"),
            "rejected": ("Reject", ":material/close:"),
        }
        with st.container(horizontal=True):
            for state, (label, icon) in looks.items():
                if state != stored.state and st.button(label, icon=icon):
                    with acting(who), workspace().write() as db:
                        scenarios.decide(db, STORED, TASK, task.id, state, who)
                    st.rerun()


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
