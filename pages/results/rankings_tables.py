"""How stable a leaderboard's order is: orders side by side, Kendall's tau of every two, pools of judges, another ranking by upload."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pandas as pd
import streamlit as st

from core.errors import ConcordError
from core.exchange import ranking_csv
from core.reports import rank_stability
from core.reports import rank_tables as written
from core.reports.leaderboards import Leaderboard
from core.reports.rank_stability import Beside, Orders, Pools, Rankings
from pages.parts.plain import plain
from pages.results import rankings_chart
from pages.trust.agreement_tables import UNDEFINED, reasons_below

MOST = 5
"""So many rises and falls are told."""
Number = st.column_config.NumberColumn


def draw(found: Rankings, board: Leaderboard) -> None:
    """The whole section, without its heading."""
    st.markdown(_told(found))
    several = len(found.by_interrogator.scores) > 1
    names = [
        "Judges",
        *(["Interrogators"] if several else []),
        "Pools",
        "Another ranking",
    ]
    tabs = dict(zip(names, st.tabs(names), strict=True))
    with tabs["Judges"]:
        _orders(found, found.by_judge, "judge")
    if several:
        with tabs["Interrogators"]:
            st.caption("The panel's order among the conversations of each interrogator.")
            _orders(found, found.by_interrogator, "interrogator")
    with tabs["Pools"]:
        _pools(found, found.pools)
    with tabs["Another ranking"]:
        beside = _against(board)
    notes = [*written.notes(found), *(written.beside_notes(beside) if beside else [])]
    st.caption("  \n".join(plain(note) for note in notes))
    _downloads(found, beside)


def _told(found: Rankings) -> str:
    """The answer in a sentence or two."""
    stability = found.by_judge.stability
    if stability.mean is None:
        return f"How far judges agree on the order is undefined: {plain(stability.reason)}."
    ends = "" if stability.ci is None else f" ({_two(stability.ci[0])} to {_two(stability.ci[1])})"
    judges = "The two judges" if stability.defined == 1 else f"Any two of the {len(found.judges)} judges"
    mean = "" if stability.defined == 1 else " on average"
    return (
        f"{judges} order the {len(found.players)} players alike at τ\u00a0=\u00a0**{_two(stability.mean)}**{ends}{mean}: "
        f"about {50 + 50 * stability.mean:.0f}\u00a0% of the pairs of players stand the same way round."
    )


def _orders(found: Rankings, orders: Orders, of: str) -> None:
    """Every ranking's score and rank of each player, and tau-b of every two."""
    table = {}
    places = {name: _places(scores) for name, scores in orders.scores.items()}
    for player in found.players:
        table[plain(player)] = {
            plain(name): _score(scores[player], places[name][player]) if player in scores else UNDEFINED
            for name, scores in orders.scores.items()
        }
    if len(set(orders.conversations.values())) > 1:
        table["*Conversations*"] = {plain(name): f"*{n}*" for name, n in orders.conversations.items()}
    st.table(
        pd.DataFrame.from_dict(table, orient="index"),
        border="horizontal",
        alt=f"Score and rank of each player by {of}",
    )
    pairs = orders.stability.pairs
    if not pairs:
        return reasons_below([("Kendall's τ", orders.stability.reason)])
    frame = pd.DataFrame(
        [
            {
                "τ": t.value, "95%": "" if t.ci is None else f"{_two(t.ci[0])} to {_two(t.ci[1])}",
                of: t.a, "and": t.b, "players": t.players,
            }
            for t in pairs
        ]
    )  # fmt: skip
    st.dataframe(
        frame, hide_index=True, height="content" if len(frame) <= 10 else "auto", placeholder="undefined",
        alt=f"Kendall's tau of every two by {of}",
        column_config={"τ": Number(format="%.3f", help="Kendall's tau-b"), "players": Number(help="Players both have")},
    )  # fmt: skip
    reasons_below([(f"{t.a} and {t.b}", t.reason) for t in pairs if t.reason])
    return None


def _pools(found: Rankings, pools: Pools) -> None:
    st.caption(
        "The same judgements, with every judge weighing the same, the best two alone, or each by its standing among the others."
    )
    _orders(found, pools.orders, "pool")
    defined = [pool for pool in pools.pools if pool.weights]
    rows = {
        plain(judge): {pool.name: f"{pool.weights.get(judge, 0.0):.3f}" for pool in defined}
        for judge in found.judges
    }
    st.caption("Weights of the judges in each pool.")
    st.table(
        pd.DataFrame.from_dict(rows, orient="index"),
        border="horizontal",
        alt="Weights of the judges in each pool",
    )


def _against(board: Leaderboard) -> Beside | None:
    file = st.file_uploader(
        "Another ranking as CSV: columns model and score, or model and rank", type="csv", max_upload_size=1, key="against",
    )  # fmt: skip
    if file is None:
        st.caption("For example another benchmark's leaderboard. Nothing of it is stored.")
        return None
    try:
        beside = rank_stability.beside(board, ranking_csv.read(file.getvalue(), file.name))
    except ConcordError as error:
        # A stranger's file is quoted in it: its words are shown as they stand.
        st.error("  \n".join(plain(line) for line in str(error).splitlines()), icon=":material/error:")
        return None
    f = beside.figures
    if f.spearman is None:
        st.markdown(f"Spearman's ρ is undefined: {plain(f.reason)}.")
    else:
        p = f"p\u00a0=\u00a0{f.p:.2g}" if f.p is not None else f"p undefined: {plain(f.p_reason)}"
        st.markdown(
            f"Spearman's ρ\u00a0=\u00a0**{_two(f.spearman)}** over the n\u00a0=\u00a0{f.n} models in both ({p})."
        )
    if beside.placed:
        st.altair_chart(
            rankings_chart.slopes(beside), alt="Ranks in the other ranking and here, a line for each model"
        )
        _moves(beside)
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


def _downloads(found: Rankings, beside: Beside | None) -> None:
    name = f"rankings-{found.benchmark}{f'-{found.language}' if found.language else ''}"
    with st.container(horizontal=True):
        st.download_button(
            "CSV of this", lambda: written.as_csv(found, beside), f"{name}.csv", icon=":material/download:", on_click="ignore",
        )  # fmt: skip
        st.download_button(
            "JSON of this", lambda: json.dumps(written.as_values(found, beside), ensure_ascii=False, indent=2), f"{name}.json",
            icon=":material/download:", on_click="ignore",
        )  # fmt: skip


def _places(scores: Mapping[str, float]) -> dict[str, int]:
    """Ranks from the best, equal scores at the same."""
    return {player: 1 + sum(other > score for other in scores.values()) for player, score in scores.items()}


def _score(score: float, place: int) -> str:
    return f"**{score:.2f}** :gray[:small[\\#{place}]]"


def _two(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")
