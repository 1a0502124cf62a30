"""Runs that are running: their progress, what failed, and the button that stops them."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from concord.errors import ConcordError
from concord.llm.models import currency
from concord.runs import planning, status
from concord.runs.plans import from_dict
from concord.runs.status import duration
from concord.store import conversations, runs
from concord.store.conversations import Filter
from concord.store.runs import Progress
from pages.parts.address import link
from pages.parts.plain import plain, with_code
from pages.parts.session import live, workspace
from pages.study import run_form

EVERY_SECONDS = 1.0
MOST_LISTED = 20

STATES = {
    "running": ":material/play_circle:",
    "interrupted": ":material/power_off:",
    "finished": ":material/check_circle:",
    "finished with failures": ":material/rule:",
    "stopped": ":material/stop_circle:",
    "waiting for batches": ":material/hourglass_top:",
    "broken": ":material/error:",
}


def draw(benchmark: str = "") -> None:
    """Draw the runs that are running (of a benchmark), every second while there are any."""
    with workspace().read() as db:
        recent_runs = runs.recent(db, MOST_LISTED)
    follow([run for run in recent_runs if benchmark in ("", run.benchmark)])


def follow(recent_runs: Sequence[Progress]) -> None:
    """Draw those of the runs that are running, every second."""
    if "refused" in st.session_state:
        st.error(plain(st.session_state.pop("refused")), icon=":material/error:")
    active = [run.id for run in recent_runs if running(run)]
    watched = st.session_state.setdefault("seen running", set[int]())
    if finished := watched - set(active):
        # It ended while this page was drawn, which may have read what was stored before.
        watched -= finished
        st.rerun()
    live(_watched, seconds=EVERY_SECONDS if active else None)(active)


def running(run: Progress) -> bool:
    """Whether a run's process works on it."""
    return run.state == "running" and not run.interrupted


def _watched(active: list[int]) -> None:
    """Draw the runs that are running; reruns the whole page when one ended."""
    for number in active:
        with workspace().read() as db:
            run = runs.get(db, number)
        if not running(run):
            st.session_state["seen running"].discard(number)
            failed = f", {run.failed:,} failed" if run.failed else ""
            st.toast(f"Run {run.id}: {run.stands}{failed}", icon=STATES[run.stands])
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
                help="Calls in flight finish and are stored. You can resume the run later.",
            )
        figures(run)
        if run.message:
            st.warning(plain(run.message), icon=":material/hourglass_empty:")
        failures(run)


def figures(run: Progress) -> None:
    """Draw the progress of a run in figures."""
    result_count = run.stored + run.done
    if not run.planned and run.state == "running":
        st.progress(0.0, "Reading stored results …")
        return
    st.progress(min(1.0, result_count / run.planned) if run.planned else 1.0)
    rate = run.spent.calls / run.elapsed if run.elapsed > 0 else 0.0
    paid_in = currency(workspace().models_path)
    left = run.seconds_left if run.state == "running" and run.left else None
    figures = {
        "stored": f"{run.stored + run.done:,} of {run.planned:,}",
        "failed": f"{run.failed:,}",
        "calls": f"{run.spent.calls:,} ({rate:.1f}/s)",
        "tokens": f"{run.spent.input_tokens + run.spent.output_tokens:,}",
        **({"of them cached": f"{run.spent.cached_tokens:,}"} if run.spent.cached_tokens else {}),
        "cost": status.cost(run, paid_in),
        **_of_a_thousand(run, paid_in),
        **({"time left": "–" if left is None else duration(left)} if run.state == "running" else {}),
    }
    with st.container(horizontal=True, gap="medium"):
        for label, value in figures.items():
            st.markdown(f"**{plain(value)}**  \n:small[:gray[{plain(label)}]]", width="content")


def _of_a_thousand(run: Progress, paid_in: str) -> dict[str, str]:
    """What a thousand more of the same would cost, by what a result of this run did; {} before its end."""
    if not run.done or run.state == "running":
        return {}
    try:
        results = planning.pieces_each(workspace(), from_dict(run.plan))
    except ConcordError:
        results = 0  # It cannot be carried out today, such as without its rubric.
    plays = run.plan.get("kind") == "play"
    label = f"to {'make' if plays else 'judge'} 1,000 more conversations" if results else "for 1,000 results"
    if plays and results > 1:
        label += ", judged alike"
    cost = 1000 * max(results, 1) * run.spent.cost / run.done
    return {label: replace(run.spent, cost=cost).price(paid_in)}


def failures(run: Progress) -> None:
    """What failed and was not done since, by reason with one raw example, and where verdicts failed."""
    if not run.failed:
        return
    with workspace().read() as db:
        reasons = runs.reasons(db, run.id)
        unreadable = conversations.count(db, Filter(benchmark=run.benchmark, failed=True))
    for reason in reasons:
        model_names = f" ({', '.join(reason.models)})" if reason.models else ""
        st.markdown(
            f"**{reason.failed:,} × {plain(reason.reason + model_names)}**  "
            f"\n:red[{with_code(reason.message)}]"
        )
        remainder = (
            f" and {reason.failed - len(reason.works):,} more" if reason.failed > len(reason.works) else ""
        )
        st.caption(plain(", ".join(reason.works) + remainder))
        if reason.raw:
            with st.expander(plain(f"Example of an answer: {reason.reason}")):
                st.code(reason.raw, language=None, wrap_lines=True)
    if (unlisted := run.failed - sum(reason.failed for reason in reasons)) > 0:
        st.caption(
            f"{unlisted:,} of the {run.failed:,} failures are not listed: they are judgements of failed "
            "conversations, or a later run has repeated them."
        )
    if unreadable:
        link(
            "conversations",
            f"{unreadable:,} conversations with failed or truncated replies",
            benchmark=run.benchmark,
            unreadable="true",
        )


def to_retry(run: Progress) -> bool:
    """Whether anything that failed in a run was not done since."""
    with workspace().read() as db:
        return bool(runs.reasons(db, run.id))


def _stop(number: int) -> None:
    with workspace().write() as db:
        runs.ask_to_stop(db, number)
