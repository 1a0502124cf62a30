"""Pairs as they are shown side by side, and a researcher's own desk of all of them. Nothing names a model."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlite_utils import Database

from concord.conversation import Conversation
from concord.questions import preferences
from concord.rating import Criterion, Preference
from concord.rubrics.rubric import Rubric, shown
from concord.store import conversations
from concord.studies import comparisons
from pages.desk import form
from pages.desk.component import name
from pages.desk.form import DeskEvent, Moving

OWN = "Which is better?"
"""A benchmark's own question."""
SAYS = {"over": "All compared – thank you!", "nothing": "There are no two replies to compare"}
"""What desks of pairs say at their end."""


@dataclass(frozen=True)
class AllPairs:
    """Every pair of the chosen players (all if empty) of a benchmark, in one random order for everybody."""

    benchmark: str
    person: str
    players: Sequence[str] = ()
    facets: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def desk(self) -> str:
        """The name of this work."""
        return name("pairs", self.benchmark, self.person, self.players, sorted(self.facets.items()))

    def fixed(self, title: str, back: str) -> dict[str, Any]:
        """The constant part of what the browser is sent; the question is the benchmark's own."""
        questions = [question(Criterion("", OWN, preferences()))]
        return form.fixed(self.desk, "pair", title, self.person, back, questions, **SAYS, raw="mono")

    def moving(self, db: Database, wanted: Iterable[int | str] | None) -> Moving:
        """What lies ahead; the pairs asked for. A pair is named by its conversations in the order shown."""
        every = comparisons.dealt(db, self.benchmark, self.person, players=self.players, facets=self.facets)
        by_name = {f"{first} {second}": (first, second) for (first, second), _ in every}
        strip, count = form.windowed(
            [(f"{a} {b}", "done" if done else "open", False) for (a, b), done in every]
        )
        items = []
        for key in form.ahead(strip, wanted):
            if (pair := by_name.get(str(key))) is not None:
                given = comparisons.given(db, self.person, *pair)
                answered = {"answers": {"": given.score}, "reasons": {"": given.explanation}} if given else {}
                state = {"id": key, "state": "done" if given else "open", "reason": "", "flag": ""}
                items.append(shown_pair(db, *pair) | {"answers": {}, "reasons": {}} | answered | state)
        return Moving(strip, items, count)

    def apply(self, db: Database, event: DeskEvent) -> None:
        """Store an answer, or take it back."""
        if event.do == "answer":
            first, second = map(int, str(event.item).split(" "))
            given = _preference(event)
            comparisons.answer(db, self.person, first, second, given.verdict if given else None, event.text)


def question(criterion: Criterion) -> dict[str, Any]:
    """A question of which of two is better, as it is asked."""
    more = {"reason": "optional", "across": True}
    own = {} if criterion.name else {"label": "", "say": OWN, "statement": ""}
    return form.question(criterion, **more, **own)


def _preference(event: DeskEvent) -> Preference | None:
    return Preference.of(event.score, event.text) if isinstance(event.score, float) else None


def shown_pair(db: Database, first: int, second: int, rubric: Rubric | None = None) -> dict[str, Any]:
    """Two conversations (ids) as they are shown. Values are picked by name, and none names a model."""
    one, other = conversations.load(db, first), conversations.load(db, second)
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
