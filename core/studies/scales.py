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
    """The scale of a criterion, why a judge's level cannot be compared (`other`: judge → reason), and notes.

    `scale` is None where nobody answered and none is declared.
    """

    scale: Scale | None
    other: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def guessed(scores: Collection[float]) -> Scale:
    """The scale of scores: whole numbers from the least to the greatest, else the range between them.

    A single value gets a neighbour, because a scale needs two answers.
    """
    low, high = min(scores), max(scores)
    whole = all(score == int(score) for score in scores)
    if low == high:
        low = low - 1 if low >= 1 else low
        high = high if high > low else high + 1
    if whole and high - low < MOST_ANSWERS:
        return replace(points(int(low), int(high)), guessed=True)
    return between(low, high, guessed=True)


def shared_scale(
    people: Floats, judges: Mapping[str, Floats], scale: Scale | None, judged: Scale | None = None
) -> SharedScale:
    """The scale that people and judges share on a criterion, from their answers (nan left out).

    `scale` is the one people answer on, None where it is not known; `judged` the one that judges are asked to
    answer on, if it is another. A declared scale stands: a judge with more than 5% of its answers off it
    answers on another scale. A guessed one is made of the answers of people and of the judges that share
    their scale: those whose answers make people's range (from 1, or from 0 where people go below 1) at most
    twice as wide. So a judge's 1 beside people's 2 to 5 widens the guess, and a judge on 1 to 10 beside
    people on 1 to 5 does not.
    """
    people = people[~np.isnan(people)]
    given = {judge: answers[~np.isnan(answers)] for judge, answers in judges.items()}
    given = {judge: answers for judge, answers in given.items() if len(answers)}
    if scale is not None and judged is not None and (judged.low, judged.high) != (scale.low, scale.high):
        why = (
            f"judges answer on {_from(judged.low, judged.high)}, annotators on {_from(scale.low, scale.high)}"
        )
        return SharedScale(scale, dict.fromkeys(given, why))
    if scale is None or scale.guessed:
        return _guess(people, given, scale)
    other, notes = {}, []
    for judge, answers in given.items():
        off = int((np.abs(np.clip(answers, scale.low, scale.high) - answers) > 10**-DIGITS).sum())
        reason = (
            f"{off} of {len(answers)} answers of {judge} are off the scale {_from(scale.low, scale.high)}"
        )
        if off > STRAY * len(answers):
            other[judge] = reason
        elif off:
            notes.append(reason)
    return SharedScale(scale, other, tuple(notes))


def _guess(people: Floats, judges: Mapping[str, Floats], stored: Scale | None) -> SharedScale:
    """A scale for answers of which none is declared; `stored` was guessed when they were imported."""
    everybody = [people, *judges.values()] if stored is None else [people, *judges.values(), _ends(stored)]
    if not sum(map(len, everybody)):
        return SharedScale(None)
    theirs = people if len(people) else np.concatenate(everybody)
    low, high = float(theirs.min()), float(theirs.max())
    bottom = min(low, 1.0 if low >= 1 else 0.0)
    width = max(high - bottom, 1.0)
    other, notes, taken = {}, [], [theirs]
    for judge, answers in judges.items():
        least, most = float(answers.min()), float(answers.max())
        outside = float(((answers < bottom) | (answers > high)).mean())
        reason = f"annotators answer {_from(low, high)}, {judge} {_from(least, most)}"
        wider = max(high, most) - min(bottom, least) > WIDER * width
        if wider or _shorter(theirs, answers) or _finer(theirs, answers):
            other[judge] = f"{reason}: read as different scales (declare with --scale)"
            continue
        taken.append(answers)
        if outside > STRAY:
            notes.append(f"{reason}: read as one scale (declare the annotators' with --scale)")
    if stored is not None and not other:
        taken.append(_ends(stored))
    ends = np.array([min(map(np.min, taken)), max(map(np.max, taken))])
    if not np.any(theirs % 1):  # means of judges lie between the answers
        ends = np.array([np.floor(ends[0]), np.ceil(ends[1])])
    # Not by NumPy, whose rounding of large numbers is infinite.
    low, high = (round(end, DIGITS) for end in ends.tolist())
    parts = low < high and bool(np.any(theirs % 1))
    scale = between(low, high, guessed=True) if parts else guessed([low, high])
    return SharedScale(scale, other, (f"scale guessed: {_from(scale.low, scale.high)}", *notes))


def _shorter(people: Floats, answers: Floats) -> bool:
    """Whether a judge answers from 0 to 1 or from −1, and people over a range that goes beyond."""
    least, most = float(answers.min()), float(answers.max())
    if least < -1 or most > 1 or least == most or float(people.max()) <= 1:
        return False
    return bool(np.any(answers % 1)) or (least >= 0 and float(people.max()) > WIDER)


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


def _from(low: float, high: float) -> str:
    return f"{low:g} to {high:g}"


Declared = Sequence[tuple[str, Scale]]
"""Criteria (“” for every one) and the scales on which people and judges answer them."""


def scales(of: StudyRatings, declared: Declared = ()) -> dict[str, SharedScale]:
    """The scale of each criterion, and which judges answer on another. Raises NotFound for an unknown one.

    A scale in `declared` holds for people and judges. Else the study's holds, unless it was guessed.
    """
    given = dict(declared)
    for name in given:
        if name and name not in of.criteria:
            raise not_found("criterion", name, of.criteria)
    questions = {c.name: c for c in of.study.criteria}
    criterion, rater, score = (of.column(name) for name in ("criterion", "rater", "score"))
    judged = of.column("kind") == "judge"
    shared = {}
    for name in of.criteria:
        scale, of_judges = given.get(name, given.get("")), None
        if scale is None and name in questions:
            scale, of_judges = questions[name].scale, questions[name].judged
        here = criterion == name
        answers = {judge: score[here & judged & (rater == judge)].astype(np.float64) for judge in of.judges}
        people = score[here & ~judged].astype(np.float64)
        shared[name] = shared_scale(people, answers, scale, of_judges)
    return shared


def final_scale(by_criterion: Mapping[str, SharedScale], counted: Sequence[str]) -> Scale | None:
    """The scale of *final*: the one that the criteria in it share, None where they do not."""
    shared = {by_criterion[name].scale for name in counted if name in by_criterion}
    return shared.pop() if len(shared) == 1 else None


def other_scales(by_criterion: Mapping[str, SharedScale]) -> dict[str, Mapping[str, str]]:
    """For each criterion, the judges whose level cannot be compared with people's, and why."""
    return {name: shared.other for name, shared in by_criterion.items() if shared.other}


def scale_notes(
    by_criterion: Mapping[str, SharedScale], counted: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """What basis lines say of scales, by criterion; of *final* what is said of its criteria."""
    words = {name: shared.notes for name, shared in by_criterion.items() if shared.notes}
    of_final: dict[str, list[str]] = {}
    for name in counted:
        for note in words.get(name, ()):
            of_final.setdefault(note, []).append(name)
    notes = (
        note if len(names) == len(counted) else f"{', '.join(names)}: {note}"
        for note, names in of_final.items()
    )
    return {**words, FINAL: (*words.get(FINAL, ()), *notes)}
