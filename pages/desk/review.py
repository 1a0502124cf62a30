"""The desk of a disagreement review: what the browser is sent of items, and the causes it reports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlite_utils import Database

from concord.lab import disagreements
from concord.lab.disagreements import CAUSES, Disagreement
from concord.lab.measuring import Candidate
from concord.store import images, lab
from concord.store.answers import ItemAnswer
from concord.store.desk import Event
from pages.desk import form
from pages.desk.component import name
from pages.desk.form import Moving

QUESTION = "cause"


@dataclass(eq=False)
class ReviewDesk:
    """The disagreements of a judge with people, the largest first, for one person to say why."""

    study: str
    person: str
    judge: Candidate
    found: Sequence[Disagreement]

    @property
    def desk(self) -> str:
        """The name of this work."""
        return name("review", self.study, self.person, self.judge)

    def fixed(self, title: str) -> dict[str, Any]:
        """What stays the same: one question, why they differ, whose answers have the keys 1 to 6."""
        options = [
            {"value": cause, "shown": str(cause), "label": words.capitalize(), "key": str(cause)}
            for cause, (words, _) in CAUSES.items()
        ]
        question: dict[str, Any] = {
            "name": QUESTION,
            "label": "Why do they differ?",
            "statement": "",
            "reason": "optional",
        }
        question |= {"required": True, "options": options, "low": 0, "high": 0}
        over = "All checked – thank you!"
        nothing = "The judge and the annotators agree on every item"
        return form.fixed(
            self.desk,
            "review",
            title,
            self.person,
            "Judge lab",
            (question,),
            end_text=over,
            empty_text=nothing,
        )

    def moving(self, db: Database, wanted: Sequence[int | str] | None) -> Moving:
        """What lies ahead, and the items asked for."""
        tags = {t.item: t for t in lab.tags(db, self.study, str(self.judge)) if t.person == self.person}
        of = {one.unit.id: one for one in self.found}
        return form.moving(of, tags, wanted, lambda i: self._item(db, of[i], tags))

    def _item(self, db: Database, one: Disagreement, tags: Mapping[int, ItemAnswer]) -> dict[str, Any]:
        whole = images.load(db, one.unit.conversation)
        scale = one.criterion.scale
        tagged = tags.get(one.unit.id)
        lines = form.messages(whole, lambda message: "User" if message.role == "user" else whole.player)
        comments = [
            f"{said.rater}: {said.words}"
            for said in lab.answers_with_words(db, [one.unit.conversation], study=self.study)
            if said.words and said.criterion == one.criterion.name and said.turn == one.unit.turn
        ]
        people = f"People: {scale.words(one.people)}"
        return {
            "id": one.unit.id,
            "turn": one.unit.turn,
            "language": whole.language,
            "about": {
                "title": one.unit.key,
                "facts": [f"{one.criterion.label}: {one.criterion.statement}", people, *comments],
            },
            "context": [[k, form.as_text(v)] for k, v in whole.context.items() if not k.startswith("_")],
            "said": lines,
            "beside": {
                QUESTION: {
                    "score": scale.word(one.answer),
                    "said": [["", one.words or "(no explanation)"]],
                }
            },
            "answers": {QUESTION: tagged.score} if tagged else {},
            "reasons": {QUESTION: tagged.reason} if tagged else {},
            "state": "done" if tagged else "open",
        }

    def apply(self, db: Database, event: Event) -> None:
        """Store a cause, or take it back."""
        if event.do == "answer" and isinstance(event.item, int):
            cause = None if event.number is None else int(event.number)
            disagreements.tag(db, self.study, event.item, self.person, self.judge, cause, event.text)
