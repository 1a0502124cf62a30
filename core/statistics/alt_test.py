"""The alternative annotator test (alt-test) of Calderon, Reichart and Dror (2025).

May a judge replace an annotator? Each annotator is held out in turn: the judge and the annotator are compared
by how near they come to the other annotators, item by item. The test is passed for an annotator if the judge
is not worse by more than epsilon, what a person costs more than a judge.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from concord.estimate import estimate
from concord.statistics import columns
from concord.statistics.figures import empty, tabulate
from concord.statistics.majority import panel_answers
from concord.statistics.ratings import (
    DIGITS,
    Bools,
    Contender,
    CriterionScores,
    Floats,
    Ints,
    Panels,
    Ratings,
    sums,
)
from concord.table import Column, Table

EPSILONS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
"""What a person may cost more than a judge; 0.15 is that of the paper's crowd workers."""
FALSE_DISCOVERIES = 0.05
FEWEST_PEOPLE = 3
FEWEST_ITEMS = 30
MOST_CATEGORIES = 20
"""With more different answers of people, equal ones are too rare to be counted."""

Score = Literal["distance", "agreement"]
"""How near a rater comes to the people left on an item."""

SCORES: dict[Score, str] = {
    "distance": "scored by the distance of answers",
    "agreement": "scored by equal answers",
}

ALT_TEST = empty(
    "alt_test",
    "Alternative annotator test",
    columns.RATER,
    Column("epsilon", "ε", help="What a person costs more than a judge."),
    Column("people", help="Annotators with enough items to be tested."),
    Column("omega", "ω", help="Share of annotators for whom the judge is not worse by more than ε."),
    Column("passed", help="ω is at least one half."),
    Column("rho", "ρ", help="Share of items on which the judge is at least as close as the annotator."),
    Column("constant", "Best constant", help="The constant answer that does best in this test."),
    Column("constant_omega", "Its ω"),
    Column("constant_rho", "Its ρ"),
    caption="A judge may replace an annotator if ω is at least one half. If a constant answer passes as "
    "well, the result means little.",
)


def alt_test(
    table: Ratings,
    criterion: str,
    *,
    panels: Panels = None,
    epsilons: Sequence[float] = EPSILONS,
    score: Score = "distance",
    majority: bool = False,
) -> Table:
    """One row per judge or panel and epsilon, beside the best constant answer.

    An item's `score` of a rater:

    - distance: minus the root mean square distance to the people left;
    - agreement: the share of the people left who gave the same answer, for categories. Undefined where people
      give more than twenty different answers, as means do: hardly any are equal.

    A judge's answers are rounded to the nearest that people give, as a mean of judges cannot tie with a whole
    number; but a single judge's answer that nobody gives is, scored by agreement, equal to nobody's. With
    `majority`, for answers that have no mean, a panel's answers are those of
    `concord.statistics.majority.panel_answers`, and where it splits each of its answers wins its part.

    `rho` is the share of items, averaged over people, on which the judge comes at least as near as the
    person; `omega` the share of people for whom the judge is not worse by epsilon: one-sided t-tests,
    corrected by Benjamini and Yekutieli at 5%. `passed` if omega is at least a half.

    Read it beside `constant`: the single answer that, given to every item, does best by the same test. Where
    a constant passes, passing says little.

    People with fewer than 30 items that the judge and somebody else rated are not tested. Undefined with
    fewer than three people to test, for people who are not persons, and where judges answer on another scale.
    """
    scores = table[criterion]
    grid, coded = _answers(scores)
    people = [] if scores.unlinked else scores.people.tolist()
    rows: list[dict[str, Any]] = []
    senseless = ""
    if score == "agreement" and len(grid) > MOST_CATEGORIES:
        senseless = (
            f"annotators give {len(grid)} different answers, more than {MOST_CATEGORIES}, so equal answers "
            "cannot be scored"
        )
    near = _alike(coded) if score == "agreement" else _distant(coded, grid)
    for judge in scores.contenders(panels):
        draws = _contender_draws(scores, judge, grid, score=score, majority=majority)
        wins = {} if senseless else _wins(coded, near, draws, people)
        answers = draws[0].answers
        ones = np.ones(scores.items)
        reason = senseless or table.no_level(criterion, judge.members) or _reason_undefined(scores, wins)
        constants = {
            value: {}
            if reason
            else _wins(coded, near, [_Draw(np.where(answers < 0, -1, index), ones)], people)
            for index, value in enumerate(grid.tolist())
        }
        for epsilon in epsilons:
            omega = rho = best_omega = best_rho = constant = np.nan
            if not reason:
                omega, rho = _verdict(wins, epsilon)
                best_omega, best_rho, constant = max(
                    (*_verdict(outcome, epsilon), value) for value, outcome in constants.items()
                )
            rows.append(
                {
                    "rater": judge.name,
                    "epsilon": epsilon,
                    "people": len(wins),
                    "omega": estimate(omega, n=len(wins), reason=reason),
                    "passed": omega >= 0.5,
                    "rho": estimate(rho, n=len(wins), reason=reason),
                    "constant": None if reason else constant,
                    "constant_omega": estimate(best_omega, reason=reason),
                    "constant_rho": estimate(best_rho, reason=reason),
                }
            )
    return tabulate(
        ALT_TEST,
        table,
        criterion,
        rows,
        target="compared with the other annotators, one held out at a time",
        notes=(
            SCORES[score],
            f"each held-out annotator compared with the others on at least {FEWEST_ITEMS} items; judges "
            "rounded to the annotators' answers",
            f"one-sided t-tests, Benjamini–Yekutieli at {FALSE_DISCOVERIES:.0%}",
        ),
    )


def _reason_undefined(scores: CriterionScores, wins: dict[int, tuple[Floats, Floats]]) -> str:
    if scores.unlinked:
        return scores.unlinked
    if len(wins) < FEWEST_PEOPLE:
        return (
            f"{len(wins)} annotators have {FEWEST_ITEMS} items to compare, at least {FEWEST_PEOPLE} are "
            "needed"
        )
    return ""


Near = Callable[[Ints, Ints, Ints], Floats]
"""How much nearer answers (third) to items (first) come to the people left than the answer of the one who is
left out (second) does; 0 where both are as near.
"""


def _answers(scores: CriterionScores) -> tuple[Floats, CriterionScores]:
    """The different answers of people, the lowest first, and the answers as places in that list."""
    rounded = np.round(scores.score, DIGITS)
    _, first, code = np.unique(rounded, return_index=True, return_inverse=True)
    return scores.score[first], replace(scores, score=code.astype(np.float64))


def _nearest(score: Floats, grid: Floats) -> Ints:
    """The place in the grid nearest to each score, the lower one where two are as near; −1 for no score."""
    middles = (grid[1:] + grid[:-1]) / 2 + 2 * 10.0**-DIGITS  # scores are rounded to so many digits
    place = np.searchsorted(middles, score, side="left")
    return np.where(np.isnan(score) | (len(grid) == 0), -1, place).astype(np.int64)


class _Draw(NamedTuple):
    """One answer of a judge to every item (−1: none), and the part for which it counts."""

    answers: Ints
    part: Floats


def _contender_draws(
    scores: CriterionScores, judge: Contender, grid: Floats, *, score: Score, majority: bool
) -> list[_Draw]:
    """The answers of a judge or a panel as places in the grid: several where a panel splits."""
    alone = len(judge.members) == 1
    if alone or not majority:
        place = _exact_codes if alone and score == "agreement" else _nearest
        return [_Draw(place(judge.score, grid), np.ones(scores.items))]
    panel = panel_answers(scores, judge.members)
    number = np.arange(len(panel.item)) - np.searchsorted(panel.item, panel.item)
    first = number == 0
    answers = np.full(scores.items, np.nan)
    answers[panel.item[first]] = panel.answer[first]
    draws = []
    place_answers = _exact_codes if score == "agreement" else _nearest
    for draw in range(int(number.max(initial=0)) + 1):
        answered_codes = answers.copy()
        part = np.zeros(scores.items)
        rows = number == draw
        answered_codes[panel.item[rows]] = panel.answer[rows]
        part[panel.item[rows]] = panel.part[rows]
        draws.append(_Draw(place_answers(answered_codes, grid), part))
    return draws


def _exact_codes(answers: Floats, grid: Floats) -> Ints:
    """The places of answers in the grid; an answer that is not in it comes after it."""
    places = _nearest(answers, grid)
    unknown = ~np.isin(np.round(answers, DIGITS), np.round(grid, DIGITS))
    places[(places >= 0) & unknown] = len(grid)
    return places


def _wins(
    scores: CriterionScores, near: Near, draws: Sequence[_Draw], people: Sequence[int]
) -> dict[int, tuple[Floats, Floats]]:
    """Per person who can be tested: for which part of each item the judge, and the person, come at least as
    near.

    Answers are numbered, in `scores` and `draws` alike.
    """
    wins = {}
    for person in people:
        item, answer = scores.ratings_of(person)
        usable = (scores.present[item] > 1) & (draws[0].answers[item] >= 0)
        item = item[usable]
        code = answer[usable].astype(np.int64)
        if len(item) < FEWEST_ITEMS:
            continue
        judge_won = np.zeros(len(item))
        person_won = np.zeros(len(item))
        for answers, part in draws:
            gap = near(item, code, answers[item])
            judge_won += part[item] * (gap >= 0)
            person_won += part[item] * (gap <= 0)
        wins[person] = judge_won, person_won
    return wins


def _distant(scores: CriterionScores, grid: Floats) -> Near:
    """By minus the mean square distance to the people left, times their number.

    Answers are placed from 0 to 1. They are rounded to `DIGITS` digits; what that can make of equal distances
    is no difference.
    """
    width = float(np.ptp(grid)) if len(grid) > 1 else 1.0
    position = (grid - grid.min(initial=np.inf)) / width
    tie = int(scores.present.max(initial=1)) * (10 * 10.0**-DIGITS / width + 1e-12)
    total = sums(scores.item, position[scores.score.astype(np.int64)], scores.items)

    def nearer(item: Ints, code: Ints, answer: Ints) -> Floats:
        left = total[item] - position[code]
        rest = scores.present[item] - 1
        gap = (
            2 * (position[answer] - position[code]) * left
            - (position[answer] ** 2 - position[code] ** 2) * rest
        )
        return np.where(np.abs(gap) < tie, 0.0, gap)

    return nearer


def _alike(scores: CriterionScores) -> Near:
    """By how many of the people left gave the same answer."""
    code = scores.score.astype(np.int64)
    # The last column is that of an answer which nobody gave.
    count = np.zeros((scores.items, int(code.max(initial=0)) + 2))
    np.add.at(count, (scores.item, code), 1)
    return lambda item, person_code, answer: np.asarray(
        count[item, answer] - (answer == person_code) - count[item, person_code] + 1
    )


def _verdict(wins: dict[int, tuple[Floats, Floats]], epsilon: float) -> tuple[float, float]:
    """Omega and rho."""
    p = np.array([_p(person_won - judge_won, epsilon) for judge_won, person_won in wins.values()])
    rho = float(np.mean([judge_won.mean() for judge_won, _ in wins.values()]))
    return float(rejected(p).mean()), rho


def _p(difference: Floats, epsilon: float) -> float:
    """One-sided p of a mean difference below epsilon, by Student's t as in `scipy.stats.ttest_1samp`."""
    from scipy.special import stdtr  # a tenth of the import time of scipy.stats

    if np.ptp(difference) == 0:
        return 0.0 if difference[0] < epsilon else 1.0
    n = len(difference)
    return float(stdtr(n - 1, (difference.mean() - epsilon) / (difference.std(ddof=1) / sqrt(n))))


def rejected(p: Floats) -> Bools:
    """Which hypotheses are rejected under any dependence (Benjamini and Yekutieli, 2001)."""
    from scipy import stats  # slow to import

    return np.asarray(stats.false_discovery_control(p, method="by") <= FALSE_DISCOVERIES)
