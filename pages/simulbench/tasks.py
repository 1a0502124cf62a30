"""The page of tasks: their number, what a model proposed, and what a person decided."""

from __future__ import annotations

import streamlit as st

from core.benchmarks.simulbench import proposing, review
from core.benchmarks.simulbench.tasks import STORED, TASK, TYPES, SimulationTask, task_of
from core.benchmarks.simulbench.tasks import tasks as usable
from core.runs.planning import materials
from core.store import scenarios
from pages.parts import theme
from pages.parts.address import asked, shown
from pages.parts.plain import plain
from pages.parts.review import component, person
from pages.parts.session import workspace
from pages.simulbench import propose_form, task_review, task_tables
from pages.study import run_watch

STATES = ("accepted", "proposed", "rejected")
WORDS = {"accepted": "In use", "proposed": "Waiting", "rejected": "Rejected"}


def page() -> None:
    """Draw the list of tasks, or the review of proposals."""
    if st.query_params.get("work") == "review":
        return _work()
    st.title("Tasks", anchor=False)
    st.markdown(
        "What SimulBench's models are asked to simulate. A model may propose more; only what a person "
        "**accepts** is used, and so are the scripts cut from it."
    )
    run_watch.draw(STORED)
    brought = materials(workspace())
    with workspace().read() as db:
        stored = scenarios.page(db, STORED, TASK, limit=-1)
    in_use = usable(brought)
    waiting = sum(s.state == "proposed" for s in stored)
    task_tables.counts(in_use.values(), stored)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        who = person.ask()
        st.button(
            f"Decide about {waiting}" if waiting else "None waits",
            type="primary",
            icon=":material/rule:",
            disabled=not waiting,
            on_click=_begin,
            args=(who,),
        )
        if st.button("Propose tasks", icon=":material/lightbulb:"):
            propose_form.dialog()
    state = st.segmented_control(
        "Show",
        STATES,
        default=asked("state", STATES, STATES[0]),
        required=True,
        format_func=WORDS.__getitem__,
    )
    shown("state", state)
    decided = {s.key: s for s in stored}
    rows = list(in_use.values()) if state == "accepted" else [task_of(s) for s in stored if s.state == state]
    kind = st.pills("Type", TYPES, key="type", bind="query-params")
    rows = [row for row in rows if kind in (None, row.type)]
    key = task_tables.tasks(rows, decided)
    if key is not None:
        _opened(key, who, next(row for row in rows if row.id == key))


def _opened(key: str, who: str, row: SimulationTask) -> None:
    """One task in full; what was decided about it may be taken back."""
    with workspace().read() as db:
        known = {s.key: s for s in scenarios.page(db, STORED, TASK, limit=-1)}
    scenario = known.get(key)
    with st.container(border=True):
        st.markdown(f"**{plain(row.act)}**")
        st.text(row.task_description)
        st.markdown(f"Every request is {plain(row.request_type)}.")
        st.caption("Strategies: " + plain(", ".join(way.title for way in row.ways)))
        if scenario is None:
            return
        if scenario.decided and scenario.decided_by:
            st.caption(
                plain(
                    f"{scenario.state} by {scenario.decided_by}, {scenario.decided[:16].replace('T', ' ')} "
                    "UTC"
                )
            )
        for name, words in (scenario.body.get("proposed") or {}).items():
            st.caption(plain(f"Proposed {name}:"))
            st.text(str(words))
        if scenario.state != "proposed" and scenario.source == proposing.GENERATED:
            st.button("Take the decision back", icon=":material/undo:", on_click=_reopen, args=(key,))


def _reopen(key: str) -> None:
    with workspace().write() as db:
        review.reopen(db, key)


def _begin(who: str) -> None:
    st.query_params["work"] = "review"
    st.query_params["as"] = who


def _work() -> None:
    who = person.named()
    fixed = task_review.fixed(who, "Tasks")
    theme.whole_window()
    if component.review(fixed):
        for name in ("work", "as"):
            st.query_params.pop(name, None)
        st.rerun()
    brought = materials(workspace())
    component.exchange(
        fixed["desk"],
        task_review.Decided,
        lambda db, event: task_review.apply(db, who, event),
        lambda db, wanted: task_review.moving(db, brought, wanted),
    )


page()
