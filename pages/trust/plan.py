"""How many conversations to label for an interval or a decision, and what it costs, from scores of judges."""

from collections.abc import Callable

import numpy as np
import streamlit as st

from concord.codes import PlanFigure
from concord.errors import ConcordError, StudyError
from concord.messages import PLAN_FIGURES
from concord.rating import criteria_by_name
from concord.reading import labels
from concord.reading.labels import LabelTable
from concord.reports.evidence import Evidence
from concord.reports.plan import EXPECTED, LabelPlan, PlanOptions, plan, plan_of, planned_figures
from concord.reports.rated import Rated, boards, gather, with_leaderboard
from concord.store import conversations
from pages.parts import table
from pages.parts.address import benchmark_chosen, choice, empty_page, link
from pages.parts.navigation import heading
from pages.parts.plain import plain
from pages.parts.session import sentence, workspace
from pages.parts.upload import Upload, table_dropped

GOALS = {"width": "An interval of ±", "bar": "To show that it is above or below", "": "None: a table"}
"""What labels may be for, by the key that stands in the address."""


def page() -> None:
    """Draw the page."""
    heading("plan")
    dropped = table_dropped(
        "A pilot: a table with a judge's answers and perhaps some labels (else stored conversations)", "pilot"
    )
    if dropped is not None:
        return _pilot(*dropped)
    with workspace().read() as db:
        names = with_leaderboard(db, conversations.values(db)["benchmark"])
        benchmark = benchmark_chosen(names) if names else None
        rubrics = boards(db, benchmark.name) if benchmark else []
    if benchmark is None:
        said = "A plan needs ratings by a judge, and no judge has rated yet."
        return empty_page(said, ("import", "Import conversations"), ("runs", "Start a run"))
    try:
        with workspace().read() as db:
            rated = gather(db, benchmark.name, rubric=rubrics[0] if rubrics else "")
        _plan(rated)
    except ConcordError as error:
        sentence(error)


def _pilot(number: str, upload: Upload) -> None:
    """Plan from a table, with the agreement of the labels that it holds."""
    pilot = _read(number, upload)
    if isinstance(pilot, str):
        st.error(plain(pilot))
        return
    evidence = Evidence.read(pilot.data)
    st.caption(plain(" · ".join(pilot.columns)))
    name = choice("Criterion", "criterion", [*evidence.criteria], evidence.main)
    scores = evidence.ratings[name]
    judges = [*scores.judges]
    judge = choice("Judge", "judge", judges, judges[0]) if judges else ""
    try:
        if not judge:
            raise StudyError(f"No judge answered {name}, so nothing can be planned.")
        figures = planned_figures(scores.judges[judge], evidence.scale(name))
        _answer(figures, lambda options: plan(pilot.data, name, judge, options), expected=None)
    except ConcordError as error:
        sentence(error)


@st.cache_resource(max_entries=4, show_spinner="Reading the table …")
def _read(number: str, _upload: Upload) -> LabelTable | str:
    """The table of a pilot; why it cannot be read, else."""
    try:
        return labels.read(_upload.path, people=False)
    except ConcordError as error:
        return _upload.sentence(error)


def _plan(rated: Rated) -> None:
    """Plan from stored conversations."""
    criteria = criteria_by_name(rated.system.criteria)
    judges = list(rated.judges)
    first = next(iter(criteria))
    several_criteria = len(criteria) > 1
    words = {"format_func": lambda code: criteria[code].label}
    name = choice("Criterion", "criterion", [*criteria], first, is_drawn=several_criteria, **words)
    judge = choice("Judge", "judge", judges, judges[0], is_drawn=len(judges) > 1)
    scores = rated.scores[rated.scores.judge == judge][name].to_numpy(float)
    criterion = criteria[name]
    labels_of_none = np.full(len(scores), np.nan)

    def planned(options: PlanOptions) -> LabelPlan:
        return plan_of(criterion.label, judge, scores, labels_of_none, criterion.scale, options)

    _answer(planned_figures(scores, criterion.scale), planned, expected=EXPECTED)
    link("samples", "Draw a sample")


def _answer(
    figures: tuple[PlanFigure, ...], planned: Callable[[PlanOptions], LabelPlan], *, expected: float | None
) -> None:
    """Ask what the labels are for, and answer; without an `expected` agreement that of the pilot counts."""
    names = [figure.value for figure in figures]
    figure = PlanFigure(choice("Labels are for", "figure", names, names[0], format_func=_called))
    goal = choice("Goal", "goal", [*GOALS], "width", format_func=GOALS.__getitem__)
    with st.container(horizontal=True):
        number = st.number_input("±" if goal == "width" else "Bar", 0.001, 1000.0, 0.1) if goal else None
        agreement = st.number_input(
            "Expected agreement", 0.0, 0.99, expected, placeholder="as in the pilot, else 0.7"
        )
        annotators = st.number_input("Annotators per item", 1, 20, 1)
        price = st.number_input("Price of a label", 0.0, 1000.0, 0.0)
        seconds = st.number_input("Seconds per label", 0, 3600, 40)
    options = PlanOptions(
        figure,
        half_width=number if goal == "width" else None,
        bar=number if goal == "bar" else None,
        agreement=agreement,
        annotators=annotators,
        price=price,
        seconds=seconds,
    )
    answer = planned(options)
    for text in answer.sentences:
        st.markdown(plain(text))
    for each in answer.tables:
        table.draw(each)


def _called(figure: str) -> str:
    return PLAN_FIGURES[PlanFigure(figure)]


page()
