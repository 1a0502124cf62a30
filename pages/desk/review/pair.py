"""The comparison of pairs: what the browser is sent, and what it reports. Nothing names a reply's model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, Field
from sqlite_utils import Database

from concord.conversation import Conversation
from concord.rating import Criterion, Verdict, preferences
from concord.rubrics.rubric import Rubric, shown
from concord.rubrics.shelf import used
from concord.store import conversations, pairings
from concord.store.pairings import Pairing, PairStudy
from concord.studies import comparisons
from pages.desk.review.component import AHEAD, LINE, Moving, name, said
from pages.desk.sent import REASONS, as_text


class PairAnswer(BaseModel):
    """The answer for a pair as it was shown; None as verdict withdraws it."""

    first: int
    second: int
    verdict: Verdict | None
    comment: str = Field("", max_length=4000)


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

    def moving(self, db: Database, wanted: Sequence[int | str] | None) -> Moving:
        """What lies ahead; the pairs asked for. A pair is named by its place in the order."""
        every = comparisons.dealt(db, self.benchmark, self.person, players=self.players, facets=self.facets)
        line = [number for number, (_, done) in enumerate(every, 1) if not done]
        items = []
        for n in map(int, line[: AHEAD + 1] if wanted is None else wanted):
            if 0 < n <= len(every):
                (first, second), _ = every[n - 1]
                given = comparisons.given(db, self.person, first, second)
                shown = Pairing(n, self.benchmark, first, second, {"": given} if given else {})
                items.append(item(db, shown) | {"about": {"first": first, "second": second}})
        return Moving(line[:LINE], len(line), len(every), items)


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

    def moving(self, db: Database, wanted: Sequence[int | str] | None) -> Moving:
        """The open pairs, at first also those settled; of the pairs asked for only this person's."""
        every = dict(pairings.desk(db, self.rater, self.study.name))
        rubric = used(db, self.study.rubric, self.study.version).rubric if self.study.rubric else None
        line = [number for number, done in every.items() if not done]
        past = [number for number, done in every.items() if done] if wanted is None else []
        asked = line[: AHEAD + 1] if wanted is None else [n for n in wanted if isinstance(n, int)]
        items = [item(db, pairings.get(db, self.rater, n), rubric) for n in asked if n in every]
        gone = [number for number in asked if number not in every]
        return Moving(line[:LINE], len(line), len(every), items, past=past, gone=gone)


def fixed(
    work: AllPairs | Dealt,
    title: str,
    back: str,
    questions: Sequence[Criterion] = (),
    *,
    bare: bool = False,
) -> dict[str, Any]:
    """The constant part of what the browser is sent. `back` names the page behind; `bare`: no menu.

    Without `questions` it is the benchmark's own.
    """
    about = {"desk": work.desk, "kind": "pair", "title": title, "you": work.person, "back": back}
    over, nothing = "All compared – thank you!", "There are no two replies to compare"
    asked = [
        {
            "name": question.name,
            "label": question.label if question.name else "",
            "statement": question.statement if question.name else "",
            "ties": 0 in question.scale,
            "strength": 2 in question.scale,
        }
        for question in questions or (Criterion("", "", preferences()),)
    ]
    told: dict[str, Any] = {}
    if isinstance(work, Dealt):
        told = {"guidelines": work.study.guidelines, "reasons": REASONS, "timed": True}
    shown = {"bare": bare, "over": over, "nothing": nothing, "questions": asked}
    return about | shown | {"prosaic": bool(questions), **told}


def item(db: Database, pair: Pairing, rubric: Rubric | None = None) -> dict[str, Any]:
    """A pair as it is shown, with its answers. Values are picked by name, and none of them names a model."""
    one, other = conversations.load(db, pair.first), conversations.load(db, pair.second)
    answers = {criterion: given._asdict() for criterion, given in pair.answers.items()}
    found = {"id": pair.id, "answers": answers, "skipped": pair.skipped, "flag": pair.flag}
    if rubric is not None and rubric.unit != "last-reply":
        whole = [
            said(c, lambda message: "User" if message.role == "user" else "Assistant") for c in (one, other)
        ]
        return found | {"title": "", "context": _context(rubric, one, other), "said": [], "whole": whole}
    player = "Assistant" if rubric else "Simulator"
    before = said(one, lambda message: "User" if message.role == "user" else player)
    replies = [
        {"text": m.content, "cut": bool(m.meta.get("cut"))} for m in (one.messages[-1], other.messages[-1])
    ]
    context = _context(rubric, one, other) if rubric else []
    title = "" if rubric else str(one.context.get("Task", ""))
    return found | {"title": title, "context": context, "said": before[:-1], "replies": replies}


def _context(rubric: Rubric, one: Conversation, other: Conversation) -> list[tuple[str, str]]:
    """The rubric's fields in which the two agree, by heading."""
    theirs = dict(shown(other, rubric.show))
    return [(name, as_text(text)) for name, text in shown(one, rubric.show) if theirs.get(name) == text]
