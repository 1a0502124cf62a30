"""The answer of the page Agreement, and its tabs: each answers one question, and is measured when open."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from concord.codes import Tab, Verdict
from concord.errors import ConcordError
from concord.estimate import Estimate, value_of
from concord.files import file_name
from concord.llm.models import currency
from concord.reports.agreement_report import AgreementReport
from concord.reports.answers import (
    SELECTION_BIAS,
    WITH_ALL,
    answers_that_differ,
    cheaper,
    left_out,
    next_step,
    per_thousand,
)
from concord.reports.flags import careless, preferences
from concord.reports.names import renamed
from concord.reports.page import of_study
from concord.reports.screen import rated, tables
from concord.reports.sections import REGISTRY, Section, unmeasured
from concord.reports.verdict import Assessment
from concord.scores import labels
from concord.statistics.confusion import crossed
from concord.statistics.glance import agreement_column, panel_difference
from concord.statistics.people_pairs import MOST_COLUMNS as MOST_IN_TABLE
from concord.statistics.people_pairs import every_two
from concord.statistics.ratings import panel_name
from concord.store import conversations, looks, ratings
from concord.store.conversations import Filter
from concord.studies import coverage, studies
from concord.studies.coverage import Partial
from concord.table import Cell, Column, Table
from pages.parts.address import go, link, read, several
from pages.parts.charts import show, undefined_rows
from pages.parts.person import exported
from pages.parts.plain import first_words, plain, quantity, with_code
from pages.parts.session import live, workspace
from pages.parts.table import draw, fold
from pages.parts.ways import explain
from pages.study.run_form import estimate
from pages.trust import agreement_charts as charts

FIRST_WORDS = 40
"""Characters of what was asked first in the conversation of an item."""
MOST_ITEMS = 10
"""Items beside the scatter, about as high as it."""
MOCK = ":orange-badge[mock]"
ITEM_REQUESTED = "conversation of an item"
"""Where the session keeps the number of the conversation that the reader asked for."""


class TabDrawing(NamedTuple):
    """How a tab begins, which sections that beginning shows, and whether categories have the tab.

    The other sections of the tab follow it, each measured when it is opened.
    """

    begin: Callable[[AgreementReport, str], None]
    drawn: tuple[str, ...] = ()
    categories: bool = False


def draw_tab(tab: Tab, report: AgreementReport, criterion: str) -> None:
    """Draw a tab on a criterion, with the sections for which the study has data."""
    drawing = DRAWINGS[tab]
    drawing.begin(report, criterion)
    for section in REGISTRY:
        if section.tab != tab or section.name in drawing.drawn:
            continue
        if not report.lacks(section.name, criterion):
            _open_section(report, section, criterion)


def answer(report: AgreementReport, criterion: str) -> None:
    """The head above the tabs: what to do, and what comes next; so short that the tabs are in sight."""
    assessment = report.verdict(criterion)
    _count_look(report, criterion, assessment.verdict)
    first, _, rest = assessment.action.partition(". ")
    st.subheader(plain(f"{first}." if rest else first), anchor=False)
    _what_next(report, criterion, assessment, rest)


def reasons(report: AgreementReport, criterion: str) -> None:
    """Below the first tab: why, what is not known, one picture, the most serious flags."""
    assessment = report.verdict(criterion)
    st.caption(
        f"{plain(' '.join(filter(None, [assessment.reason, assessment.unknown, rated(report, criterion)])))} "
        f"{MOCK if report.data.simulated else ''}"
    )
    glance = report.section("glance", criterion)
    for words, chart in charts.glance(glance):
        show(chart, words)
        st.caption(plain(words))
    figures = [(str(row["name"]), row[agreement_column(glance["glance"])]) for row in glance["glance"].rows]
    if any(isinstance(figure, Estimate) and figure.defined for _, figure in figures):
        undefined_rows([(name, figure) for name, figure in figures if isinstance(figure, Estimate)])
    if assessment.flags:
        flags = "\n".join(f"- {plain(flag.text)}" for flag in assessment.flags)
        st.warning(flags, icon=":material/flag:")
    for partial_judge in report.partial:
        _rest(report, partial_judge)
    for verdict_table in tables(report, criterion)[1:]:
        draw(verdict_table, titled=False)


def _count_look(report: AgreementReport, criterion: str, verdict: Verdict) -> None:
    """Count the reading of this verdict as a look; a workspace that is read only keeps none."""
    study = report.data.study.name
    items = report.items(criterion)
    with workspace().read() as db:
        new = looks.is_new(db, study, criterion, items)
    if new:
        with suppress(ConcordError):
            workspace().change(lambda db: looks.record(db, study, criterion, items, verdict))


def _rest(report: AgreementReport, partial_judge: Partial) -> None:
    """A judge that rated too few items for the answer to rest on it, and the run that makes up for it."""
    explain(
        partial_judge.sentence(report.data.study),
        workspace().command,
        st.info,
        icon=":material/incomplete_circle:",
    )
    with workspace().read() as db:
        plan = coverage.rest(db, report.data.study.name, partial_judge)
    if plan is None:
        return
    number = len(partial_judge.lacks)
    title = (
        f"Have {partial_judge.judge.name} rate the other {number:,} items"
        if number > 1
        else "Rate the other item"
    )
    key = f"rest {partial_judge.judge.name}"
    expander = st.expander(plain(title), icon=":material/play_arrow:", key=key, on_change="rerun")
    if expander.open:
        with expander:
            estimate(plan, key=f"{key} run")


def _what_next(report: AgreementReport, criterion: str, assessment: Assessment, advice: str) -> None:
    """The rest of the advice, the report as a file, and the next step."""
    with workspace().read() as db:
        study = report.data.study
        waiting = [a.name for a in looks.annotators(db, study.name)]
        step = next_step(report, assessment, studies.left_to_draw(db, study), waiting)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(with_code(" ".join(filter(None, [advice, step.text]))), width="stretch")
        st.download_button(
            "Report (HTML)",
            partial(_report, report, criterion),
            f"{file_name(report.data.study.name)}-report.html",
            on_click="ignore",
        )
        pressed = st.button(step.label, type="primary")
    if pressed and step.page == "agreement":  # where a judge fails stands on the page itself
        st.query_params["tab"] = "fails"
    elif pressed:
        go(step.page, **step.parameters)


def _report(report: AgreementReport, criterion: str) -> str:
    """The report on this criterion as one page of HTML."""
    with workspace().read() as db:
        text = of_study(db, report, date_made=date.today(), criterion=criterion)
    exported("report", report.data.study.name)
    return text


def _careless(report: AgreementReport) -> None:
    """Whose ratings look careless, and where one is excluded with a reason that stays on record."""
    data = report.data
    flags = careless(report)
    if flags:
        st.warning("\n".join(f"- {plain(flag.text)}" for flag in flags), icon=":material/speed:")
    if flags or data.excluded:
        link("annotators", "Exclude or include an annotator, with a reason", study=data.study.name)


def limits(report: AgreementReport) -> None:
    """What limits the answer: who misleads, what is excluded, on what scales."""
    if all_limits := [*report.limits, *report.notes]:
        st.markdown("\n".join(f"- {with_code(limit)}" for limit in all_limits))


def _judges(report: AgreementReport, criterion: str) -> None:
    """Every judge beside people, on every criterion and on this one."""
    criteria_tables = _named_tables(report, "criteria", report.main)
    if of_judges := criteria_tables.pop("by_criterion", None):
        _table(report, criterion, of_judges)
    score_distribution(report, criterion)
    glance_tables = {
        **_named_tables(report, "glance", criterion),
        **_named_tables(report, "judges", criterion),
    }
    _folded(report, criterion, [*glance_tables.values(), *criteria_tables.values()])
    with workspace().read() as db:
        failed = conversations.count(db, Filter(study=report.data.study.name, failed=True))
    if failed:
        parameters = {"study": report.data.study.name, "unreadable": "true"}
        link(
            "conversations",
            f"{quantity(failed, 'conversation')} with failed or truncated replies",
            **parameters,
        )


def _failures(report: AgreementReport, criterion: str) -> None:
    """Items and players on which a judge is far from people."""
    if criterion not in report.ordered:
        _where_answers_differ(report, criterion)
    elif report.agreement.criteria[criterion].items and report.ratings.judges:
        _where_it_disagrees(report, criterion)
    if differing := _named_tables(report, "groups", criterion).get("group_differences"):
        _table(report, criterion, differing)


def _favours(report: AgreementReport, criterion: str) -> None:
    """What moves a judge beyond people, and what this study does not let one measure."""
    tables = _named_tables(report, "bias", criterion)
    if tables:
        st.markdown("  \n".join(f"**{plain(text)}**" for text in preferences(report, criterion)))
    for effects in tables.values():
        _table(report, criterion, effects)
    if not tables:
        explain(unmeasured(report), workspace().command, st.caption)


def _raters(report: AgreementReport, criterion: str) -> None:
    """Whose ratings look careless, and how far people agree with each other."""
    if not (report.ratings[criterion].present > 0).any():
        st.caption("No annotator rated this criterion.")
        return
    for severities in _named_tables(report, "raters", criterion).values():
        _table(report, criterion, severities)
    _careless(report)
    tables = _named_tables(report, "people", criterion)
    _pairs_of_people(tables.get("people_pairs"))
    _folded(report, criterion, tables.values())


def _pairs_of_people(table: Table | None) -> None:
    """Every two of many annotators as a picture; of few the table has them."""
    if table is None or len(table.rows) <= MOST_IN_TABLE:
        return
    st.markdown(f"##### {table.title}")
    pairs = every_two(table)
    compared = {one for one, _, _ in pairs}
    ordered = sorted(table.rows, key=lambda row: -value_of(row["others"]))
    names = [str(row["person"]) for row in ordered if row["person"] in compared]
    show(charts.people_pairs(pairs, names), "Spearman's ρ of each pair of annotators")
    st.caption(
        "Each tile is a pair of annotators. Annotators who agree best with the mean of the others come "
        "first. White: too few common items."
    )


@live
def _panels(report: AgreementReport, criterion: str) -> None:
    """Two judges or panels that the reader chooses: agreement, the paired difference, the price."""
    judges = report.ratings.judges
    if len(judges) < 2:
        st.caption("Panels need at least two judges.")
        return
    with workspace().read() as db:
        price_by_rater = ratings.price_of_judges(db, report.data.study.name)
    names_of_raters = labels(price_by_rater)
    money = currency(workspace().models_path)
    prices = {names_of_raters[rater]: price for rater, price in price_by_rater.items()}
    excluded_judge, reason = left_out(report, criterion, prices)
    second_panel = [judge for judge in report.judges if judge != excluded_judge]
    answer_place = st.container()
    panels = []
    places = st.columns(2)
    fields = (("First panel", "panel", report.judges), ("Second panel", "beside", second_panel))
    for place, (label, name, default) in zip(places, fields, strict=True):
        with place:
            picked = several(label, name, judges, noun="judge", default=default)
        panels.append(tuple(judge for judge in judges if judge in picked))
    if not all(panels):
        st.caption("Choose at least one judge on each side.")
        return
    [row] = panel_difference(report.ratings, criterion, *panels, **report.resampling).rows
    look: dict[str, Any] = {"delta_color": "off", "delta_arrow": "off"}
    totals = []
    for place, members, name in zip(places, panels, ("rho", "other_rho"), strict=False):
        price = [prices.get(judge) for judge in members]
        total = None if None in price else sum(p for p in price if p is not None)
        totals.append(total)
        figure = row[name]
        assert isinstance(figure, Estimate)
        value = "undefined" if figure.value is None else f"{figure.value:z.2f}"
        place.metric("ρ with the mean of all annotators", value, plain(per_thousand(total, money)), **look)
    answer_place.markdown(f"**{plain(cheaper(row, report.options.margin, totals, money))}**")
    st.caption(
        plain(
            f"The second panel starts with all judges except {excluded_judge}, {reason}. {WITH_ALL} "
            f"{SELECTION_BIAS}"
        )
    )


def _named_tables(report: AgreementReport, section: str, criterion: str) -> dict[str, Table]:
    """The tables of a section with the names of judges and panels that readers see."""
    tables = report.section(section, criterion)
    return {name: renamed(table, report.names) for name, table in tables.items()}


def _open_section(report: AgreementReport, section: Section, criterion: str) -> None:
    """A section that is measured when it is opened."""
    expander = st.expander(section.title, key=f"section {section.name}", on_change="rerun")
    if not expander.open:
        return
    with expander, st.spinner("Measuring …"):
        st.caption(section.question)
        for table in _named_tables(report, section.name, criterion).values():
            _table(report, criterion, table)


def _table(report: AgreementReport, criterion: str, table: Table) -> None:
    """A table of a tab; of what its figures rest on, only what `said_once` does not say."""
    known_notes = report.agreement.criteria[criterion].basis.parts if criterion in report.ordered else ()
    draw(table, known_notes=known_notes)


def _folded(report: AgreementReport, criterion: str, tables: Iterable[Table]) -> None:
    """The tables behind a tab's pictures."""
    if filled := [table for table in tables if table.rows]:
        key = f"tables with {filled[0].name}"
        fold("The figures in tables", filled, key, partial(_table, report, criterion))


def said_once(report: AgreementReport, criterion: str) -> str:
    """What the figures of a criterion rest on."""
    if criterion not in report.ordered:
        return ""
    return plain(f"Unless a table says otherwise: {report.agreement.criteria[criterion].basis}.")


def score_distribution(report: AgreementReport, criterion: str) -> None:
    """How often each rater gives which answer."""
    table = _named_tables(report, "distribution", criterion)["score_distribution"]
    st.markdown(f"##### {table.title}")
    scale = None if report.ratings.other_scale.get(criterion) else report.scale(criterion)
    show(charts.distribution(table, scale), "Share of each answer, by rater")
    st.caption(table.caption)


@live
def _where_answers_differ(report: AgreementReport, criterion: str) -> None:
    """One judge's answers crossed with people's, and the items on which they differ, of categories."""
    question = report.criterion(criterion)
    if question is None or not report.judges:
        return
    judge = st.selectbox("Judge", report.judges, key="judge of answers")
    st.markdown("##### Cross table of answers")
    draw(crossed(report.ratings, criterion, judge, question.scale.word), titled=False)
    differing = answers_that_differ(report, criterion, judge)
    st.markdown(f"##### {quantity(len(differing.rows), 'item')} on which they differ")
    if (conversation := st.session_state.pop(ITEM_REQUESTED, None)) is not None:
        read(conversation, "agreement", [str(row["conversation"]) for row in differing.rows[:MOST_ITEMS]])
    if differing.rows:
        draw(
            _with_first_words(replace(differing, rows=differing.rows[:MOST_ITEMS])),
            titled=False,
            select=_read,
        )


@live
def _where_it_disagrees(report: AgreementReport, criterion: str) -> None:
    """One judge item by item and player by player; redrawn by itself when a judge is chosen."""
    st.markdown("##### Where the judge and annotators disagree")
    raters = _raters_of(report)
    rater = st.selectbox(
        "Judge or panel",
        raters,
        index=list(raters).index(panel_name(report.primary_panel)),
        format_func=lambda name: report.names.get(name, name),
    )
    members = raters[rater]
    points = report.points(criterion, members)
    numbers = points.head(MOST_ITEMS).conversation_id.tolist()
    if points.empty:
        st.caption(f"{plain(rater)} and the annotators have no common item here.")
        return
    if (conversation := st.session_state.pop(ITEM_REQUESTED, None)) is not None:
        read(conversation, "agreement", numbers)
    left, right = st.columns([2, 3], gap="large")
    one_scale = not report.ratings.no_level(criterion, members)
    if not one_scale:
        st.caption(f"The units differ: {plain(report.ratings.no_level(criterion, members))}.")
    with left:
        dots = points.groupby(["mean", "score"], as_index=False).agg(items=("unit", "size"))
        ends = _ends(report, criterion) if one_scale else None
        show(charts.scatter(dots, ends), f"Scores of {rater} by annotators' means, {len(points)} items")
        line = " On the dashed line, both agree." if ends else ""
        several_items = " A larger dot stands for several items." if dots["items"].max() > 1 else ""
        st.caption(f"{len(points)} items.{several_items}{line}")
    with right:
        draw(_with_first_words(_items(report, points.head(MOST_ITEMS))), select=_read)
    _by_group(report, criterion, rater, one_scale=one_scale)


def _ends(report: AgreementReport, criterion: str) -> tuple[float, float] | None:
    """The ends of the scale of a criterion; of a mean of several those of all of them."""
    question = report.criterion(criterion)
    scales = (
        [question.scale] if question else [c.scale for c in report.data.study.criteria if c.scale.ordered]
    )
    if not scales:
        return None
    return min(scale.low for scale in scales), max(scale.high for scale in scales)


def _by_group(report: AgreementReport, criterion: str, rater: str, *, one_scale: bool) -> None:
    """A judge on the items of each player, or of each value of another facet, which the reader chooses."""
    facets = list(report.groups)
    if not facets:
        return
    facet = st.segmented_control("Bias by", facets, default=facets[0], required=True, key="bias by")
    groups = report.section("groups", criterion)["groups"]
    rows = [row for row in groups.rows if (row["rater"], row["facet"]) == (rater, facet)]

    def distance(row: Mapping[str, Cell]) -> float:
        figure = row["bias" if one_scale else "spearman"]
        return abs(figure.value or 0.0) if isinstance(figure, Estimate) else 0.0

    farthest = sorted(rows, key=distance, reverse=True)
    columns = tuple(column for column in groups.columns if column.name not in ("rater", "facet"))
    _table(report, criterion, replace(groups, title=f"By {facet}", columns=columns, rows=tuple(farthest)))


def _raters_of(report: AgreementReport) -> dict[str, tuple[str, ...]]:
    """Judges and panels by their name."""
    judges = ((judge,) for judge in report.ratings.judges)
    return {panel_name(members): members for members in (*judges, *report.panels)}


def _read(row: Mapping[str, Cell]) -> None:
    """Have the page leave for the conversation of an item."""
    st.session_state[ITEM_REQUESTED] = row["conversation"]


def _with_first_words(items: Table) -> Table:
    """A table of items, with what was asked first in the conversation of each."""
    with workspace().read() as db:
        numbers = [str(row["conversation"]) for row in items.rows]
        openings = [conversations.listed(db, int(n)).first if n.isdecimal() else "" for n in numbers]
    if not any(openings):
        return items
    words = [first_words(text, FIRST_WORDS) for text in openings]
    rows = [{**row, "first": first} for row, first in zip(items.rows, words, strict=True)]
    place = next(
        (n for n, column in enumerate(items.columns, 1) if column.name in ("difference", "people")), 1
    )
    columns = (*items.columns[:place], Column("first", "First words"), *items.columns[place:])
    return replace(items, columns=columns, rows=tuple(rows))


def _items(report: AgreementReport, items: pd.DataFrame) -> Table:
    """Items of a study, with the number and the facets of the conversation of each."""
    facets = {name: items.unit.map(values) for name, values in report.facets.items() if name not in items}
    rows = items.assign(conversation=[str(number) for number in items.conversation_id], **facets)
    help_text = "Judge less annotators. If the scales differ: the difference of their ranks among all items."
    columns = (
        Column("conversation", "No.", help="Select a row to read the conversation."),
        Column("turn", digits=0),
        Column("score", "Judge"),
        Column("mean", "Annotators"),
        Column("difference", "Judge − annotators", signed=True, help=help_text),
        Column("player"),
        *map(Column, facets),
        Column("people", "Raters", file_only=items.people.nunique() == 1),
    )
    visible = tuple(column for column in columns if rows[column.name].notna().any())
    cells = ({c.name: row[c.name] for c in visible} for row in rows.to_dict("records"))
    caption = "Select a row to read the conversation."
    return Table("items", "Largest differences", visible, tuple(cells), caption)


DRAWINGS = {
    Tab.JUDGES: TabDrawing(_judges, ("glance", "criteria", "judges", "distribution"), categories=True),
    Tab.PANELS: TabDrawing(_panels),
    Tab.FAILS: TabDrawing(_failures, ("groups",), categories=True),
    Tab.FAVOURS: TabDrawing(_favours, ("bias",)),
    Tab.RATERS: TabDrawing(_raters, ("raters", "people"), categories=True),
}
"""The tabs in their order; `concord.messages.TABS` has their titles."""
