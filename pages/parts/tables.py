"""Tables of what is stored. Cells are text and numbers, never Markdown: names may hold anything."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from concord.scores import marked
from concord.store.holdings import Judge, Played
from pages.parts.table import rows_as_cards

STATES = {
    "running": ":material/play_circle:",
    "interrupted": ":material/power_off:",
    "finished": ":material/check_circle:",
    "finished with failures": ":material/rule:",
    "stopped": ":material/stop_circle:",
    "waiting for batches": ":material/hourglass_top:",
    "broken": ":material/error:",
}


def played(rows: Sequence[Played], *, judged: bool = True) -> None:
    """Conversations per player and language, and how many of them judges rated."""
    table: dict[str, dict[str, int]] = {}
    for p in rows:
        row = table.setdefault(marked(p.player, p.simulated), {})
        row[p.language] = p.conversations
        row["judged"] = row.pop("judged", 0) + p.judged
    frame = pd.DataFrame.from_dict(table, orient="index")
    languages = sorted(c for c in frame.columns if c != "judged")
    frame = frame[[*languages, *(["judged"] if judged else [])]].fillna(0).astype(int)
    st.dataframe(frame.rename_axis("player").reset_index(), hide_index=True, alt="Conversations per player")


def judges(rows: Sequence[Judge]) -> None:
    """Judges with what they rated."""
    cells = [(marked(j.name, j.simulated), j.version, j.rated, j.failed) for j in rows]
    frame = pd.DataFrame(cells, columns=["judge", "prompt", "rated", "failed"])
    st.dataframe(frame, hide_index=True, alt="Judges and what they rated")


def progress(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, Any], alt: str) -> None:
    """How far people are: rows with `done` in percent; `columns` says how the others are shown."""
    if rows_as_cards(alt, rows):
        return
    done = st.column_config.ProgressColumn("Done", min_value=0, max_value=100, format="%.0f%%")
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        height="content",
        placeholder="",
        alt=alt,
        column_config={"done": done, **columns},
    )
