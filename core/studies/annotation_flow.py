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
    DeskLayout,
    Look,
    Question,
    VisibleAnswers,
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

    lay: Callable[[Database, Study], Callable[[Desk], DeskLayout]] | None = None
    shown_answers: Callable[[Database, Study, int | None, Blind], VisibleAnswers | None] | None = None
    after: Callable[[Database, str, int, Collection[int]], None] | None = None
    tables: Callable[[Database, str], list[Table]] | None = None


PROCEDURES: Mapping[str, Procedure] = {
    "extra": Procedure(after=extra.after),
    "training": Procedure(lay=training.lay, after=training.after, tables=training.tables),
    "repeat": Procedure(lay=repeat.lay, tables=repeat.tables),
    "gold": Procedure(lay=gold.lay, tables=gold.tables),
    "adjudicate": Procedure(shown_answers=adjudicate.shown_answers),
    "revise": Procedure(shown_answers=second.judge_answers),
    "discuss": Procedure(shown_answers=second.peer_answers),
}


def deal(
    db: Database,
    name: str,
    *,
    unavailable: Iterable[str] = (),
    reinstated: Collection[str] = (),
) -> None:
    """Put on every desk of a study what belongs there beside first items, whatever the purpose.

    Where first raters differ one more gets the item. What somebody has begun stays; the rest is taken from
    those who get nothing more: `unavailable`, and who left, unless `reinstated`. What lies where it should is
    not moved.
    """
    study = studies.get(db, name)
    departed = extra.departed_names(db, name, unavailable, reinstated)
    extra.take_back(db, name)
    extra.give(db, name, reinstated=reinstated)
    entries_by_desk: dict[tuple[str, str], list[QueueEntry]] = {}
    for one in placements.placed(db, name, UNRATED):
        entries_by_desk.setdefault((one.purpose, one.person), []).append(one)
    desks = placements.desks(db, name)
    for purpose, procedure in PROCEDURES.items():
        if procedure.lay is None:
            continue
        lay = procedure.lay(db, study)
        for person, queue in desks.items():
            lies = entries_by_desk.get((purpose, person), [])
            if not (queue or lies):
                continue
            rater = (queue or lies)[0].rater
            layout = lay(Desk(person, rater, queue, lies, person in departed))
            retained = {one.id for one in layout.retained}
            placements.remove(db, [one.id for one in lies if one.id not in retained])
            placements.place(db, rater, purpose, layout.new, layout.attempt)


def after(db: Database, name: str, rater: int, items: Collection[int]) -> None:
    """Do what follows when somebody has submitted or skipped these items."""
    for procedure in PROCEDURES.values():
        if procedure.after:
            procedure.after(db, name, rater, items)


def tables(db: Database, name: str) -> list[Table]:
    """Who passed the training, and the figures in which answers to unannounced items count."""
    tables: list[Table] = []
    for procedure in PROCEDURES.values():
        if procedure.tables:
            tables += procedure.tables(db, name)
    return tables


def hidden(db: Database, name: str) -> str:
    """How many unannounced items lie among everybody's, in words; “” where none do."""
    counts = Counter((entry.person, entry.purpose) for entry in placements.placed(db, name, HIDDEN))
    if not counts:
        return ""
    phrases = [f"{person} {n} {purpose} items" for (person, purpose), n in sorted(counts.items())]
    return f"Hidden among them: {', '.join(phrases)}."


def look(db: Database, purpose: str, name: str, rater: int | None) -> Look | None:
    """What somebody is shown; None where, or as long as, that is nothing. Raises NotFound.

    Of what one person answers for all, everybody's answers are there for nobody (None), and for others what
    nobody else has answered.
    """
    study = studies.get(db, name)
    purpose_value = PURPOSES[purpose]
    shown_answers = PROCEDURES[purpose].shown_answers
    assert shown_answers

    @cache
    def blind() -> dict[int, list[ItemAnswer]]:
        excluded = set(exclusions.raters(db, name))
        if not purpose_value.alone:
            excluded.discard(rater)
        return answers.by_item(answers.blind(db, name, excluded))

    visible = shown_answers(db, study, rater, blind)
    if visible is None:
        return None
    answer_of: dict[tuple[int, str], ItemAnswer] = {}
    for answer in answers.answers(db, name, purpose, unfinished=True):
        if purpose_value.alone or answer.rater == rater:
            answer_of[answer.item, answer.criterion] = answer
    own_scores: dict[tuple[int, str], float] = {}
    if not purpose_value.alone:
        for item in visible:
            for answer in blind()[item]:
                if answer.rater == rater:
                    own_scores[item, answer.criterion] = answer.score
    items: dict[int, list[Question]] = {}
    for item, answers_by_criterion in visible.items():
        questions: list[Question] = []
        for criterion in study.criteria:
            if criterion.name in answers_by_criterion and not criterion.scale.kind.content:
                key = (item, criterion.name)
                visible_answers = answers_by_criterion[criterion.name]
                questions.append(
                    Question(criterion, visible_answers, own_scores.get(key), answer_of.get(key))
                )
        decided_by_another = False
        if purpose_value.alone and rater is not None:
            decided_by_another = any(
                question.answer and question.answer.rater != rater for question in questions
            )
        if questions and not decided_by_another:
            items[item] = questions
    is_open = not purpose_value.locks
    if purpose_value.locks and rater is not None:
        is_open = placements.has_seen(db, rater, name, [purpose])
    return Look(study, items, is_open)


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
    reason = reason.strip()
    purpose_value = PURPOSES[purpose]
    state = look(db, purpose, name, None if purpose_value.alone else rater)
    questions = state.items.get(item, ()) if state and state.is_open else ()
    names = [one.criterion.name for one in questions]
    if score is None:
        return placements.take_back(db, purpose, rater, item, criterion, names)
    question = next((one for one in questions if one.criterion.name == criterion), None)
    if question is None:
        raise NotAllowed(
            "You no longer have this item, so your answer was not stored. Continue with the next."
        )
    label = question.criterion.label
    if score not in question.criterion.scale:
        raise StudyError(f"{score:g} is not on the scale of “{label}”.")
    if purpose_value.reasoned and not reason:
        raise StudyError(f"Give a reason why “{label}” is {question.criterion.scale.word(score)}.")
    judge = question.shown_answers[0].score if purpose_value.context == ItemContext.JUDGE else None
    placements.give(db, purpose, rater, item, criterion, score, reason, judge, names)
