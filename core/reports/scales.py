"""The scale of each criterion of a study: declared for the report, by the study, or guessed from scores."""

from collections.abc import Mapping, Sequence

import numpy as np

from concord.errors import not_found
from concord.questions import Scale
from concord.scores import FINAL
from concord.studies.scales import SharedScale, shared_scale
from concord.studies.studies import StudyRatings

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
