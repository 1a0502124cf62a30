"""How far the judges of a study can be trusted: the answer in words, then every figure, with where it comes from."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import streamlit as st

from core.agreement import show
from core.agreement.panels import called
from core.errors import ConcordError
from core.reports import agreement_report, bundle
from core.reports.agreement_report import Detail, Further, Measured, Options
from core.reports.summary import answer
from core.store import frames, progress
from core.store import studies as stored
from core.studies import studies
from pages.parts.address import asked, shown
from pages.parts.links import link
from pages.parts.live import live
from pages.parts.plain import plain
from pages.parts.session import sentence, workspace
from pages.trust import agreement_charts as charts
from pages.trust import agreement_tables as tables

RESAMPLES = [200, 1000, 5000]
FURTHER = "Further questions: high_disagreement items, parts of the scale, the replacement test, how many more items"


@st.cache_resource(max_entries=6, show_spinner="Measuring …")
def _measured(folder: str, study: str, mark: str, options: Options) -> Measured:
    """The figures of a study; anew when its data or the options change."""
    with workspace().read() as db:
        return agreement_report.measure(db, study, options)


@st.cache_resource(max_entries=24, show_spinner="Measuring …")
def _detail(folder: str, study: str, mark: str, options: Options, criterion: str) -> Detail:
    """The figures of one criterion; anew when the study's data or the options change."""
    return agreement_report.detail(_measured(folder, study, mark, options), criterion)


@st.cache_resource(max_entries=12, show_spinner="Measuring …")
def _further(folder: str, study: str, mark: str, options: Options, criterion: str) -> Further:
    """What is asked less often: measured when somebody asks."""
    with workspace().read() as db:
        features = frames.features(db, study)
    return agreement_report.further(_measured(folder, study, mark, options), criterion, features)


@st.cache_resource(max_entries=6)
def _varied(folder: str, study: str, mark: str) -> list[str]:
    """The facets by which items can be taken together."""
    with workspace().read() as db:
        return frames.varied(db, study)


def page() -> None:
    """Draw the page."""
    st.title("Agreement", anchor=False)
    with workspace().read() as db:
        names = stored.names(db)
    if not names:
        st.info(
            "There is no study yet. Draw one on the page Samples, or import ratings with `concord import`."
        )
        return
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    with left:
        study = _study(names)
    with workspace().read() as db:
        version = (str(workspace().path), study, progress.mark(db, study))
    with right.popover("How it is measured", icon=":material/tune:", width="stretch"):
        options = _options(version)
    try:
        measured = _measured(*version, options)
    except ConcordError as error:
        sentence(error)
        return
    _answer(measured, _detail(*version, options, measured.main))
    st.subheader("Judges and panels beside people", anchor=False)
    options = _own_panel(measured.ratings.judges, options)
    measured = _measured(*version, options)
    _table(measured)
    criterion = _criterion(measured)
    _closely(measured, _detail(*version, options, criterion))
    if measured.ratings.judges and measured.figures["criteria"][criterion]["humans"]["items"]:
        more = st.expander(FURTHER, key="further", on_change="rerun")
        if more.open:
            with more:
                tables.further(_further(*version, options, criterion))
    _download(measured)


def _study(names: list[str]) -> str:
    first = names.index(asked("study", names, names[0]))
    return shown("study", st.selectbox("Study", names, index=first, key="study", on_change=_from_the_start))


def _from_the_start() -> None:
    """Another study has other criteria and judges."""
    st.query_params.pop("criterion", None)
    if "panel" in st.session_state:
        st.session_state["panel"] = []


def _options(version: tuple[str, str, str]) -> Options:
    runs = st.toggle("Repeated runs of a judge one by one", help="Otherwise their mean is one judge.")
    kept = st.toggle("Count conversations in which a judge saw a refusal")
    resamples = st.select_slider("Resamples of the bootstrap", RESAMPLES, value=1000)
    seed = st.number_input("Seed", min_value=0, value=0, help="The same seed gives the same intervals.")
    varied = _varied(*version)
    together = (
        st.multiselect(
            "Resample items together that share",
            varied,
            key=f"together in {version[1]}",
            placeholder="nothing: each item by itself",
            help="Items of one scenario hang together, and intervals that take them for independent are too narrow. Choose what makes a "
            "scenario; the tables whose intervals follow say so.",
        )
        if varied
        else []
    )
    return Options("single" if runs else "mean", not kept, (), resamples, int(seed), tuple(together))


def _own_panel(judges: tuple[str, ...], options: Options) -> Options:
    """A panel the researcher ticks: of fewer than three judges there is none that is not measured anyhow, but for single runs."""
    if len(judges) < (2 if options.runs == "single" else 3):
        return options
    own = st.multiselect(
        "A panel of your own",
        judges,
        key="panel",
        bind="query-params",
        placeholder="Tick two or more judges: their mean is measured beside the others",
    )
    return (
        replace(options, panels=(tuple(judge for judge in judges if judge in own),))
        if len(own) > 1
        else options
    )


def _table(measured: Measured) -> None:
    tables.judges(measured)
    reported = studies.reported(measured.of.study)
    if reported:
        figures = " · ".join(f"{plain(label)} {plain(figure)}" for label, figure in reported.items())
        st.caption(f"The paper's own figures, for comparison, not of this study: {figures}.")


def _criterion(measured: Measured) -> str:
    chosen: str = st.pills(
        "Look closely at", measured.criteria, default=asked("criterion", measured.criteria, measured.main), required=True,
        key=f"criterion of {measured.of.study.name}", format_func=lambda name: plain(measured.label(name)),
    )  # fmt: skip
    return shown("criterion", chosen)


def _answer(measured: Measured, main: Detail) -> None:
    """The answer first, then what it rests on, and what is missing for a better one."""
    said = answer(measured, main)
    with st.container(border=True):
        if said:
            st.subheader(plain(said[0]), anchor=False)
            st.markdown("\n".join(f"- {plain(also)}" for also in said[1:]))
        missing = studies.shortcomings(measured.figures, anonymous=measured.of.study.anonymous)
        for what in missing:
            st.markdown(f":material/info: {plain(what)}")
        if missing:
            link("samples", "Deal this study, see how people get on", study=measured.of.study.name)
        simulated = measured.of.simulated
        if simulated:
            st.markdown(
                f":orange-badge[mock] Neither people nor language models: {plain(', '.join(simulated))}."
            )
        st.caption(plain(main.judges.basis))


def _closely(measured: Measured, of: Detail) -> None:
    part = measured.figures["criteria"][of.criterion]
    label = plain(measured.label(of.criterion))
    forest = charts.forest(part, agreement_report.short_names(measured.ratings.judges))
    if forest:
        st.subheader(f"{label}: order and level", anchor=False)
        st.altair_chart(forest, alt="Spearman's correlation of everybody with people's mean, with intervals")
        tables.level(of.judges)
    if len(of.held_out.rows):
        st.subheader(f"{label}: a judge in a person's place", anchor=False)
        tables.held_out(of.held_out)
    _use_of_scale(measured, of.criterion)
    if len(of.judges.rows) and part["humans"]["items"]:
        st.subheader(f"{label}: where a judge fails", anchor=False)
        _failing(measured, of)
    if part["humans"]["items"]:
        st.subheader(f"{label}: people among themselves", anchor=False)
        tables.people(of.people)
        if part["humans"]["pairs"]:
            st.altair_chart(charts.matrix(part["humans"]), alt="Spearman's correlation of every two people")
            st.caption(
                "Spearman's ρ of two people on the items both rated; last columns: with the mean of the others (the ceiling), and of all, themselves included (flattered)."
            )
    if of.redundancy and of.search:
        st.subheader(f"{label}: how many judges are these?", anchor=False)
        tables.redundancy(of.redundancy)
        tables.search(of.search)
    if of.retests:
        st.subheader(f"{label}: does a judge repeat itself?", anchor=False)
        tables.retests(of.retests)


def _use_of_scale(measured: Measured, criterion: str) -> None:
    st.subheader(f"{plain(measured.label(criterion))}: how everybody uses the scale", anchor=False)
    scale = agreement_report.scale_of(measured, criterion)
    words = (
        dict(zip(scale.values, scale.labels, strict=True))
        if scale and not scale.continuous and measured.ratings.same_scale
        else {}
    )
    st.altair_chart(
        charts.shares(agreement_report.shares(measured, criterion), words),
        alt="Share of each answer, by rater",
    )
    st.caption("A mean over turns, runs or criteria is counted with the nearest answer.")


@live
def _failing(measured: Measured, of: Detail) -> None:
    """One judge item by item and player by player; redrawn by itself when another judge or a dot is chosen."""
    raters = {called(members): members for members in of.judges.rows.members}
    primary_panel = called(measured.primary_panel)
    rater = st.selectbox("Judge or panel", raters, index=list(raters).index(primary_panel))
    members = raters[rater]
    points = agreement_report.points(measured, of.criterion, members)
    if points.empty:
        st.caption(f"{plain(rater)} and people have no item in common here.")
        return
    left, right = st.columns(2, gap="large")
    scale = agreement_report.scale_of(measured, of.criterion)
    ends = (scale.low, scale.high) if scale and measured.ratings.same_scale else None
    with left:
        event = st.altair_chart(
            charts.scatter(points, measured, of.criterion, members, ends), on_select="rerun", key=f"dots {of.criterion} {rater}",
            alt=f"{rater} against the mean of people, item by item",
        )  # fmt: skip
        st.caption(f"{len(points)} items; a larger dot is several. Click on one to see its conversations.")
    picked = event["selection"].get("picked") or []
    with right:
        if picked:
            st.markdown("**The dot you picked**")
            tables.conversations(agreement_report.at(points, **picked[0]))
        else:
            st.markdown("**Largest gaps**")
            tables.conversations(agreement_report.gaps(measured, of.criterion, members))
    mine = of.players.rows[of.players.rows.rater == rater]
    chart = charts.players(mine, bias=measured.ratings.same_scale)
    if chart and len(mine) > 1:
        left, right = st.columns(2, gap="large")
        left.markdown("**By player**")
        left.altair_chart(chart, alt=f"{rater} by player")
        with right:
            st.markdown("**Levels kept apart**")
            tables.levels(of.levels, rater)


def _download(measured: Measured) -> None:
    name, figures = measured.of.study.name, measured.figures
    st.subheader("Take the figures with you", anchor=False)
    with st.container(horizontal=True):
        st.download_button(
            "Report",
            lambda: _report(measured),
            f"{name}-report.zip",
            on_click="ignore",
            icon=":material/folder_zip:",
            type="primary",
            help="The answer in words, every table of this page with intervals and reasons, and what they rest on, as one ZIP.",
        )
        for label, ending, write in (
            ("JSON", "json", lambda: json.dumps(figures, ensure_ascii=False, indent=2)),
            ("CSV", "csv", lambda: show.to_csv(figures)),
            ("LaTeX", "tex", lambda: show.latex(figures)),
        ):
            st.download_button(
                label, write, f"{name}-agreement.{ending}", on_click="ignore", icon=":material/download:"
            )
    st.caption(
        f"*Report*: `concord export report --study {plain(name)}`; the others: `concord agreement --study {plain(name)} --format …`. "
        "With other options than the usual ones, the command takes them too."
    )


def _report(measured: Measured) -> bytes:
    with workspace().read() as db:
        return bundle.bundle(db, measured.of.study.name, measured.options, made=date.today())


page()
