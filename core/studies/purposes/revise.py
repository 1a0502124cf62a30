"""Lock, then reveal: who has answered all items blind may see a judge's scores and reasons, and revise.

The first answers are locked as soon as the judge's scores are shown. Second answers are stored apart: they
are no ratings, and only the figures of anchoring have them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import multimode
from typing import NamedTuple

from sqlite_utils import Database

from concord.errors import NotAllowed, StudyError, check_known
from concord.rating import Criterion, Rater
from concord.scores import FINAL, labels
from concord.statistics.anchoring import Move
from concord.store import informed, placements, ratings, rubrics, studies
from concord.store.informed import BlindAnswer, Informed
from concord.store.studies import Study


class Shown(NamedTuple):
    """A criterion shown again: the blind answer, the judge's score and reasons, the second answer."""

    criterion: Criterion
    own: float
    judge: float
    reasons: str
    second: Informed | None


@dataclass(frozen=True, eq=False)
class Reveal:
    """What one annotator sees of a study's judge."""

    study: Study
    blind: Mapping[int, Mapping[str, float]]
    """Their submitted answers by unit."""
    judged: Mapping[tuple[int, str], tuple[float, str]]
    second: Mapping[tuple[int, str], Informed]
    left: int
    """How many items of the study they have still to rate or skip."""
    opened: bool
    waiting: int = 0
    """Nobody is waited for."""

    @cached_property
    def items(self) -> dict[int, list[Shown]]:
        """The units that they and the judge rated, with the criteria that both answered."""
        items = {}
        for unit, own in self.blind.items():
            shown = [
                Shown(c, own[c.name], *self.judged[unit, c.name], self.second.get((unit, c.name)))
                for c in self.study.criteria
                if c.name in own and (unit, c.name) in self.judged and not c.scale.kind.content
            ]
            if shown:
                items[unit] = shown
        return items

    @property
    def done(self) -> list[int]:
        """The units on which every criterion has a second answer, which may be the first one."""
        return [unit for unit, of in self.items.items() if all(one.second for one in of)]


def judges_of(db: Database, name: str) -> dict[str, Rater]:
    """The judges who rated a study's units by its own questions, by what the figures call them."""
    study = studies.get(db, name)
    other = rubrics.other_judges(db, study.rubric)
    wanted = informed.judges_of(db, name).difference(other)
    mine = [rater for rater, number in ratings.judges(db).items() if number in wanted]
    return {label: rater for rater, label in labels(mine).items()}


def set_judge(db: Database, name: str, judge: str) -> None:
    """Show annotators this judge's scores once they have answered everything; “” shows nothing any more.

    Raises NotFound, and StudyError for a study without names, and where people and judges answer on different
    scales.
    """
    study = studies.get(db, name)
    if study.anonymous:
        raise StudyError(f"“{name}” was not rated by people with names: nothing is revealed.")
    if not judge:
        studies.remember(db, name, "reveal", None)
        return
    judges = judges_of(db, name)
    check_known("judge", judge, judges)
    if other := [c.label for c in study.criteria if c.judged not in (None, c.scale)]:
        raise StudyError(f"Judges answer “{other[0]}” on another scale than people: it is not shown.")
    rater = judges[judge]
    studies.remember(db, name, "reveal", {"judge": rater.name, "variant": rater.variant})


def judge_of(study: Study) -> Rater | None:
    """The judge whose scores are shown; None where none is."""
    kept = study.meta.get("reveal")
    return Rater(kept["judge"], "judge", kept["variant"]) if kept else None


def reveal(db: Database, name: str, rater: int) -> Reveal | None:
    """What an annotator sees of a study's judge; None where nothing is revealed. Raises NotFound."""
    study = studies.get(db, name)
    judge = judge_of(study)
    number = ratings.find_rater(db, judge) if judge else None
    if number is None:
        return None
    mine = informed.by_unit(one for one in informed.blind(db, name) if one.rater == rater)
    own = {unit: {one.criterion: one.score for one in of} for unit, of in mine.items()}
    second = [one for one in informed.answers(db, name, "revise") if one.rater == rater]
    opened = informed.has_seen(db, rater, name)
    return Reveal(
        study,
        own,
        _judged(study, informed.judge_said(db, name, number)),
        {(one.unit, one.criterion): one for one in second},
        placements.left(db, rater, name),
        opened,
    )


def _judged(
    study: Study, given: Mapping[tuple[int, str], tuple[Sequence[float], str]]
) -> dict[tuple[int, str], tuple[float, str]]:
    """One score of each unit and criterion: the mean over turns and runs, of categories the most frequent.

    Where two categories are equally frequent, the judge has no answer to show.
    """
    nominal = {c.name for c in study.criteria if not c.scale.ordered}
    judged = {}
    for (unit, criterion), (scores, reasons) in given.items():
        if criterion in nominal and len(scores := multimode(scores)) > 1:
            continue
        judged[unit, criterion] = (sum(scores) / len(scores), reasons)
    return judged


def begin(db: Database, name: str, rater: int) -> None:
    """Show the judge's scores to an annotator and lock their answers. Raises NotAllowed before the end."""
    state = reveal(db, name, rater)
    if state is None:
        raise NotAllowed("This study shows no judge's scores.")
    if state.left:
        raise NotAllowed(f"Rate or skip your other {state.left} items first. Then the judge is shown.")
    informed.show(db, rater, "revise", state.items)


def revise(
    db: Database, name: str, rater: int, unit: int, criterion: str, score: float | None, reason: str = ""
) -> None:
    """Store an annotator's second answer to a unit, or take it back (None).

    Raises NotAllowed before the judge's scores are shown and for what was not shown, StudyError for a score
    off the scale.
    """
    state = reveal(db, name, rater)
    shown = {one.criterion.name: one for one in state.items.get(unit, ())} if state and state.opened else {}
    if criterion not in shown:
        raise NotAllowed("This was not shown to you, so your answer was not taken.")
    one = shown[criterion]
    if score is not None and score not in one.criterion.scale:
        raise StudyError(f"{score:g} is not on the scale of “{one.criterion.label}”.")
    informed.give(db, "revise", unit, rater, criterion, score, reason.strip(), shown=one.judge)


def moves(
    blind: Sequence[BlindAnswer], second: Sequence[Informed], criterion: str, counted: Sequence[str]
) -> list[Move]:
    """Every second answer beside the blind one on a criterion; on final the means of the counted criteria.

    An item without a second answer to one of these has no move on final.
    """
    first = {(one.unit, one.rater, one.criterion): one.score for one in blind}
    by_item: dict[tuple[int, int], dict[str, Informed]] = {}
    for one in second:
        if (one.unit, one.rater, one.criterion) in first and one.shown is not None:
            by_item.setdefault((one.unit, one.rater), {})[one.criterion] = one
    wanted = list(counted) if criterion == FINAL else [criterion]
    listed = []
    for (unit, rater), of in by_item.items():
        if wanted and of.keys() >= set(wanted):
            parts = [(first[unit, rater, name], of[name].shown or 0.0, of[name].score) for name in wanted]
            means = [sum(part) / len(wanted) for part in zip(*parts, strict=True)]
            listed.append(Move(of[wanted[0]].person, unit, *means))
    return listed
