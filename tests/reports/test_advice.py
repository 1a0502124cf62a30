"""Advice by rule: each case holds one fact apart from the others, so that a rule that goes fails its case."""

from dataclasses import replace

import pytest

from concord.codes import Advice, Verdict
from concord.estimate import Estimate, undefined
from concord.reports.advice import Facts, advice_of, disagree

GOOD = Facts(Verdict.AS_GOOD, judge=Estimate(0.7, 0.6, 0.8, 100), person=Estimate(0.7, 0.6, 0.8, 100))
ALONE = Facts(Verdict.UNDEFINED, annotators=1, alone=Estimate(0.5, 0.3, 0.7, 100))
CHANCE = Estimate(0.1, -0.1, 0.3, 100)
"""An agreement that may be none."""

CASES = {
    "as good": (GOOD, Advice.USE),
    "slightly below": (replace(GOOD, verdict=Verdict.SLIGHTLY_BELOW), Advice.USE),
    "inconclusive": (replace(GOOD, verdict=Verdict.INCONCLUSIVE), Advice.LABEL_MORE),
    "inconclusive at chance": (replace(GOOD, verdict=Verdict.INCONCLUSIVE, judge=CHANCE), Advice.LABEL_MORE),
    "too few": (replace(GOOD, verdict=Verdict.TOO_FEW, judge=None), Advice.LABEL_MORE),
    "worse": (replace(GOOD, verdict=Verdict.WORSE), Advice.KEEP_ANNOTATORS),
    "worse at chance": (replace(GOOD, verdict=Verdict.WORSE, judge=CHANCE), Advice.DO_NOT_USE),
    "another is good": (replace(GOOD, verdict=Verdict.WORSE, good=True), Advice.USE),
    "one annotator decides": (
        replace(GOOD, verdict=Verdict.INCONCLUSIVE, decided_by="Ada"),
        Advice.CHECK_ANNOTATOR,
    ),
    "one decides, another judge is good": (
        replace(GOOD, verdict=Verdict.INCONCLUSIVE, decided_by="Ada", good=True),
        Advice.USE,
    ),
    "a judge of the panel guesses": (
        replace(GOOD, verdict=Verdict.INCONCLUSIVE, slight=True),
        Advice.EXCLUDE_JUDGE,
    ),
    "one guesses, another judge is good": (
        replace(GOOD, verdict=Verdict.INCONCLUSIVE, slight=True, good=True),
        Advice.USE,
    ),
    "a copy": (replace(GOOD, copied=True), Advice.CHECK_COPY),
    "one answer": (replace(GOOD, constant=True), Advice.DO_NOT_USE),
    "turned round": (replace(GOOD, inverted=True), Advice.CHECK_DIRECTION),
    "annotators disagree": (replace(GOOD, person=CHANCE), Advice.REPAIR_QUESTION),
    "one annotator, shown to agree": (ALONE, Advice.ADD_ANNOTATOR),
    "one annotator, not shown": (replace(ALONE, alone=Estimate(0.2, -0.1, 0.5, 40)), Advice.LABEL_MORE),
    "one annotator, no interval": (
        replace(ALONE, alone=Estimate(0.2, n=200, reason="9 items with a rarer answer are too few")),
        Advice.LABEL_MORE,
    ),
    "one annotator, weak, not slight": (
        replace(ALONE, alone=Estimate(0.2, 0.1, 0.3, 200)),
        Advice.ADD_ANNOTATOR,
    ),
    "one annotator, shown slight": (
        replace(ALONE, alone=Estimate(0.05, -0.05, 0.15, 900)),
        Advice.DO_NOT_USE,
    ),
    "unnamed annotators": (replace(ALONE, nominal=False), Advice.NAME_ANNOTATORS),
    "nobody": (replace(ALONE, annotators=0), Advice.NONE),
    "no figure": (replace(ALONE, alone=None), Advice.NONE),
}


@pytest.mark.parametrize("case", CASES)
def test_the_advice_follows_from_the_facts(case: str) -> None:
    facts, advice = CASES[case]
    assert advice_of(facts) == advice


def test_what_is_not_shown_is_never_a_reason_not_to_use_a_judge() -> None:
    for verdict in (Verdict.INCONCLUSIVE, Verdict.TOO_FEW, Verdict.UNDEFINED):
        for figure in (CHANCE, undefined("constant"), Estimate(-0.2, n=7, reason="no interval")):
            facts = Facts(verdict, judge=figure, alone=figure, annotators=1)
            assert advice_of(facts) == Advice.LABEL_MORE, (verdict, figure)


@pytest.mark.parametrize(
    ("person", "shown"),
    [
        (Estimate(0.1, -0.1, 0.39, 60), True),
        (Estimate(0.1, -0.1, 0.41, 60), False),
        (Estimate(0.1, 0.05, 0.19, 3000), True),
        (Estimate(0.3, 0.2, 0.39, 300), False),
        (Estimate(-0.1, n=60, reason="no interval"), False),
        (undefined("constant"), False),
        (None, False),
    ],
)
def test_a_question_is_repaired_only_where_the_upper_end_says_so(person, shown) -> None:
    assert disagree(person) is shown
