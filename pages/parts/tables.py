"""The tables of the study and results pages. Cells are text and numbers, never Markdown: names and models' words may hold anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.rating import Criterion, Scale
from core.reports.leaderboards import Leaderboard
from core.reports.standings import row as standing_row
from core.store.conversations import Found
from core.store.holdings import Judge, Played

STATES = {
    "running": ":material/play_circle:",
    "interrupted": ":material/power_off:",
    "finished": ":material/check_circle:",
    "finished with failures": ":material/rule:",
    "stopped": ":material/stop_circle:",
    "broken": ":material/error:",
}

Number = st.column_config.NumberColumn
Text = st.column_config.TextColumn


def played(rows: Sequence[Played], *, judged: bool = True) -> None:
    """Conversations per player: in each language, and (where judges are to score them) how many of all of them judges rated."""
    table: dict[str, dict[str, int]] = {}
    for p in rows:
        row = table.setdefault(_marked(p.player, p.simulated), {})
        row[p.language] = p.conversations
        row["judged"] = row.pop("judged", 0) + p.judged
    frame = pd.DataFrame.from_dict(table, orient="index")
    languages = sorted(c for c in frame.columns if c != "judged")
    frame = frame[[*languages, *(["judged"] if judged else [])]].fillna(0).astype(int)
    st.dataframe(frame.rename_axis("player").reset_index(), hide_index=True, alt="Conversations per player")


def judges(rows: Sequence[Judge]) -> None:
    """Judges with what they rated."""
    frame = pd.DataFrame(
        [
            {
                "judge": _marked(j.name, j.simulated),
                "prompt": j.version,
                "rated": j.rated,
                "failed": j.failed,
            }
            for j in rows
        ]
    )
    st.dataframe(frame, hide_index=True, alt="Judges and what they rated")


def conversations(
    rows: Sequence[Found], opened: Callable[[int], None], facets: Sequence[str], several: bool
) -> None:
    """A page of conversations; `opened` is called with the id of the one that is chosen, by its button or by selecting its row."""
    facets = [name for name in facets if any(name in c.facets for c in rows)]
    frame = pd.DataFrame(
        [
            {
                "open": "Open",
                **({"benchmark": c.benchmark} if several else {}),
                "player": _marked(c.player, c.simulated),
                **{name: c.facets.get(name, "") for name in facets},
                "language": c.language,
                "final": c.final,
                "spread": c.spread,
                "people": c.people,
                "refused": c.refused or None,
                "failed": c.failed or None,
                "turns": c.turns,
                "created": c.created[:16].replace("T", " "),
            }
            for c in rows
        ]
    )

    def clicked() -> None:
        opened(rows[st.session_state["open"]["row"]].id)

    def selected() -> None:
        chosen = st.session_state["list"]["selection"]["rows"]
        if chosen:
            opened(rows[chosen[0]].id)

    st.dataframe(
        frame,
        hide_index=True,
        height="content",
        key="list",
        on_select=selected,
        selection_mode="single-row",
        placeholder="",
        alt="Conversations",
        column_config={
            "open": st.column_config.ButtonColumn(
                "", type="tertiary", on_click=clicked, key="open", pinned=True
            ),
            "final": Number(format="%.2f", help="Mean over judges, criteria and turns"),
            "spread": Number(format="%.2f", help="Distance between the highest and the lowest judge"),
            "people": Number(format="%.2f", help="Mean of people"),
            "refused": Number("refusals", help="Judges who saw a refusal"),
            "failed": Number(help="Judgements that could not be read"),
            "turns": Number(width="small"),
            "created": Text("stored (UTC)"),
        },
    )


def standings(board: Leaderboard, criteria: Sequence[Criterion]) -> str | None:
    """The leaderboard; returns the player whose row is selected."""
    frame = pd.DataFrame([standing_row(s) for s in board.standings])
    titles = {c.name: c.label for c in criteria}
    shown = [
        "rank",
        "player",
        "score",
        "score_ci",
        "final",
        *titles,
        "refusal_ratio",
        "reply_chars",
        "n",
        "incomplete",
    ]
    frame["player"] = [_marked(s.player, s.simulated) for s in board.standings]
    chosen = st.dataframe(
        frame[shown],
        hide_index=True,
        height="content",
        key="standings",
        on_select="rerun",
        selection_mode="single-row",
        placeholder="undefined",
        alt="Leaderboard",
        column_config={
            "rank": Number("#", width="small", help="Players within 0.06 of a group's first share its rank"),
                        "score": Number("score", format="%.2f", help="Final, with a price on replies longer than the median player's"),
            "score_ci": Number("±", format="%.2f", help="Half the width of the 95% interval"),
            "final": Number(format="%.2f", help="Weighted mean of the criteria"),
            **{name: Number(title, format="%.2f") for name, title in titles.items()},
            "refusal_ratio": Number("refusal ratio", format="%.2f", help="Share of the conversations every judge of the panel rated in which one saw a refusal"),
            "reply_chars": Number("reply length", format="%.0f", help="Mean characters of a reply"),
            "n": Number(help="Conversations the means are over"),
            "incomplete": Number(help="Conversations left out: a judge of the panel has not usably rated them"),
        },
    )  # fmt: skip
    rows = chosen["selection"]["rows"]
    return board.standings[rows[0]].player if rows and rows[0] < len(board.standings) else None


def grid(cells: pd.DataFrame, down: str, across: str, scale: Scale, key: str) -> dict[str, Any] | None:
    """A player's cells as a heat table; returns the cell that is selected."""
    wide = cells.pivot(index="row", columns="column", values="value")
    refused = cells.pivot(index="row", columns="column", values="refused").gt(0)
    words = wide.map(lambda v: "" if pd.isna(v) else f"{v:.2f}").mask(wide.isna() & refused, "refused")
    colours = wide.map(lambda v: _heat(v, scale))
    words.index.name = down
    chosen = st.dataframe(
        words.style.apply(lambda _: colours, axis=None),
        height="content",
        key=key,
        on_select="rerun",
        selection_mode="single-cell",
        alt=f"Scores by {down} and {across}",
        column_config={name: Text(str(name), alignment="center") for name in words.columns},
    )
    selected = chosen["selection"]["cells"]
    if not selected:
        return None
    row, column = selected[0]
    if column not in wide.columns or row >= len(wide):
        return None
    found = cells[(cells.row == wide.index[row]) & (cells.column == column)]
    return None if found.empty else found.iloc[0].to_dict()


def _heat(value: float, scale: Scale) -> str:
    """From red at the scale's low end through nothing in its middle to green at its high end; thin enough for text in light and dark."""
    if pd.isna(value):
        return ""
    middle = (scale.low + scale.high) / 2
    away = (value - middle) / (scale.high - middle)
    colour = "46,125,106" if away > 0 else "190,80,50"
    return f"background-color: rgba({colour},{min(1.0, abs(away)) * 0.65:.2f})"


def _marked(name: str, simulated: bool) -> str:
    return f"{name} (simulated)" if simulated and "stand" not in name else name
