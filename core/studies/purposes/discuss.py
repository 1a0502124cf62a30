"""Calibration: after a pilot its annotators see each other's answers without names, and comment on them.

Nothing of it counts anywhere: answers are locked before others' are shown, and comments are no answers.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from string import ascii_uppercase
from typing import Literal, NamedTuple

from sqlite_utils import Database

from concord.errors import NotAllowed, StudyError
from concord.rating import Criterion
from concord.store import access, acts, exclusions, informed, placements, studies
from concord.store.informed import BlindAnswer
from concord.store.studies import Study
from concord.table import Column, Table

When = Literal["", "all", "now"]


class OthersAnswers(NamedTuple):
    """Everybody's answers to a criterion of an item, by letter, with their reasons; `own` is the reader's."""

    criterion: Criterion
    own: float | None
    others: Sequence[tuple[str, BlindAnswer]]


@dataclass(frozen=True, eq=False)
class Discussion:
    """What one annotator sees of the others."""

    study: Study
    rater: int
    given: Mapping[int, Sequence[BlindAnswer]]
    """People's answers by unit, without those of excluded annotators."""
    comments: Mapping[int, Mapping[int, str]]
    """Comments by unit and rater; “” of somebody who had nothing to add."""
    left: int
    """How many items of the study they have still to rate or skip."""
    waiting: int
    """How many others have items to rate, where all must be done first."""
    opened: bool

    @cached_property
    def items(self) -> list[int]:
        """The units that they and somebody else rated."""
        raters = {unit: {one.rater for one in of} for unit, of in self.given.items()}
        return [unit for unit, of in raters.items() if self.rater in of and len(of) > 1]

    @property
    def done(self) -> list[int]:
        """The units on which they commented, or had nothing to add."""
        return [unit for unit in self.items if self.rater in self.comments.get(unit, {})]

    def letters(self, unit: int) -> dict[int, str]:
        """A letter for each rater of a unit. It differs between units, so that nobody can be followed."""
        raters = sorted({one.rater for one in self.given[unit]} | self.comments.get(unit, {}).keys())
        random.Random(f"{self.study.seed} {self.study.name} {unit}").shuffle(raters)
        return {
            rater: ascii_uppercase[i] if i < len(ascii_uppercase) else f"{i + 1}"
            for i, rater in enumerate(raters)
        }

    def answers(self, unit: int) -> list[OthersAnswers]:
        """The answers to each criterion of a unit, in the order of the letters."""
        letters, listed = self.letters(unit), []
        for criterion in self.study.criteria:
            of = [one for one in self.given[unit] if one.criterion == criterion.name]
            own = next((one.score for one in of if one.rater == self.rater), None)
            others = sorted((letters[one.rater], one) for one in of if one.rater != self.rater)
            if of and not criterion.scale.kind.content:
                listed.append(OthersAnswers(criterion, own, others))
        return listed

    def said(self, unit: int) -> list[tuple[str, str]]:
        """Others' comments on a unit, by letter."""
        letters = self.letters(unit)
        of = self.comments.get(unit, {}).items()
        return sorted((letters[rater], text) for rater, text in of if text and rater != self.rater)


def set_round(db: Database, name: str, when: When) -> None:
    """Let annotators see each other's answers: once all have rated everything (“all”), each once they have
    (“now”), or not (“”).

    Raises NotFound, and StudyError for a study without names.
    """
    study = studies.get(db, name)
    if study.anonymous:
        raise StudyError(f"“{name}” was not rated by people with names: there is nothing to discuss.")
    studies.remember(db, name, "discussion", when or None)


def discussion(db: Database, name: str, rater: int) -> Discussion | None:
    """What an annotator sees of the others; None where a study has no such round. Raises NotFound."""
    study = studies.get(db, name)
    when = study.meta.get("discussion")
    if not when:
        return None
    out = exclusions.excluded(db, name)
    given = informed.by_unit(informed.blind(db, name, [one.rater for one in out.values()]))
    gone = acts.left(db, name) | {*out}
    undone = [
        a
        for a in access.annotators(db, name)
        if a.done + a.skipped < a.items and a.id != rater and a.name not in gone
    ]
    opened = informed.has_seen(db, rater, name)
    every = informed.by_unit(informed.answers(db, name, "discuss"))
    comments = {unit: {comment.rater: comment.reason for comment in of} for unit, of in every.items()}
    waiting = len(undone) if when == "all" else 0
    return Discussion(study, rater, given, comments, placements.left(db, rater, name), waiting, opened)


def begin(db: Database, name: str, rater: int) -> None:
    """Show others' answers to an annotator and lock theirs. Raises NotAllowed before the time."""
    state = discussion(db, name, rater)
    if state is None:
        raise NotAllowed("In this study nobody sees others' answers.")
    if state.left:
        raise NotAllowed(f"Rate or skip your other {state.left} items first. Then you see others' answers.")
    if state.waiting:
        raise NotAllowed(f"{state.waiting} others have items to rate. Then everybody sees others' answers.")
    informed.show(db, rater, "discuss", state.items)


def comment(db: Database, name: str, rater: int, unit: int, text: str | None) -> None:
    """Keep an annotator's comment on an item, “” for nothing to add; None takes it back.

    Raises NotAllowed for an item that was not shown to them.
    """
    state = discussion(db, name, rater)
    if state is None or not state.opened or state.waiting or unit not in state.items:
        raise NotAllowed("This was not shown to you, so your comment was not taken.")
    placement = placements.beside(db, rater, "discuss", unit)
    if text is None:
        placements.withdraw(db, placement, "")
    else:
        placements.give(db, placement, "", None, text.strip())


def comments_table(db: Database, name: str) -> Table:
    """The comments of a study's annotators on each other's answers, with names, by item. Raises NotFound."""
    places = {unit["id"]: unit for unit in studies.units(db, name)}
    rows = [
        {"item": places[one.unit]["key"], "turn": places[one.unit]["turn"]}
        | {"annotator": one.person, "comment": one.reason, "given": one.given[:16]}
        for one in informed.answers(db, name, "discuss")
        if one.reason
    ]
    names = ("item", "turn", "annotator", "comment", "given")
    columns = tuple(Column(of) for of in names if of != "turn" or any(row["turn"] for row in rows))
    return Table(
        "discussion",
        "Comments of annotators on each other's answers",
        columns,
        tuple(rows),
        notes=("Annotators see letters in place of names. Nothing of this enters any figure.",),
    )
