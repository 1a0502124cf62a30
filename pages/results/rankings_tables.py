"""Rank stability on the leaderboard page: by judge, interrogator and pool, and another ranking."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.errors import ConcordError
from core.exchange import ranking_csv
from core.reports import rank_stability
from core.reports.leaderboards import Leaderboard
from core.reports.rank_stability import Beside, Rankings
from core.table import as_document
from pages.parts import table
from pages.parts.plain import plain
from pages.results import rankings_chart

MOST = 5
"""So many rises and falls are listed."""
TABS = {"judge": "Judges", "interrogator": "Interrogators", "pool": "Pools"}


def draw(found: Rankings) -> None:
    """Draw the section, without its heading."""
    st.markdown(_summary(found))
    made = rank_stability.tables(found)
    # Each order is two tables, named by what it is by; the pools' weights follow.
    by = {name: [t for t in made if t.name.endswith(f"-by-{name}")] for name in TABS}
    by["pool"].append(made[-1])
    shown = {name: label for name, label in TABS.items() if by[name]}
    *tabs, another = st.tabs([*shown.values(), "Another ranking"])
    for tab, name in zip(tabs, shown, strict=True):
        with tab:
            for each in by[name]:
                table.draw(each)
    with another:
        beside = _against(found.board)
    every = (*made, *(rank_stability.beside_tables(beside) if beside else ()))
    for form in ("csv", "json"):
        st.download_button(
            f"Everything as {form.upper()}",
            partial(as_document, every, form),
            f"rankings-{found.board.benchmark}.{form}",
            icon=":material/download:",
            on_click="ignore",
        )


def _summary(found: Rankings) -> str:
    """The answer in a sentence or two."""
    mean = found.by_judge.stability.mean
    if mean.value is None:
        return f"How far judges agree on the order is undefined: {plain(mean.reason)}."
    ends = (
        f" ({_two(mean.low)} to {_two(mean.high)})" if mean.low is not None and mean.high is not None else ""
    )
    judges = "The two judges" if mean.n == 1 else f"Any two of the {len(found.board.judges)} judges"
    average = "" if mean.n == 1 else " on average"
    return (
        f"{judges} order the {len(found.players)} players alike at "
        f"τ\u00a0=\u00a0**{_two(mean.value)}**{ends}{average}: about {50 + 50 * mean.value:.0f}\u00a0% of "
        "the pairs of players stand the same way round."
    )


def _against(board: Leaderboard) -> Beside | None:
    file = st.file_uploader(
        "Another ranking as CSV: columns model and score, or model and rank",
        type="csv",
        max_upload_size=1,
        key="against",
    )
    if file is None:
        st.caption("For example another benchmark's leaderboard. Nothing of it is stored.")
        return None
    try:
        beside = rank_stability.beside(board, ranking_csv.read(file.getvalue(), file.name))
    except ConcordError as error:
        # The message quotes the file, which may hold anything.
        st.error("  \n".join(plain(line) for line in str(error).splitlines()), icon=":material/error:")
        return None
    rho, p = beside.figures.spearman, beside.figures.p
    if rho.value is None:
        st.markdown(f"Spearman's ρ is undefined: {plain(rho.reason)}.")
    else:
        certain = f"p undefined: {plain(p.reason)}" if p.value is None else f"p\u00a0=\u00a0{p.value:.2g}"
        st.markdown(
            f"Spearman's ρ\u00a0=\u00a0**{_two(rho.value)}** over the n\u00a0=\u00a0{rho.n} models in both "
            f"({certain})."
        )
    if beside.placed:
        st.altair_chart(
            rankings_chart.slopes(beside), alt="Ranks in the other ranking and here, a line for each model"
        )
        _moves(beside)
    for each in rank_stability.beside_tables(beside):
        table.draw(each)
    return beside


def _moves(beside: Beside) -> None:
    ordered = sorted(beside.placed, key=lambda one: -one.rise)
    for label, moved in (
        ("Largest rises", [one for one in ordered if one.rise > 0]),
        ("Largest falls", [one for one in reversed(ordered) if one.rise < 0]),
    ):
        if moved:
            told = "; ".join(
                f"{plain(one.player)} from {one.rank_there:g} to {one.rank_here:g}" for one in moved[:MOST]
            )
            st.markdown(f"{label}: {told}.")


def _two(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")
