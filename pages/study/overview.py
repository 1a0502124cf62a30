"""What the workspace holds, and what to do next."""

from typing import Any

import streamlit as st

from concord.errors import ConcordError
from concord.llm.models import currency
from concord.reports import overview
from concord.reports.agreement_report import AgreementReport
from concord.reports.overview import NextStep, Overview
from concord.reports.rated import listed_as
from concord.reports.verdict import headline
from concord.runs.registry import BENCHMARKS
from concord.runs.status import sentence as progress_sentence
from concord.store import progress, ratings, studies
from concord.store.holdings import PairsHeld, StudyHeld
from pages.parts import person, tables
from pages.parts.address import link, page_at
from pages.parts.charts import show
from pages.parts.navigation import heading
from pages.parts.plain import counted, plain, with_code
from pages.parts.reports import measured, report_of
from pages.parts.session import sentence, workspace
from pages.study.run_form import described
from pages.trust.agreement_charts import glance

MOST = 6
"""Studies shown with their figures."""

SPENT = (
    "By the prices in models.toml, in the currency that `currency` names there; without calls to models that "
    "had no price."
)
SHADES = {"being rated": "blue", "being compared": "blue", "complete": "green", "imported": "green"}
"""The colour of a study's state."""


def page() -> None:
    """Draw the page."""
    heading("")
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
    places = _studies(found)
    _counts(found)
    _runs(found)
    _conversations(found)
    for study, place in places:
        with place:
            _figures(study)


def _next(found: Overview) -> None:
    steps = overview.next_steps(found)
    if not steps:
        return
    with st.container(border=True):
        st.markdown("**What to do next**")
        for step in steps:
            _step(step)


def _step(step: NextStep) -> None:
    """The sentence of a step, with the way to its page."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(with_code(step.text), width="stretch")
        to = page_at(step.page) if step.page else None
        if to is not None:
            at = {"study": step.study, "as": step.who, "run": step.run}
            link(to.address, to.title, **{name: value for name, value in at.items() if value})


def _counts(found: Overview) -> None:
    with workspace().read() as db:
        spent = ratings.total_spent(db)
    figures = {
        "Conversations": f"{sum(p.conversations for p in found.played):,}",
        "of them judged": f"{sum(p.judged for p in found.played):,}",
        "Judges": f"{len({judge.name for judge in found.judges}):,}",
        "Calls": f"{spent.calls:,}",
        "Spent": spent.price(currency(workspace().models_path)),
    }
    about = {"Spent": SPENT}
    with st.container(horizontal=True):
        for label, figure in figures.items():
            st.metric(label, figure, border=True, width="content", help=about.get(label))


def _conversations(found: Overview) -> None:
    if not found.played:
        return
    with workspace().read() as db:
        boards = listed_as(db, {p.benchmark for p in found.played})
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
                if name in boards and any(p.judged for p in found.played if p.benchmark == name):
                    link("leaderboard", "Leaderboard", benchmark=boards[name])
    with right:
        st.subheader("Judges", anchor=False)
        if found.judges:
            tables.judges(found.judges)
        else:
            st.markdown("No judge has rated anything yet.")


def _studies(found: Overview) -> list[tuple[StudyHeld, Any]]:
    """A box a study, the usual one first; returns the places for the figures of those that have some.

    The figures are drawn at the end: the page is there while they are computed.
    """
    st.subheader("Studies", anchor=False)
    if not (found.studies or found.pairs):
        st.markdown("No study has been drawn or imported yet.")
        to = ("samples", "Draw a sample") if found.played else ("import", "Import conversations or ratings")
        link(*to)
    places = [(study, _study(found, study)) for study in found.studies[:MOST]]
    if len(found.studies) > MOST:
        with st.expander(f"{len(found.studies) - MOST} more studies"):
            for study in found.studies[MOST:]:
                link("agreement", study.title, study=study.name)
    for pairs in found.pairs[:MOST]:
        _pairs(pairs)
    return [(study, place) for study, place in places if place is not None]


def _pairs(study: PairsHeld) -> None:
    """The box of a study of pairs: its state, and who has compared."""
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            badge = f":{SHADES.get(study.stands, 'gray')}-badge[{study.stands}]"
            badge += " :orange-badge[mock]" if study.simulated else ""
            st.markdown(f"**{plain(study.title)}** {badge}", width="stretch")
            link("comparisons", "Comparisons", pairs=study.name)
        if study.done < study.dealt:
            st.progress(study.done / study.dealt)
        who = f"compared by {study.people:,} people and {study.judges:,} judges"
        st.caption(plain(f"{study.pairs:,} pairs of {study.benchmark} · {who}"))


def _study(found: Overview, study: StudyHeld) -> Any:
    """The box of a study: its state, what to do next; the place for its figures, None where it has none."""
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            badges = [f":{SHADES.get(study.stands, 'gray')}-badge[{study.stands}]"]
            badges += [":violet-badge[:material/keep: pinned]"] if study.name == found.pinned else []
            badges += [":orange-badge[mock]"] if study.simulated else []
            st.markdown(f"**{plain(study.title)}** {' '.join(badges)}", width="stretch")
            _pin(found, study)
            link("agreement", "Agreement", study=study.name)
        if study.dealt and study.closed < study.dealt:
            st.progress(study.closed / study.dealt)
        for step in overview.of_study(study, found.waiting.get(study.name, ())):
            _step(step)
        if study.rated and study.judged:
            return st.container()
        st.caption(
            plain(f"{counted(study.units, 'item')} · {study.source}")
            + (" · no judge yet" if not study.judged else "")
        )
    return None


def _pin(found: Overview, study: StudyHeld) -> None:
    """The button by which the workspace's figures come to rest on a study, or no longer do."""
    here = study.name == found.pinned
    if not here and not (study.rated and study.judged):
        return
    label, icon = ("Unpin", ":material/keep_off:") if here else ("Pin", ":material/keep:")
    about = "Agreement and corrected leaderboards use the pinned study unless you choose another."
    if st.button(label, icon=icon, type="tertiary", help=about, key=f"pin {study.name}"):
        try:
            with person.writing() as db:
                (studies.unpin(db) if here else studies.pin(db, study.name))
        except ConcordError as error:
            sentence(error)
        else:
            st.rerun()


def _figures(study: StudyHeld) -> None:
    """The verdict in words beside the best panel and judge in a picture."""
    with workspace().read() as db:
        mark = progress.mark(db, study.name)
    try:
        report = report_of(str(workspace().path), study.name, mark, measured(workspace()))
        words, table = report.summary[:2], headline(report)
    except ConcordError as error:
        st.caption(plain(str(error)))
        return
    left, right = st.columns([3, 2], gap="medium", vertical_alignment="center")
    left.markdown("  \n".join(with_code(sentence) for sentence in words or report.missing))
    left.caption(plain(", ".join(_held_in(study, report))))
    with right:
        for _, chart in glance({"glance": table}, limit=100):
            show(chart, f"Best panel and judge of {study.title}")


def _held_in(study: StudyHeld, report: AgreementReport) -> list[str]:
    """What the figures of a study rest on; fewer items than it has where judges saw refusals."""
    compared = len(report.ratings.units) - len(report.of.left_out)
    out = f" ({compared:,} compared, the rest left out for refusals)" if report.of.left_out else ""
    return [
        counted(study.units, "item") + out,
        counted(study.rated, "person", "people"),
        counted(len(report.ratings.judges), "judge"),
    ]


def _runs(found: Overview) -> None:
    st.subheader("Runs", anchor=False)
    if not found.runs:
        st.markdown("There are no runs yet.")
    for run in found.runs:
        with st.container(horizontal=True, vertical_alignment="center"):
            link("runs", f"Run {run.id}: {run.stands}", icon=tables.STATES[run.stands], run=str(run.id))
            st.caption(plain(f"{described(run)}. {progress_sentence(run)}"), width="stretch")


page()
