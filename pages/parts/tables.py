"""Tables of what is stored. Cells are text and numbers, never Markdown: names may hold anything."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

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


def progress(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, Any], alt: str) -> None:
    """How far people are: rows with `done` in percent; `columns` says how the others are shown."""
    done = st.column_config.ProgressColumn("Done", min_value=0, max_value=100, format="%.0f%%")
    columns = {"done": done, **columns}
    if rows_as_cards(alt, rows, columns=columns):
        return
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        height="content",
        placeholder="",
        alt=alt,
        column_config=columns,
    )
