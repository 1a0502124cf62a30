"""Raters that copy another one, or give one answer more often than others do, beside what chance explains.

What a rater answers is compared with what others answer on the same items: were raters exchangeable, each
item's answers could have been dealt to them in any order, so that the number of hits of one rater is a sum of
independent chances (Poisson's binomial distribution). On rare criteria, where nearly all answers are equal,
that says little.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from concord.statistics.correlation import rank_correlation
from concord.statistics.judges import commonest
from concord.statistics.nominal import kappa
from concord.statistics.ratings import DIGITS, CriterionScores, Floats

LARGE_SHARE = 0.9
"""A rater who gives one answer to more than this share of items is near-constant."""

FEWEST = 10
"""Common items below which no annotator is said to copy, or to give one answer too often."""

COPY = 0.95
COPY_KAPPA = 0.85
AHEAD = 0.2
"""A judge copies a person with whom its ρ (of answers read by name: its κ) is at least this, and higher by so
much than with anybody else."""

ALIKE = 0.9
"""The κ of two careful raters: beyond it, equal answers are more than both being right."""

EXACT = 500
"""Items of which the chance of so many hits is counted exactly; of more it is taken for normal."""


class Copy(NamedTuple):
    """A judge, the person whose answers it repeats, its ρ with that person, and the highest with another."""

    judge: str
    person: str
    rho: float
    next: float
    p: float


class OnlyCopy(NamedTuple):
    """A judge that gave just the answers of the only person, to `n` items, and the chance of it."""

    judge: str
    person: str
    n: int
    p: float


class OneAnswer(NamedTuple):
    """A rater, its commonest answer, the share of it, and the share of it among others on the same items."""

    name: str
    answer: float
    share: float
    typical_share: float
    n: int
    p: float


def chance_of_hits(hits: int, chances: Floats) -> float:
    """The probability of at least so many hits on items with these chances (Poisson's binomial).

    Counted exactly for up to `EXACT` items whose chance is neither 0 nor 1, else by the normal distribution,
    corrected for continuity. 1 without items.
    """
    sure = int((chances >= 1).sum())
    open_ = chances[(chances > 0) & (chances < 1)]
    hits -= sure
    if hits <= 0:
        return 1.0
    if hits > len(open_):
        return 0.0
    if len(open_) > EXACT:
        spread = math.sqrt(float((open_ * (1 - open_)).sum()))
        return math.erfc((hits - 0.5 - float(open_.sum())) / spread / math.sqrt(2)) / 2
    chance_of = np.ones(1)
    for chance in open_.tolist():
        chance_of = np.convolve(chance_of, [1 - chance, chance])
    return float(min(chance_of[hits:].sum(), 1.0))


def exchanged(hits: Floats, rater: int) -> float:
    """p of as many hits as a rater has, were answers dealt at random among those who rated an item.

    `hits` is raters × items: 1 for a hit, 0 for none, nan where a rater did not rate.
    """
    answered_items = ~np.isnan(hits[rater])
    common_hits = hits[:, answered_items]
    return chance_of_hits(
        int(hits[rater, answered_items].sum()),
        np.nanmean(common_hits, axis=0) if answered_items.any() else np.zeros(0),
    )


def copies(scores: CriterionScores, people: Sequence[str], *, nominal: bool = False) -> list[Copy]:
    """Judges whose agreement with one person is near 1 and far above that with anybody else: Spearman's ρ, of
    answers read by name (`nominal`) Cohen's κ.

    `p` is that of so many equal answers, were people's exchangeable; a judge's score stands for the answer
    that people give most often where it gives it, so that a copy on another scale is one. None without two
    persons who share ten items with the judge: a judge that agrees with everybody that well copies nobody.
    """
    if scores.unlinked:
        return []
    annotator_scores = [scores.scores_of(person) for person in scores.people.tolist()]
    names = [people[person] for person in scores.people.tolist()]
    rows = []
    for judge, score in scores.judges.items():
        order = []
        for place, annotator_score in enumerate(annotator_scores):
            if np.isfinite(score + annotator_score).sum() >= FEWEST:
                agreement = _kappa(score, annotator_score) if nominal else _rho(score, annotator_score)
                order += [] if np.isnan(agreement) else [(agreement, place)]
        if len(order) > 1:
            (beyond, _), (highest, place) = sorted(order)[-2:]
            if highest >= (COPY_KAPPA if nominal else COPY) and highest - beyond >= AHEAD:
                score_rows = np.array(annotator_scores)
                translation = _translated(score, score_rows)
                hits = np.where(
                    np.isnan(score_rows) | np.isnan(translation),
                    np.nan,
                    np.abs(score_rows - translation) < 0.5,
                )
                rows.append(Copy(judge, names[place], highest, beyond, exchanged(hits, place)))
    return rows


def only_copies(scores: CriterionScores, people: Sequence[str]) -> list[OnlyCopy]:
    """Judges that gave just the answers of the only person to ten items or more, not all of them the same.

    `p` is the chance that two raters whose κ is `ALIKE` do, with the margins of these answers: each answer is
    equal with probability p_e + κ (1 − p_e), where p_e is the sum of the squared shares of answers.
    """
    if len(scores.people) != 1 or scores.unlinked:
        return []
    [person] = scores.people.tolist()
    annotator_score = scores.scores_of(person)
    rows = []
    for judge, score in scores.judges.items():
        common_scores = annotator_score[np.isfinite(score + annotator_score)]
        equal = np.array_equal(common_scores, score[np.isfinite(score + annotator_score)])
        _, counts = np.unique(np.round(common_scores, DIGITS), return_counts=True)
        if len(common_scores) >= FEWEST and equal and len(counts) > 1:
            by_chance = float(((counts / len(common_scores)) ** 2).sum())
            chance = by_chance + ALIKE * (1 - by_chance)
            rows.append(OnlyCopy(judge, people[person], len(common_scores), chance ** len(common_scores)))
    return rows


def _rho(x: Floats, y: Floats) -> float:
    value = rank_correlation(x, y, "", "").value
    return math.nan if value is None else value


def _kappa(x: Floats, y: Floats) -> float:
    return float(kappa(x, y)(np.ones((len(x), 1)))[0])


def constants(scores: CriterionScores, people: Sequence[str]) -> dict[str, tuple[float, int]]:
    """Persons who gave one and the same answer to three items or more: the answer, and to how many."""
    if scores.unlinked:
        return {}
    annotator_scores = {people[person]: scores.ratings_of(person)[1] for person in scores.people.tolist()}
    return {
        name: (float(score[0]), len(score))
        for name, score in annotator_scores.items()
        if len(score) > 2 and np.ptp(score) <= 10**-DIGITS
    }


def one_answer(
    scores: Mapping[str, Floats], comparison: Mapping[str, Floats] | None = None
) -> list[OneAnswer]:
    """Raters who give one answer to more than nine items of ten, beside all others, or beside these
    `comparison`.

    Both are raters → their answers by item (nan: none). Only items that somebody else rated too are looked
    at, ten or more. `p` is that of as many, were the rater exchangeable with the others.
    """
    rows = []
    for name, score in scores.items():
        answer, share = commonest(score)
        if answer is None or share is None or share <= LARGE_SHARE:
            continue
        references = np.array(
            [
                second_score
                for second, second_score in (comparison or scores).items()
                if comparison or second != name
            ]
        )
        if not len(references):
            continue
        stacked = np.concatenate([score[None], references])[:, ~np.isnan(score)]
        stacked = stacked[:, ~np.isnan(stacked[1:]).all(axis=0)]
        if stacked.shape[1] < FEWEST:
            continue
        hits = np.where(np.isnan(stacked), np.nan, np.abs(stacked - answer) <= 10**-DIGITS)
        share = float(hits[0].mean())
        of_others = float(np.nanmean(hits[1:]))
        rows.append(OneAnswer(name, answer, share, of_others, stacked.shape[1], exchanged(hits, 0)))
    return rows


def _translated(score: Floats, score_rows: Floats) -> Floats:
    """In place of each score of a judge, the answer that people give most often to the items that have it."""
    translation = np.full(len(score), np.nan)
    for value in np.unique(score[~np.isnan(score)]):
        items = np.abs(score - value) <= 10**-DIGITS
        answer, _ = commonest(score_rows[:, items].ravel())
        translation[items] = np.nan if answer is None else answer
    return translation
