"""The desk of answers that are given in sight of others': adjudication, and second answers.

What the browser is sent names no person.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlite_utils import Database

from concord.rating import Rater
from concord.store import placements, ratings, studies
from concord.store.desk import Event, Numbers
from concord.store.placements import Placement
from concord.store.purposes import PURPOSES
from concord.studies import annotation_flow
from concord.studies.purposes import Question
from pages.desk import form, sent
from pages.desk.component import name
from pages.desk.form import Moving

END_TEXTS = {
    "adjudicate": "All settled – thank you!",
    "revise": "All checked – thank you!",
    "discuss": "All checked – thank you!",
}
"""What is said when all items are done, by purpose."""


@dataclass(frozen=True)
class ShownAnswersDesk:
    """The items of a study that somebody is asked about for such a purpose."""

    purpose: str
    study: str
    person: str

    @property
    def desk(self) -> str:
        """The name of this work."""
        return name(self.purpose, self.study, self.person)

    def fixed(self, db: Database, title: str, back: str) -> dict[str, Any]:
        """The constant part of what the browser is sent."""
        reasoned = PURPOSES[self.purpose].reasoned
        settings: dict[str, Any] = (
            {"reason": "required"} if reasoned else {"reason": "optional", "required": True}
        )
        study = studies.get(db, self.study)
        # What people differ on of an order is which of two is better.
        settings |= {"widget": "options"} if study.ranks else {}
        # What is asked here is what has answers beside it, whatever else somebody answers.
        settings |= {"when": {}, "explain": None}
        questions = [form.question(c, **settings) for c in study.criteria]
        says: dict[str, Any] = {"end_text": END_TEXTS[self.purpose], "together": reasoned}
        return form.fixed(self.desk, self.purpose, title, self.person, back, questions, **says)

    def moving(self, db: Database, item_ids: Iterable[int | str] | None) -> Moving:
        """What lies there; the items asked for. Nothing before first answers are locked."""
        look = annotation_flow.look(db, self.purpose, self.study, self._rater(db))
        if look is None or not look.is_open:
            return Moving([], [])
        numbers = Numbers(db, self.study, self.person)
        item_of = {numbers.shown(item): item for item in look.items}
        finished = {numbers.shown(item) for item in look.answered_items}
        places = {unit["id"]: unit for unit in studies.units(db, self.study)}

        def shown_as(number: int) -> dict[str, Any]:
            item = item_of[number]
            state = "done" if number in finished else "open"
            return _item(db, look.study, places[item], look.items[item]) | {"id": number, "state": state}

        return form.moving(item_of, finished, item_ids, shown_as)

    def apply(self, db: Database, event: Event) -> None:
        """Store an answer, or take it back, and the time at work."""
        rater = ratings.rater_id(db, Rater(self.person, "human"))
        item = Numbers(db, self.study, self.person).item(event.item if isinstance(event.item, int) else 0)
        if event.do == "answer":
            question = self.study, rater, item, event.criterion
            annotation_flow.answer(db, self.purpose, *question, event.number, event.text)
        placements.add_seconds_beside(db, rater, self.purpose, item, event.seconds)

    def _rater(self, db: Database) -> int:
        """Who sits there; 0, which nobody is, before they have answered anything."""
        return ratings.find_rater(db, Rater(self.person, "human")) or 0


def _item(
    db: Database, study: studies.Study, unit: Mapping[str, Any], questions: Sequence[Question]
) -> dict[str, Any]:
    """An item as it is shown: the dialogue as annotators saw it, and what stands beside its questions."""
    place = unit["id"], study.name, unit["conversation_id"], unit["turn"], "open", "", "", 0.0
    fields = sent.item(db, study, unit["id"], Placement(*place, {}, other_id=unit["other_id"]))
    own_answers = {one.criterion.name: one.answer for one in questions if one.answer}
    return fields | {
        "asks": [one.criterion.name for one in questions],
        "beside": {one.criterion.name: _answers_shown(one) for one in questions},
        "answers": {criterion: answer.score for criterion, answer in own_answers.items()},
        "reasons": {criterion: answer.reason for criterion, answer in own_answers.items()},
    }


def _answers_shown(question: Question) -> dict[str, Any]:
    """What others answered, in a line and as a dot an answer, with what they said of it; and one's own."""
    scale = question.criterion.scale
    own_score = question.own_score
    answers = [f"{one.source} {scale.word(one.score)}".strip() for one in question.shown_answers]
    scores = [one.score for one in question.shown_answers]
    return {
        "name": question.criterion.name,
        "score": " · ".join([*answers, *([f"you {scale.word(own_score)}"] if own_score is not None else [])]),
        "said": [
            [answer, one.words]
            for answer, one in zip(answers, question.shown_answers, strict=True)
            if one.words
        ],
        "marks": ["yours" if value == own_score else "●" * scores.count(value) for value in scale.offered],
        "own": own_score,
    }
