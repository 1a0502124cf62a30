"""How far the judges of a study can be trusted: the summary, then every figure, with where it comes from."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import get_args

import pandas as pd
import streamlit as st

from concord.agreement.alt_test import Score
from concord.agreement.ratings import called
from concord.agreement.study import MOST_ANNOTATORS
from concord.errors import ConcordError
from concord.estimate import Estimate
from concord.llm.families import families
from concord.reports import bundle
from concord.reports.agreement_report import AgreementReport, Options, at, renamed
from concord.reports.sections import APART, AT_ONCE, CLOSELY, SECTIONS
from concord.store import access, frames, progress, runs
from concord.store import studies as stored
from concord.studies import studies
from concord.studies.scales import scale_told
from concord.table import Column, Table
from pages.parts.address import asked, link, of_conversation, shown
from pages.parts.estimates import forest
from pages.parts.plain import plain
from pages.parts.reports import report_of, study_called
from pages.parts.session import live, sentence, workspace
from pages.parts.table import download, draw
from pages.trust import agreement_charts as charts

FOLLOWING = 4.0
"""Seconds after which the page looks for new answers, as long as it waits for some."""
RUNS_TOGETHER = "Otherwise their mean is one judge; of categories, the answer given most often."
RESAMPLES = [200, 1000, 5000]
RHO = "Spearman's ρ with the mean of people"


@st.cache_resource(max_entries=6)
def _varied(folder: str, study: str, mark: str) -> tuple[list[str], list[str]]:
    """The facets by which items can be taken together, and those by which they are by default."""
    with workspace().read() as db:
        usual = list(studies.scenario_facets(db, study))
        return list(dict.fromkeys([*usual, *frames.varied(db, study)])), usual


def page() -> None:
    """Draw the page."""
    st.title("Agreement", anchor=False)
    with workspace().read() as db:
        titles, order = stored.titles(db), stored.ranked(db)
    if not titles:
        st.info(
            "There is no study yet. Draw one on the page Samples, or import ratings with `concord import`."
        )
        return
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    with left:
        study = _study(titles, order[0])
    with workspace().read() as db:
        version = (str(workspace().path), study, progress.mark(db, study))
    _waiting(study, version[2])
    try:
        with right.popover("How it is measured", icon=":material/tune:", width="stretch"):
            options = _options(version)
        report = report_of(*version, options)
        with st.spinner("Measuring …"):
            _summary(report)
    except ConcordError as error:
        sentence(error)
        return
    if not report.ratings.people:  # every figure would be undefined
        return _score_distribution(report, _criterion(report))
    if report.options.nominal:  # every question is answered by a category
        draw(report.nominal)
        return
    options = _own_panel(report.ratings.judges, options)
    report = report_of(*version, options)
    st.subheader(f"{SECTIONS['glance'].title}: {plain(report.label(report.main))}", anchor=False)
    with st.spinner("Measuring …"):
        _glance(report, report.main)
    _every_criterion(report)
    criterion = _criterion(report)
    with st.spinner("Measuring …"):
        _closely(report, criterion)
    if report.ratings.judges and report.agreement.criteria[criterion].items:
        _further(report, criterion)
    _export(report)


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
        st.caption(f":material/hourglass_empty: Waiting for answers: {', '.join(said + judges)}.")

    live(draw_waiting, every=FOLLOWING)()


def _study(titles: Mapping[str, str], usual: str) -> str:
    """The study chosen; at first the usual one."""
    names = [*titles]
    first = names.index(asked("study", names, usual))

    def said(name: str) -> str:
        return study_called(name, titles)

    chosen = st.selectbox(
        "Study", names, index=first, key="study", on_change=_from_the_start, format_func=said
    )
    return shown("study", chosen)


def _from_the_start() -> None:
    """Another study has other criteria and judges."""
    st.query_params.pop("criterion", None)
    if "panel" in st.session_state:
        st.session_state["panel"] = []


def _options(version: tuple[str, str, str]) -> Options:
    runs = st.toggle("Repeated runs of a judge one by one", help=RUNS_TOGETHER)
    kept = st.toggle("Count conversations in which a judge saw a refusal")
    excluded = st.toggle("Count annotators whom a decision left out")
    resamples = st.select_slider("Resamples of the bootstrap", RESAMPLES, value=1000)
    seed = st.number_input("Seed", min_value=0, value=0, help="The same seed gives the same intervals.")
    scored = st.selectbox(
        "Alt-test scores answers by",
        get_args(Score),
        index=None,
        placeholder="their distance",
        help="distance: how far the answers lie apart; ordinal: how far their ranks do; agreement: whether "
        "they are equal, for categories.",
    )
    told = st.text_input(
        "Scales",
        placeholder="those of the study",
        help="The scale on which people and judges answer: 1..5 for every criterion, wit=1..7 for one; "
        "several with a semicolon between them.",
    )
    scales = tuple(scale_told(part) for part in told.split(";") if part.strip())
    together: tuple[str, ...] | None = None
    varied, usual = _varied(*version)
    if varied:
        chosen = st.multiselect(
            "Resample items together that share",
            varied,
            usual,
            key=f"together in {version[1]}",
            placeholder="nothing: each item by itself",
            help="Items of one scenario depend on each other, and intervals that take them for independent "
            "are too narrow. Choose the facets that make a scenario.",
        )
        together = None if chosen == usual else tuple(chosen)
    return Options(
        "single" if runs else "mean",
        not kept,
        (),
        resamples,
        int(seed),
        together,
        scales=scales,
        alt_score=scored or "",
        families=families(workspace().models_path),
        with_excluded=excluded,
    )


def _own_panel(judges: tuple[str, ...], options: Options) -> Options:
    """A panel that the researcher chooses; of fewer than three judges every panel is measured anyhow."""
    if len(judges) < (2 if options.runs == "single" else 3):
        return options
    own = st.multiselect(
        "A panel of your own",
        judges,
        key="panel",
        bind="query-params",
        placeholder="Choose two or more judges: their mean is measured beside the others",
    )
    chosen = tuple(judge for judge in judges if judge in own)
    return replace(options, panels=(chosen,)) if len(chosen) > 1 else options


def _summary(report: AgreementReport) -> None:
    """The summary, what it rests on, and what is missing for a better one."""
    if not report.of.study.blind:
        st.warning(
            "People saw the judges' scores in this study: its figures are no measure of agreement, and there "
            "is no headline.",
            icon=":material/visibility:",
        )
        return
    with st.container(border=True):
        if report.summary:
            st.subheader(plain(report.summary[0]), anchor=False)
            st.markdown("\n".join(f"- {plain(also)}" for also in report.summary[1:]))
        for what in report.missing:
            st.markdown(f":material/info: {plain(what)}")
        if report.missing:
            link("samples", "Deal this study, see how people get on", study=report.of.study.name)
        if simulated := plain(", ".join(report.of.simulated)):
            st.markdown(f":orange-badge[mock] Neither people nor language models: {simulated}.")
        st.caption(plain(report.agreement.criteria[report.main].basis))


def _glance(report: AgreementReport, criterion: str) -> None:
    """Each judge and panel beside a held-out annotator: picture, verdict, figures."""
    tables = report.section("glance", criterion)
    _pictures("glance", tables)
    for table in tables.values():
        if table.rows:
            draw(table, key=f"{table.name} {criterion}")


def _every_criterion(report: AgreementReport) -> None:
    """The tables over all criteria."""
    st.subheader(SECTIONS["criteria"].title, anchor=False)
    for table in report.section("criteria", report.main).values():
        if table.rows:
            draw(renamed(table, report.names))
    if report.categories is not None:
        draw(report.categories)
    if reported := studies.reported(report.of.study):
        figures = " · ".join(f"{plain(label)} {plain(figure)}" for label, figure in reported.items())
        st.caption(f"The paper's own figures, for comparison, not of this study: {figures}.")


def _criterion(report: AgreementReport) -> str:
    chosen: str = st.pills(
        "Look closely at",
        report.criteria,
        default=asked("criterion", report.criteria, report.main),
        required=True,
        key=f"criterion of {report.of.study.name}",
        format_func=lambda name: plain(report.label(name)),
    )
    return shown("criterion", chosen)


def _closely(report: AgreementReport, criterion: str) -> None:
    part = report.agreement.criteria[criterion]
    tables = {name: table for of in CLOSELY for name, table in _named(report, of, criterion).items()}
    st.subheader(plain(report.label(criterion)), anchor=False)
    if criterion != report.main:
        _glance(report, criterion)
    for name in ("judges", "held_out"):
        if tables[name].rows:
            draw(tables[name])
    _score_distribution(report, criterion)
    if part.items and report.ratings.judges:
        _where_it_disagrees(report, criterion)
    if part.items:
        draw(tables["people"])
        if len(part.compared) > 1 and "pairs" in tables:
            draw(tables["pairs"])
        if 1 < len(part.compared) <= MOST_ANNOTATORS:
            st.altair_chart(charts.matrix(part), alt="Spearman's correlation of every two people")
            st.caption(
                "Spearman's ρ of two people on the items both rated; last columns: with the mean of the "
                "others (the human ceiling), and of all, themselves included, which flatters."
            )
        if tables["ceilings"].rows:
            draw(tables["ceilings"])
    for name in ("redundancy", "best_judge", "search", "retest"):
        if name in tables:
            draw(tables[name])


def _named(report: AgreementReport, section: str, criterion: str) -> dict[str, Table]:
    """The tables of a section with the names of judges and panels that readers see."""
    found = report.section(section, criterion)
    return {name: renamed(table, report.names) for name, table in found.items()}


def _further(report: AgreementReport, criterion: str) -> None:
    """The other sections, each measured when it is opened."""
    st.subheader("Further questions", anchor=False)
    for name, section in SECTIONS.items():
        few = len(report.agreement.criteria[criterion].compared) <= MOST_ANNOTATORS
        if name in (*AT_ONCE, *CLOSELY) or (name in APART and few):
            continue
        more = st.expander(section.title, key=f"section {name}", on_change="rerun")
        if more.open:
            with more:
                of = _at_cut(report, criterion) if name == "thresholds" else report
            with more, st.spinner("Measuring …"):
                tables = _named(of, name, criterion)
                _pictures(name, tables)
                for table in tables.values():
                    draw(table)
                if not tables:
                    st.caption("The study has no data that answer this.")


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


def _pictures(section: str, tables: Mapping[str, Table]) -> None:
    """The charts of a section; none where it has none, or too little is defined."""
    drawn = charts.PICTURES.get(section)
    for said, chart in drawn(tables) if drawn else ():
        st.altair_chart(chart, alt=said)
        st.caption(plain(said))


def _score_distribution(report: AgreementReport, criterion: str) -> None:
    table = _named(report, "distribution", criterion)["score_distribution"]
    st.markdown(f"##### {table.title}")
    scale, words = report.scale(criterion), {}
    if scale and not scale.continuous and not report.ratings.other_scale.get(criterion):
        words = dict(zip(scale.values, scale.labels, strict=True))
    st.altair_chart(charts.distribution(table, words), alt="Share of each answer, by rater")
    st.caption(table.caption)


@live
def _where_it_disagrees(report: AgreementReport, criterion: str) -> None:
    """One judge item by item and player by player; redrawn by itself when a judge or a dot is chosen."""
    st.markdown("##### Where the judge disagrees with people")
    judges = ((judge,) for judge in report.ratings.judges)
    raters = {called(members): members for members in (*judges, *report.panels)}
    rater = st.selectbox("Judge or panel", raters, index=list(raters).index(called(report.primary_panel)))
    members = raters[rater]
    points = report.points(criterion, members)
    if points.empty:
        st.caption(f"{plain(rater)} and people have no item in common here.")
        return
    left, right = st.columns(2, gap="large")
    scale = report.scale(criterion)
    one_scale = not report.ratings.no_level(criterion, members)
    ends = (scale.low, scale.high) if scale and one_scale else None
    with left:
        event = st.altair_chart(
            charts.scatter(points, report.label(criterion), members, ends),
            on_select="rerun",
            key=f"dots {criterion} {rater}",
            alt=f"{rater} against the mean of people, item by item",
        )
        st.caption(f"{len(points)} items; a larger dot is several. Click on one to see its conversations.")
    picked = event["selection"].get("picked") or []
    with right:
        if picked:
            draw(_items("The dot you picked", at(points, **picked[0])))
        else:
            draw(_items("Largest differences", report.largest_differences(criterion, members)))
    mine = [row for row in report.section("players", criterion)["players"].rows if row["rater"] == rater]
    if len(mine) > 1:
        left, right = st.columns(2, gap="large")
        bias = ("bias", "Bias in points (judge less people)")
        what, axis = bias if one_scale else ("spearman", RHO)
        figures = [(str(row["group"]), row[what]) for row in mine]
        with left:
            forest([(name, e) for name, e in figures if isinstance(e, Estimate)], "By player", axis)
        levels = report.section("players", criterion)["levels"]
        with right:
            rows = tuple(row for row in levels.rows if row["rater"] == rater)
            draw(replace(levels, columns=levels.columns[1:], rows=rows))


def _items(title: str, items: pd.DataFrame) -> Table:
    """Items of a study with a link to the conversation of each."""
    rows = items.assign(
        open=[of_conversation(number) for number in items.conversation_id],
        difference=items.get("difference", items["score"] - items["mean"]),
    )
    less = "Judge less people; of different scales, of their places among all items."
    columns = (
        Column("open", " ", link=True),
        Column("player"),
        Column("turn", digits=0),
        Column("score", "Judge"),
        Column("mean", "People"),
        Column("difference", signed=True, help=less),
        Column("people", "Raters"),
    )
    kept = tuple(column for column in columns if rows[column.name].notna().any())
    cells = ({c.name: row[c.name] for c in kept} for row in rows.to_dict("records"))
    return Table("items", title, kept, tuple(cells))


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
        return bundle.bundle(db, report, made=date.today())


page()
