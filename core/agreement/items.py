"""Where judges fail: on which items, on high_disagreement ones or on all, and on which part of the scale."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from core.agreement.basis import Figures, basis, columns
from core.agreement.correlation import correlation, midranks, pairs
from core.agreement.panels import called, contenders
from core.agreement.ratings import DIGITS, Floats, Ratings, Scores, divide, read_ratings, sums
from core.agreement.resampling import Statistic, bootstrap, mean


def item_scores(
    ratings: pd.DataFrame | Ratings, criterion: str, raters: Sequence[tuple[str, ...]] | None = None
) -> pd.DataFrame:
    """Item by item, for scatters and tables: unit, mean and spread of people, people (how many), and a column per judge or panel."""
    table = read_ratings(ratings)
    scores = table[criterion]
    chosen = contenders(table, None) if raters is None else raters
    columns: dict[str, Any] = {
        "unit": pd.Series(list(table.units), dtype=object),
        "mean": scores.target,
        "spread": _people_spread(scores),
        "people": scores.present,
    }
    return pd.DataFrame(columns | {called(members): scores.panel(members) for members in chosen})


def largest_gaps(
    ratings: pd.DataFrame | Ratings, criterion: str, members: Sequence[str], *, count: int = 20
) -> pd.DataFrame:
    """The items on which a judge (or a panel) is farthest from the mean of people: unit, score, mean, people, spread, gap.

    Gap is judge less people; farthest first, ties in the order of units. Spread is people's standard deviation (nan for one person).
    Where judges and people answer on different scales, gap is the difference of their places, from −1 to 1.
    """
    table = read_ratings(ratings)
    frame = item_scores(table, criterion, [tuple(members)]).rename(columns={called(members): "score"})
    frame = frame.dropna(subset=["score", "mean"])
    score, target = frame["score"].to_numpy(), frame["mean"].to_numpy()
    if table.same_scale:
        frame["gap"] = score - target
    else:
        frame["gap"] = (midranks(score) - midranks(target)) / max(len(frame), 1)
    order = np.argsort(-np.abs(frame["gap"].to_numpy()).round(DIGITS), kind="stable")
    return frame.iloc[order[:count]].reset_index(drop=True)


def high_disagreement(
    ratings: pd.DataFrame | Ratings,
    criterion: str,
    *,
    panels: Iterable[Sequence[str]] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Figures:
    """Items on which people agree against items on which they do not: rater, members, people (“agree” or “differ”), n, spearman, bias, mae, ….

    Items of two or more people are split at the median of their standard deviation; ties go to “agree”. Where judges are as good on
    high_disagreement items as elsewhere, people's noise is not what holds them back.
    """
    table = read_ratings(ratings)
    scores = table[criterion]
    spread = _people_spread(scores)
    defined = spread[~np.isnan(spread)]
    middle = float(np.median(defined)) if len(defined) else np.nan
    plan, statistics = [], list[Statistic]()
    for members in contenders(table, panels):
        score = scores.panel(members)
        for name, chosen in (("agree", spread <= middle), ("differ", spread > middle)):
            inside = np.where(chosen, score, np.nan)
            pair = pairs(inside, scores.target)
            plan.append((members, name, pair))
            gap = table.level(inside) - scores.target
            statistics += [correlation(pair), mean(gap), mean(np.abs(gap))]
    own, drawn = bootstrap(statistics, scores.items, resamples=resamples, seed=seed, among=table.rated)
    rows = []
    for place, (members, name, pair) in enumerate(plan):
        why = pair.undefined
        values = own[3 * place : 3 * place + 3].copy()
        values[0] = np.nan if why else values[0]
        figures = zip(values.tolist(), drawn[3 * place : 3 * place + 3], strict=True)
        base = {"rater": called(members), "members": members, "people": name, "n": pair.items}
        rows.append(base | columns(dict(zip(("spearman", "bias", "mae"), figures, strict=True)), why))
    note = f"split at a standard deviation of {middle:.3g}" if len(defined) else "no item has two people"
    return Figures(pd.DataFrame(rows), basis(table, scores, resamples=resamples, seed=seed, notes=(note,)))


def bands(
    ratings: pd.DataFrame | Ratings,
    criterion: str,
    *,
    panels: Iterable[Sequence[str]] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Figures:
    """Bias by score band: rater, members, band (low, middle, high thirds of people's scores), n, bias, bias_low, bias_high, reason.

    One half of an item's people (drawn by `seed`) chooses its band, the other half is what the judge is measured against, and then
    the other way round. Were it the same people, chance highs would look like highs that the judge misses: regression to the mean.
    """
    table = read_ratings(ratings)
    scores = table[criterion]
    halves = _halves(scores, seed)
    shared = ~np.isnan(halves[0]) & ~np.isnan(halves[1])
    pooled = np.concatenate([half[shared] for half in halves])
    cuts = np.quantile(pooled, [1 / 3, 2 / 3]) if len(pooled) else np.zeros(2)
    plan, statistics = [], list[Statistic]()
    for members in contenders(table, panels):
        score = scores.panel(members)
        for band, name in enumerate(("low", "middle", "high")):
            gaps = []
            for chooser, measure in (halves, halves[::-1]):
                chosen = np.searchsorted(cuts, chooser, side="left") == band
                gaps.append(np.where(chosen & shared, table.level(score) - measure, np.nan))
            plan.append(
                (members, name, int(sum((~np.isnan(gap)).any() * (~np.isnan(gap)).sum() for gap in gaps)))
            )
            statistics.append(_pooled(gaps))
    own, drawn = bootstrap(statistics, scores.items, resamples=resamples, seed=seed, among=table.rated)
    rows = [
        {"rater": called(members), "members": members, "band": name, "n": n}
        | columns({"bias": (own[place], drawn[place])}, "" if n else "no item with two people falls here")
        for place, (members, name, n) in enumerate(plan)
    ]
    note = f"bands end at {cuts[0]:.3g} and {cuts[1]:.3g}; n counts an item once for each half"
    target = "one half of an item's people chooses the band, the judge is measured against the other half"
    based = basis(table, scores, resamples=resamples, seed=seed, target=target, notes=(note,))
    return Figures(pd.DataFrame(rows), based)


def _people_spread(scores: Scores) -> Floats:
    """Standard deviation of people on each item (n − 1); nan for fewer than two, or where people cannot be followed."""
    off = scores.score - scores.target[scores.item]
    number = np.bincount(scores.item, minlength=scores.items)
    return np.sqrt(divide(sums(scores.item, off**2, scores.items), np.maximum(number - 1, 0)))


def _halves(scores: Scores, seed: int) -> tuple[Floats, Floats]:
    """The means of two random halves of each item's people; nan for the second half of one person."""
    ordered = np.lexsort((scores.person, scores.item))
    chance = np.random.default_rng(seed).random(len(ordered))
    rows = ordered[np.lexsort((chance, scores.item[ordered]))]
    item, score = scores.item[rows], scores.score[rows]
    starts = np.concatenate([[0], np.cumsum(np.bincount(item, minlength=scores.items))])
    second = (np.arange(len(item)) - starts[item]) % 2 == 1
    first, other = (
        divide(sums(item[half], score[half], scores.items), np.bincount(item[half], minlength=scores.items))
        for half in (~second, second)
    )
    return first, other


def _pooled(values: Sequence[Floats]) -> Statistic:
    """The mean of several values per item, each value counting once."""
    total = np.where(np.isnan(values), 0, values).sum(axis=0)
    number = (~np.isnan(values)).sum(axis=0)
    return lambda weights: divide(total @ weights.astype(np.float64), number @ weights.astype(np.float64))
