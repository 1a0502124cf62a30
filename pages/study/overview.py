"""What the workspace holds, and what to do next."""

from typing import Any

import streamlit as st

from concord.errors import ConcordError
from concord.llm.models import currency
from concord.reports import overview
from concord.reports.overview import NextStep, Overview
from concord.reports.screen import rated
from concord.runs.registry import BENCHMARKS
from concord.scores import marked
from concord.store import progress, ratings
from concord.store.holdings import StudyHeld
from concord.table import Cell, Column, Table
from pages.parts import table
from pages.parts.address import go, link, page_at
from pages.parts.charts import show
from pages.parts.navigation import heading
from pages.parts.plain import plain, quantity, with_code
from pages.parts.reports import default_options, report_of
from pages.parts.session import workspace
from pages.trust.agreement_charts import glance

MOST_STUDIES = 6
"""Studies shown with their figures."""

MOST_PLAYERS = 6
"""Players of a benchmark that are named."""
SHADES = {"being rated": "blue", "being compared": "blue", "complete": "green", "imported": "green"}
"""The colour of a study's state."""


def page() -> None:
    """Draw the page."""
    heading("")
    contents = overview.look(workspace())
    mock = (
        ":orange-badge[mock] Some results come from rule-based mock models. They say nothing about real "
        "models."
    )
    st.caption(
        plain(f"Workspace “{workspace().path.name}”. ") + (mock if contents.simulated else ""),
        help=plain(str(workspace().path)),
    )
    if steps := overview.next_steps(contents):
        st.markdown("**What to do next**")
    for place, step in enumerate(steps):
        _step(step, first=not place)
    places = _studies(contents)
    _stored_conversations(contents)
    for study, place in places:
        with place:
            _figures(study)


def _step(step: NextStep, *, first: bool = False) -> None:
    """The sentence of a step, with the way to its page: the button of the page for the first."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(with_code(step.text), width="stretch")
        if (target := page_at(step.page) if step.page else None) is None:
            return
        if not first:
            link(target.address, target.title, **step.parameters)
        elif st.button(target.title, type="primary", icon=target.icon):
            go(target.address, **step.parameters)


def _stored_conversations(contents: Overview) -> None:
    """What is stored: conversations by benchmark."""
    if not contents.played:
        return
    st.subheader("Conversations", anchor=False)
    with workspace().read() as db:
        usage = ratings.total_spent(db)
    price = usage.price(currency(workspace().models_path))
    cost = "an unknown cost (models.toml lacks prices)" if price == "not known" else price
    if usage.calls:
        st.caption(plain(f"{usage.calls:,} calls were made, for {cost}."))
    rows = []
    for name in dict.fromkeys(p.benchmark for p in contents.played):
        groups = [p for p in contents.played if p.benchmark == name]
        benchmark = BENCHMARKS.get(name)
        players = list(dict.fromkeys(marked(p.player, p.simulated) for p in groups))
        remainder = f" and {len(players) - MOST_PLAYERS} more" if len(players) > MOST_PLAYERS else ""
        row: dict[str, Cell] = {
            "benchmark": benchmark.title if benchmark else name,
            "conversations": sum(p.conversations for p in groups),
            "judged": sum(p.judged for p in groups) if overview.wants_judges(name) else None,
            "players": ", ".join(players[:MOST_PLAYERS]) + remainder,
            "languages": ", ".join(dict.fromkeys(p.language for p in groups)),
            "name": name,
        }
        rows.append(row)
    columns = (*map(Column, [*rows[0]][:-1]), Column("name", file_only=True))
    conversations_table = Table("held", "Conversations", columns, tuple(rows), "Select a row to browse them.")
    if row_selected := table.draw(conversations_table, titled=False, selectable=True):
        go("conversations", benchmark=str(row_selected["name"]))
    with st.container(horizontal=True):
        link("conversations", "Browse them all")
        link("leaderboard", "Leaderboard")


def _studies(contents: Overview) -> list[tuple[StudyHeld, Any]]:
    """A box a study, the usual one first; returns the places for the figures of those that have some.

    The figures are drawn at the end: the page is there while they are computed.
    """
    if contents.studies or contents.pairs:
        st.subheader("Studies", anchor=False)
    places = [(study, _study(contents, study)) for study in contents.studies[:MOST_STUDIES]]
    if len(contents.studies) > MOST_STUDIES:
        with st.expander(f"{len(contents.studies) - MOST_STUDIES} more studies"):
            for study in contents.studies[MOST_STUDIES:]:
                link("agreement", study.title, study=study.name)
    for pairs in contents.pairs[:MOST_STUDIES]:
        _study(contents, pairs)
    return [(study, place) for study, place in places if place is not None]


def _head(study: StudyHeld) -> None:
    """The title and the state of a study, the way to its figures, and how far people are."""
    with st.container(horizontal=True, vertical_alignment="center"):
        badges = [f":{SHADES.get(study.stands, 'gray')}-badge[{study.stands}]"]
        badges += [":orange-badge[mock]"] if study.simulated else []
        st.markdown(f"**{plain(study.title)}** {' '.join(badges)}", width="stretch")
        if study.pairs_of:
            link("comparisons", "Comparisons", pairs=study.name)
        else:
            link("agreement", "Agreement", study=study.name)
    if study.closed < study.dealt:
        st.progress(study.closed / study.dealt)


def _study(contents: Overview, study: StudyHeld) -> Any:
    """The box of a study: its state, what to do next; the place for its figures, None where it has none."""
    with st.container(border=True):
        _head(study)
        if study.pairs_of:
            people = quantity(study.rated, "person", "people")
            raters = f"compared by {people} and {quantity(study.judged, 'judge')}"
            st.caption(plain(f"{study.units:,} {study.counting_unit} of {study.pairs_of} · {raters}"))
            return None
        for step in overview.of_study(study, contents.waiting.get(study.name, ())):
            _step(step)
        if study.rated and study.judged:
            return st.container()
        judges = " · no judge yet" if not study.judged else ""
        st.caption(plain(f"{quantity(study.units, 'item')} · {study.source}{judges}"))
    return None


def _figures(study: StudyHeld) -> None:
    """The verdict in words beside judges and panels in a picture."""
    with workspace().read() as db:
        mark = progress.mark(db, study.name)
    try:
        report = report_of(str(workspace().path), study.name, mark, default_options(workspace()))
        words = report.summary[:2]
        tables = report.section("glance", report.main)
    except ConcordError as error:
        st.caption(plain(str(error)))
        return
    left, right = st.columns([3, 2], gap="medium", vertical_alignment="center")
    left.markdown("  \n".join(with_code(sentence) for sentence in words or report.missing))
    left.caption(plain(rated(report, report.main)))
    for judge in report.partial:
        left.caption(with_code(judge.sentence(report.data.study)))
    if report.partial:
        with left:
            link("agreement", "Let it rate the rest", study=study.name)
    with right:
        for _, chart in glance(tables, limit=180):
            show(chart, f"Judges and panels of {study.title}")


page()
