"""The desk in the browser: one component that draws and takes the keys, and a small one that carries news to
and fro.

The first is drawn once for a study. Only the second takes part in the exchange with Python, so that an answer
costs a few hundred bytes on the wire and not the desk's whole code.
"""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from secrets import token_hex
from typing import Any

import streamlit as st
from sqlite_utils import Database

from concord.store.desk import Refusal, Taken, take
from concord.studies.translations import translations
from pages.desk.report import checked
from pages.parts.session import workspace

RUN_AFTER_RECONNECTING = timedelta(days=1)
"""The `run_every` of a fragment that answers a desk.

When the server was started again, the new session knows no fragment and drops every report in silence. After
reconnecting, Streamlit's page asks for a run of the whole page if its last run was that of a fragment, or if
a fragment is run at an interval; if its last run was a whole one, it asks for nothing. The interval makes it
ask always. It is long because the run itself is not needed.
"""

HERE = Path(__file__).resolve().parent
SCRIPTS = (
    "text.js",
    "reading.js",
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
    words = translations(workspace().folders("data"))
    result = _desk(data={**fixed, "words": words}, key=f"desk {fixed['desk']}", on_leave_change=lambda: None)
    return bool(result.leave)


def link(name: str, data: dict[str, Any]) -> None:
    """Hand the desk its news, with a name of the session: another one means that reports under way were
    lost.
    """
    session = st.session_state.setdefault("desk session", token_hex(8))
    _link(data={**data, "session": session}, key=f"link {name}", on_report_change=lambda: None)


def report(name: str) -> dict[str, Any] | None:
    """What the desk reported last, whole; None as long as it has said nothing.

    Raises StudyError for what is no report, NotAllowed where a desk reports too much.
    """
    state = st.session_state.get(f"link {name}")
    said = state.get("report") if state else None
    return checked(name, said) if said else None


def taken(
    report: dict[str, Any] | None, apply: Callable[[Database, str, list[Any]], tuple[int, list[Refusal]]]
) -> Taken:
    """Store what a desk reports, and wait until it is on the disk. `apply` applies events of one window."""
    if not report or not any(report["boxes"].values()):
        return Taken({}, [])
    boxes = report["boxes"]
    return workspace().change(lambda db: take(boxes, lambda client, events: apply(db, client, events)))
