"""How far the judges of a study can be trusted: the answer, then every figure, in tabs by question.

Study, criterion, tab and options stand in the address, so that a link shows the same view.
"""

from collections.abc import Mapping
from datetime import date
from functools import partial
from typing import Any

import streamlit as st

from concord.codes import Tab
from concord.errors import ConcordError
from concord.exchange import publish
from concord.messages import TABS
from concord.reports.agreement_report import AgreementReport
from concord.store import looks, progress, runs
from concord.store import studies as stored
from concord.store.audit import moment
from pages.parts import menu
from pages.parts.address import bound_value, checked, choice, empty_page, link, listed, returned
from pages.parts.navigation import heading
from pages.parts.person import exported
from pages.parts.plain import plain
from pages.parts.reports import options_of, report_of, study_called
from pages.parts.session import live, sentence, workspace
from pages.parts.ways import explain
from pages.trust.agreement_tabs import (
    DRAWINGS,
    MOCK,
    answer,
    draw_tab,
    limits,
    reasons,
    said_once,
    score_distribution,
)

FOLLOWING = 4.0
"""Seconds after which the page looks for new answers, as long as it waits for some."""


def page() -> None:
    """Draw the page."""
    returned("agreement")
    heading("agreement")
    with workspace().read() as db:
        titles = stored.titles(db)
        default = next(iter([*stored.ranked(db), *titles]), "")
    if not titles:
        return empty_page("No study yet.", ("samples", "Draw a sample"), ("import", "Import ratings"))
    if not checked("study", titles):
        return link("agreement", f"Agreement of {titles[default]}", study=default)
    left, middle, right = st.columns([2, 3, 2], vertical_alignment="bottom")
    with left:
        study = _study(titles, default)
    with workspace().read() as db:
        version = (str(workspace().path), study, progress.mark(db, study))
    _waiting(study, version[2])
    try:
        popover = right.popover(
            "How this is measured", icon=":material/tune:", width="stretch", key="how", on_change="rerun"
        )
        with popover:
            options = options_of(partial(bound_value, is_drawn=bool(popover.open)))
        _draw(report_of(*version, options), middle, popover)
    except ConcordError as error:
        with workspace().read() as db:
            pairs = study in stored.names(db, pairs=True)
        if pairs:
            st.info(plain(f"“{study}” is a study of pairs: Comparisons shows its figures."))
            link("comparisons", "Comparisons", pairs=study)
        else:
            sentence(error)


def _noted(text: str) -> None:
    st.markdown(f":material/info: {text}")


def _draw(report: AgreementReport, top: Any, popover: Any) -> None:
    """The answer, then the tabs; less where nothing can be compared."""
    for message in report.missing:
        explain(message, workspace().command, _noted)
    if report.missing:
        name = "See the progress of annotators" if report.data.waiting else "Assign this study to annotators"
        link("samples", name, study=report.data.study.name)
        if report.data.waiting:
            link("annotators", "Links for annotators")
        if not report.ratings.judges:
            link("runs", "Let judges rate these conversations", study=report.data.study.name, judge="true")
    with top:
        criterion_settings: dict[str, Any] = {
            "format_func": lambda name: plain(report.label(name)),
            "widget": st.pills,
        }
        criterion = choice("Criterion", "criterion", report.criteria, report.main, **criterion_settings)
    if not report.ratings.people:  # every figure would be undefined
        if report.data.simulated:
            st.caption(MOCK)
        score_distribution(report, criterion)
        return
    with popover:
        mock = (
            " · from rule-based mock models, not from real models or people" if report.data.simulated else ""
        )
        st.caption(said_once(report, criterion) + mock)
    with st.spinner("Measuring …"):
        answer(report, criterion)
    _files(report)
    tabs = [tab for tab, drawing in DRAWINGS.items() if criterion in report.ordered or drawing.categories]
    look: dict[str, Any] = {"format_func": TABS.__getitem__, "label_visibility": "collapsed"}
    tab = choice("Question", "tab", tabs, tabs[0], widget=st.pills, **look)
    with st.spinner("Measuring …"):
        if tab == tabs[0]:
            reasons(report, criterion)
        draw_tab(Tab(tab), report, criterion)
    if report.limits or report.notes:
        with st.expander("What limits this answer", icon=":material/info:"):
            limits(report)


def _files(report: AgreementReport) -> None:
    """What the page's menu offers beside its tables; what the page has not measured yet is measured then."""
    name = report.data.study.name

    def report_bytes() -> bytes:
        with workspace().read() as db:
            archive = publish.report_zip(db, report, date_made=date.today())
        exported("report", name)
        return archive

    menu.offer("Report with all figures (HTML, JSON, CSV, LaTeX: ZIP)", report_bytes, f"{name}-report", "zip")


def _waiting(study: str, mark: str) -> None:
    """How far people and judges are, as long as something is awaited; the page follows what comes in."""
    with workspace().read() as db:
        people = looks.annotators(db, study)
        at_work = [run for run in runs.recent(db) if run.state == "running"]
    if not at_work and not people:
        return

    def draw_waiting() -> None:
        with workspace().read() as db:
            if progress.mark(db, study) != mark:
                st.rerun()
            people = looks.annotators(db, study)
        people_progress = [
            plain(f"{a.name} {a.done + a.skipped} of {a.items}")
            + (f" (last here {moment(a.used)[:10]})" if a.used else "")
            for a in people
        ]
        judges = ["judges are running"] if at_work else []
        sources = ", ".join(people_progress + judges)
        st.caption(f":material/hourglass_empty: Waiting for answers: {sources}. New answers appear here.")

    live(draw_waiting, seconds=FOLLOWING)()
    if people:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(
                "Has an annotator stopped? Take the items back, exclude the annotator, or close the study."
            )
            link("annotators", "Items and annotators", study=study, person=people[0].name)
            link("samples", "Close the study", study=study)


def _study(titles: Mapping[str, str], default: str) -> str:
    """The study chosen; at first the usual one."""
    return listed("Study", "study", [*titles], default, format_func=partial(study_called, titles=titles))


page()
