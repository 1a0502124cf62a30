"""Pairs as they are shown side by side. Nothing names a model."""

from typing import Any

from sqlite_utils import Database

from concord.conversation import Conversation
from concord.rating import Criterion
from concord.rubrics.rubric import Rubric, shown
from concord.store import conversations, images
from pages.desk import form

SAYS = {"over": "All compared – thank you!", "nothing": "There are no two replies to compare"}
"""What desks of pairs say at their end."""


def question(criterion: Criterion) -> dict[str, Any]:
    """A question of which of two is better, as it is asked."""
    own = {} if criterion.name else {"label": "", "say": criterion.label, "statement": ""}
    return form.question(criterion, reason="optional", across=True, **own)


def shown_pair(db: Database, first: int, second: int, rubric: Rubric | None = None) -> dict[str, Any]:
    """Two conversations (ids) as they are shown. Values are picked by name, and none names a model."""
    one, other = (images.shown(db, conversations.load(db, number)) for number in (first, second))
    about = {
        "turn": None,
        "language": one.language,
        "context": _context(rubric, one, other) if rubric else [],
    }
    if rubric is not None and rubric.unit != "last-reply":
        roles = {"user": "User"}
        whole = [form.messages(c, lambda message: roles.get(message.role, "Assistant")) for c in (one, other)]
        return about | {"said": [], "sides": whole, "whole": True}
    player = "Assistant" if rubric else "Simulator"
    before = form.messages(one, lambda message: "User" if message.role == "user" else player)
    replies = [
        {"text": m.content, "cut": bool(m.meta.get("cut"))} for m in (one.messages[-1], other.messages[-1])
    ]
    title = "" if rubric else str(one.context.get("Task", ""))
    head = {"about": {"title": title, "facts": [], "tags": []}} if title else {}
    return about | head | {"said": before[:-1], "sides": replies}


def _context(rubric: Rubric, one: Conversation, other: Conversation) -> list[tuple[str, str]]:
    """The rubric's fields in which the two agree, by heading."""
    theirs = dict(shown(other, rubric.show))
    return [(name, form.as_text(text)) for name, text in shown(one, rubric.show) if theirs.get(name) == text]
