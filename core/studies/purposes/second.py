"""Second answers: who has answered everything sees a judge's, or others' answers, and may answer again.

First answers are locked as soon as the others are shown. Second ones are no ratings and stand apart.
"""

import random
from statistics import multimode
from string import ascii_uppercase

from sqlite_utils import Database

from concord.errors import StudyError, check_known
from concord.rating import Rater
from concord.store import access, answers, departures, exclusions, frames, placements, ratings, studies
from concord.store.studies import Study
from concord.studies.purposes import Blind, ShownAnswer, VisibleAnswers


def judges_of(db: Database, name: str) -> dict[str, Rater]:
    """The judges who rated a study's units by its own questions, by what the figures call them."""
    rows = frames.rows(db, name)
    columns = zip(*(rows[column].tolist() for column in ("kind", "rater", "model", "variant")), strict=True)
    return {
        label: Rater(model, "judge", variant) for kind, label, model, variant in columns if kind == "judge"
    }


def judge_of(study: Study) -> Rater | None:
    """The judge whose scores are shown; None where none is."""
    return study.revealed_judge


def show_judge(db: Database, name: str, judge: str) -> None:
    """Show annotators this judge's scores once they have answered everything; “” shows nothing any more.

    Raises NotFound, and StudyError for a study without names, and where people and judges answer on different
    scales.
    """
    study = _study(db, name)
    if not judge:
        studies.reveal_judge(db, name, None)
        return
    judges = judges_of(db, name)
    check_known("judge", judge, judges)
    if other_scales := [c.label for c in study.criteria if c.judged not in (None, c.scale)]:
        raise StudyError(
            f"Judges answer “{other_scales[0]}” on another scale than annotators, so it cannot be shown."
        )
    studies.reveal_judge(db, name, judges[judge])


def show_others(db: Database, name: str, is_shown: bool) -> None:
    """Show annotators each other's answers once all have rated everything, or not.

    Raises NotFound, and StudyError for a study without names.
    """
    _study(db, name)
    studies.set_discussion(db, name, is_shown)


def _study(db: Database, name: str) -> Study:
    study = studies.get(db, name)
    if study.anonymous:
        raise StudyError(
            f"“{name}” was not rated by annotators with names, so their answers cannot be revealed."
        )
    return study


def judge_answers(db: Database, study: Study, rater: int | None, blind: Blind) -> VisibleAnswers | None:
    """The judge's score of each item that an annotator has rated, once they have rated or skipped all.

    It is the mean over turns and runs, of categories the most frequent: where two are equally frequent, the
    judge has no answer to show.
    """
    judge = judge_of(study)
    number = ratings.find_rater(db, judge) if judge else None
    if number is None or rater is None or placements.left(db, rater, study.name):
        return None
    nominal = {c.name for c in study.criteria if not c.scale.ordered}
    own_pairs: set[tuple[int, str]] = set()
    for item_answers in blind().values():
        for answer in item_answers:
            if answer.rater == rater:
                own_pairs.add((answer.item, answer.criterion))
    judge_scores = answers.judge_scores(db, study.name, number)
    visible: VisibleAnswers = {}
    for item, criterion in sorted(own_pairs & judge_scores.keys()):
        scores, words = judge_scores[item, criterion]
        modes = multimode(scores) if criterion in nominal else [sum(scores) / len(scores)]
        if len(modes) == 1:
            visible.setdefault(item, {})[criterion] = [ShownAnswer("the judge", modes[0], words)]
    return visible


def peer_answers(db: Database, study: Study, rater: int | None, blind: Blind) -> VisibleAnswers | None:
    """Others' answers to the items that an annotator has rated, and after these their second ones, once
    everybody has rated or skipped all.

    A letter stands for each person. It differs between items, so that nobody can be followed.
    """
    if not study.discussion or rater is None or placements.left(db, rater, study.name):
        return None
    absent = departures.departed(db, study.name) | {*exclusions.excluded(db, study.name)}
    for annotator in access.annotators(db, study.name):
        unfinished = annotator.done + annotator.skipped < annotator.items
        if unfinished and annotator.id != rater and annotator.name not in absent:
            return None
    second_answers = answers.by_item(answers.answers(db, study.name, "discuss"))
    visible: VisibleAnswers = {}
    for item, item_answers in blind().items():
        raters = sorted({one.rater for one in item_answers})
        own_criteria = {one.criterion for one in item_answers if one.rater == rater}
        random.Random(f"{study.seed} {study.name} {item}").shuffle(raters)
        letters: dict[int, str] = {}
        for place, person in enumerate(raters):
            if person != rater:
                letters[person] = ascii_uppercase[place] if place < len(ascii_uppercase) else f"{place + 1}"
        peers = sorted((letters[answer.rater], answer) for answer in item_answers if answer.rater in letters)
        for answer in second_answers.get(item, ()):
            if answer.rater in letters:
                peers.append((f"{letters[answer.rater]}, again", answer))
        for letter, answer in peers:
            if answer.criterion in own_criteria:
                peer_answer = ShownAnswer(letter, answer.score, answer.reason)
                visible.setdefault(item, {}).setdefault(answer.criterion, []).append(peer_answer)
    return visible
