"""Krippendorff's alpha of people's ratings, after Krippendorff (2011).

The krippendorff package gives the value of the items as they are; the code here gives the values of
resamples. With n_v the pairable ratings of value v, the ordinal distance between two values is the squared
difference of M_v = n_1 + … + n_v − n_v/2, their midranks among all pairable ratings. So ordinal alpha is
interval alpha of midranks, and both need only sums over values within items. The midranks are recomputed in
each resample.
"""

from typing import Literal

import numpy as np
from scipy import sparse

from concord.arrays import combined, first_rows, levels
from concord.estimate import undefined
from concord.statistics import intervals, sets
from concord.statistics.figures import Figure, PointEstimate
from concord.statistics.ratings import DIGITS, CriterionScores, Floats, Ints
from concord.statistics.resampling import Statistic, Weights, full_sample, gathering

Metric = Literal["ordinal", "interval", "nominal", "masi"]
"""How far two answers are apart; “masi” is that of sets of labels (`concord.statistics.sets`)."""

MANY_VALUES = 64
"""Items are taken together where they were rated alike; with more values (a slider's) they are not."""

LARGEST = 20_000_000
"""Items × values² up to which the krippendorff package is called: it holds an array of that size."""


def value_counts(item: Ints, score: Floats, items: int) -> tuple[sparse.csr_array, Floats]:
    """How many people gave which value to which item (items × values), and the values, ascending."""
    values, code = levels(np.round(score, DIGITS))
    ones = np.ones(len(item))
    return sparse.coo_array((ones, (item, code)), shape=(items, len(values))).tocsr(), values


def alpha_figure(counts: sparse.csr_array, values: Floats, metric: Metric) -> Figure:
    """Alpha as a figure of a table; n counts the items with two ratings or more."""
    several = int((_number(counts) >= 2).sum())
    if reason := why_undefined(counts):
        return undefined(reason, n=several)
    kind = intervals.alpha(_uncommon(counts), several)
    value = point(counts, values, metric)
    items = _number(counts) >= 2
    return PointEstimate(alpha(counts, values, metric), several, value, kind=kind, items=items)


def people_alpha(scores: CriterionScores, metric: Metric) -> Figure:
    """Alpha of people on one criterion; undefined for unnamed people's *final*, which has no ratings."""
    if scores.unlinked and not len(scores.item):
        return undefined(scores.unlinked)
    return alpha_figure(*value_counts(scores.item, scores.score, scores.items), metric)


def point(counts: sparse.csr_array, values: Floats, metric: Metric) -> float:
    """Alpha of all items, each once; computed here of sets, and where the package takes too much memory."""
    pairable = counts[np.flatnonzero(_number(counts) >= 2)]
    if metric == "masi" or pairable.shape[0] * len(values) ** 2 > LARGEST:
        return float(alpha(counts, values, metric)(full_sample(counts.shape[0]))[0])
    import krippendorff

    return float(
        krippendorff.alpha(
            value_counts=pairable.toarray().astype(np.int64),
            value_domain=values,
            level_of_measurement=metric,
        )
    )


def alpha(counts: sparse.csr_array, values: Floats, metric: Metric) -> Statistic:
    """Alpha as a statistic of weights. Items with fewer than two ratings take no part.

    nan where fewer than two values occur among pairable ratings: nothing to agree or disagree about.
    """
    number = _number(counts)
    if len(values) > MANY_VALUES:
        first = kind = np.arange(counts.shape[0])
    else:
        kind = combined(*counts.toarray().T.astype(np.int64), number.astype(np.int64))
        first = first_rows(kind, int(kind.max(initial=-1)) + 1)
    gather = gathering(np.where(number >= 2, kind, -1), len(first))
    table = counts[first]
    by_value = table.T.tocsr()
    per_item = number[first][:, None]
    pairings = np.maximum(per_item - 1, 1)
    distance = 1 - sets.alike(values) if metric == "masi" else np.empty((0, 0))
    squares = np.asarray((table**2).sum(axis=1), dtype=np.float64).reshape(-1, 1)

    def statistic(weights: Weights) -> Floats:
        weight = np.asarray(gather @ weights, dtype=np.float64)
        count: Floats = by_value @ weight
        total = count.sum(axis=0)
        place: Floats
        if metric == "nominal":
            spread = (per_item**2 - squares) / pairings
            overall = total**2 - (count**2).sum(axis=0)
        elif metric == "masi":
            spread = (table.multiply(table @ distance).sum(axis=1)[:, None]) / pairings
            overall = (count * (distance @ count)).sum(axis=0)
        else:
            if metric == "ordinal":
                place = np.cumsum(count, axis=0) - count / 2 - total / 2
            else:
                place = (values - values.mean())[:, None] if len(values) else np.empty((0, 1))
            spread = (per_item * (table @ place**2) - (table @ place) ** 2) / pairings
            overall = total * (place**2 * count).sum(axis=0) - (place * count).sum(axis=0) ** 2
        observed = np.einsum("ir,ir->r", weight, np.broadcast_to(spread, weight.shape))
        several = (count > 0).sum(axis=0) > 1
        ratio = np.divide(observed * (total - 1), overall, out=np.full(len(total), np.nan), where=several)
        return np.asarray(1 - ratio)

    return statistic


def _uncommon(counts: sparse.csr_array) -> int:
    """How many pairable items hold a rating other than the commonest one of pairable items."""
    pairable = counts[np.flatnonzero(_number(counts) >= 2)]
    commonest = int(np.asarray(pairable.sum(axis=0)).ravel().argmax())
    uncommon = _number(pairable) - np.asarray(pairable[:, [commonest]].sum(axis=1)).ravel()
    return int((uncommon > 0).sum())


def _number(counts: sparse.csr_array) -> Floats:
    return np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()


def why_undefined(counts: sparse.csr_array) -> str:
    """Why alpha has no value on these ratings; empty if it has one."""
    number = _number(counts)
    if not len(number) or number.max() < 2:
        return "no item was rated by two annotators"
    pairable = counts[np.flatnonzero(number >= 2)]
    if int((np.asarray(pairable.sum(axis=0)).ravel() > 0).sum()) < 2:
        return "all ratings are equal"
    return ""
