"""The desk in the browser: one component that draws and takes the keys, and a small one that carries news to and fro.

The first is drawn once for a study. Only the second takes part in the exchange with Python, so that an answer costs
a few hundred bytes on the wire and not the desk's whole code.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

HERE = Path(__file__).resolve().parent
SCRIPTS = (
    "text.js",
    "mount.js",
    "clock.js",
    "outbox.js",
    "model.js",
    "view.js",
    "dialogs.js",
    "keys.js",
    "desk.js",
)

_desk = st.components.v2.component(
    "concord_desk",
    html='<div class="desk" part="desk"></div>',
    css=(HERE / "desk.css").read_text(encoding="utf-8"),
    js="\n".join((HERE / name).read_text(encoding="utf-8") for name in SCRIPTS),
)

_link = st.components.v2.component("concord_desk_link", js=(HERE / "link.js").read_text(encoding="utf-8"))


def desk(fixed: dict[str, Any]) -> bool:
    """Draw the desk. True when the annotator asks to go back to where they came from."""
    result = _desk(data=fixed, key=f"desk {fixed['desk']}", on_leave_change=lambda: None)
    return bool(result.leave)


def link(name: str, data: dict[str, Any]) -> None:
    """Hand the desk its news."""
    _link(data=data, key=f"link {name}", on_report_change=lambda: None)


def report(name: str) -> dict[str, Any] | None:
    """What the desk reported last, whole; None as long as it has said nothing."""
    state = st.session_state.get(f"link {name}")
    said = state.get("report") if state else None
    return dict(said) if said else None
