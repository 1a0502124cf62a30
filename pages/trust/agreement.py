"""How far the judges of a study can be trusted: a summary, then every figure, in tabs by question.

Study, criterion, tab and options stand in the address, so that a link shows the same view.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any

import streamlit as st

from concord.errors import ConcordError
from concord.reports.agreement_report import AgreementReport, Options
from concord.store import access, progress, runs
from concord.store import studies as stored
from pages.parts.address import checked, held, link, listed, nothing, one_of, some_of
from pages.parts.measuring import options_of
from pages.parts.plain import counted, plain, with_code
from pages.parts.reports import report_of, study_called
from pages.parts.session import live, sentence, workspace
from pages.parts.table import draw
from pages.trust.agreement_tabs import TABS, said_once, score_distribution

FOLLOWING = 4.0
"""Seconds after which the page looks for new answers, as long as it waits for some."""


def page() -> None:
    """Draw the page."""
    st.title("Agreement", anchor=False)
    with workspace().read() as db:
        titles, order = stored.titles(db), stored.ranked(db)
    if not titles:
        return nothing("There is no study yet.", ("samples", "Draw a sample"), ("import", "Import ratings"))
    if not checked("study", titles):
        return link("agreement", f"Agreement of {titles[order[0]]}", study=order[0])
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    with left:
        study = _study(titles, order[0])
    with workspace().read() as db:
        version = (str(workspace().path), study, progress.mark(db, study))
    _waiting(study, version[2])
    try:
        how = right.popover(
            "How it is measured", icon=":material/tune:", width="stretch", key="how", on_change="rerun"
        )
        with how:
            options = options_of(version, partial(held, drawn=bool(how.open)))
        _draw(version, report_of(*version, options))
    except ConcordError as error:
        sentence(error)


def _draw(version: tuple[str, str, str], report: AgreementReport) -> None:
    """The tabs; less where nothing can be compared."""
    if not report.of.study.blind:
        st.warning(
            "People saw the judges' scores in this study, so that it measures no agreement and no figures of "
            "agreement are shown.",
            icon=":material/visibility:",
        )
        return link("spot-check", "What people said of the judgements")
    for what in report.missing:
        st.markdown(f":material/info: {with_code(what)}")
    if report.missing:
        name = "See how people get on" if report.of.waiting else "Deal this study, see how people get on"
        link("samples", name, study=report.of.study.name)
        if report.of.waiting:
            link("annotators", "Links for annotators")
    if report.options.nominal:  # every question is answered by a category
        st.caption(_provenance(report))
        draw(report.nominal)
        st.caption("  \n".join(map(plain, report.notes)))
        return None
    criterion = _criterion(report)
    if not report.ratings.people:  # every figure would be undefined
        st.caption(_provenance(report))
        score_distribution(report, criterion)
        return None
    name, place = _tab()
    with place, st.spinner("Measuring …"):
        report = report_of(*version, _own_panel(report.ratings.judges, report.options, name))
        st.caption(_provenance(report))
        st.caption(said_once(report, criterion))
        TABS[name].draw(report, criterion)
    return None


def _tab() -> tuple[str, Any]:
    """The name of the open tab, and its place on the page."""
    made: list[Any] = []

    def draw_tabs(key: str) -> str:
        made.extend(st.tabs(list(TABS), key=key, on_change="rerun"))
        return str(st.session_state[key])

    slugs = {tab.slug: name for name, tab in TABS.items()}
    name = held("tab", next(iter(TABS)), draw_tabs, read=slugs.get, told=lambda name: TABS[name].slug)
    return name, made[list(TABS).index(name)]


def _waiting(study: str, mark: str) -> None:
    """How far people and judges are, as long as something is awaited; the page follows what comes in."""
    with workspace().read() as db:
        people = [a for a in access.annotators(db, study) if a.items and not a.simulated]
        at_work = [run for run in runs.recent(db) if run.state == "running"]
    if not at_work and all(a.done + a.skipped == a.items for a in people):
        return

    def draw_waiting() -> None:
        with workspace().read() as db:
            if progress.mark(db, study) != mark:
                st.rerun()
            people = [a for a in access.annotators(db, study) if a.items and not a.simulated]
        said = [f"{plain(a.name)} {a.done + a.skipped} of {a.items}" for a in people]
        judges = ["judges are at work"] if at_work else []
        awaited = ", ".join(said + judges)
        st.caption(f":material/hourglass_empty: Waiting for answers: {awaited}. They appear as they come.")

    live(draw_waiting, every=FOLLOWING)()


def _study(titles: Mapping[str, str], usual: str) -> str:
    """The study chosen; at first the usual one."""
    names = [*titles]

    def choose(key: str) -> str:
        return str(st.selectbox("Study", names, key=key, format_func=lambda name: study_called(name, titles)))

    return held("study", usual, choose, read=one_of(names), always=True)


def _criterion(report: AgreementReport) -> str:
    """The criterion that the figures are of, on every tab."""

    apart = report.unordered.criteria if report.unordered is not None else ()
    if apart:
        if st.query_params.get("criterion") in apart:
            st.query_params.pop("criterion")
        names = ", ".join(report.label(name) for name in apart)
        are = "is answered by a category: its" if len(apart) == 1 else "are answered by categories: their"
        st.caption(plain(f"{names} {are} figures stand in a table of the tab Judges."))

    def choose(key: str) -> str:
        return str(
            st.pills(
                "Criterion",
                report.criteria,
                required=True,
                key=key,
                format_func=lambda name: plain(report.label(name)),
            )
        )

    return held("criterion", report.main, choose, read=one_of(report.criteria), always=True)


def _own_panel(judges: tuple[str, ...], options: Options, tab: str) -> Options:
    """A panel that the researcher chooses on the tab Panels; the address keeps it for the others.

    Of fewer than three judges every panel is measured anyhow.
    """
    if len(judges) < (2 if options.runs == "single" else 3):
        return options
    read = some_of(judges)
    own = read(st.query_params.get("panel", "[]")) or []
    if tab == "Panels":
        usual: list[str] = []
        own = held(
            "panel",
            usual,
            lambda key: st.multiselect(
                "A panel of your own",
                judges,
                key=key,
                placeholder="Choose two or more judges: their mean is measured beside the others",
            ),
            read=read,
            told=listed,
        )
    chosen = tuple(judge for judge in judges if judge in own)
    return replace(options, panels=(chosen,)) if len(chosen) > 1 else options


def _provenance(report: AgreementReport) -> str:
    """What every figure of a tab rests on, in one line."""
    of, ratings = report.of, report.ratings
    people = "unnamed people" if of.study.anonymous else counted(len(ratings.people), "person", "people")
    compared = len(ratings.units) - len(of.left_out)
    parts = [
        f"Study {plain(of.study.name)}",
        f"n = {compared:,} of {len(ratings.units):,} items"
        if of.left_out
        else f"n = {counted(compared, 'item')}",
        f"{people}, {counted(len(ratings.judges), 'judge')}",
        f"{len(of.left_out)} left out for refusals" if of.left_out else "",
        f"{plain(', '.join(one.annotator for one in of.excluded))} "
        f"{'counted, though left out' if of.with_excluded else 'left out'} by decision"
        if of.excluded
        else "",
        f"{report.options.resamples} resamples, seed {report.options.seed}",
        f"measured {date.today().isoformat()}",
    ]
    if of.simulated:
        parts.append(":orange-badge[mock] neither people nor language models")
    return " · ".join(filter(None, parts))


page()
