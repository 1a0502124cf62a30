"""Which scale a criterion is answered on, and which judges answer on another one than people.

Bias, error, spread and the alternative annotator test need one scale. It is decided for each judge on each
criterion: one answer of one judge changes no figure of another.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from concord.errors import ConcordError, not_found
from concord.questions import Scale, between, points, scale_of
from concord.rating import criteria_by_name
from concord.scores import FINAL
from concord.statistics.ratings import DIGITS, Floats

if TYPE_CHECKING:
    from concord.studies.studies import StudyRatings

MOST_ANSWERS = 21
"""Whole numbers over a wider range than this are a continuous scale."""

STRAY = 0.05
"""A judge with a larger share of answers off a declared scale answers on another one."""

WIDER = 2
"""A judge whose answers make people's range more than so many times as wide answers on another scale."""

PARTS = (1, 2, 3, 4, 5)
"""Answers between people's whole numbers are means of so many on their scale; finer ones are on another."""


def of_criterion(text: str) -> tuple[str, str]:
    """The criterion (“” where none is named) and the rest of `CRITERION=REST`."""
    criterion, _, rest = text.rpartition("=")
    return unicodedata.normalize("NFC", criterion.strip()), rest


def named_scale(text: str) -> tuple[str, Scale]:
    """The criterion (“” for every one) and the scale of `CRITERION=1..5` or `1..5`. Raises ConcordError."""
    criterion, answers = of_criterion(text)
    try:
        if not criterion and "=" in text:
            raise ValueError
        return criterion, scale_of(answers)
    except ValueError:
        raise ConcordError(
            f"The scale “{text}” is invalid. Write criterion=1..5, criterion=1:bad,2:fair,3:good with "
            "the answers rising, or 1..5 for every criterion."
        ) from None


@dataclass(frozen=True)
class SharedScale:
    """The scale of a criterion, why a judge's level cannot be compared (`incomparable`: judge → reason), and
    notes.

    `scale` is None where nobody answered and none is declared.
    """

    scale: Scale | None
    incomparable: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def guessed(scores: Collection[float]) -> Scale:
    """The scale of scores: whole numbers from the least to the greatest, else the range between them.

    A single value gets a neighbour, because a scale needs two answers.
    """
    low = min(scores)
    high = max(scores)
    integers = all(score == int(score) for score in scores)
    if low == high:
        low = low - 1 if low >= 1 else low
        high = high if high > low else high + 1
    if integers and high - low < MOST_ANSWERS:
        return replace(points(int(low), int(high)), guessed=True)
    return between(low, high, guessed=True)


def shared_scale(
    people: Floats, judges: Mapping[str, Floats], scale: Scale | None, judged: Scale | None = None
) -> SharedScale:
    """The scale that people and judges share on a criterion, from their answers (nan excluded).

    `scale` is the one people answer on, None where it is not known; `judged` the one that judges are asked to
    answer on, if it is another. A declared scale stands: a judge with more than 5% of its answers off it
    answers on another scale. A guessed one is made of the answers of people and of the judges that share
    their scale: those whose answers make people's range (from 1, or from 0 where people go below 1) at most
    twice as wide. So a judge's 1 beside people's 2 to 5 widens the guess, and a judge on 1 to 10 beside
    people on 1 to 5 does not.
    """
    people = people[~np.isnan(people)]
    defined = {judge: answers[~np.isnan(answers)] for judge, answers in judges.items()}
    defined = {judge: answers for judge, answers in defined.items() if len(answers)}
    if scale is not None and judged is not None and (judged.low, judged.high) != (scale.low, scale.high):
        scale_reason = (
            f"judges answer on {_range_words(judged.low, judged.high)}, annotators on "
            f"{_range_words(scale.low, scale.high)}"
        )
        return SharedScale(scale, dict.fromkeys(defined, scale_reason))
    if scale is None or scale.guessed:
        return _guess(people, defined, scale)
    incomparable = {}
    notes = []
    for judge, answers in defined.items():
        outside = int((np.abs(np.clip(answers, scale.low, scale.high) - answers) > 10**-DIGITS).sum())
        reason = (
            f"{outside} of {len(answers)} answers of {judge} are off the scale "
            f"{_range_words(scale.low, scale.high)}"
        )
        if outside > STRAY * len(answers):
            incomparable[judge] = reason
        elif outside:
            notes.append(reason)
    return SharedScale(scale, incomparable, tuple(notes))


def _guess(people: Floats, judges: Mapping[str, Floats], declared: Scale | None) -> SharedScale:
    """A scale for answers of which none is declared; `declared` was guessed when they were imported."""
    everybody = (
        [people, *judges.values()] if declared is None else [people, *judges.values(), _ends(declared)]
    )
    if not sum(map(len, everybody)):
        return SharedScale(None)
    reference = people if len(people) else np.concatenate(everybody)
    low = float(reference.min())
    high = float(reference.max())
    bottom = min(low, 1.0 if low >= 1 else 0.0)
    width = max(high - bottom, 1.0)
    incomparable = {}
    notes = []
    accepted = [reference]
    for judge, answers in judges.items():
        lowest = float(answers.min())
        highest = float(answers.max())
        outside = float(((answers < bottom) | (answers > high)).mean())
        reason = f"annotators answer {_range_words(low, high)}, {judge} {_range_words(lowest, highest)}"
        wider = max(high, highest) - min(bottom, lowest) > WIDER * width
        if wider or _shorter(reference, answers) or _finer(reference, answers):
            incomparable[judge] = f"{reason}: read as different scales (declare with --scale)"
            continue
        accepted.append(answers)
        if outside > STRAY:
            notes.append(f"{reason}: read as one scale (declare the annotators' with --scale)")
    if declared is not None and not incomparable:
        accepted.append(_ends(declared))
    ends = np.array([min(map(np.min, accepted)), max(map(np.max, accepted))])
    if not np.any(reference % 1):  # means of judges lie between the answers
        ends = np.array([np.floor(ends[0]), np.ceil(ends[1])])
    # Not by NumPy, whose rounding of large numbers is infinite.
    low, high = (round(end, DIGITS) for end in ends.tolist())
    parts = low < high and bool(np.any(reference % 1))
    scale = between(low, high, guessed=True) if parts else guessed([low, high])
    return SharedScale(scale, incomparable, (f"scale guessed: {_range_words(scale.low, scale.high)}", *notes))


def _shorter(people: Floats, answers: Floats) -> bool:
    """Whether a judge answers from 0 to 1 or from −1, and people over a range that goes beyond."""
    lowest = float(answers.min())
    highest = float(answers.max())
    if lowest < -1 or highest > 1 or lowest == highest or float(people.max()) <= 1:
        return False
    return bool(np.any(answers % 1)) or (lowest >= 0 and float(people.max()) > WIDER)


def _finer(people: Floats, answers: Floats) -> bool:
    """Whether a judge answers in parts that no mean of a few whole answers has, beside whole ones of
    people.
    """
    if np.any(people % 1) or not np.any(answers % 1):
        return False
    means = np.zeros(len(answers), dtype=bool)
    for parts in PARTS:
        means |= np.abs(answers * parts - np.round(answers * parts)) < 10**-DIGITS * parts
    rounded = np.abs(answers * 3 - np.round(answers * 3)) < 0.02
    return float((means | rounded).mean()) < 0.5


def _ends(scale: Scale) -> Floats:
    return np.array([scale.low, scale.high], dtype=np.float64)


def _range_words(low: float, high: float) -> str:
    return f"{low:g} to {high:g}"


Declared = Sequence[tuple[str, Scale]]
"""Criteria (“” for every one) and the scales on which people and judges answer them."""


def scales(ratings: StudyRatings, declared: Declared = ()) -> dict[str, SharedScale]:
    """The scale of each criterion, and which judges answer on another. Raises NotFound for an unknown one.

    A scale in `declared` holds for people and judges. Else the study's holds, unless it was guessed.
    """
    declared_scales = dict(declared)
    for name in declared_scales:
        if name and name not in ratings.criteria:
            raise not_found("criterion", name, ratings.criteria)
    questions = criteria_by_name(ratings.study.criteria)
    criterion, rater, score = (ratings.column(name) for name in ("criterion", "rater", "score"))
    judged = ratings.column("kind") == "judge"
    shared = {}
    for name in ratings.criteria:
        scale = declared_scales.get(name, declared_scales.get(""))
        of_judges = None
        if scale is None and name in questions:
            scale = questions[name].scale
            of_judges = questions[name].judged
        on_criterion = criterion == name
        answers = {
            judge: score[on_criterion & judged & (rater == judge)].astype(np.float64)
            for judge in ratings.judges
        }
        people = score[on_criterion & ~judged].astype(np.float64)
        shared[name] = shared_scale(people, answers, scale, of_judges)
    return shared


def final_scale(by_criterion: Mapping[str, SharedScale], final_criteria: Sequence[str]) -> Scale | None:
    """The scale of *final*: the one that the criteria in it share, None where they do not."""
    shared = {by_criterion[name].scale for name in final_criteria if name in by_criterion}
    return shared.pop() if len(shared) == 1 else None


def other_scales(by_criterion: Mapping[str, SharedScale]) -> dict[str, Mapping[str, str]]:
    """For each criterion, the judges whose level cannot be compared with people's, and why."""
    return {name: shared.incomparable for name, shared in by_criterion.items() if shared.incomparable}


def scale_notes(
    by_criterion: Mapping[str, SharedScale], final_criteria: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """What basis lines say of scales, by criterion; of *final* what is said of its criteria."""
    words = {name: shared.notes for name, shared in by_criterion.items() if shared.notes}
    of_final: dict[str, list[str]] = {}
    for name in final_criteria:
        for note in words.get(name, ()):
            of_final.setdefault(note, []).append(name)
    notes = (
        note if len(names) == len(final_criteria) else f"{', '.join(names)}: {note}"
        for note, names in of_final.items()
    )
    return {**words, FINAL: (*words.get(FINAL, ()), *notes)}
