"""Runs: start one, watch it, stop and resume it.

A run is a process of its own; closing this page stops nothing.
"""

import streamlit as st

from concord.benchmarks.plans import from_dict
from concord.errors import ConcordError
from concord.runs import planning, renaming
from concord.runs.status import duration
from concord.store import conversations, runs
from concord.store.conversations import Filter
from concord.store.runs import Progress
from pages.parts.address import link
from pages.parts.plain import plain
from pages.parts.session import live, sentence, workspace
from pages.parts.tables import STATES
from pages.study import run_form, run_watch

SHOWN = 20
CHANGED = "runs with a changed model"


def page() -> None:
    """Draw the page."""
    st.title("Runs", anchor=False)
    run_watch.draw()
    views = st.tabs(["Start a run", "Further judges", "Earlier runs"], key="view", on_change="rerun")
    for tab, draw in zip(views, (run_form.new, run_form.further_judges, _earlier), strict=True):
        if tab.open:
            with tab:
                live(draw)()


def _earlier() -> None:
    with workspace().read() as db:
        known = runs.recent(db, SHOWN)
    ended = [run for run in known if run.state != "running" or run.interrupted]
    if not ended:
        st.markdown("No run has ended yet.")
    for run in ended:
        heading = f"Run {run.id}: {run.stands} · {run_form.described(run)}"
        with st.expander(plain(heading), icon=STATES[run.stands], expanded=run is ended[0]):
            _ended(run)


def _ended(run: Progress) -> None:
    if run.interrupted:
        st.warning(
            "Its process ended without a message: it was killed, or the machine restarted. "
            "What it had stored is kept."
        )
    elif run.message:
        (st.error if run.state == "broken" else st.info)(plain(run.message))
    run_watch.figures(run)
    st.caption(plain(f"Started {run.started[:16].replace('T', ' ')} UTC, took {duration(run.elapsed)}"))
    limit = None
    if run.max_cost is not None and (run.left or run.failed):
        limit = st.number_input(
            "Resume until this cost", min_value=0.0, value=run.max_cost, key=f"limit {run.id}", width=200
        )
    with st.container(horizontal=True):
        unfinished = run.left or run.state != "finished"
        if unfinished and st.button("Resume", icon=":material/play_circle:", key=f"resume {run.id}"):
            _again(run, limit, retry_failed=False)
        failed = f"Try the {run.failed:,} failed again"
        if run.failed and st.button(failed, icon=":material/replay:", key=f"retry {run.id}"):
            _again(run, limit, retry_failed=True)
    if run.id in (changed := st.session_state.get(CHANGED, {})):
        sentence(changed[run.id][0])
        plan = run_form.new_name(from_dict(run.plan), f"changed {run.id}", "Copy its entry to it and resume")
        if plan is not None:
            run_form.begin(plan, max_cost=limit, retry_failed=changed.pop(run.id)[1])
            st.rerun()
    _failures(run)


def _failures(run: Progress) -> None:
    """What failed and was not done since, by reason with one raw example, and where verdicts failed."""
    if not run.failed:
        return
    with workspace().read() as db:
        reasons = runs.reasons(db, run.id)
        unreadable = conversations.count(db, Filter(benchmark=run.benchmark, failed=True))
    for reason in reasons:
        whose = f" ({', '.join(reason.models)})" if reason.models else ""
        st.markdown(
            f"**{reason.failed:,} × {plain(reason.reason + whose)}**  \n:red[{plain(reason.message)}]"
        )
        more = f" and {reason.failed - len(reason.works):,} more" if reason.failed > len(reason.works) else ""
        st.caption(plain(", ".join(reason.works) + more))
        if reason.raw:
            with st.expander(plain(f"What was answered, for example: {reason.reason}")):
                st.code(reason.raw, language=None, wrap_lines=True)
    if unreadable:
        link(
            "conversations",
            f"{unreadable:,} conversations with judgements that could not be read",
            benchmark=run.benchmark,
            unreadable="true",
        )


def _again(run: Progress, limit: float | None, retry_failed: bool) -> None:
    """Resume a run. Where a model's entry has changed, the run asks for a new name of the model first."""
    changed = st.session_state.setdefault(CHANGED, {})
    changed.pop(run.id, None)
    try:
        plan = from_dict(run.plan)
        planning.job(workspace(), plan)
    except renaming.ChangedModel as error:
        changed[run.id] = error, retry_failed
    except ConcordError as error:
        st.session_state["refused"] = str(error)
    else:
        run_form.begin(plan, max_cost=limit, retry_failed=retry_failed, batch=bool(run.waiting))
    # The whole page: what begins, or why it cannot, is shown at its top.
    st.rerun()


page()
