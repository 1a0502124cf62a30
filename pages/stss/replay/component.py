"""The replay of a simulation in the browser: one component plays it, another exchanges messages with Python.

The replay is sent once for each simulation. The second component reports the moment at which the clock
stops, for the address. All text is set as textContent: nothing that a model wrote is read as HTML.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from pages.desk import component as desk

HERE = Path(__file__).resolve().parent
SCRIPTS = (desk.HERE / "text.js", *(HERE / name for name in ("replay.js", "map.js", "day.js", "town.js")))

_town = st.components.v2.component(
    "concord_town",
    html='<div class="town" part="town"></div>',
    css=(HERE / "town.css").read_text(encoding="utf-8"),
    js="\n".join(path.read_text(encoding="utf-8") for path in SCRIPTS),
)
_link = st.components.v2.component("concord_town_link", js=(HERE / "link.js").read_text(encoding="utf-8"))


def town(name: str, replay: Mapping[str, Any]) -> None:
    """Draw the town. Streamlit's cache sends the replay once."""
    _town(data={"id": name, "replay": replay}, key="town")


def link(
    name: str, at: str, resident: str, go: Mapping[str, Any] | None
) -> tuple[Mapping[str, str] | None, int | None]:
    """Tell the town where to begin, and where to go (a new `n` each time, `at`, `resident`).

    Returns what it shows since it came to rest, and the number of the conversation chosen to be read, if any.
    """
    result = _link(
        data={"id": name, "at": at, "resident": resident, "go": go},
        key="town link",
        on_shown_change=lambda: None,
        on_talk_change=lambda: None,
    )
    shown = result.shown if result.shown and result.shown["id"] == name else None
    return shown, result.talk
