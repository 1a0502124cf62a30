"""How far people agree with each other, by more than one coefficient, and how they use the scale.

Alpha as Krippendorff (2011); shares of agreement per item as Fleiss (1971); ICC(2,1) and ICC(2,k) as Shrout and Fleiss (1979);
AC2 with quadratic weights as Gwet (2014), which stays informative where most ratings fall in one category; the reliability of a mean
as Spearman and Brown (1910).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd

from core.agreement.alpha import alpha, value_counts, why_undefined
from core.agreement.basis import Figures, basis
from core.agreement.ratings import DIGITS, Floats, Ratings, Scores, divide, read_ratings
from core.agreement.resampling import bootstrap, interval, mean

NEAR_CONSTANT = 0.9
"""A rater who gives one answer to more than this share of items tells little, whatever the coefficient."""


def reliability(
    ratings: pd.DataFrame | Ratings,
    criterion: str,
    *,
    resamples: int = 1000,
    seed: int = 0,
    clusters: Mapping[Hashable, Hashable] | pd.Series | None = None,
) -> Figures:
    """People's agreement on one criterion, one row per coefficient: coefficient, value, low, high, reason.

    - alpha_ordinal, alpha_interval: Krippendorff's alpha;
    - exact, within_one: share of pairs of people who give the same answer, or answers at most one apart, averaged over items;
    - ac2: Gwet's AC2, quadratic weights over the answers that occur;
    - icc_single, icc_mean: absolute agreement of one rater, of the mean of all; only if everybody rated every item;
    - mean_of_people: reliability of the mean of as many people as an item has at the median, by Spearman–Brown from alpha_interval.

    Undefined (nan, with a reason): fewer than two people on every item; all ratings equal; for ICC an incomplete design.
    """
    table = read_ratings(ratings)
    scores = table[criterion]
    groups = None if clusters is None else table.facet(clusters)[0]
    counts, values = value_counts(scores.item, scores.score, scores.items)
    dense = counts.toarray()
    present = scores.present[scores.present > 0]
    typical = float(np.median(present)) if len(present) else 0.0

    interval_alpha = alpha(counts, values, "interval")
    statistics = {
        "alpha_ordinal": alpha(counts, values, "ordinal"),
        "alpha_interval": interval_alpha,
        "exact": mean(_sharing(dense, values, 0)),
        "within_one": mean(_sharing(dense, values, 1)),
        "mean_of_people": lambda weights: spearman_brown(interval_alpha(weights), typical),
    }
    own, drawn = bootstrap(
        list(statistics.values()), scores.items, resamples=resamples, seed=seed, clusters=groups
    )
    why = scores.unlinked if scores.unlinked and not len(scores.item) else why_undefined(counts)
    rows = [
        _row(name, value, drawn[place], why or "alpha is below 0")
        for place, (name, value) in enumerate(zip(statistics, own.tolist(), strict=True))
    ]
    whole = not np.any(values % 1)
    ac2 = gwet(dense, values) if whole else np.nan
    rows += [_row("ac2", ac2, None, why if whole else "the ratings are no categories: not whole numbers")]
    rows += _icc_rows(scores)
    notes = (f"the mean of {typical:g} people",) if typical else ()
    based = basis(
        table, scores, resamples=resamples, seed=seed, clustered=groups is not None, target="", notes=notes
    )
    return Figures(pd.DataFrame(rows), based, answers(table, criterion))


def _row(name: str, value: float, drawn: Floats | None, reason: str) -> dict[str, Any]:
    ends = interval(drawn) if drawn is not None and not np.isnan(value) else None
    low, high = (ends.low, ends.high) if ends else (None, None)
    return {
        "coefficient": name,
        "value": value,
        "low": np.nan if low is None else low,
        "high": np.nan if high is None else high,
        "reason": reason if np.isnan(value) else ends.reason if ends else "",
    }


def _sharing(counts: Floats, values: Floats, distance: float) -> Floats:
    """Per item, the share of pairs of its ratings at most `distance` apart; nan with fewer than two ratings."""
    number = counts.sum(axis=1)
    near = (np.abs(values[:, None] - values[None, :]) <= distance + 10**-DIGITS).astype(np.float64)
    agreeing = np.einsum("iv,vw,iw->i", counts, near, counts, optimize=True) - number
    pairs = number * (number - 1)
    return divide(agreeing, pairs)


def spearman_brown(single: Any, raters: float) -> Any:
    """The reliability of the mean of several raters from that of one. Undefined for a single reliability below 0: nan."""
    single = np.where(np.asarray(single) >= 0, single, np.nan)
    return raters * single / (1 + (raters - 1) * single)


def gwet(counts: Floats, values: Floats, weights: Literal["quadratic", "identity"] = "quadratic") -> float:
    """Gwet's AC2 of items × values counts (AC1 with identity weights); nan with one value or no item of two ratings."""
    number = counts.sum(axis=1)
    pairable = number >= 2
    kinds = len(values)
    if kinds < 2 or not pairable.any():
        return float("nan")
    if weights == "identity":
        near = np.eye(kinds)
    else:
        near = 1 - ((values[:, None] - values[None, :]) / (values[-1] - values[0])) ** 2
    table, total = counts[pairable], number[pairable]
    agreeing = (table * (table @ near - 1)).sum(axis=1) / (total * (total - 1))
    rated = number > 0
    share = (counts[rated] / number[rated, None]).mean(axis=0)
    chance = near.sum() / (kinds * (kinds - 1)) * (share * (1 - share)).sum()
    return float((agreeing.mean() - chance) / (1 - chance))


def icc(table: Floats) -> tuple[float, float]:
    """ICC(2,1) and ICC(2,k) of an items × raters table without holes; nan if there is no variation or fewer than two of either."""
    items, raters = table.shape
    if items < 2 or raters < 2:
        return float("nan"), float("nan")
    grand = table.mean()
    between = raters * ((table.mean(axis=1) - grand) ** 2).sum() / (items - 1)
    of_raters = items * ((table.mean(axis=0) - grand) ** 2).sum() / (raters - 1)
    residual = table - table.mean(axis=1)[:, None] - table.mean(axis=0)[None, :] + grand
    error = (residual**2).sum() / ((items - 1) * (raters - 1))
    single = between + (raters - 1) * error + raters * (of_raters - error) / items
    several = between + (of_raters - error) / items
    if min(single, several) <= 10**-DIGITS:
        return float("nan"), float("nan")
    return float((between - error) / single), float((between - error) / several)


def _icc_rows(scores: Scores) -> list[dict[str, Any]]:
    reason, values = "", (float("nan"), float("nan"))
    rated = np.flatnonzero(scores.present)
    if scores.unlinked:
        reason = scores.unlinked
    elif len(scores.people) < 2:
        reason = "fewer than two people"
    elif (scores.present[rated] < len(scores.people)).any():
        reason = "not everybody rated every item"
    else:
        values = icc(np.stack([scores.of(person)[rated] for person in scores.people.tolist()], axis=1))
        reason = "all ratings are equal" if np.isnan(values[0]) else ""
    return [
        _row(name, value, None, reason)
        for name, value in zip(("icc_single", "icc_mean"), values, strict=True)
    ]


def answers(ratings: pd.DataFrame | Ratings, criterion: str) -> pd.DataFrame:
    """How each rater uses the scale: kind, rater, score, count, share, near_constant; people also pooled, as the rater “people”.

    `near_constant` marks a rater who gives one answer to more than nine items in ten. Empty without ratings.
    """
    table = read_ratings(ratings)
    scores = table[criterion]
    named = [("human", "people", scores.score)]
    if not scores.unlinked:
        named += [("human", table.people[person], scores.by(person)[1]) for person in scores.people.tolist()]
    named += [("judge", judge, score[~np.isnan(score)]) for judge, score in scores.judges.items()]
    rows = []
    for kind, rater, given in named:
        values, count = np.unique(np.round(given, DIGITS), return_counts=True)
        share = count / max(len(given), 1)
        near_constant = bool((share > NEAR_CONSTANT).any())
        rows += [
            {
                "kind": kind,
                "rater": rater,
                "score": value,
                "count": times,
                "share": part,
                "near_constant": near_constant,
            }
            for value, times, part in zip(values.tolist(), count.tolist(), share.tolist(), strict=True)
        ]
    return pd.DataFrame(rows, columns=["kind", "rater", "score", "count", "share", "near_constant"])
