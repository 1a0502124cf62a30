"""The desk in the browser: one component that draws and takes the keys, and a small one that carries news to
and fro.

The first is drawn once for a study. Only the second takes part in the exchange with Python, so that an answer
costs a few hundred bytes on the wire and not the desk's whole code.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from secrets import token_hex
from typing import Any

import streamlit as st
from sqlite_utils import Database

from concord.errors import ConcordError, NotAllowed, StudyError
from concord.store.desk import Event, Refusal, ReportResult, once, take
from pages.desk.form import Moving, Take, sent_by
from pages.desk.report import checked
from pages.parts import theme
from pages.parts.address import end_work
from pages.parts.people import SignedOut
from pages.parts.session import researching, workspace

RUN_AFTER_RECONNECTING = timedelta(days=1)
"""The `run_every` of a fragment that answers a desk.

When the server was started again, the new session knows no fragment and drops every report in silence. After
reconnecting, Streamlit's page asks for a run of the whole page if its last run was that of a fragment, or if
a fragment is run at an interval; if its last run was a whole one, it asks for nothing. The interval makes it
ask always. It is long because the run itself is not needed.
"""

Answer = Callable[[Database, Any, Sequence[Refusal]], dict[str, Any]]
"""What a browser is sent that asked for these items (None at first) and whose events were refused."""

DESK_FOLDER = Path(__file__).resolve().parent
SCRIPTS = (
    "text.js",
    "reading.js",
    "mount.js",
    "clock.js",
    "outbox.js",
    "purposes.js",
    "model.js",
    "widgets.js",
    "view.js",
    "dialogs.js",
    "keys.js",
    "desk.js",
)

_desk = st.components.v2.component(
    "concord_desk",
    html='<div class="desk" part="desk"></div>',
    css=(DESK_FOLDER / "desk.css").read_text(encoding="utf-8"),
    js="\n".join((DESK_FOLDER / name).read_text(encoding="utf-8") for name in SCRIPTS),
)

_link = st.components.v2.component(
    "concord_desk_link", js=(DESK_FOLDER / "link.js").read_text(encoding="utf-8")
)


def desk(
    fixed: Mapping[str, Any],
    take: Take,
    answer: Answer,
    allowed: Callable[[], bool] = researching,
    *,
    words: Mapping[str, Mapping[str, str]] | None = None,
) -> bool:
    """Draw a desk, store what it reports and answer it. True when whoever sits there asks to leave it.

    `allowed` is asked before anything is taken or shown. `words` has translations for an annotator; None for
    a researcher.
    """
    result = _desk(data={**fixed, "words": words}, key=f"desk {fixed['desk']}", on_leave_change=lambda: None)
    if not result.leave:
        _exchange(fixed["desk"], take, answer, allowed)
    return bool(result.leave)


def work(
    fixed: Mapping[str, Any],
    apply: Callable[[Database, Event], None],
    moving: Callable[[Database, Any], Moving],
) -> None:
    """Draw a researcher's desk in the whole window; whoever leaves it is where the work began."""
    theme.whole_window()
    if desk(fixed, taking(fixed["desk"], apply), sent_by(moving)):
        end_work()
        st.rerun()


def name(*parts: object) -> str:
    """A name for a desk in the browser's storage: a hash of the workspace and the parts."""
    words = "\n".join(map(str, (workspace().path, *parts)))
    return hashlib.sha256(words.encode()).hexdigest()[:16]


def taking(desk_name: str, do: Callable[[Database, Event], None]) -> Take:
    """What stores the events of a desk, each once."""

    def take(db: Database, client: str, events: Sequence[Any]) -> tuple[int, list[Refusal]]:
        return once(db, desk_name, client, events, lambda event: do(db, event))

    return take


@st.fragment(run_every=RUN_AFTER_RECONNECTING)
def _exchange(desk_name: str, take_one: Take, answer: Answer, allowed: Callable[[], bool]) -> None:
    """Store what a desk reports, wait until it is on the disk, and hand the desk its news.

    The news have a name of the session: another one means that reports under way were lost.
    """
    state = st.session_state.get(f"link {desk_name}")
    content = state.get("report") if state else None
    data: dict[str, Any] = {}
    taken = ReportResult({}, [])
    try:
        if not allowed():
            raise NotAllowed("Your session has ended. Sign in again, or open your link again.")
        try:
            report = checked(content) if content else {"k": 0, "boxes": {}, "want": None}
        except StudyError as error:
            report = {"k": None, "boxes": {}, "want": None}
            data = {"unreadable": str(error)}
        boxes = report["boxes"]
        if any(boxes.values()):
            taken = workspace().change(lambda db: take(boxes, lambda *events: take_one(db, *events)))
        data |= {"seen": report["k"]}
        with workspace().read() as db:
            data |= answer(db, report["want"], taken.refused)
    except SignedOut as error:
        data = {"signed_out": str(error)}
    except ConcordError as error:
        # What was stored before the desk was closed is stored, and the browser is told.
        data |= {"closed": str(error)}
    data |= {"marks": taken.marks}
    data |= {"desk": desk_name, "session": st.session_state.setdefault("desk session", token_hex(8))}
    _link(data=data, key=f"link {desk_name}", on_report_change=lambda: None)
