"""The comparison of pairs: what the browser is sent, and what it reports. Nothing names a reply's model."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlite_utils import Database

from concord.conversation import Conversation
from concord.rating import Criterion, Preference, preferences
from concord.rubrics.rubric import Rubric, shown
from concord.rubrics.shelf import used
from concord.store import conversations, pairings
from concord.store.desk import Refusal
from concord.store.pairings import Pairing, PairStudy
from concord.studies import comparisons
from concord.studies import pairings as pairs
from pages.desk import form
from pages.desk.component import name
from pages.desk.form import DeskEvent, Moving, Placed

SIDES = (
    (2, "A by far", "3", ""),
    (1, "A is better", "1", "a"),
    (0, "A tie", "0", ""),
    (-1, "B is better", "2", "b"),
    (-2, "B by far", "4", ""),
)
"""The answers to which of two is better: value, words, key, a letter that does the same."""

OWN = "Which is better?"
"""A benchmark's own question."""


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
        return fixed(self.desk, title, self.person, back, raw="mono")

    def moving(self, db: Database, wanted: Iterable[int | str] | None) -> Moving:
        """What lies ahead; the pairs asked for. A pair is named by its conversations in the order shown."""
        every = comparisons.dealt(db, self.benchmark, self.person, players=self.players, facets=self.facets)
        known = {f"{first} {second}": (first, second) for (first, second), _ in every}
        strip, count = form.windowed(
            [(f"{a} {b}", "done" if done else "open", False) for (a, b), done in every]
        )
        items = []
        for asked in form.ahead(strip, wanted):
            if (pair := known.get(str(asked))) is not None:
                given = comparisons.given(db, self.person, *pair)
                told = Pairing(0, self.benchmark, *pair, {"": given} if given else {})
                items.append(item(db, told, "done" if given else "open") | {"id": asked})
        return Moving(strip, items, count)

    def apply(self, db: Database, event: DeskEvent) -> None:
        """Store an answer, or take it back."""
        if event.do == "answer":
            first, second = map(int, str(event.item).split(" "))
            given = _preference(event)
            comparisons.answer(db, self.person, first, second, given.verdict if given else None, event.text)


@dataclass(frozen=True)
class Dealt:
    """The pairs dealt to an annotator, in order. They have numbers, so that no conversation's id is sent."""

    study: PairStudy
    rater: int
    person: str

    @property
    def desk(self) -> str:
        """The name of this work."""
        return name("dealt pairs", self.study.name, self.rater)

    def fixed(self, title: str, back: str, questions: Sequence[Criterion]) -> dict[str, Any]:
        """The constant part of what the browser is sent. A pair that was dealt may be skipped and flagged."""
        more: dict[str, Any] = {"guidelines": self.study.guidelines, "reasons": list(form.REASONS)}
        if not self.study.rubric:
            return fixed(self.desk, title, self.person, back, raw="mono", **more)
        return fixed(self.desk, title, self.person, back, questions, **more)

    def moving(self, db: Database, wanted: Iterable[int | str] | None) -> Moving:
        """All pairs; of those asked for only this person's."""
        rubric = used(db, self.study.rubric, self.study.version).rubric if self.study.rubric else None
        strip: list[Placed] = [
            (number, "done" if done else "open", False)
            for number, done in pairings.desk(db, self.rater, self.study.name)
        ]
        states = {number: state for number, state, _ in strip}
        return Moving(
            strip,
            [
                item(db, pairings.get(db, self.rater, number), states[number], rubric)
                for number in form.ahead(strip, wanted)
                if isinstance(number, int) and number in states
            ],
        )

    def take(self, db: Database, client: str, events: Sequence[Any]) -> tuple[int, list[Refusal]]:
        """Store the events of a browser."""
        told = [_told(event) for event in events]
        return pairs.apply(db, self.rater, self.person, client, told)


def fixed(
    desk_name: str, title: str, person: str, back: str, questions: Sequence[Criterion] = (), **more: Any
) -> dict[str, Any]:
    """The constant part of what the browser is sent. Without `questions` it is the benchmark's own."""
    asked = [_question(q) for q in questions or (Criterion("", OWN, preferences()),)]
    over, nothing = "All compared – thank you!", "There are no two replies to compare"
    return form.fixed(desk_name, "pair", title, person, back, asked, over=over, nothing=nothing, **more)


def _question(criterion: Criterion) -> dict[str, Any]:
    options = [
        {"value": value, "shown": key, "label": "", "say": say, "key": key, "letter": letter}
        for value, say, key, letter in SIDES
        if value in criterion.scale
    ]
    more = {"reason": "optional", "required": True, "options": options, "across": True}
    own = {} if criterion.name else {"label": "", "say": OWN, "statement": ""}
    return form.question(criterion, **more, **own)


def _preference(event: DeskEvent) -> Preference | None:
    return Preference.of(event.score, event.text) if isinstance(event.score, float) else None


def _told(event: Any) -> Any:
    """An event as `pairings.apply` reads it; what is none stays as it is."""
    match event:
        case {"do": "answer", "score": float() | int() | None as score, **rest}:
            given = Preference.of(score) if score is not None else None
            answer = {"verdict": given.verdict if given else None, "strong": bool(given and given.strong)}
            return rest | answer | {"comment": rest.get("text", "")}
        case {"do": "skip", "text": reason, **rest}:
            return rest | {"skipped": reason}
        case {"do": "submit" | "reopen", **rest}:
            return rest | {"skipped": None}
        case {"do": "flag", "text": comment, **rest}:
            return rest | {"flag": comment}
    return event


def item(db: Database, pair: Pairing, state: str, rubric: Rubric | None = None) -> dict[str, Any]:
    """A pair as it is shown, with its answers. Values are picked by name, and none of them names a model."""
    one, other = conversations.load(db, pair.first), conversations.load(db, pair.second)
    values = {"A": 1, "B": -1, "C": 0}
    found = {
        "id": pair.id,
        "turn": None,
        "language": one.language,
        "answers": {c: values[a.verdict] * (1 + a.strong) for c, a in pair.answers.items()},
        "reasons": {c: a.explanation for c, a in pair.answers.items()},
        "state": state,
        "reason": pair.skipped or "",
        "flag": pair.flag,
        "context": _context(rubric, one, other) if rubric else [],
    }
    if rubric is not None and rubric.unit != "last-reply":
        roles = {"user": "User"}
        whole = [form.messages(c, lambda message: roles.get(message.role, "Assistant")) for c in (one, other)]
        return found | {"said": [], "sides": whole, "whole": True}
    player = "Assistant" if rubric else "Simulator"
    before = form.messages(one, lambda message: "User" if message.role == "user" else player)
    replies = [
        {"text": m.content, "cut": bool(m.meta.get("cut"))} for m in (one.messages[-1], other.messages[-1])
    ]
    title = "" if rubric else str(one.context.get("Task", ""))
    about = {"about": {"title": title, "facts": [], "tags": []}} if title else {}
    return found | about | {"said": before[:-1], "sides": replies}


def _context(rubric: Rubric, one: Conversation, other: Conversation) -> list[tuple[str, str]]:
    """The rubric's fields in which the two agree, by heading."""
    theirs = dict(shown(other, rubric.show))
    return [(name, form.as_text(text)) for name, text in shown(one, rubric.show) if theirs.get(name) == text]
