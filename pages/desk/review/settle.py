"""Answers given in sight of others': what the browser is sent, and what it reports. It names no person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field
from sqlite_utils import Database

from concord.rating import Criterion
from concord.store import conversations, studies
from concord.store.desk import Numbers
from concord.store.placements import Placement
from concord.store.studies import Study
from concord.studies import adjudication, discussion, reveal
from concord.studies.adjudication import Question
from concord.studies.discussion import OthersAnswers
from concord.studies.reveal import Shown
from pages.desk import sent
from pages.desk.review.component import AHEAD, LINE, Moving, name


class Settled(BaseModel):
    """The score that settles a criterion of an item, with the reason; None takes it back."""

    item: int
    criterion: str = Field(max_length=200)
    score: float | None = Field(allow_inf_nan=False)
    reason: str = Field("", max_length=4000)


@dataclass(frozen=True)
class AdjudicationDesk:
    """The items that a study's rule names; those another adjudicator has begun are not shown."""

    study: str
    person: str

    @property
    def desk(self) -> str:
        """The name of this work."""
        return name("adjudication", self.study, self.person)

    def moving(self, db: Database, wanted: Sequence[int | str] | None) -> Moving:
        """What is left to settle; the items asked for."""
        found = adjudication.adjudication(db, self.study)
        mine = {
            unit: {one.person for one in of.values()} <= {self.person} for unit, of in found.settled.items()
        }
        every = {item.unit: item for item in found.disputed if mine.get(item.unit, True)}
        line = [unit for unit in every if unit not in found.done]
        past = [unit for unit in every if unit in found.done] if wanted is None else []
        asked = line[: AHEAD + 1] if wanted is None else [n for n in wanted if isinstance(n, int)]
        places = {unit["id"]: unit for unit in studies.units(db, self.study)}
        items = [
            item(db, found.study, places[unit], [_disputed(one) for one in found.questions(every[unit])])
            for unit in asked
            if unit in every
        ]
        gone = [unit for unit in asked if unit not in every]
        return Moving(line[:LINE], len(line), len(every), items, past=past, gone=gone)


@dataclass(frozen=True)
class RevealDesk:
    """A judge's scores of the items that an annotator has rated, in the order of the study's units."""

    study: str
    rater: int

    @property
    def desk(self) -> str:
        """The name of this work."""
        return name("reveal", self.study, self.rater)

    def moving(self, db: Database, wanted: Sequence[int | str] | None) -> Moving:
        """What has no second answer yet; the items asked for. Nothing before the answers are locked."""
        found = reveal.reveal(db, self.study, self.rater)
        if found is None or not found.opened:
            return Moving([], 0, 0, [])
        numbers, done = Numbers(db, self.study, self.rater), set(found.done)
        line = [unit for unit in found.items if unit not in done]
        asked = line[: AHEAD + 1]
        if wanted is not None:
            asked = [numbers.item(n) for n in wanted if isinstance(n, int)]
        places = {unit["id"]: unit for unit in studies.units(db, self.study)}
        items = [
            item(db, found.study, places[unit], [_shown(one) for one in found.items[unit]])
            | {"id": numbers.shown(unit)}
            for unit in asked
            if unit in found.items
        ]
        past = [numbers.shown(unit) for unit in done] if wanted is None else []
        return Moving([*map(numbers.shown, line[:LINE])], len(line), len(found.items), items, past=past)

    def revise(self, db: Database, event: Settled) -> None:
        """Store a second answer, or take it back."""
        unit = Numbers(db, self.study, self.rater).item(event.item)
        reveal.revise(db, self.study, self.rater, unit, event.criterion, event.score, event.reason)


class OwnComment(BaseModel):
    """What an annotator says of an item, “” for nothing to add; None takes it back."""

    item: int
    text: str | None = Field(max_length=4000)


@dataclass(frozen=True)
class DiscussionDesk:
    """Others' answers to the items that an annotator has rated, without names."""

    study: str
    rater: int

    @property
    def desk(self) -> str:
        """The name of this work."""
        return name("discussion", self.study, self.rater)

    def moving(self, db: Database, wanted: Sequence[int | str] | None) -> Moving:
        """What they have not commented on yet; the items asked for. Nothing before answers are locked."""
        found = discussion.discussion(db, self.study, self.rater)
        if found is None or not found.opened or found.waiting:
            return Moving([], 0, 0, [])
        numbers, done = Numbers(db, self.study, self.rater), set(found.done)
        line = [unit for unit in found.items if unit not in done]
        asked = line[: AHEAD + 1]
        if wanted is not None:
            asked = [numbers.item(n) for n in wanted if isinstance(n, int)]
        places = {unit["id"]: unit for unit in studies.units(db, self.study)}
        items = [
            item(db, found.study, places[unit], [_beside(one) for one in found.answers(unit)])
            | {"id": numbers.shown(unit), "said_of_it": found.said(unit)}
            | {"comment": found.comments.get(unit, {}).get(self.rater)}
            for unit in asked
            if unit in found.items
        ]
        past = [numbers.shown(unit) for unit in done] if wanted is None else []
        return Moving([*map(numbers.shown, line[:LINE])], len(line), len(found.items), items, past=past)

    def comment(self, db: Database, event: OwnComment) -> None:
        """Keep a comment, or take it back."""
        unit = Numbers(db, self.study, self.rater).item(event.item)
        discussion.comment(db, self.study, self.rater, unit, event.text)


def fixed(desk: str, title: str, person: str, back: str, *, reasoned: bool, over: str) -> dict[str, Any]:
    """The constant part of what the browser is sent. `reasoned`: a score needs a reason."""
    about = {"desk": desk, "kind": "settle", "title": title, "you": person, "back": back}
    how = {"reasoned": reasoned, "options": []}
    return {**about, **how, "over": over, "nothing": "There is nothing here"}


def settle(db: Database, study: str, person: str, event: Settled) -> None:
    """Store what an adjudicator settled, or take it back."""
    adjudication.settle(db, study, event.item, event.criterion, event.score, event.reason, person)


def item(
    db: Database, study: Study, unit: Mapping[str, Any], questions: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """An item as it is shown: the dialogue as annotators saw it, and the questions."""
    task = Placement(unit["id"], study.name, unit["conversation_id"], unit["turn"], "open", "", "", 0.0, {})
    shown = sent.item(study, unit["id"], task, conversations.load(db, unit["conversation_id"]))
    kept = {field: shown[field] for field in ("id", "turn", "said", "context")}
    return kept | {"questions": list(questions)}


def question(criterion: Criterion, marks: Mapping[float, str], **rest: Any) -> dict[str, Any]:
    """A criterion as it is asked; `marks` stand beside answers."""
    options = [
        option | {"by": marks.get(option["value"], ""), "word": criterion.scale.word(option["value"])}
        for option in sent.options(criterion.scale)
    ]
    about = {"criterion": criterion.name, "label": criterion.label, "statement": criterion.statement}
    return {**about, "options": options, **rest}


def _disputed(asked: Question) -> dict[str, Any]:
    """What people answered, from the lowest answer to the highest; comments have no name either."""
    scores = [given.score for given in asked.given]
    words = [
        [asked.criterion.scale.word(given.score), text]
        for given in asked.given
        for text in (given.reason, given.flag and f"(flagged) {given.flag}")
        if text
    ]
    return question(
        asked.criterion,
        {score: "●" * scores.count(score) for score in scores},
        score=f"{len(scores)} answers",
        said=words,
        own=None,
        value=asked.settled.score if asked.settled else None,
        reason=asked.settled.reason if asked.settled else "",
    )


def _beside(one: OthersAnswers) -> dict[str, Any]:
    """Everybody's answers to a criterion in one line, and others' reasons."""
    word = one.criterion.scale.word
    scores = [f"{letter} {word(given.score)}" for letter, given in one.others]
    if one.own is not None:
        scores.append(f"you {word(one.own)}")
    words = [[score, given.reason] for score, (_, given) in zip(scores, one.others, strict=False)]
    about = {"criterion": one.criterion.name, "label": one.criterion.label}
    about |= {"statement": one.criterion.statement, "score": " · ".join(scores), "reason": ""}
    said = [word for word in words if word[1]]
    return {**about, "said": said, "options": [], "own": None, "value": None}


def _shown(one: Shown) -> dict[str, Any]:
    """The judge's score and reasons beside the annotator's own answer."""
    word = one.criterion.scale.word
    return question(
        one.criterion,
        {one.own: "yours"},
        score=f"the judge {word(one.judge)} · you {word(one.own)}",
        said=[[word(one.judge), one.reasons]] if one.reasons else [],
        own=one.own,
        value=one.second.score if one.second else None,
        reason=one.second.reason if one.second else "",
    )
