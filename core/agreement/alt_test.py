"""The alternative annotator test (alt-test) of Calderon, Reichart and Dror (2025).

May a judge replace an annotator? For each person who is left out, judge and person are compared on how near
they come to the remaining people, item by item. The test is passed for that person if the judge is not worse
by more than epsilon, what a person costs more than a judge.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt
from typing import Any, Literal

import numpy as np

from concord.agreement import columns
from concord.agreement.figures import empty, tabulate
from concord.agreement.ratings import DIGITS, Bools, CriterionScores, Floats, Panels, Ratings
from concord.estimate import estimate
from concord.table import Column, Table

EPSILONS = (0.0, 0.1, 0.2, 0.3)
FALSE_DISCOVERIES = 0.05
FEWEST_PEOPLE, FEWEST_ITEMS = 3, 30
MOST_CATEGORIES = 20
"""With more different answers of people, equal ones are too rare to be counted."""

Score = Literal["distance", "ordinal", "agreement"]
"""How near a rater comes to the people left on an item."""

SCORES: dict[Score, str] = {
    "distance": "scored by the distance of answers",
    "ordinal": "scored by the distance of answers' ranks",
    "agreement": "scored by equal answers",
}

ALT_TEST = empty(
    "alt_test",
    "Alternative annotator test",
    columns.RATER,
    Column("epsilon", "ε", help="What a person costs more than a judge."),
    Column("people", help="Annotators with enough items to be tested."),
    Column("omega", "ω", help="Share of annotators for whom the judge is not worse by ε."),
    Column("passed", help="ω is at least one half."),
    Column("rho", "ρ", help="Share of items on which the judge comes at least as near as the annotator."),
    Column("constant", "Best constant", help="The single answer to every item that does best by this test."),
    Column("constant_omega", "Its ω"),
    Column("constant_rho", "Its ρ"),
    caption="A judge may replace an annotator where ω is at least one half. Where one constant answer "
    "passes as well, passing says little.",
)


def alt_test(
    table: Ratings,
    criterion: str,
    *,
    panels: Panels = None,
    epsilons: Sequence[float] = EPSILONS,
    score: Score = "distance",
) -> Table:
    """One row per judge or panel and epsilon, beside the best constant answer.

    An item's `score` of a rater, the judge's answers rounded to the nearest that people give (a mean of
    judges cannot tie with a whole number):

    - distance: minus the root mean square distance to the people left;
    - ordinal: the same of places instead of answers, an answer's place being its midrank among all answers of
      people, as in Krippendorff's ordinal alpha: only the order of answers counts;
    - agreement: the share of the people left who gave the same answer, for categories. Undefined where people
      give more than twenty different answers, as means do: hardly any are equal.

    `rho` is the
    share of items, averaged over people, on which the judge comes at least as near as the person; `omega` the
    share of people for whom the judge is not worse by epsilon: one-sided t-tests, corrected by Benjamini and
    Yekutieli at 5%. `passed` if omega is at least a half.

    Read it beside `constant`: the single answer that, given to every item, does best by the same test. Where
    a constant passes, passing says little. `meta["by_person"]` has each person: n, rho, difference (person's
    wins less judge's), and p per epsilon.

    People with fewer than 30 items that the judge and somebody else rated are not tested. Undefined with
    fewer than three people to test, for people who are not persons, and where judges answer on another scale.
    """
    scores = table[criterion]
    grid = np.unique(np.round(scores.score, DIGITS))
    people = [] if scores.unlinked else scores.people.tolist()
    rows: list[dict[str, Any]] = []
    by_person: list[dict[str, Any]] = []
    senseless = ""
    if score == "agreement" and len(grid) > MOST_CATEGORIES:
        senseless = (
            f"people give {len(grid)} different answers, more than {MOST_CATEGORIES}: "
            "a score of equal answers makes no sense"
        )
    wins_of = _wins_by_agreement if score == "agreement" else _wins
    seen, place = _placed(scores, grid) if score == "ordinal" else (scores, grid)
    for judge in scores.contenders(panels):
        answers = _nearest(judge.score, grid)
        given = ~np.isnan(answers)
        placed = np.full(len(answers), np.nan)
        placed[given] = place[np.searchsorted(grid, answers[given])]
        wins = {} if senseless else wins_of(seen, placed, people)
        why = senseless or table.no_level(criterion, judge.members) or _why(scores, wins)
        constants = {
            value: {} if why else wins_of(seen, np.where(given, at, np.nan), people)
            for value, at in zip(grid.tolist(), place.tolist(), strict=True)
        }
        for epsilon in epsilons:
            omega = rho = best_omega = best_rho = constant = np.nan
            if not why:
                omega, rho = _verdict(wins, epsilon)
                best_omega, best_rho, constant = max(
                    (*_verdict(theirs, epsilon), value) for value, theirs in constants.items()
                )
            rows.append(
                {
                    "rater": judge.name,
                    "epsilon": epsilon,
                    "people": len(wins),
                    "omega": estimate(omega, n=len(wins), reason=why),
                    "passed": omega >= 0.5,
                    "rho": estimate(rho, n=len(wins), reason=why),
                    "constant": None if why else constant,
                    "constant_omega": estimate(best_omega, reason=why),
                    "constant_rho": estimate(best_rho, reason=why),
                }
            )
        by_person += [
            {"rater": judge.name, "person": table.people[person], "n": len(judge_won)}
            | {"rho": float(judge_won.mean()), "difference": float((person_won - judge_won).mean())}
            | {f"p_{epsilon:g}": _p(person_won - judge_won, epsilon) for epsilon in epsilons}
            for person, (judge_won, person_won) in wins.items()
        ]
    return tabulate(
        ALT_TEST,
        table,
        criterion,
        rows,
        target="against the remaining people, one at a time left out",
        notes=(
            SCORES[score],
            f"each person beside the people left, at least {FEWEST_ITEMS} items; "
            "judges rounded to the answers people give",
            f"one-sided t-tests, Benjamini–Yekutieli at {FALSE_DISCOVERIES:.0%}",
        ),
        meta={"by_person": by_person},
    )


def _why(scores: CriterionScores, wins: dict[int, tuple[Floats, Floats]]) -> str:
    if scores.unlinked:
        return scores.unlinked
    if len(wins) < FEWEST_PEOPLE:
        return f"{len(wins)} people have {FEWEST_ITEMS} items to compare, at least {FEWEST_PEOPLE} are needed"
    return ""


def _nearest(score: Floats, grid: Floats) -> Floats:
    """Each score rounded to the nearest value of the grid, the lower one where two are as near."""
    nearest = np.full(len(score), np.nan)
    given = np.flatnonzero(~np.isnan(score))
    if len(grid):
        nearest[given] = grid[np.abs(np.round(score[given], DIGITS)[:, None] - grid[None, :]).argmin(axis=1)]
    return nearest


def _wins(scores: CriterionScores, judge: Floats, people: Sequence[int]) -> dict[int, tuple[Floats, Floats]]:
    """Per person who can be tested: on which items the judge, and the person, come at least as near."""
    wins = {}
    total = np.bincount(scores.item, scores.score, minlength=scores.items)
    for person in people:
        item, own = scores.by(person)
        rest = scores.present[item] - 1
        usable = (rest > 0) & ~np.isnan(judge[item])
        item, own, rest = item[usable], own[usable], rest[usable]
        if len(item) < FEWEST_ITEMS:
            continue
        left = (total[item] - own) / rest
        # Mean square distance to the people left, less their spread, which both have alike. Answers are
        # rounded to DIGITS, so that their squares are equal to two digits fewer.
        judge_off, own_off = (
            np.round(value**2 - 2 * value * left, DIGITS - 2) for value in (judge[item], own)
        )
        wins[person] = (judge_off <= own_off).astype(np.float64), (own_off <= judge_off).astype(np.float64)
    return wins


def _wins_by_agreement(
    scores: CriterionScores, judge: Floats, people: Sequence[int]
) -> dict[int, tuple[Floats, Floats]]:
    """`_wins` where an item's score is how many of the people left gave the same answer."""
    values, code = np.unique(np.round(scores.score, DIGITS), return_inverse=True)
    count = np.zeros((scores.items, max(len(values), 1)))
    np.add.at(count, (scores.item, code), 1)
    wins = {}
    for person in people:
        item, own = scores.by(person)
        usable = (scores.present[item] > 1) & ~np.isnan(judge[item])
        item, own = item[usable], own[usable]
        if len(item) < FEWEST_ITEMS:
            continue
        of_own, of_judge = (np.searchsorted(values, np.round(x, DIGITS)) for x in (own, judge[item]))
        judge_alike = count[item, of_judge] - (of_judge == of_own)
        own_alike = count[item, of_own] - 1
        better = (judge_alike >= own_alike), (own_alike >= judge_alike)
        wins[person] = better[0].astype(np.float64), better[1].astype(np.float64)
    return wins


def _placed(scores: CriterionScores, grid: Floats) -> tuple[CriterionScores, Floats]:
    """People's answers as places from 0 to 1, and the place of each answer of the grid."""
    code = np.searchsorted(grid, np.round(scores.score, DIGITS))
    count = np.bincount(code, minlength=len(grid)).astype(np.float64)
    place = (np.cumsum(count) - count / 2) / max(count.sum(), 1.0)
    return replace(scores, score=place[code] if len(grid) else scores.score), place


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
