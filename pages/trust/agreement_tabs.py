"""The tabs of the page Agreement: each answers one question, and is measured when it is open."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import NamedTuple

import pandas as pd
import streamlit as st

from concord.estimate import Estimate
from concord.reports import bundle
from concord.reports.agreement_report import AgreementReport, at
from concord.reports.names import renamed
from concord.reports.sections import OVER_ALL, SECTIONS
from concord.statistics.ratings import called
from concord.statistics.study import MOST_ANNOTATORS
from concord.store import frames, progress
from concord.store import studies as stored
from concord.studies import quality, studies
from concord.table import Cell, Column, Table
from pages.parts.address import go, link
from pages.parts.charts import show
from pages.parts.estimates import forest
from pages.parts.person import exported
from pages.parts.plain import plain, with_code
from pages.parts.session import live, workspace
from pages.parts.table import download, draw
from pages.trust import agreement_charts as charts

RHO = "Spearman's ρ with the mean of people"
MOST_ROWS = 20
"""Groups in one picture."""
MOST_ITEMS = 10
"""Items beside the scatter, about as high as it; the section of items with high disagreement has more."""
WANTED = "conversation of an item"
"""Where the session keeps the number of the conversation that the reader asked for."""


class Tab(NamedTuple):
    """A tab: its name in the address, how it is drawn, and its sections that are measured when opened."""

    slug: str
    first: Callable[[AgreementReport, str], None]
    more: tuple[str, ...] = ()

    def draw(self, report: AgreementReport, criterion: str) -> None:
        """Draw the tab on a criterion. A section for which the study lacks data is named, not offered."""
        self.first(report, criterion)
        lacking = []
        for name in self.more:
            if why := report.lacks(name, criterion):
                lacking.append(f"{SECTIONS[name].title} ({why})")
            else:
                _opened(report, name, criterion)
        if lacking:
            st.caption(plain(f"Not in this study: {'; '.join(lacking)}."))


def _summary(report: AgreementReport, criterion: str) -> None:
    """The answer in sentences and one picture, then what limits it."""
    label = report.label(criterion)
    said = report.said(criterion)
    if report.of.study.blind:
        with st.container(border=True):
            if not said:
                st.subheader(plain(f"On {label} no judge can be compared with people."), anchor=False)
            for sentence in said[:1]:
                st.subheader(plain(sentence), anchor=False)
            st.markdown("\n".join(f"- {plain(also)}" for also in said[1:]))
    _careless(report)
    tables = report.section("glance", criterion)
    if tables["glance"].rows:
        _pictures("glance", tables, f"Judges and panels beside people on {label}")
        for table in tables.values():
            if table.rows:
                _table(report, criterion, table, key=f"{table.name} {criterion}")
    if len(report.criteria) > 1:
        every = _named(report, "criteria", report.main)
        _pictures("criteria", every, "Every judge and panel on every criterion")
    _limits(report)


@st.cache_data(max_entries=12, show_spinner=False)
def _suspicions(folder: str, study: str, mark: str) -> tuple[list[str], str]:
    """Sentences on annotators who stand out, and the sentence for when nobody does."""
    with workspace().read() as db:
        items, given = progress.items(db, study), frames.frame(db, study, with_extra=True)
        criteria = stored.get(db, study).criteria
    return quality.suspicions(items, given, criteria), quality.unsuspicious(items, given)


def _careless(report: AgreementReport) -> None:
    """Whose ratings look careless, and where one is left out with a reason that stays on record."""
    study = report.of.study
    with workspace().read() as db:
        mark = progress.mark(db, study.name)
    out = [decision.annotator for decision in report.of.excluded]
    warned = quality.warnings(study.criteria, report.of.repeats, report.of.checks)
    nobody = ""
    if not study.anonymous:  # positions are no persons who could be careless
        suspected, nobody = _suspicions(str(workspace().path), study.name, mark)
        warned += suspected
    if warned:
        st.warning("\n".join(f"- {plain(sentence)}" for sentence in warned), icon=":material/speed:")
    elif nobody:
        st.caption(f":material/speed: {nobody}")
    if warned or out:
        link("annotators", "Leave an annotator out, or take in again, with a reason", study=study.name)


def _limits(report: AgreementReport) -> None:
    """What limits the answer: who misleads, what is left out, on what scales."""
    if limits := [*report.limits, *report.notes]:
        st.markdown("##### What limits this answer")
        st.markdown("\n".join(f"- {with_code(limit)}" for limit in limits))


def _judges(report: AgreementReport, criterion: str) -> None:
    """Every judge beside people, on every criterion and on this one."""
    tables = _named(report, "judges", criterion)
    for name in ("judges", "held_out"):
        if tables[name].rows:
            _table(report, criterion, tables[name])
    score_distribution(report, criterion)
    for table in _named(report, "criteria", report.main).values():
        if table.rows:
            draw(table)
    if report.categories is not None:
        draw(report.categories)
    paper, reported = studies.reported(report.of.study)
    if reported:
        figures = " · ".join(f"{plain(label)} {plain(figure)}" for label, figure in reported.items())
        st.caption(f"Figures of the paper “{plain(paper)}”, for comparison, not of this study: {figures}.")


def _where(report: AgreementReport, criterion: str) -> None:
    """Items and players on which a judge is far from people."""
    if report.agreement.criteria[criterion].items and report.ratings.judges:
        _where_it_disagrees(report, criterion)


def _raters(report: AgreementReport, criterion: str) -> None:
    """Whose ratings look careless, and how far people agree with each other."""
    _careless(report)
    part = report.agreement.criteria[criterion]
    if not part.items:
        st.caption("Nobody rated this criterion.")
        return
    tables = _named(report, "people", criterion)
    _table(report, criterion, tables["people"])
    if len(part.compared) > 1 and "pairs" in tables:
        _table(report, criterion, tables["pairs"])
    if 1 < len(part.compared) <= MOST_ANNOTATORS:
        show(charts.matrix(part), "Spearman's correlation of every two people")
        st.caption(
            "Spearman's ρ of two people on the items both rated; last columns: with the mean of the others "
            "(the human ceiling), and of all, themselves included, which flatters."
        )
    if tables["ceilings"].rows:
        _table(report, criterion, tables["ceilings"])


def _panels(report: AgreementReport, criterion: str) -> None:
    """What a panel adds to its best judge."""
    gain = report.section("glance", criterion).get("panel_gain")
    if gain and gain.rows:
        _table(report, criterion, gain)
    for table in _named(report, "panels", criterion).values():
        _table(report, criterion, table)
    if why := report.lacks("panels", criterion):
        st.caption(plain(f"No panels are compared: {why}."))


def _further(report: AgreementReport, _criterion: str) -> None:
    """The report as files."""
    _export(report)


def _named(report: AgreementReport, section: str, criterion: str) -> dict[str, Table]:
    """The tables of a section with the names of judges and panels that readers see."""
    found = report.section(section, criterion)
    return {name: renamed(table, report.names) for name, table in found.items()}


def _opened(report: AgreementReport, name: str, criterion: str) -> None:
    """A section that is measured when it is opened."""
    more = st.expander(SECTIONS[name].title, key=f"section {name}", on_change="rerun")
    if not more.open:
        return
    with more:
        of = _at_cut(report, criterion) if name == "thresholds" else report
        with st.spinner("Measuring …"):
            tables = _named(of, name, report.main if name in OVER_ALL else criterion)
            _pictures(name, tables)
            for table in tables.values():
                _table(report, criterion, table)


def _at_cut(report: AgreementReport, criterion: str) -> AgreementReport:
    """The report with the cut that the reader sets; at first that of the report."""
    own, _ = report.cut(criterion)
    cut = st.number_input(
        "People pass an item with a mean of at least",
        value=own,
        step=0.5,
        key=f"cut of {criterion} in {report.of.study.name}",
        width=300,
    )
    return report if cut == own else report.with_cut(criterion, float(cut))


def _table(report: AgreementReport, criterion: str, table: Table, *, key: str = "") -> None:
    """A table of a tab; of what its figures rest on, only what `said_once` does not say above the tab."""
    draw(table, key=key, said=report.agreement.criteria[criterion].basis.parts)


def said_once(report: AgreementReport, criterion: str) -> str:
    """What the tables of a criterion rest on, for above them."""
    return plain(f"Unless a table says otherwise: {report.agreement.criteria[criterion].basis}.")


def _pictures(section: str, tables: Mapping[str, Table], heading: str = "") -> None:
    """The charts of a section below a heading; nothing where it has none, or too little is defined."""
    drawn = charts.PICTURES.get(section)
    for place, (said, chart) in enumerate(drawn(tables) if drawn else ()):
        if heading and not place:
            st.markdown(f"##### {plain(heading)}")
        show(chart, said)
        st.caption(plain(said))


def score_distribution(report: AgreementReport, criterion: str) -> None:
    """How often each rater gives which answer."""
    table = _named(report, "distribution", criterion)["score_distribution"]
    st.markdown(f"##### {table.title}")
    scale = None if report.ratings.other_scale.get(criterion) else report.scale(criterion)
    show(charts.distribution(table, scale), "Share of each answer, by rater")
    st.caption(table.caption)


@live
def _where_it_disagrees(report: AgreementReport, criterion: str) -> None:
    """One judge item by item and player by player; redrawn by itself when a judge or a dot is chosen."""
    st.markdown("##### Where the judge disagrees with people")
    judges = ((judge,) for judge in report.ratings.judges)
    raters = {called(members): members for members in (*judges, *report.panels)}
    rater = st.selectbox(
        "Judge or panel",
        raters,
        index=list(raters).index(called(report.primary_panel)),
        format_func=lambda name: report.names.get(name, name),
    )
    members = raters[rater]
    points = report.points(criterion, members)
    if points.empty:
        st.caption(f"{plain(rater)} and people have no item in common here.")
        return
    if (wanted := st.session_state.pop(WANTED, None)) is not None:
        go("conversations", conversation=str(wanted))
    left, right = st.columns([2, 3], gap="large")
    scale = report.scale(criterion)
    one_scale = not report.ratings.no_level(criterion, members)
    ends = (scale.low, scale.high) if scale and one_scale else None
    if not one_scale:
        st.caption(f"The units differ: {plain(report.ratings.no_level(criterion, members))}.")
    with left:
        event = show(
            charts.scatter(points, report.label(criterion), members, ends),
            f"{rater} against the mean of people, item by item",
            on_select="rerun",
            key=f"dots {criterion} {rater}",
        )
        st.caption(f"{len(points)} items; a larger dot is several. Click on one to see its conversations.")
    picked = event["selection"].get("picked") or []
    with right:
        if picked:
            found = _items(report, "The dot you picked", at(points, **picked[0]))
        else:
            largest = report.largest_differences(criterion, members, count=MOST_ITEMS)
            found = _items(report, "Largest differences", largest)
        draw(found, select=_read)
    _by_group(report, criterion, rater, one_scale=one_scale)


def _by_group(report: AgreementReport, criterion: str, rater: str, *, one_scale: bool) -> None:
    """A judge on the items of each player, or of each value of another facet, which the reader chooses."""
    players = len(set(report.players.values())) > 1
    by = [*(["player"] if players else []), *report.facets]
    if not by:
        return
    facet = st.segmented_control("Bias by", by, default=by[0], required=True, key="bias by")
    name = "players" if facet == "player" else "facets"
    found = report.section("players" if facet == "player" else "scenarios", criterion)[name]
    of_judge = [row for row in found.rows if row["rater"] == rater]
    rows = [row for row in of_judge if row.get("facet") in (None, facet)]
    bias = ("bias", "Bias in points (judge less people)")
    what, axis = bias if one_scale else ("spearman", RHO)
    figures = [(str(row["group"]), e) for row in rows if isinstance(e := row[what], Estimate)]
    figures.sort(key=lambda named: -abs(named[1].value or 0.0))
    forest(figures[:MOST_ROWS], f"By {facet}", axis)
    if len(figures) > MOST_ROWS:
        st.caption(f"The {MOST_ROWS} farthest from people of {len(figures)}; the table has all.")
    shown = [column for column in found.columns if column.name not in ("rater", "facet")]
    _table(report, criterion, replace(found, columns=tuple(shown), rows=tuple(rows)))
    if facet == "player":
        levels = report.section("players", criterion)["levels"]
        of_judge = [row for row in levels.rows if row["rater"] == rater]
        _table(report, criterion, replace(levels, columns=levels.columns[1:], rows=tuple(of_judge)))


def _read(row: Mapping[str, Cell]) -> None:
    """Have the page leave for the conversation of an item."""
    st.session_state[WANTED] = row["conversation"]


def _items(report: AgreementReport, title: str, items: pd.DataFrame) -> Table:
    """Items of a study, with the number and the facets of the conversation of each."""
    facets = {name: items.unit.map(of) for name, of in report.facets.items() if name not in items}
    rows = items.assign(
        conversation=[str(number) for number in items.conversation_id],
        difference=items.get("difference", items["score"] - items["mean"]),
        **facets,
    )
    less = "Judge less people; of different scales, of their places among all items."
    columns = (
        Column("conversation", "No.", help="Select a row to read the conversation."),
        Column("turn", digits=0),
        Column("score", "Judge"),
        Column("mean", "People"),
        Column("difference", "Judge − people", signed=True, help=less),
        Column("player"),
        *map(Column, facets),
        Column("people", "Raters", file_only=items.people.nunique() == 1),
    )
    kept = tuple(column for column in columns if rows[column.name].notna().any())
    cells = ({c.name: row[c.name] for c in kept} for row in rows.to_dict("records"))
    return Table("items", title, kept, tuple(cells), "Select a row to read the conversation.")


def _export(report: AgreementReport) -> None:
    name = report.of.study.name
    st.subheader("Export", anchor=False)
    if steps := report.steps():
        st.caption(
            f"A report, JSON and CSV need {len(steps)} measurements that this page has not made yet: a click "
            "on one of them makes them first. *Measure everything* shows how far it is."
        )
        if st.button("Measure everything", icon=":material/hourglass_top:"):
            _measure(report, steps)
            st.rerun()
    with st.container(horizontal=True):
        download(
            "Report",
            lambda: _bundle(report),
            f"{name}-report",
            "zip",
            icon=":material/folder_zip:",
            type="primary",
            help="The summary, every table of this page and what they rest on, as one ZIP.",
        )
        for label, form in (("JSON", "json"), ("CSV", "csv"), ("LaTeX", "latex")):
            write = partial(report.document, form)
            download(label, write, f"{name}-agreement", "tex" if form == "latex" else form)
    st.caption(
        f"*Report*: `concord export report --study {plain(name)}`; the others: `concord agreement --study "
        f"{plain(name)} --format …`. With other options than the usual ones, the command takes them too."
    )


def _measure(report: AgreementReport, steps: Sequence[tuple[str, str]]) -> None:
    """Measure sections, with a bar that says which one is being measured."""
    bar = st.progress(0.0)
    for done, (name, criterion) in enumerate(steps):
        bar.progress(done / len(steps), f"{SECTIONS[name].title} · {plain(report.label(criterion))}")
        report.section(name, criterion)


def _bundle(report: AgreementReport) -> bytes:
    with workspace().read() as db:
        made = bundle.bundle(db, report, made=date.today())
    exported("report", report.of.study.name)
    return made


TABS = {
    "Summary": Tab("summary", _summary, ("forecast", "next")),
    "Judges": Tab("judges", _judges, ("versions", "missing", "retest", "calibration", "alt-test")),
    "Where it fails": Tab("fails", _where, ("disagreement", "bands", "bias")),
    "Raters": Tab(
        "raters",
        _raters,
        ("annotators", "raters", "annotator-retest", "gold", "adjudication", "extra", "anchoring"),
    ),
    "Panels": Tab("panels", _panels),
    "Further": Tab("further", _further, ("thresholds", "system", "registration")),
}
"""The tabs by the name that readers see."""
