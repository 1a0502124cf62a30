"""Runs: start one, watch it, stop and resume it. A run is a process of its own; closing this page stops nothing."""

from __future__ import annotations

import streamlit as st

from core import launch, stages
from core.benchmarks.benchmark import Plan
from core.launch import Launched
from core.progress import duration
from core.store import conversations, runs
from core.store.conversations import Filter
from core.store.runs import Progress
from pages.parts import run_form
from pages.parts.links import link
from pages.parts.live import live
from pages.parts.plain import plain
from pages.parts.session import workspace
from pages.parts.tables import STATES

EVERY_SECONDS = 1.0
SHOWN = 20


def page() -> None:
    """Draw the page."""
    st.title("Runs", anchor=False)
    if "refused" in st.session_state:
        st.error(plain(st.session_state.pop("refused")), icon=":material/error:")
    with workspace().read() as db:
        known = runs.recent(db, SHOWN)
    active = [run.id for run in known if run.state == "running" and not run.interrupted]
    live(_watched, every=EVERY_SECONDS if active or _launched() else None)(active)
    views = st.tabs(["Start a run", "Further judges", "Earlier runs"], key="view", on_change="rerun")
    for tab, draw in zip(views, (run_form.new, run_form.further_judges, _earlier), strict=True):
        if tab.open:
            with tab:
                live(draw)()


def _launched() -> list[Launched]:
    """The runs this page started that have not been seen in the store yet."""
    waiting: list[Launched] = st.session_state.setdefault("launched", [])
    return waiting


def _watched(active: list[int]) -> None:
    """What is at work now. Draws the whole page anew when something began or ended."""
    for launched in list(_launched()):
        number = launch.run_of(workspace(), launched)
        if number is not None:
            _launched().remove(launched)
            st.rerun()
        elif launched.ended:
            st.error(
                plain(launched.said() or "It ended without a word; see its log.")
                + f"  \n{plain(launched.log)}"
            )
            if st.button("Dismiss", key=f"dismiss {launched.pid}"):
                _launched().remove(launched)
                st.rerun()
        else:
            st.status("Starting …")
    for number in active:
        with workspace().read() as db:
            run = runs.get(db, number)
        if run.state != "running" or run.interrupted:
            state = "interrupted" if run.interrupted else run.state
            st.toast(f"Run {run.id} {state}: it stands under “Earlier runs”.", icon=STATES[state])
            st.rerun()
        _card(run)


def _card(run: Progress) -> None:
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(f"**Run {run.id}** · {plain(run_form.described(run))}")
            st.button(
                "Stopping …" if run.stop_asked else "Stop",
                icon=":material/stop_circle:",
                key=f"stop {run.id}",
                disabled=run.stop_asked,
                on_click=_stop,
                args=(run.id,),
                help="Calls in flight are finished and kept; the same run continues later.",
            )
        _progress(run)
        with workspace().read() as db:
            stage = stages.sentence(db, run.benchmark)
        if stage:
            st.caption(plain(stage))


def _progress(run: Progress) -> None:
    """Where it stands, in figures."""
    made = run.stored + run.done + run.failed
    if not run.planned and run.state == "running":
        st.progress(0.0, "Looking what is stored already …")
        return
    st.progress(min(1.0, made / run.planned) if run.planned else 1.0)
    rate = run.spent.calls / run.elapsed if run.elapsed > 0 else 0.0
    left = run.seconds_left if run.state == "running" and run.left else None
    figures = {
        "stored": f"{run.stored + run.done:,} of {run.planned:,}",
        "failed": f"{run.failed:,}",
        "calls": f"{run.spent.calls:,} ({rate:.1f}/s)",
        "tokens": f"{run.spent.input_tokens + run.spent.output_tokens:,}",
        "cost": f"{run.spent.cost:,.2f}",
        "time left": "–" if left is None else duration(left),
    }
    with st.container(horizontal=True, gap="large"):
        for label, value in figures.items():
            st.markdown(f"**{plain(value)}**  \n:small[:gray[{label}]]", width="content")


def _earlier() -> None:
    with workspace().read() as db:
        known = runs.recent(db, SHOWN)
    ended = [run for run in known if run.state != "running" or run.interrupted]
    if not ended:
        st.markdown("No run has ended yet.")
    for run in ended:
        state = "interrupted" if run.interrupted else run.state
        heading = f"Run {run.id}: {state} · {run_form.described(run)}"
        with st.expander(plain(heading), icon=STATES[state], expanded=run is ended[0]):
            _ended(run)


def _ended(run: Progress) -> None:
    if run.interrupted:
        st.warning(
            "Its process ended without a word: it was killed, or the machine restarted. What it had stored is kept."
        )
    elif run.message:
        (st.error if run.state == "broken" else st.info)(plain(run.message))
    _progress(run)
    st.caption(plain(f"Started {run.started[:16].replace('T', ' ')} UTC, took {duration(run.elapsed)}"))
    with st.container(horizontal=True):
        if run.left or run.state != "finished":
            st.button(
                "Resume",
                icon=":material/play_circle:",
                key=f"resume {run.id}",
                on_click=_again,
                args=(run, False),
            )
        if run.failed:
            st.button(
                f"Try the {run.failed:,} failed again",
                icon=":material/replay:",
                key=f"retry {run.id}",
                on_click=_again,
                args=(run, True),
            )
    _failures(run)


def _failures(run: Progress) -> None:
    """What failed and was not done since: endpoints that did not answer, told once each, and judgements that could not be read."""
    if not run.failed:
        return
    with workspace().read() as db:
        failures = runs.failures(db, limit=200, run=run.id)
        unreadable = conversations.count(db, Filter(benchmark=run.benchmark, failed=True))
    works: dict[str, list[str]] = {}
    for failure in failures:
        works.setdefault(failure["message"], []).append(failure["work"])
    for message, failed in works.items():
        more = f" and {len(failed) - 5:,} more" if len(failed) > 5 else ""
        st.markdown(f":red[{plain(message)}]")
        st.caption(plain(", ".join(failed[:5]) + more))
    for failure in failures:
        if failure["raw"]:
            with st.expander(plain(f"What was answered for {failure['work']}")):
                st.code(failure["raw"], language=None, wrap_lines=True)
    if unreadable:
        link(
            "conversations",
            f"{unreadable:,} conversations with judgements that could not be read",
            benchmark=run.benchmark,
            unreadable="true",
        )


def _stop(number: int) -> None:
    with workspace().write() as db:
        runs.ask_to_stop(db, number)


def _again(run: Progress, retry_failed: bool) -> None:
    run_form.begin(Plan.from_dict(run.plan), retry_failed=retry_failed)


page()
