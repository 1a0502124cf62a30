"""System level: whether a judge orders players as people do, pair by pair.

A judge can be poor on single items and still order players well, because its errors average out; and it can
order them well by luck where there are few.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Unpack

import numpy as np
from scipy import sparse

from concord.codes import Claim
from concord.estimate import Estimate, undefined
from concord.glossary import explain
from concord.statistics import columns
from concord.statistics.claims import CLAIMS
from concord.statistics.figures import Drawing, Figure, PointEstimate, cluster_codes, empty, tabulate
from concord.statistics.intervals import PAIRWISE_ACCURACY
from concord.statistics.items import permuted
from concord.statistics.ratings import (
    DIGITS,
    Bools,
    Contender,
    CriterionScores,
    Facet,
    Floats,
    Ints,
    Panels,
    Ratings,
    divide,
    sums,
)
from concord.statistics.resampling import Weights, cached_count, full_sample, gathering
from concord.table import Column, Table

FEWEST_PLAYERS = 3
"""Two players are one pair, whose order is right half of the time by chance."""

PERMUTED = 999
FEW_PERMUTED = 199
MANY_ITEMS = 4_000
"""Permutations of players among items behind a p-value: so many, or few where there are many items."""

SYSTEMS = empty(
    "systems",
    "Would annotators order the models as the judge does?",
    columns.RATER,
    columns.N,
    Column("players", "Models"),
    Column("pairs", "Pairs"),
    Column(
        "apart",
        "Differ significantly",
        help="Pairs of models that differ significantly for annotators, adjusted for all pairs (max-t).",
    ),
    Column("kept", "Of these, in annotators' order", percent=True, interval="ends"),
    Column("accuracy", "Pairwise accuracy", percent=True, interval="ends", help=explain("pairwise accuracy")),
    Column(
        "p",
        digits=3,
        least=0.001,
        help="Share of the permutations of models among items with at least as many equal pairs.",
    ),
    caption="Pairs without a significant difference for annotators cannot show whether the judge is right. "
    "Read the significantly different pairs first.",
)


def systems(
    table: Ratings,
    criterion: str,
    players: Facet,
    *,
    panels: Panels = None,
    members: Sequence[str] = (),
    **drawing: Unpack[Drawing],
) -> Table:
    """How far each judge and panel orders players as people do, on the items that both scored.

    `accuracy` is the share of pairs of players on whose means both agree which is better (Kocmi et al. 2021),
    a tie of both counting as agreement; its p permutes players among items (`_permutation`). `apart` counts
    the pairs that people tell apart on all of their items, and `kept` is the accuracy over these. Intervals
    draw items; players are taken as they are. The first note answers the question for `members`.

    Undefined for fewer than `FEWEST_PLAYERS` players with two items each.
    """
    scores = table[criterion]
    clusters = cluster_codes(table, drawing.get("clusters"))
    permuting = clusters, drawing.get("seed", 0)
    codes, names = _systems(table, scores, Contender("people", (), scores.target), players)
    separation: dict[tuple[str, str], float] = {}
    if len(names) >= FEWEST_PLAYERS:
        p, _ = _permutation(codes, scores.target, scores.target, len(names), *permuting)
        separation = dict(zip(combinations(names, 2), p.tolist(), strict=True))
    rows: list[dict[str, Any]] = []
    sentence = ""
    for judge in scores.contenders(panels):
        row, answer = _system(table, scores, judge, players, separation, *permuting)
        rows.append(row)
        sentence = answer if judge.members == tuple(members) else sentence
    notes = ("the bootstrap draws items; the models are fixed",)
    order = tabulate(SYSTEMS, table, criterion, rows, notes=notes, **drawing)
    return replace(order, notes=(sentence, *order.notes)) if sentence else order


def _systems(
    table: Ratings, scores: CriterionScores, judge: Contender, players: Facet
) -> tuple[Ints, list[str]]:
    """Each item's player (−1: none, or not scored by both), and the players with two such items or more."""
    codes, names = table.facet(players)
    codes = np.where(np.isnan(scores.target) | np.isnan(judge.score), -1, codes)
    eligible = np.flatnonzero(np.bincount(codes[codes >= 0], minlength=len(names)) >= 2)
    number = np.full(len(names) + 1, -1)
    number[eligible] = np.arange(len(eligible))
    return number[codes], [str(names[place]) for place in eligible]


def _means(codes: Ints, score: Floats, number: int) -> Floats:
    inside = codes >= 0
    return divide(sums(codes[inside], score[inside], number), np.bincount(codes[inside], minlength=number))


def _system(
    table: Ratings,
    scores: CriterionScores,
    judge: Contender,
    players: Facet,
    separation: Mapping[tuple[str, str], float],
    clusters: Ints | None,
    seed: int,
) -> tuple[dict[str, Any], str]:
    """A row of `systems`, and the sentence that answers its question; empty where it is undefined.

    `separation` has the p with which people tell two players apart, on all of people's items.
    """
    codes, names = _systems(table, scores, judge, players)
    n = int((codes >= 0).sum())
    number = len(names)
    row: dict[str, Any] = {"rater": judge.name, "n": n, "players": number}
    if number < FEWEST_PLAYERS:
        reason = (
            f"{number} models have two items rated by {judge.name} and annotators, {FEWEST_PLAYERS} "
            "are needed"
        )
        undefined_cells = dict.fromkeys(("accuracy", "p", "kept"), undefined(reason, n=n))
        return row | undefined_cells | {"pairs": None, "apart": None}, ""
    in_order = _ordering(codes, scores.target, judge.score, number)
    alike = in_order(full_sample(len(codes)))[:, 0] == 1
    _, chance = _permutation(codes, scores.target, judge.score, number, clusters, seed)
    share = CLAIMS[Claim.TOLD_APART].share or 0.0
    distinct = np.array([separation[pair] <= share for pair in combinations(names, 2)])
    pairs = len(alike)

    def share_of(subset: Bools) -> PointEstimate:
        return PointEstimate(
            lambda weights: in_order(weights)[subset].mean(axis=0), n, kind=PAIRWISE_ACCURACY
        )

    means = _means(codes, scores.target, number), _means(codes, judge.score, number)
    none: Figure = undefined("no two models differ significantly for annotators", n=n)
    row |= {
        "pairs": pairs,
        "accuracy": share_of(np.ones(pairs, dtype=np.bool_)),
        "p": chance,
        "apart": int(distinct.sum()),
        "kept": share_of(distinct) if distinct.any() else none,
    }
    return row, _answer(judge, alike, distinct, names, *means)


def _answer(
    judge: Contender, alike: Bools, distinct: Bools, names: Sequence[str], people: Floats, by_judge: Floats
) -> str:
    """Whether the leaderboard's order would be the people's, in two sentences."""
    sure = int(distinct.sum())
    in_order = int((distinct & alike).sum())
    judge_words = "the judge" if len(judge.members) == 1 else f"the mean of {len(judge.members)} judges"
    separated_words = (
        f"of the {sure} significantly different pairs, {in_order} are"
        if sure
        else ("none of them differs significantly for annotators")
    )
    best, second = np.argsort(-np.round(people, DIGITS), kind="stable")[:2]
    judges_best = int(np.round(by_judge, DIGITS).argmax())
    first = f"Both put {names[best]} first"
    if judges_best != best:
        first = f"Annotators put {names[best]} first, {judge_words} puts {names[judges_best]} first"
    pairs = list(combinations(range(len(names)), 2))
    if not distinct[pairs.index((min(best, second), max(best, second)))]:
        first += f"; for annotators, {names[best]} and {names[second]} do not differ significantly"
    return (
        f"By {judge_words}, {int(alike.sum())} of {len(alike)} pairs of models are in annotators' order; "
        f"{separated_words}. {first}."
    )


def _ordering(codes: Ints, people: Floats, judge: Floats, number: int) -> Callable[[Weights], Floats]:
    """Whether people and the judge prefer the same of each two players, or neither, in the resample of
    weights (pairs × resamples, as 1 and 0); nan where a player was not drawn.
    """
    inside = np.flatnonzero(codes >= 0)
    gather = gathering(codes, number).astype(np.float64)
    first, second = np.triu_indices(number, 1)
    sums_of = [
        sparse.csc_array(
            (values[inside] - values[inside].mean(), (codes[inside], inside)), shape=(number, len(codes))
        )
        for values in (people, judge)
    ]

    @cached_count
    def statistic(weights: Weights) -> Floats:
        weight = weights.astype(np.float64)
        count = np.asarray(gather @ weight)
        means = [divide(np.asarray(total @ weight), count) for total in sums_of]
        by_people, by_judge = (np.sign(np.round(values[first] - values[second], DIGITS)) for values in means)
        return np.where(np.isnan(by_people + by_judge), np.nan, by_people == by_judge)

    return statistic


def _compared(count: Floats, total: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """Each pair of players' difference of means and its variance (pairs × draws), were the two alike.

    From the number, sum and sum of squares of each player's scores (players × draws).
    """
    first, second = np.triu_indices(len(count), 1)
    means = divide(total, count)
    size = count[first] + count[second]
    sizes = total[first] + total[second]
    spread = np.maximum(squares[first] + squares[second] - sizes**2 / np.maximum(size, 1), 0)
    variance = divide(size, count[first] * count[second]) * divide(spread, np.maximum(size - 1, 0))
    return means[first] - means[second], variance


def _permutation(
    codes: Ints, people: Floats, judge: Floats, number: int, clusters: Ints | None, seed: int
) -> tuple[Floats, Estimate]:
    """p that people tell each pair of players apart, adjusted for all pairs, and the p of pairwise accuracy.

    Players are permuted among items, within clusters or with them (`concord.statistics.items.permuted`), so
    that what people and the judge saw of an item stays together. A pair's p is the share of permutations
    whose largest |difference / standard error| of all pairs is as large (max-t; Westfall and Young 1993);
    that of the accuracy the share in which as many pairs have the same order.
    """
    inside = np.flatnonzero(codes >= 0)
    player_codes = codes[inside]
    count = np.bincount(player_codes, minlength=number).astype(np.float64)[:, None]
    scores = [statistics_of[inside] - statistics_of[inside].mean() for statistics_of in (people, judge)]
    draws = PERMUTED if len(inside) <= MANY_ITEMS else FEW_PERMUTED

    def statistics_of(players: Ints) -> tuple[Floats, Floats]:
        """Each pair's |t| by people, and how many pairs stand alike."""
        moments: list[Floats] = []
        for score in scores:
            powers = np.stack([score, score**2], axis=1)
            sums_ = np.stack([(players == player).astype(np.float64) @ powers for player in range(number)])
            difference, variance = _compared(count, sums_[:, :, 0], sums_[:, :, 1])
            moments += [difference, variance]
        varies = moments[1] > 10.0**-DIGITS
        t = np.where(varies, np.abs(moments[0]) / np.sqrt(np.where(varies, moments[1], 1)), 0.0)
        signs = [np.sign(np.round(difference, DIGITS)) for difference in moments[::2]]
        return t, (signs[0] == signs[1]).sum(axis=0)

    t, alike = statistics_of(player_codes[None])
    rng = np.random.default_rng([seed, number])
    larger = np.ones(len(t))
    as_alike = 1
    for shuffled in permuted(player_codes, None if clusters is None else clusters[inside], rng, draws):
        t_drawn, alike_drawn = statistics_of(shuffled)
        larger += (t_drawn.max(axis=0) >= t - 1e-9).sum(axis=1)
        as_alike += int((alike_drawn >= alike[0]).sum())
    method = f"{draws} permutations of models among items"
    return larger / (draws + 1), Estimate(as_alike / (draws + 1), n=len(inside), method=method)
