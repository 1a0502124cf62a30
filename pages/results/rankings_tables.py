"""Rank stability on the leaderboard page: by judge, interrogator and pool, and another ranking."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from concord.errors import ConcordError
from concord.exchange import ranking_csv
from concord.reports import rank_stability
from concord.reports.leaderboards import Leaderboard
from concord.table import Table, as_document
from pages.parts import menu, table
from pages.parts.charts import show, slopes
from pages.parts.plain import plain

MOST = 5
"""So many rises and falls are listed."""
TABS = {"judge": "Judges", "interrogator": "Interrogators", "pool": "Pools"}


def draw(board: Leaderboard, made: tuple[Table, ...]) -> None:
    """Draw the section, without its heading; `made` as `rank_stability.rankings` gives it."""
    # Each order is two tables, named by what it is by; the pools' weights follow.
    by = {name: [t for t in made if t.name.endswith(f"-by-{name}")] for name in TABS}
    by["pool"].append(made[-1])
    st.markdown(_summary(board, by["judge"][0], by["judge"][1]))
    shown = {name: label for name, label in TABS.items() if by[name]}
    *tabs, another = st.tabs([*shown.values(), "Another ranking"])
    for tab, name in zip(tabs, shown, strict=True):
        with tab:
            for each in by[name]:
                table.draw(each)
    with another:
        beside = _beside(board)
    for form in ("csv", "json"):
        every = partial(as_document, (*made, *beside), form)
        menu.offer(f"Everything as {form.upper()}", every, f"rankings-{board.benchmark}", form)


def _summary(board: Leaderboard, orders: Table, taus: Table) -> str:
    """How far the judges agree on the order, in a sentence or two."""
    mean = taus.estimates("tau")[-1]
    if mean.value is None:
        return f"How far judges agree on the order is undefined: {plain(mean.reason)}."
    ends = " ({} to {})".format(*map(_two, mean.interval)) if mean.interval else ""
    several = len(board.judges) > 2
    judges = f"Any two of the {len(board.judges)} judges" if several else "The two judges"
    return (
        f"{judges} order the {len(orders.rows)} players alike at "
        f"τ\u00a0=\u00a0**{_two(mean.value)}**{ends}{' on average' if several else ''}: about "
        f"{50 + 50 * mean.value:.0f}\u00a0% of the pairs of players stand the same way round."
    )


def _beside(board: Leaderboard) -> tuple[Table, ...]:
    """The tables beside a ranking that the reader brings; none before that."""
    file = st.file_uploader(
        "Another ranking as CSV: columns model and score, or model and rank",
        type="csv",
        max_upload_size=1,
        key="against",
    )
    if file is None:
        st.caption("For example another benchmark's leaderboard. Nothing of it is stored.")
        return ()
    try:
        made = rank_stability.beside(board, ranking_csv.read(file.getvalue(), file.name))
    except ConcordError as error:
        # The message quotes the file, which may hold anything.
        st.error("  \n".join(plain(line) for line in str(error).splitlines()), icon=":material/error:")
        return ()
    against, models = made
    rho, p = against.estimates("spearman")[0], against.estimates("p")[0]
    if rho.value is None:
        st.markdown(f"Spearman's ρ is undefined: {plain(rho.reason)}.")
    else:
        certain = f"p undefined: {plain(p.reason)}" if p.value is None else f"p\u00a0=\u00a0{p.value:.2g}"
        st.markdown(
            f"Spearman's ρ\u00a0=\u00a0**{_two(rho.value)}** over the n\u00a0=\u00a0{rho.n} models in both "
            f"({certain})."
        )
    if models.rows:
        ranks = pd.DataFrame(models.rows).rename(
            columns={"model": "name", "player": "other_name", "rank_there": "one", "rank_here": "other"}
        )
        chart = slopes(ranks, "The other ranking", "This leaderboard")
        show(chart, "Ranks in the other ranking and here, a line for each model")
        _moves(models.rows)
    for each in made:
        table.draw(each)
    return made


def _moves(rows: Sequence[Mapping[str, Any]]) -> None:
    for label, moved in (
        ("Largest rises", [row for row in rows if row["rise"] > 0]),
        ("Largest falls", [row for row in reversed(rows) if row["rise"] < 0]),
    ):
        if moved:
            moves = "; ".join(
                f"{plain(row['player'])} from {row['rank_there']:g} to {row['rank_here']:g}"
                for row in moved[:MOST]
            )
            st.markdown(f"{label}: {moves}.")


def _two(value: float) -> str:
    return f"{value:z.2f}".replace("-", "−")
