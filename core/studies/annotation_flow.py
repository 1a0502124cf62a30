"""Whatever people are asked: it is dealt, shown, answered and counted here, for every purpose in one way.

`concord.store.purposes` has a row for each purpose; `PROCEDURES` has its functions: where an item
is to lie on somebody's desk, what stands beside it, what follows an answer, which tables count it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from sqlite_utils import Database

from concord.codes import ItemContext
from concord.errors import NotAllowed, StudyError
from concord.store import answers, exclusions, placements, studies
from concord.store.answers import ItemAnswer
from concord.store.placements import QueueEntry
from concord.store.purposes import HIDDEN, PURPOSES, UNRATED
from concord.store.studies import Study
from concord.studies.purposes import (
    Blind,
    Desk,
    Laid,
    Look,
    Question,
    Shown,
    adjudicate,
    extra,
    gold,
    repeat,
    second,
    training,
)
from concord.table import Table


@dataclass(frozen=True)
class Procedure:
    """The functions of a purpose; it has those that it needs.

    `lay(db, study)` returns what says of a desk which items are to lie there. `shown_answers(db, study,
    rater, blind)` returns what the rater is shown of which items, beside the blind answers; None as long as
    nothing is. `after(db, study, rater, items)` follows items that somebody submitted or skipped, and
    `tables(db, study)` has the figures in which answers to unannounced items count.
    """

    lay: Callable[[Database, Study], Callable[[Desk], Laid]] | None = None
    shown_answers: Callable[[Database, Study, int | None, Blind], Shown | None] | None = None
    after: Callable[[Database, str, int, Collection[int]], None] | None = None
    tables: Callable[[Database, str], list[Table]] | None = None


PROCEDURES: Mapping[str, Procedure] = {
    "extra": Procedure(after=extra.after),
    "training": Procedure(lay=training.lay, after=training.after, tables=training.tables),
    "repeat": Procedure(lay=repeat.lay, tables=repeat.tables),
    "gold": Procedure(lay=gold.lay, tables=gold.tables),
    "adjudicate": Procedure(shown_answers=adjudicate.shown_answers),
    "revise": Procedure(shown_answers=second.judged),
    "discuss": Procedure(shown_answers=second.others),
}


def deal(
    db: Database,
    name: str,
    *,
    without: Iterable[str] = (),
    named: Collection[str] = (),
) -> None:
    """Put on every desk of a study what belongs there beside first items, whatever the purpose.

    Where first raters differ one more gets the item. What somebody has begun stays; the rest is taken from
    those who get nothing more: `without`, and who left, unless `named`. What lies where it should is not
    moved.
    """
    study, gone = studies.get(db, name), extra.gone(db, name, without, named)
    extra.take_back(db, name)
    extra.give(db, name, also=named)
    there: dict[tuple[str, str], list[QueueEntry]] = {}
    for one in placements.placed(db, name, UNRATED):
        there.setdefault((one.purpose, one.person), []).append(one)
    desks = placements.desks(db, name)
    for purpose, procedure in PROCEDURES.items():
        if procedure.lay is None:
            continue
        lay = procedure.lay(db, study)
        for person, queue in desks.items():
            lies = there.get((purpose, person), [])
            if not (queue or lies):
                continue
            rater = (queue or lies)[0].rater
            laid = lay(Desk(person, rater, queue, lies, person in gone))
            kept = {one.id for one in laid.kept}
            placements.remove(db, [one.id for one in lies if one.id not in kept])
            placements.place(db, rater, purpose, laid.new, laid.attempt)


def after(db: Database, name: str, rater: int, items: Collection[int]) -> None:
    """Do what follows when somebody has submitted or skipped these items."""
    for procedure in PROCEDURES.values():
        if procedure.after:
            procedure.after(db, name, rater, items)


def tables(db: Database, name: str) -> list[Table]:
    """Who passed the training, and the figures in which answers to unannounced items count."""
    return [
        table for procedure in PROCEDURES.values() if procedure.tables for table in procedure.tables(db, name)
    ]


def hidden(db: Database, name: str) -> str:
    """How many unannounced items lie among everybody's, in words; “” where none do."""
    counts = Counter((one.person, one.purpose) for one in placements.placed(db, name, HIDDEN))
    each = (f"{person} {n} {purpose} items" for (person, purpose), n in sorted(counts.items()))
    return f"Hidden among them: {', '.join(each)}." if counts else ""


def look(db: Database, purpose: str, name: str, rater: int | None) -> Look | None:
    """What somebody is shown; None where, or as long as, that is nothing. Raises NotFound.

    Of what one person answers for all, everybody's answers are there for nobody (None), and for others what
    nobody else has answered.
    """
    study, of = studies.get(db, name), PURPOSES[purpose]
    shown_answers = PROCEDURES[purpose].shown_answers
    assert shown_answers

    @cache
    def blind() -> dict[int, list[ItemAnswer]]:
        left_out = {*exclusions.raters(db, name)}
        return answers.by_item(answers.blind(db, name, left_out if of.alone else left_out - {rater}))

    shown = shown_answers(db, study, rater, blind)
    if shown is None:
        return None
    now = {
        (one.item, one.criterion): one
        for one in answers.answers(db, name, purpose, unfinished=True)
        if of.alone or one.rater == rater
    }
    own: dict[tuple[int, str], float] = {}
    if not of.alone:
        own = {(i, one.criterion): one.score for i in shown for one in blind()[i] if one.rater == rater}
    items = {
        item: [
            Question(c, by[c.name], own.get((item, c.name)), now.get((item, c.name)))
            for c in study.criteria
            if c.name in by and not c.scale.kind.content
        ]
        for item, by in shown.items()
    }
    if of.alone and rater is not None:
        items = {
            item: questions
            for item, questions in items.items()
            if all(one.answer is None or one.answer.rater == rater for one in questions)
        }
    opened = not of.locks or (rater is not None and placements.has_seen(db, rater, name, [purpose]))
    return Look(study, {item: questions for item, questions in items.items() if questions}, opened)


def begin(db: Database, purpose: str, name: str, rater: int) -> None:
    """Show somebody what stands beside their items, and lock their answers. Raises NotAllowed too early."""
    state = look(db, purpose, name, rater)
    if state is None:
        raise NotAllowed("Answers are shown when all annotators have rated or skipped all items.")
    placements.show(db, rater, purpose, state.items)


def answer(
    db: Database,
    purpose: str,
    name: str,
    rater: int,
    item: int,
    criterion: str,
    score: float | None,
    reason: str = "",
) -> None:
    """Store an answer that is given in sight of others', or take one's own back (None).

    Raises NotAllowed for what is not shown to them, StudyError for a score off the scale, without a reason
    where it needs one, and for what another has answered for all.
    """
    reason, of = reason.strip(), PURPOSES[purpose]
    state = look(db, purpose, name, None if of.alone else rater)
    questions = state.items.get(item, ()) if state and state.opened else ()
    asked = [one.criterion.name for one in questions]
    if score is None:
        return placements.take_back(db, purpose, rater, item, criterion, asked)
    question = next((one for one in questions if one.criterion.name == criterion), None)
    if question is None:
        raise NotAllowed(
            "You no longer have this item, so your answer was not stored. Continue with the next."
        )
    label = question.criterion.label
    if score not in question.criterion.scale:
        raise StudyError(f"{score:g} is not on the scale of “{label}”.")
    if of.reasoned and not reason:
        raise StudyError(f"Give a reason why “{label}” is {question.criterion.scale.word(score)}.")
    judge = question.shown_answers[0].score if of.context == ItemContext.JUDGE else None
    placements.give(db, purpose, rater, item, criterion, score, reason, judge, asked)
