"""Answers given in sight of others': adjudication, and second answers.

What the browser is sent names no person and no judge.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlite_utils import Database

from concord.errors import StudyError
from concord.rating import Rater
from concord.store import placements, ratings, studies
from concord.store.desk import Numbers
from concord.store.placements import Placement
from concord.store.studies import Study
from concord.studies.purposes import adjudicate, second
from concord.studies.purposes.adjudicate import Question
from pages.desk import form, sent
from pages.desk.component import name
from pages.desk.form import DeskEvent, Moving, Placed


@dataclass(frozen=True)
class AdjudicationDesk:
    """The items that a study's rule names; those another adjudicator has begun are not shown."""

    study: str
    person: str

    @property
    def desk(self) -> str:
        """The name of this work."""
        return name("adjudication", self.study, self.person)

    def fixed(self, db: Database, title: str, back: str) -> dict[str, Any]:
        """The constant part of what the browser is sent. A settled answer has a reason."""
        questions = [form.question(c, reason="required") for c in studies.get(db, self.study).criteria]
        over = "All settled – thank you!"
        return form.fixed(self.desk, "settle", title, self.person, back, questions, over=over, together=True)

    def moving(self, db: Database, wanted: Iterable[int | str] | None) -> Moving:
        """What is to settle; the items asked for."""
        state = adjudicate.adjudication(db, self.study)
        mine = {
            unit: {one.person for one in of.values()} <= {self.person} for unit, of in state.settled.items()
        }
        every = {item.unit: item for item in state.disputed if mine.get(item.unit, True)}
        return _moving(
            db,
            state.study,
            every,
            state.done,
            wanted,
            lambda unit: map(_disputed, state.questions(every[unit])),
        )

    def apply(self, db: Database, event: DeskEvent) -> None:
        """Store what settles a question, or take it back, and the time at work."""
        unit = event.item if isinstance(event.item, int) else 0
        if event.do == "answer":
            adjudicate.settle(db, self.study, unit, event.criterion, _number(event), event.text, self.person)
        rater = ratings.rater_id(db, Rater(self.person, "human"))
        placements.add_seconds_beside(db, rater, "adjudicate", unit, event.seconds)


@dataclass(frozen=True)
class SecondDesk:
    """What a judge, or what others, answered to the items that an annotator has rated, in the order of the
    study's units. Nothing is sent before their answers are locked.
    """

    purpose: second.Purpose
    study: str
    rater: int

    @property
    def desk(self) -> str:
        """The name of this work."""
        return name(self.purpose, self.study, self.rater)

    def fixed(self, db: Database, title: str, person: str, back: str) -> dict[str, Any]:
        """The constant part of what the browser is sent."""
        criteria = studies.get(db, self.study).criteria
        questions = [form.question(c, reason="optional", required=True) for c in criteria]
        return form.fixed(self.desk, self.purpose, title, person, back, questions, over=LOOKED_AT)

    def moving(self, db: Database, wanted: Iterable[int | str] | None) -> Moving:
        """What lies there; the items asked for."""
        state = second.look(db, self.purpose, self.study, self.rater)
        if state is None or not state.opened or state.waiting:
            return Moving([], [])
        numbers = Numbers(db, self.study, self.rater)
        return _moving(
            db,
            state.study,
            state.items,
            state.done,
            wanted,
            lambda unit: map(_shown, state.items[unit]),
            numbers,
        )

    def apply(self, db: Database, event: DeskEvent) -> None:
        """Store a second answer, or take it back; and the time at work."""
        number = event.item if isinstance(event.item, int) else 0
        unit = Numbers(db, self.study, self.rater).item(number)
        if event.do == "answer":
            about = self.study, self.rater, unit, event.criterion
            second.answer(db, self.purpose, *about, _number(event), event.text)
        placements.add_seconds_beside(db, self.rater, self.purpose, unit, event.seconds)


Beside = Callable[[int], Iterable[dict[str, Any]]]
"""What is shown beside the questions of a unit."""
LOOKED_AT = "All looked at – thank you!"


def _number(event: DeskEvent) -> float | None:
    if isinstance(event.score, str):
        raise StudyError("The answer to this question is a number.")
    return event.score


def _moving(
    db: Database,
    study: Study,
    units: Iterable[int],
    done: set[int],
    wanted: Iterable[int | str] | None,
    beside: Beside,
    numbers: Numbers | None = None,
) -> Moving:
    """The units of a study in their order, and those asked for, with what is shown beside their questions."""
    unit_of = {numbers.shown(unit) if numbers else unit: unit for unit in units}
    strip: list[Placed] = [
        (shown, "done" if unit in done else "open", False) for shown, unit in unit_of.items()
    ]
    places = {unit["id"]: unit for unit in studies.units(db, study.name)}
    items = []
    for shown in form.ahead(strip, wanted):
        if isinstance(shown, int) and (unit := unit_of.get(shown)) is not None:
            state = "done" if unit in done else "open"
            items.append(item(db, study, places[unit], beside(unit)) | {"id": shown, "state": state})
    return Moving(strip, items)


def item(
    db: Database, study: Study, unit: Mapping[str, Any], beside: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """An item as it is shown: the dialogue as annotators saw it, and what stands beside its questions."""
    place = unit["id"], study.name, unit["conversation_id"], unit["turn"], "open", "", "", 0.0
    shown = sent.item(db, study, unit["id"], Placement(*place, {}, other_id=unit["other_id"]))
    of = {one["name"]: dict(one) for one in beside}
    answers = {name: one.pop("answer") for name, one in of.items()}
    reasons = {name: one.pop("reason") for name, one in of.items()}
    given = {name: answer for name, answer in answers.items() if answer is not None}
    return shown | {"asks": [*of], "beside": of, "answers": given, "reasons": reasons}


def _disputed(question: Question) -> dict[str, Any]:
    """What people answered, from the lowest answer to the highest; comments have no name either."""
    scores = [given.score for given in question.given]
    scale = question.criterion.scale
    words = [
        [scale.word(given.score), text]
        for given in question.given
        for text in (given.reason, given.flag and f"(flagged) {given.flag}")
        if text
    ]
    dots = ["●" * scores.count(value) for value in scale.offered]
    return {
        "name": question.criterion.name,
        "score": f"{len(scores)} answers"
        if scale.offered
        else " · ".join(scale.word(score) for score in scores),
        "said": words,
        "marks": dots,
        "own": None,
        "answer": question.settled.score if question.settled else None,
        "reason": question.settled.reason if question.settled else "",
    }


def _shown(one: second.Shown) -> dict[str, Any]:
    """What the judge, or others, answered beside the annotator's own answer, and their reasons."""
    scale = one.criterion.scale
    answers = [f"{beside.who} {scale.word(beside.score)}" for beside in one.others]
    return {
        "name": one.criterion.name,
        "score": " · ".join([*answers, f"you {scale.word(one.own)}"]),
        "said": [
            [answer, beside.reason]
            for answer, beside in zip(answers, one.others, strict=True)
            if beside.reason
        ],
        "marks": ["yours" if value == one.own else "" for value in scale.offered],
        "own": one.own,
        "answer": one.second.score if one.second else None,
        "reason": one.second.reason if one.second else "",
    }
