"""How far the judges of a study can be trusted: the answer in words, then every figure, with where it comes from."""

from __future__ import annotations

import streamlit as st

from core import trust
from core.errors import ConcordError
from core.store import progress, studies
from core.trust import Measured, Options
from pages.parts import agreement_charts as charts
from pages.parts import agreement_tables as tables
from pages.parts.plain import plain
from pages.parts.session import sentence, workspace


@st.cache_resource(max_entries=16, show_spinner="Measuring …")
def _measured(folder: str, study: str, mark: str, options: Options) -> Measured:
    """The figures of a study; anew when its data or the options change."""
    with workspace().read() as db:
        return trust.measure(db, study, options)


def page() -> None:
    """Draw the page."""
    st.title("Agreement", anchor=False)
    with workspace().read() as db:
        names = studies.names(db)
    if not names:
        return st.info(
            "There is no study yet. Draw one on the page Samples, or import ratings with `concord import`."
        )
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    study = left.selectbox("Study", names, key="study", bind="query-params")
    with right.popover("How it is measured", icon=":material/tune:", width="stretch"):
        options = _options()
    with workspace().read() as db:
        mark = progress.mark(db, study)
    try:
        measured = _measured(str(workspace().path), study, mark, options)
    except ConcordError as error:
        return sentence(error)
    _show(measured)


def _options() -> Options:
    return Options(
        runs="single"
        if st.toggle("Repeated runs of a judge one by one", help="Otherwise their mean is one judge.")
        else "mean",
        exclude_refused=st.toggle("Leave out conversations in which a judge saw a refusal", value=True),
        resamples=st.select_slider("Resamples of the bootstrap", [200, 1000, 5000], value=1000),
        seed=int(st.number_input("Seed", min_value=0, value=0)),
    )


def _show(measured: Measured) -> None:
    st.subheader("Judges and panels beside people", anchor=False)
    tables.judges(measured)
    criterion = st.segmented_control(
        "Criterion",
        measured.criteria,
        default=measured.main,
        format_func=lambda c: plain(measured.label(c)),
        key="criterion",
        bind="query-params",
        required=True,
    )
    part = measured.figures["criteria"][criterion]
    chart = charts.forest(part)
    if chart:
        st.altair_chart(chart)
    judges = measured.ratings.judges
    judge = st.selectbox("Judge", judges)
    points = trust.points(measured, criterion, [judge])
    scale = trust.scale_of(measured, criterion)
    st.altair_chart(
        charts.scatter(
            points,
            judge=judge,
            people="mean of people",
            same_scale=(scale.low, scale.high) if scale else None,
        ),
        on_select="rerun",
        key="points",
    )
    words = dict(zip(scale.values, scale.labels, strict=True)) if scale else {}
    st.altair_chart(charts.shares(trust.shares(measured, criterion), words))
    tables.people(measured)
    if part["humans"]["pairs"]:
        st.altair_chart(charts.matrix(part["humans"]["pairs"], [e["rater"] for e in part["humans"]["each"]]))


page()
