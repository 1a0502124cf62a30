"""How players compare; a row opens into scores by two facets, and these into conversations.

What a leaderboard is narrowed to, conditions of conversations and a panel of judges, stands in the address.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import streamlit as st

from concord import messages
from concord.codes import IntervalMethod
from concord.errors import ConcordError
from concord.estimate import Estimate
from concord.reports import corrected, leaderboards, rank_stability
from concord.reports.leaderboard_table import leaderboard_table, uncounted_criteria
from concord.reports.leaderboards import Leaderboard
from concord.reports.rated import Rated, boards, gather, own_tables, sharing, with_leaderboard
from concord.runs import judged
from concord.runs.benchmark import Benchmark
from concord.scores import FINAL
from concord.store import conversations, progress
from concord.store import tables as stored
from concord.studies import studies
from concord.table import Cell, Table
from pages.parts import table
from pages.parts.address import benchmark_chosen, checked, choice, go, link, listed, several
from pages.parts.charts import Point, forest, intervals, show
from pages.parts.navigation import heading
from pages.parts.plain import plain
from pages.parts.reports import studies_called
from pages.parts.session import sentence, workspace
from pages.results import stability

Conditions = tuple[tuple[str, tuple[str, ...]], ...]
"""Names with the values allowed, as `dict` takes them; unlike a dict it can be a key of the cache."""


class Basis(NamedTuple):
    """What a leaderboard rests on: conversations of a workspace; the stamp changes as its store grows."""

    folder: str
    stamp: str
    benchmark: str
    where: Conditions
    rubric: str = ""


class BoardRequest(NamedTuple):
    """A leaderboard: what it rests on, by whom, how weighed."""

    basis: Basis
    judges: tuple[str, ...]
    weights: str
    intervals: IntervalMethod = IntervalMethod.PADDED


@st.cache_resource(max_entries=8, show_spinner="Reading the ratings …")
def _rated(basis: Basis) -> Rated:
    with workspace().read() as db:
        return gather(db, basis.benchmark, dict(basis.where), basis.rubric)


@st.cache_resource(max_entries=32, show_spinner="Measuring …")
def _board(request: BoardRequest) -> tuple[Leaderboard, Table]:
    """The leaderboard, and it as a table."""
    rated = _rated(request.basis)
    weights = leaderboards.weightings(rated.system.criteria)[request.weights]
    board = leaderboards.leaderboard(
        rated, judges=request.judges, weights=weights, intervals=request.intervals
    )
    return board, leaderboard_table(board)


@st.cache_resource(max_entries=32)
def _correcting_studies(request: BoardRequest) -> list[str]:
    """The studies whose people can correct it."""
    with workspace().read() as db:
        return corrected.available_studies(db, _board(request)[0])


@st.cache_resource(max_entries=32, show_spinner="Measuring …")
def _corrected(request: BoardRequest, study: str, mark: str) -> Table:
    """Corrected by the people of a study; `mark` changes when they have rated further items."""
    board, _ = _board(request)
    with workspace().read() as db:
        corrected.check(db, board, study)
        return corrected.corrected(board, studies.ratings_for_agreement(db, study))


def page() -> None:
    """Draw the page."""
    heading("leaderboard")
    with workspace().read() as db:
        names = with_leaderboard(db, conversations.values(db)["benchmark"])
    if not names:
        st.info("No conversations to compare yet.")
        return link("runs", "Start a run")
    benchmark, rubric = _rated_by(benchmark_chosen(names))
    try:
        if rubric or own_tables(benchmark.name) is None:
            _common(benchmark, rubric)
        else:
            _own_boards(benchmark)
    except ConcordError as error:
        sentence(error)


OWN_QUESTIONS = "its own questions"
ALL_LANGUAGES = "all"
MOST_MODELS = 30
"""Models in the picture; the table has all."""
TALLEST = 560
"""Pixels of a table of scripts; a longer one scrolls."""


def _rated_by(benchmark: Benchmark) -> tuple[Benchmark, str]:
    """The benchmark as its judges were asked, and the version of a rubric that asked them; “” for its own."""
    with workspace().read() as db:
        rubric_options = [name or OWN_QUESTIONS for name in boards(db, benchmark.name)]
    rubric = (
        choice("Rated by", "rubric", rubric_options, rubric_options[0])
        if len(rubric_options) > 1
        else "".join(rubric_options)
    )
    if rubric in ("", OWN_QUESTIONS):
        return benchmark, ""
    with workspace().read() as db:
        return judged.system(db, benchmark.name, rubric), rubric


def _own_boards(benchmark: Benchmark) -> None:
    """A benchmark's own tables; a row leads to the conversations that it is about."""
    with workspace().read() as db:
        judges = sharing(db, benchmark.name)
    with st.popover("Conversations, judges", icon=":material/tune:"):
        panel = _judges(judges) if judges else ()
        tables = _own_tables(_basis(benchmark), panel)
    best = tables[0]
    if words := leaderboards.foremost(best):
        st.subheader(plain(words), anchor=False)
    if first := best.meta.get("first by"):
        title = next(column.title for column in best.columns if column.name == first)
        forest([*zip(map(best.label, best.rows), best.estimates(first), strict=True)], title, "Mean score")
    st.caption("Select a row to see its conversations, or to spot-check the judgements of its script.")
    for board_table in tables:
        row = table.draw(board_table, selectable=True, max_height=TALLEST)
        if row is not None and "conversation" in row:
            go("spot-check", benchmark=benchmark.name, these=_listed_with(board_table, row))
        elif row is not None:
            parameters = {"player": row.get("player") or row.get("model")} | {
                n: row.get(n) for n in benchmark.facets
            }
            go("conversations", benchmark=benchmark.name, **{n: str(v) for n, v in parameters.items() if v})


def _listed_with(table_drawn: Table, row: Mapping[str, Cell]) -> str:
    """A table's conversations of the model or judge of a row, the row's first."""
    name = table_drawn.columns[0].name
    listed_rows = [line for line in table_drawn.rows if line[name] == row[name]]
    numbers = [row["conversation"], *(line["conversation"] for line in listed_rows)]
    return " ".join(dict.fromkeys(map(str, numbers)))


@st.cache_resource(max_entries=8, show_spinner="Measuring …")
def _own_tables(basis: Basis, judges: tuple[str, ...]) -> tuple[Table, ...]:
    make = own_tables(basis.benchmark)
    assert make is not None
    with workspace().read() as db:
        return make(db, filters=dict(basis.where), judges=judges)


def _basis(benchmark: Benchmark, rubric: str = "") -> Basis:
    with workspace().read() as db:
        stamp = stored.stamp(db)
        values = conversations.values(db, benchmark.name)
    return Basis(str(workspace().path), stamp, benchmark.name, _conditions(benchmark, values), rubric)


def _conditions(benchmark: Benchmark, values: Mapping[str, Sequence[str]]) -> Conditions:
    """The language, and the other conditions in which conversations of the benchmark differ."""
    conditions: list[tuple[str, tuple[str, ...]]] = []
    spoken = values["language"]
    if len(spoken) > 1:
        language = choice("Language", "language", [*spoken, ALL_LANGUAGES], spoken[0], format_func=plain)
        if language != ALL_LANGUAGES:
            conditions.append(("language", (language,)))
    fixed_names = ("benchmark", "language", "player", *benchmark.evaluated, *benchmark.items)
    for name in (name for name, choices in values.items() if name not in fixed_names and len(choices) > 1):
        if picked := several(name.replace("_", " ").capitalize(), name, values[name]):
            conditions.append((name, tuple(picked)))
    return tuple(conditions)


def _judges(judges: Sequence[str], default: Sequence[str] = ()) -> tuple[str, ...]:
    """The judges chosen; none where the usual panel is to be taken."""
    look = {"default": default, "placeholder": "every judge who answered the benchmark's own prompt"}
    return tuple(several("Panel of judges", "judges", judges, noun="judge", **look))


def _common(benchmark: Benchmark, rubric: str) -> None:
    """The common leaderboard: who is first, by judges and corrected by people."""
    with st.popover("Conversations, judges, weights", icon=":material/tune:"):
        basis = _basis(benchmark, rubric)
        request = BoardRequest(basis, *_panel(_rated(basis), benchmark), _intervals())
        study, mark = _study(request)
    board, by_judges = _board(request)
    by_people: Table | None = None
    try:
        by_people = _corrected(request, study, mark) if study else None
    except ConcordError as error:
        sentence(error)
    if by_judges.caption:
        st.subheader(plain(by_judges.caption), anchor=False)
    if by_people:
        st.markdown(plain(by_people.caption))
    low, high = leaderboards.scales_of(benchmark.criteria, board.weights)[FINAL]
    points = [Point(s.player, s.score, "score, by judges") for s in board.standings[:MOST_MODELS]]
    if by_people:
        final = {row["player"]: row["corrected"] for row in by_people.rows}
        points += [
            Point(s.player, figure, "overall score, corrected by annotators")
            for s in board.standings[:MOST_MODELS]
            if isinstance(figure := final.get(s.player), Estimate)
        ]
    if any(point.figure.defined for point in points):
        chart = intervals(points, f"Points ({low:g} to {high:g}), 95% interval")
        show(chart, "Score of each model, and its overall score corrected by annotators")
    remainder = (
        f" The first {MOST_MODELS} of {len(board.standings)} players."
        if len(board.standings) > MOST_MODELS
        else ""
    )
    st.caption(
        "*Overall* is the weighted mean of the criteria. *Score* is the overall score with a penalty for "
        "replies longer than the median model's. *Corrected* is the overall score corrected by the "
        "annotators' ratings."
        f"{remainder} {plain(uncounted_criteria(board))}"
    )
    st.caption("Select a row to see the model's scores by facet, and its conversations.")
    row = table.draw(replace(by_judges, caption=""), key="leaderboard", selectable=True)
    if row is not None:
        _open_row(board, benchmark, str(row["player"]))
    if by_people:
        table.fold("By judges, corrected by annotators", [by_people], "corrected")
    place = st.expander(
        "How stable is this order?", icon=":material/swap_vert:", key="stability", on_change="rerun"
    )
    if place.open:
        with place:
            _stability(request, study, mark)
    with st.expander("Another benchmark's ranking", icon=":material/compare_arrows:", key="another ranking"):
        stability.against(board)


@st.cache_resource(max_entries=16, show_spinner="Measuring …")
def _rank_stability(board_key: BoardRequest, study: str, mark: str) -> tuple[Table, ...]:
    """The tables of rank stability; `mark` changes when the study's people have rated further items."""
    board = _board(board_key)[0]
    if not board_key.judges:
        board, _ = _board(board_key._replace(judges=rank_stability.judges_compared(board)))
    with workspace().read() as db:
        return rank_stability.rank_stability(db, board, study=study)


def _stability(board_key: BoardRequest, study: str, mark: str) -> None:
    """How stable the order is."""
    try:
        stability.draw(_rank_stability(board_key, study, mark))
    except ConcordError as error:
        sentence(error)


def _panel(rated: Rated, benchmark: Benchmark) -> tuple[tuple[str, ...], str]:
    left, right = st.columns([3, 2])
    with left:
        judges = _judges(rated.judges, rated.panel())
    weightings = list(leaderboards.weightings(benchmark.criteria))
    if len(weightings) == 1:  # one criterion alone cannot be weighed
        return judges, weightings[0]
    checked("weights", weightings, "weighting")
    weights = right.selectbox("Weights of the overall score", weightings, key="weights", bind="query-params")
    # The usual panel is not named, so that a panel without a common conversation can fall back to one judge.
    return (() if judges == rated.panel() else judges), weights


def _intervals() -> IntervalMethod:
    """How intervals of means are found."""
    methods = [method.value for method in IntervalMethod]
    words = messages.INTERVALS
    return IntervalMethod(
        choice("Intervals", "intervals", methods, methods[0], format_func=lambda name: words[name])
    )


def _study(request: BoardRequest) -> tuple[str, str]:
    """The study whose people correct the leaderboard, with a mark of its state; “” if there is none."""
    names = _correcting_studies(request)
    if not names:
        return "", ""
    title = "Correct by the annotators of the study"
    study = listed(title, "study", names, names[0], format_func=studies_called())
    with workspace().read() as db:
        return study, progress.mark(db, study)


def _open_row(board: Leaderboard, benchmark: Benchmark, player: str) -> None:
    """A player's scores by the first two facets, whose rows lead to conversations; else all of these."""
    parameters = {"benchmark": board.benchmark, "player": player}
    if len(benchmark.facets) > 1:
        down, across = benchmark.facets[:2]
        scores = leaderboards.grid(board, player, down, across)
        row = table.draw(scores, key=f"grid of {player}", selectable=True)
        if row is None:
            return
        parameters[down] = str(row[down])
    go("conversations", **parameters)


page()
