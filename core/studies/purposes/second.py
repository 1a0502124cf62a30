"""Second answers: who has answered everything sees a judge's, or others' answers, and may answer again.

First answers are locked as soon as the others are shown. Second ones are no ratings and stand apart.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import multimode
from string import ascii_uppercase
from typing import Literal, NamedTuple

from sqlite_utils import Database

from concord.errors import NotAllowed, StudyError, check_known
from concord.rating import Criterion, Rater
from concord.scores import labels
from concord.store import access, acts, exclusions, informed, placements, ratings, rubrics, studies
from concord.store.informed import BlindAnswer, Informed
from concord.store.studies import Study
from concord.table import Column, Table

Purpose = Literal["revise", "discuss"]
"""Shown beside a judge's score, or beside others' answers: the purposes of `concord.store.purposes`."""


class ShownAnswer(NamedTuple):
    """Somebody's answer that is shown: a letter, or the judge, and the reason."""

    who: str
    score: float
    reason: str


class Shown(NamedTuple):
    """A criterion shown again: one's first answer, what stands beside it, and one's second answer."""

    criterion: Criterion
    own: float
    others: Sequence[ShownAnswer]
    second: Informed | None


@dataclass(frozen=True, eq=False)
class SecondLook:
    """What one annotator is shown of a study, and how far they are with it."""

    study: Study
    items: Mapping[int, Sequence[Shown]]
    """By unit, the criteria that they and a judge, or somebody else, answered."""
    left: int
    """How many items of the study they have still to rate or skip."""
    waiting: int
    """How many others have, where answers are shown once all are done."""
    opened: bool

    @property
    def done(self) -> set[int]:
        """The units on which every criterion has a second answer, which may be the first one."""
        return {unit for unit, of in self.items.items() if all(one.second for one in of)}


def judges_of(db: Database, name: str) -> dict[str, Rater]:
    """The judges who rated a study's units by its own questions, by what the figures call them."""
    study = studies.get(db, name)
    wanted = informed.judges_of(db, name).difference(rubrics.other_judges(db, study.rubric))
    mine = [rater for rater, number in ratings.judges(db).items() if number in wanted]
    return {label: rater for rater, label in labels(mine).items()}


def judge_of(study: Study) -> Rater | None:
    """The judge whose scores are shown; None where none is."""
    kept = study.meta.get("reveal")
    return Rater(kept["judge"], "judge", kept["variant"]) if kept else None


def show_judge(db: Database, name: str, judge: str) -> None:
    """Show annotators this judge's scores once they have answered everything; “” shows nothing any more.

    Raises NotFound, and StudyError for a study without names, and where people and judges answer on different
    scales.
    """
    study = _named(db, name)
    if not judge:
        studies.remember(db, name, "reveal", None)
        return
    judges = judges_of(db, name)
    check_known("judge", judge, judges)
    if other := [c.label for c in study.criteria if c.judged not in (None, c.scale)]:
        raise StudyError(f"Judges answer “{other[0]}” on another scale than people: it is not shown.")
    rater = judges[judge]
    studies.remember(db, name, "reveal", {"judge": rater.name, "variant": rater.variant})


def show_others(db: Database, name: str, shown: bool) -> None:
    """Show annotators each other's answers once all have rated everything, or not.

    Raises NotFound, and StudyError for a study without names.
    """
    _named(db, name)
    studies.remember(db, name, "discussion", shown)


def _named(db: Database, name: str) -> Study:
    study = studies.get(db, name)
    if study.anonymous:
        raise StudyError(f"“{name}” was not rated by people with names: there is nothing to show them.")
    return study


def look(db: Database, purpose: Purpose, name: str, rater: int) -> SecondLook | None:
    """What an annotator is shown; None where the study shows nothing for the purpose. Raises NotFound."""
    study = studies.get(db, name)
    judge = judge_of(study)
    number = ratings.find_rater(db, judge) if judge and purpose == "revise" else None
    if number is None and (purpose == "revise" or not study.meta.get("discussion")):
        return None
    out = exclusions.excluded(db, name)
    others_out = {one.rater for one in out.values()} - {rater}
    given = informed.by_unit(informed.blind(db, name, others_out))
    every = informed.answers(db, name, purpose)
    waiting = 0
    if number is not None:
        beside = _judged(study, informed.judge_scores(db, name, number))
    else:
        beside = _others(study, given, every, rater)
        gone = acts.left(db, name) | {*out}
        people = access.annotators(db, name)
        waiting = sum(a.done + a.skipped < a.items and a.id != rater and a.name not in gone for a in people)
    second = {(one.unit, one.criterion): one for one in every if one.rater == rater}
    items: dict[int, list[Shown]] = {}
    for unit, answers in given.items():
        own = {one.criterion: one.score for one in answers if one.rater == rater}
        for c in study.criteria:
            if c.name in own and (shown := beside.get((unit, c.name))) and not c.scale.kind.content:
                one = Shown(c, own[c.name], shown, second.get((unit, c.name)))
                items.setdefault(unit, []).append(one)
    opened = informed.has_seen(db, rater, name, purpose)
    return SecondLook(study, items, placements.left(db, rater, name), waiting, opened)


def _judged(
    study: Study, given: Mapping[tuple[int, str], tuple[Sequence[float], str]]
) -> dict[tuple[int, str], list[ShownAnswer]]:
    """One score of each unit and criterion: the mean over turns and runs, of categories the most frequent.

    Where two categories are equally frequent, the judge has no answer to show.
    """
    nominal = {c.name for c in study.criteria if not c.scale.ordered}
    judged = {}
    for (unit, criterion), (scores, reasons) in given.items():
        if criterion in nominal and len(scores := multimode(scores)) > 1:
            continue
        judged[unit, criterion] = [ShownAnswer("the judge", sum(scores) / len(scores), reasons)]
    return judged


def _others(
    study: Study, given: Mapping[int, Sequence[BlindAnswer]], second: Iterable[Informed], rater: int
) -> dict[tuple[int, str], list[ShownAnswer]]:
    """Others' first answers and, after these, their second ones, by unit and criterion.

    A letter stands for each person. It differs between units, so that nobody can be followed.
    """
    beside: dict[tuple[int, str], list[ShownAnswer]] = {}
    again = informed.by_unit(second)
    for unit, answers in given.items():
        people = sorted({one.rater for one in answers})
        random.Random(f"{study.seed} {study.name} {unit}").shuffle(people)
        letters = {
            person: ascii_uppercase[place] if place < len(ascii_uppercase) else f"{place + 1}"
            for place, person in enumerate(people)
        }
        shown = [(letters[one.rater], one) for one in answers if one.rater != rater]
        shown.sort(key=lambda pair: pair[0])
        criteria = {one.criterion for _, one in shown}
        for letter, one in shown:
            beside.setdefault((unit, one.criterion), []).append(ShownAnswer(letter, one.score, one.reason))
        for later in again.get(unit, ()):
            if later.criterion in criteria and later.rater in letters and later.rater != rater:
                repeated = ShownAnswer(f"{letters[later.rater]}, again", later.score, later.reason)
                beside[unit, later.criterion].append(repeated)
    return beside


def begin(db: Database, purpose: Purpose, name: str, rater: int) -> None:
    """Show an annotator the others' or the judge's answers, and lock theirs. Raises NotAllowed too early."""
    state = look(db, purpose, name, rater)
    if state is None:
        raise NotAllowed("This study shows nobody's answers.")
    if state.left:
        raise NotAllowed(
            f"Rate or skip your other items first: {state.left} left. Then the answers are shown."
        )
    if state.waiting:
        raise NotAllowed(f"{state.waiting} others have items to rate. Then everybody sees others' answers.")
    informed.show(db, rater, purpose, state.items)


def answer(
    db: Database,
    purpose: Purpose,
    name: str,
    rater: int,
    unit: int,
    criterion: str,
    score: float | None,
    reason: str = "",
) -> None:
    """Store an annotator's second answer to a unit, or take it back (None).

    Raises NotAllowed for what was not shown to them, StudyError for a score off the scale.
    """
    state = look(db, purpose, name, rater)
    visible = state.items.get(unit, ()) if state and state.opened and not state.waiting else ()
    shown = next((one for one in visible if one.criterion.name == criterion), None)
    if shown is None:
        raise NotAllowed("This was not shown to you, so your answer was not taken.")
    if score is not None and score not in shown.criterion.scale:
        raise StudyError(f"{score:g} is not on the scale of “{shown.criterion.label}”.")
    judge = shown.others[0].score if purpose == "revise" else None
    informed.give(db, purpose, unit, rater, criterion, score, reason.strip(), shown=judge)


def table(db: Database, name: str) -> Table:
    """The second answers of a study's annotators, with names, by item. Raises NotFound."""
    places = {unit["id"]: unit for unit in studies.units(db, name)}
    scales = {c.name: c.scale for c in studies.get(db, name).criteria}
    purposes: tuple[Purpose, ...] = ("revise", "discuss")
    rows = [
        {"item": places[one.unit]["key"], "turn": places[one.unit]["turn"], "annotator": one.person}
        | {"beside": beside, "criterion": one.criterion, "answer": scales[one.criterion].word(one.score)}
        | {"reason": one.reason, "given": one.given[:16]}
        for purpose, beside in zip(purposes, ("the judge's score", "others' answers"), strict=True)
        for one in informed.answers(db, name, purpose)
        if one.criterion in scales  # a comment to a whole item, as once stored, answers no question
    ]
    names = ("item", "turn", "annotator", "beside", "criterion", "answer", "reason", "given")
    columns = tuple(Column(of) for of in names if of != "turn" or any(row["turn"] for row in rows))
    note = "Given when first answers were locked; none of them is a rating."
    return Table("second_answers", f"Second answers of {name}", columns, tuple(rows), notes=(note,))
