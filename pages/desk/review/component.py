"""Items reviewed one by one, each with a key: a browser component and its exchange with Python.

Style, outbox (answers stay in the browser until they are stored) and exchange are those of the desk.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import streamlit as st
from pydantic import BaseModel
from sqlite_utils import Database

from concord.conversation import Conversation, Message
from concord.errors import ConcordError, NotAllowed
from concord.store.desk import Refusal, once
from pages.desk import component as desk
from pages.parts.people import SignedOut
from pages.parts.session import researching, workspace

Event = TypeVar("Event", bound=BaseModel)

HERE = Path(__file__).resolve().parent
SCRIPTS = (
    *(
        desk.HERE / name
        for name in ("text.js", "reading.js", "mount.js", "clock.js", "outbox.js", "dialogs.js")
    ),
    *(HERE / name for name in ("line.js", "spot.js", "pair.js", "task.js", "settle.js", "review.js")),
)
AHEAD = 8
"""Items sent ahead of the present one."""
LINE = 200
"""The most open ids sent to the browser at a time; more follow as these are settled."""

_review = st.components.v2.component(
    "concord_review",
    html='<div class="desk review" part="review"></div>',
    css="\n".join(path.read_text(encoding="utf-8") for path in (desk.HERE / "desk.css", HERE / "review.css")),
    js="\n".join(path.read_text(encoding="utf-8") for path in SCRIPTS),
)


class Moving(NamedTuple):
    """What changes during the work.

    `line`: open ids in order; `left` and `of`: how many are open, and in all; `items`: those asked for;
    `first`: the id to begin with; `past`: ids settled before; `gone`: ids asked for that are no longer there.
    """

    line: Sequence[int | str]
    left: int
    of: int
    items: Sequence[Mapping[str, Any]]
    first: int | str | None = None
    past: Sequence[int | str] = ()
    gone: Sequence[int | str] = ()

    def sent(self, refused: Sequence[Refusal]) -> dict[str, Any]:
        """As the browser reads it, with the events that were refused."""
        found = {name: list(getattr(self, name)) for name in ("line", "past", "gone", "items")}
        no = [{"item": r.item, "message": r.message} for r in refused]
        return {**found, "count": {"left": self.left, "of": self.of}, "first": self.first, "refused": no}


Take = Callable[[Database, str, Sequence[Mapping[str, Any]]], tuple[int, list[Refusal]]]
"""Stores the events of a browser, known by its name; returns the number of the last one, and the refusals."""
Answer = Callable[[Database, Any, Sequence[Refusal]], dict[str, Any]]
"""What a browser is sent that asked for these ids (None at first) and whose events were refused."""


def review(fixed: Mapping[str, Any], words: Mapping[str, Mapping[str, str]] | None = None) -> bool:
    """Draw it. True when the person asks to go back.

    `words` has translations of an annotator's desk, which keeps how they read; None for a researcher's.
    """
    data, key = {"ahead": AHEAD, **fixed, "words": words}, f"review {fixed['desk']}"
    return bool(_review(data=data, key=key, on_leave_change=lambda: None).leave)


def name(*parts: object) -> str:
    """A name for this work in the browser's storage: a hash of the workspace and the parts."""
    told = "\n".join(map(str, (workspace().path, *parts)))
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def said(conversation: Conversation, speaker: Callable[[Message], str]) -> list[dict[str, Any]]:
    """The messages of a conversation as they are shown."""
    return [
        {
            "turn": turn.number,
            "reply": message is turn.reply,
            "speaker": speaker(message) + conversation.voice(message),
            "text": message.content,
            "cut": bool(message.meta.get("cut")),
        }
        for turn in conversation.turns()
        for message in (turn.user, turn.reply)
        if message is not None
    ]


def exchange(
    desk_id: str,
    kind: type[Event],
    apply: Callable[[Database, Event], None],
    moving: Callable[[Database, Sequence[int | str] | None], Moving],
) -> None:
    """Store what a researcher's browser reports, and answer it.

    `moving` is given the ids the browser wants to see, None when it has said nothing yet.
    """

    annotators_exchange(
        desk_id,
        lambda db, client, events: once(db, desk_id, client, events, kind, lambda event: apply(db, event)),
        lambda db, wanted, refused: moving(db, wanted).sent(refused),
        researching,
    )


@st.fragment(run_every=desk.RUN_AFTER_RECONNECTING)
def annotators_exchange(desk_id: str, take: Take, answer: Answer, allowed: Callable[[], bool]) -> None:
    """Store what a browser reports, and answer it. `allowed` is asked before anything is taken or shown."""
    try:
        if not allowed():
            raise NotAllowed("This page is not yours any more. Sign in, or open your link, again.")
        report = desk.report(desk_id)
        marks, refused = desk.taken(report, take)
        with workspace().read() as db:
            data = answer(db, report["want"] if report else None, refused)
        data |= {"seen": report["k"] if report else 0, "marks": marks}
    except SignedOut as error:
        data = {"signed_out": str(error)}
    except ConcordError as error:
        data = {"closed": str(error)}
    desk.link(desk_id, {"desk": desk_id, **data})
