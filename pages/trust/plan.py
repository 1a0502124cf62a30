"""How many conversations to label for an interval or a decision, and what it costs, from scores of judges."""

import numpy as np
import streamlit as st

from concord.codes import PlanFigure
from concord.errors import ConcordError
from concord.messages import PLAN_FIGURES
from concord.reports.plan import EXPECTED, PlanOptions, plan_of, planned_figures
from concord.reports.rated import Rated, boards, gather, with_leaderboard
from concord.store import conversations
from pages.parts import table
from pages.parts.address import benchmark_chosen, choice, link, nothing
from pages.parts.navigation import heading
from pages.parts.plain import plain
from pages.parts.session import sentence, workspace

GOALS = {"width": "An interval of ±", "bar": "To show on which side of", "": "None: a table"}
"""What labels may be for, by the key that stands in the address."""


def page() -> None:
    """Draw the page."""
    heading("plan")
    with workspace().read() as db:
        names = with_leaderboard(db, conversations.values(db)["benchmark"])
        benchmark = benchmark_chosen(names) if names else None
        rubrics = boards(db, benchmark.name) if benchmark else []
    if benchmark is None:
        said = "A plan starts from what judges said of conversations, and no judge has rated any yet."
        return nothing(said, ("import", "Import conversations"), ("runs", "Start a run"))
    try:
        with workspace().read() as db:
            rated = gather(db, benchmark.name, rubric=rubrics[0] if rubrics else "")
        _plan(rated)
    except ConcordError as error:
        sentence(error)


def _plan(rated: Rated) -> None:
    """Ask what the labels are for, and answer."""
    criteria = {criterion.name: criterion for criterion in rated.system.criteria}
    judges = list(rated.judges)
    with st.container(horizontal=True):
        name = choice("Criterion", "criterion", [*criteria], next(iter(criteria)), drawn=len(criteria) > 1)
        judge = choice("Judge", "judge", judges, judges[0], drawn=len(judges) > 1)
    own = rated.scores[rated.scores.judge == judge][name].to_numpy(float)
    criterion = criteria[name]
    figures = [figure.value for figure in planned_figures(own, criterion.scale)]
    figure = PlanFigure(choice("Labels are for", "figure", figures, figures[0], format_func=_called))
    goal = choice("Goal", "goal", [*GOALS], "width", format_func=GOALS.__getitem__)
    with st.container(horizontal=True):
        number = st.number_input("±" if goal == "width" else "Bar", 0.001, 1000.0, 0.1) if goal else None
        agreement = st.number_input("Expected agreement", 0.0, 0.99, EXPECTED)
        annotators = st.number_input("Annotators each", 1, 20, 1)
        price = st.number_input("Price of a label", 0.0, 1000.0, 0.0)
        seconds = st.number_input("Seconds a label", 0, 3600, 40)
    options = PlanOptions(
        figure,
        half_width=number if goal == "width" else None,
        bar=number if goal == "bar" else None,
        agreement=agreement,
        annotators=annotators,
        price=price,
        seconds=seconds,
    )
    nobody = np.full(len(own), np.nan)
    found = plan_of(criterion.label, judge, own, nobody, criterion.scale, options)
    for said in found.sentences:
        st.markdown(plain(said))
    for each in found.tables:
        table.draw(each)
    link("samples", "Draw a sample")


def _called(figure: str) -> str:
    return PLAN_FIGURES[PlanFigure(figure)]


page()
