"""The leaderboard's table of players as people would have them, beside what judges and people say alone; cells are Markdown."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.reports.corrected import CorrectedBoard
from pages.parts.plain import plain
from pages.trust.agreement_tables import UNDEFINED


def draw(board: CorrectedBoard) -> None:
    """Players as people would have them, beside what judges alone and people alone say."""
    rows = {}
    for row in board.rows:
        f = row.final
        ends = "" if f.low is None else f" :gray[:small[{f.low:.2f}\u00a0to\u00a0{f.high:.2f}]]"
        rows[plain(row.player)] = {
            "Judges alone": _with_n(f.judges, f.n + f.rest),
            "People alone": _with_n(f.people, f.n),
            "Corrected": UNDEFINED if f.value is None else f"**{f.value:.2f}**{ends}",
            "Worth": "" if f.worth is None else f"{f.worth:.0f} of people",
        }
    st.table(
        pd.DataFrame.from_dict(rows, orient="index"),
        border="horizontal",
        alt="Final scores corrected by people",
    )


def _with_n(value: float | None, n: int) -> str:
    return "" if value is None else f"{value:.2f} :gray[:small[n\u00a0=\u00a0{n}]]"
