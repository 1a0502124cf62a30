"""Runs: start one, watch it, stop and resume it.

A run is a process of its own; closing this page stops nothing.
"""

import streamlit as st

from concord.errors import ConcordError, NotFound
from concord.runs import planning
from concord.runs.plans import from_dict
from concord.runs.status import duration
from concord.store import runs
from concord.store.runs import Progress
from pages.parts.address import go, link
from pages.parts.navigation import heading
from pages.parts.plain import plain
from pages.parts.session import live, sentence, workspace
from pages.parts.ways import explain
from pages.study import run_form, run_watch

MOST_LISTED = 20


def page() -> None:
    """Draw one run, if the address names it or one was just started; else the forms and all runs."""
    heading("runs")
    number = st.query_params.get("run")
    if number is not None:
        st.button("All runs", icon=":material/arrow_back:", on_click=_close)
        try:
            _one(number)
        except NotFound as error:
            sentence(error)
        return
    run_watch.draw()
    names = ["Start a run", "Let judges rate", "Earlier runs"]
    # Who comes from a rubric or a study finds its form; a default that changed later would undo a click.
    first = {"rubric", "judge"} & st.query_params.keys()
    if "benchmark" in st.query_params:
        st.session_state["view"] = names[bool(first)]
    st.session_state.setdefault("view", names[bool(first)])
    run_form.preset()
    views = st.tabs(names, key="view", on_change="rerun")
    for tab, draw in zip(views, (run_form.new, run_form.further_judges, _earlier), strict=True):
        if tab.open:
            with tab:
                live(draw)()


def _close() -> None:
    del st.query_params["run"]


def _earlier() -> None:
    with workspace().read() as db:
        latest = runs.recent(db, MOST_LISTED)
    finished = [run for run in latest if run.state != "running" or run.interrupted]
    if not finished:
        st.markdown("No run has ended yet.")
    for run in finished:
        heading = f"Run {run.id}: {run.stands} · {run_form.described(run)}"
        with st.expander(plain(heading), icon=run_watch.STATES[run.stands], expanded=run is finished[0]):
            _finished_run(run)


def _one(number: str) -> None:
    """The run of this number, while it works and afterwards."""
    # More digits than any number in the store has.
    if not number.isdecimal() or len(number) > 15:
        raise NotFound(f"“{number[:40]}” is not a run number. Go back to all runs.")
    with workspace().read() as db:
        run = runs.get(db, int(number))
    run_watch.follow([run])
    if not run_watch.running(run):
        st.subheader(plain(f"Run {run.id}: {run.stands}"), anchor=False)
        st.markdown(plain(run_form.described(run)))
        _finished_run(run)
        if not run.stored + run.done:
            return
        with st.container(horizontal=True, vertical_alignment="center"):
            if st.button("Read the conversations", type="primary", icon=":material/forum:"):
                go("conversations", benchmark=run.benchmark)
            link("samples", "Draw a sample for annotators")
            link("leaderboard", "Leaderboard", benchmark=run.benchmark)


def _finished_run(run: Progress) -> None:
    """A run that ended."""
    if run.interrupted:
        st.warning(
            "Its process ended without a message: it was killed, or the machine restarted. Stored results "
            "stay."
        )
    elif run.message:
        explain(run.message, workspace().command, st.error if run.state == "broken" else st.info)
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
            _resume(run, limit, retry_failed=False)
        failed = f"Retry the {run.failed:,} failed"
        if (
            run.failed
            and run_watch.to_retry(run)
            and st.button(failed, icon=":material/replay:", key=f"retry {run.id}")
        ):
            _resume(run, limit, retry_failed=True)
    run_watch.failures(run)


def _resume(run: Progress, limit: float | None, retry_failed: bool) -> None:
    """Resume a run; what keeps it from being resumed stands at the top of the page."""
    try:
        plan = from_dict(run.plan)
        planning.job(workspace(), plan)
    except ConcordError as error:
        st.session_state["refused"] = str(error)
    else:
        batch = bool(run.waiting)
        run_form.begin(plan, True, max_cost=limit, retry_failed=retry_failed, batch=batch)
    # The whole page: what begins takes its place, or why it cannot stands at its top.
    st.rerun()


page()
