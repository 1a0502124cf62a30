"""What the workspace holds, and what to do next."""

import streamlit as st

from concord.benchmarks import BENCHMARKS
from concord.reports import overview
from concord.reports.leaderboards import compares
from concord.reports.overview import Overview
from concord.runs.status import sentence as progress_sentence
from concord.store import ratings
from pages.parts import tables
from pages.parts.address import link, page_at
from pages.parts.plain import plain
from pages.parts.session import workspace


def page() -> None:
    """Draw the page."""
    st.title("Overview", anchor=False)
    st.caption(plain(f"Workspace “{workspace().path.name}”"), help=plain(str(workspace().path)))
    found = overview.look(workspace())
    if found.simulated:
        free = ", ".join(f"“{study.title}”" for study in found.without_simulated)
        st.info(
            "Mock models take part here. They follow rules: their replies and ratings say nothing about "
            "language models or people." + (plain(f" They have no part in {free}.") if free else ""),
            icon=":material/smart_toy:",
        )
    _next(found)
    _counts(found)
    _conversations(found)
    left, right = st.columns(2, gap="large")
    with left:
        _studies(found)
    with right:
        _runs(found)


def _next(found: Overview) -> None:
    steps = overview.next_steps(found)
    if not steps:
        return
    with st.container(border=True):
        st.markdown("**What to do next**")
        for step in steps:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(plain(step.text), width="stretch")
                to = page_at(step.page) if step.page else None
                if to is not None:
                    link(to.address, to.title, **({"study": step.study} if step.study else {}))


def _counts(found: Overview) -> None:
    with workspace().read() as db:
        spent = ratings.total_spent(db)
    figures = {
        "Conversations": f"{sum(p.conversations for p in found.played):,}",
        "of them judged": f"{sum(p.judged for p in found.played):,}",
        "Judges": f"{len(found.judges):,}",
        "Calls": f"{spent.calls:,}",
        "Spent": f"{spent.cost:,.2f}",
    }
    with st.container(horizontal=True):
        for label, figure in figures.items():
            st.metric(label, figure, border=True, width=140)


def _conversations(found: Overview) -> None:
    if not found.played:
        return
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.subheader("Conversations", anchor=False)
        for name in dict.fromkeys(p.benchmark for p in found.played):
            known = BENCHMARKS.get(name)
            st.markdown(
                f"**{plain(known.title if known else name)}**" + (f": {plain(known.about)}" if known else "")
            )
            tables.played(
                [p for p in found.played if p.benchmark == name], judged=overview.wants_judges(name)
            )
            with st.container(horizontal=True):
                link("conversations", "Browse them", benchmark=name)
                if known and compares(known) and any(p.judged for p in found.played if p.benchmark == name):
                    link("leaderboard", "Leaderboard", benchmark=name)
    with right:
        st.subheader("Judges", anchor=False)
        if found.judges:
            tables.judges(found.judges)
        else:
            st.markdown("No judge has rated anything yet.")


def _studies(found: Overview) -> None:
    st.subheader("Studies", anchor=False)
    if not found.studies:
        st.markdown("No study has been drawn or imported yet.")
    for study in found.studies:
        link("samples", study.title, study=study.name)
        if study.dealt:
            st.progress(
                study.closed / study.dealt,
                f"{study.closed:,} of {study.dealt:,} dealt items rated or skipped · {study.units:,} units",
            )
        else:
            st.caption(plain(f"{study.units:,} units, {study.source}; nothing is dealt to annotators here"))


def _runs(found: Overview) -> None:
    st.subheader("Runs", anchor=False)
    if not found.runs:
        st.markdown("There are no runs yet.")
    for run in found.runs:
        link("runs", f"Run {run.id}: {run.stands}", icon=tables.STATES[run.stands])
        st.caption(plain(progress_sentence(run)))


page()
