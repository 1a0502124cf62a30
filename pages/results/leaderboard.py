"""How players compare on what a panel of judges gave them; each row opens into its grid, each cell into the conversation."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from core.benchmarks import BENCHMARKS
from core.benchmarks.benchmark import Benchmark
from core.benchmarks.simulbench import SIMULBENCH
from core.benchmarks.stss import STSS, STSS_LANGUAGE
from core.errors import ConcordError
from core.reports import corrected, leaderboards, rank_stability, standings_corrected
from core.reports import standings as written
from core.reports.corrected import CorrectedBoard
from core.reports.leaderboards import Leaderboard, Rated
from core.reports.rank_stability import Rankings
from core.store import conversations, progress
from core.store import tables as stored
from core.studies import studies
from pages.parts import charts, tables
from pages.parts.address import asked, shown
from pages.parts.links import go, link
from pages.parts.plain import plain
from pages.parts.session import sentence, workspace
from pages.results import corrected_table, rankings_tables
from pages.simulbench import leaderboard as simulbench_board
from pages.stss import leaderboard as stss_board

EVERY = "all"
# Benchmarks whose paper has a table of its own shape.
OWN = {
    SIMULBENCH.name: simulbench_board.draw,
    STSS.name: stss_board.draw,
    STSS_LANGUAGE.name: stss_board.draw,
}
Chosen = tuple[tuple[str, tuple[str, ...]], ...]


class Basis(NamedTuple):
    """What a table rests on: the workspace, a stamp that changes as its store grows, and which conversations of it."""

    folder: str
    stamp: tuple[int, int]
    benchmark: str
    language: str
    facets: Chosen


class Wanted(NamedTuple):
    """A table: what it rests on, by whom, how weighed."""

    basis: Basis
    judges: tuple[str, ...]
    weights: str


@st.cache_resource(max_entries=8, show_spinner="Reading the ratings …")
def _rated(of: Basis) -> Rated:
    """What the table rests on; read anew when the store has grown."""
    with workspace().read() as db:
        return leaderboards.gather(db, of.benchmark, language=of.language, facets=dict(of.facets))


@st.cache_resource(max_entries=32, show_spinner="Measuring …")
def _measured(of: Wanted) -> Leaderboard:
    """The table; measured anew when the store has grown, or when another one is asked for."""
    offered = leaderboards.weightings(BENCHMARKS[of.basis.benchmark].criteria)
    return leaderboards.leaderboard(_rated(of.basis), judges=of.judges, weights=offered[of.weights])


@st.cache_resource(max_entries=32)
def _offered(of: Wanted) -> list[str]:
    """The studies whose people can correct it."""
    with workspace().read() as db:
        return corrected.offered(db, _measured(of))


@st.cache_resource(max_entries=32, show_spinner="Measuring …")
def _corrected(of: Wanted, study: str, mark: str) -> CorrectedBoard:
    """The table as the people of a study would have it; anew when they have rated further items."""
    with workspace().read() as db:
        return corrected.corrected(_measured(of), studies.ratings_for_agreement(db, study))


@st.cache_resource(max_entries=32, show_spinner="Measuring …")
def _ordered(of: Wanted, study: str, mark: str) -> Rankings:
    """How stable the table's order is."""
    with workspace().read() as db:
        return rank_stability.rankings(db, _rated(of.basis), _measured(of), study=study)


def page() -> None:
    """Draw the page."""
    st.title("Leaderboard", anchor=False)
    with workspace().read() as db:
        stamp, known = stored.stamp(db), conversations.values(db)
    names = [
        b.name
        for b in BENCHMARKS.values()
        if b.name in known["benchmark"] and (b.name in OWN or leaderboards.compares(b))
    ]
    if STSS.name in names and STSS_LANGUAGE.name in names:
        names.remove(STSS_LANGUAGE.name)  # both levels stand on one page
    if not names:
        st.info("There are no conversations yet that judges could compare.")
        return link("runs", "Start a run")
    name = asked("benchmark", names, names[0])
    if len(names) > 1:
        name = st.segmented_control(
            "Benchmark", names, default=name, required=True, format_func=lambda n: BENCHMARKS[n].title
        )
    benchmark = BENCHMARKS[shown("benchmark", name)]
    if benchmark.name in OWN:
        try:
            return OWN[benchmark.name]()
        except ConcordError as error:
            return sentence(error)
    with workspace().read() as db:
        values = conversations.values(db, benchmark.name)
    basis = Basis(
        str(workspace().path),
        stamp,
        benchmark.name,
        _language(values["language"]),
        _others(benchmark, values),
    )
    try:
        wanted = Wanted(basis, *_panel(_rated(basis), benchmark))
        board = _measured(wanted)
    except ConcordError as error:
        return sentence(error)
    _show(board, benchmark)
    study, mark = _study(wanted)
    if study:
        _by_people(wanted, study, mark)
    st.subheader("How stable is this order?", anchor=False)
    try:
        rankings_tables.draw(_ordered(wanted, study, mark), board)
    except ConcordError as error:
        st.caption(plain(error))


def _language(known: list[str]) -> str:
    """The language chosen; “” for all of them together."""
    if len(known) == 1:
        return known[0]
    offered = [*known, EVERY]
    chosen = st.segmented_control(
        "Language", offered, default=asked("language", offered, known[0]), required=True, format_func=plain
    )
    return "" if shown("language", chosen) == EVERY else chosen


def _others(benchmark: Benchmark, values: dict[str, list[str]]) -> Chosen:
    """What else varied, beside the two facets of the grid: asked only where it did."""
    chosen = []
    for name in benchmark.facets[2:]:
        if len(values.get(name, ())) > 1:
            picked = st.multiselect(
                name.capitalize(), values[name], key=name, bind="query-params", placeholder="all"
            )
            chosen.append((name, tuple(picked)))
    return tuple(chosen)


def _panel(rated: Rated, benchmark: Benchmark) -> tuple[tuple[str, ...], str]:
    left, right = st.columns([3, 2])
    judges = left.multiselect(
        "Panel of judges",
        rated.judges,
        default=rated.judges,
        key="judges",
        bind="query-params",
        placeholder="every judge",
    )
    offered = list(leaderboards.weightings(benchmark.criteria))
    if len(offered) <= 2:  # one criterion has nothing to be weighed against
        return tuple(judges), offered[0]
    return tuple(judges), right.selectbox("Weights in final", offered, key="weights", bind="query-params")


def _show(board: Leaderboard, benchmark: Benchmark) -> None:
    player = tables.standings(board, [c for c in benchmark.criteria if c.counted])
    st.caption("Select a row to see the player's conversations as a grid.")
    if player is not None:
        _grid(board, benchmark, player)
    chart = charts.standings(board)
    if chart is not None:
        st.altair_chart(chart)
    st.caption("  \n".join(plain(note) for note in written.notes(board)))
    _downloads(board)


def _study(wanted: Wanted) -> tuple[str, str]:
    """The study whose people are set beside the table, and a mark that changes as they rate; “” where there is none."""
    names = _offered(wanted)
    if not names:
        return "", ""
    study = names[0]
    st.subheader("Corrected by people", anchor=False)
    if len(names) > 1:
        first = names.index(asked("study", names, names[0]))
        study = shown("study", st.selectbox("People's answers in the study", names, index=first))
    with workspace().read() as db:
        return study, progress.mark(db, study)


def _by_people(wanted: Wanted, study: str, mark: str) -> None:
    """The same players as people would have them."""
    try:
        found = _corrected(wanted, study, mark)
    except ConcordError as error:
        return sentence(error)
    corrected_table.draw(found)
    st.caption("  \n".join(plain(note) for note in standings_corrected.notes(found)))


def _grid(board: Leaderboard, benchmark: Benchmark, player: str) -> None:
    down, across = benchmark.facets[:2]
    st.subheader(plain(f"{player}: {down} × {across}"), anchor=False)
    counted = [c for c in benchmark.criteria if c.counted]
    labels = {leaderboards.FINAL: "Final", **{c.name: c.label for c in counted}}
    value = st.segmented_control(
        "Score", list(labels), default=leaderboards.FINAL, format_func=labels.__getitem__, required=True
    )
    with workspace().read() as db:
        facets = stored.facets(db, board.benchmark, (down, across), player=player)
    cells = leaderboards.grid(board.scored, facets, player, value)
    st.caption("Select a cell to open its conversation.")
    cell = tables.grid(cells, down, across, counted[0].scale, key=f"grid of {player}")
    if cell is None:
        return
    if len(cell["conversations"]) == 1:
        go("conversations", conversation=str(cell["conversations"][0]))
    st.markdown(f"{len(cell['conversations'])} conversations lie in this cell.")
    link("conversations", "See them", player=player, **{down: cell["row"], across: cell["column"]})


def _downloads(board: Leaderboard) -> None:
    name = f"leaderboard-{board.benchmark}{f'-{board.language}' if board.language else ''}"
    with st.container(horizontal=True):
        st.download_button(
            "CSV", written.as_csv(board), f"{name}.csv", icon=":material/download:", on_click="ignore"
        )
        st.download_button(
            "LaTeX", written.as_latex(board), f"{name}.tex", icon=":material/download:", on_click="ignore"
        )


page()
