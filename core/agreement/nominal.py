"""Agreement on answers without an order, such as yes and no: Krippendorff's nominal alpha and Cohen's kappa.

Alpha as Krippendorff (2011) with all differences alike; kappa as Cohen (1960): (p_o − p_e) ÷ (1 − p_e), where p_o is the share of
items on which two raters agree and p_e what they would share by chance, each with their own habits.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import sparse

from core.agreement.alpha import value_counts, why_undefined
from core.agreement.basis import Figures, basis, columns
from core.agreement.ratings import DIGITS, Floats, Ratings, read_ratings
from core.agreement.resampling import Statistic, Weights, bootstrap

MAJORITY = "majority of people"


def nominal(
    ratings: pd.DataFrame | Ratings,
    criterion: str,
    *,
    resamples: int = 1000,
    seed: int = 0,
    clusters: Mapping[Hashable, Hashable] | pd.Series | None = None,
) -> Figures:
    """Agreement on one criterion as categories, one row a figure: coefficient, a, b, value, low, high, agreement (share of equal answers), n, reason.

    - alpha_nominal: people among themselves (a and b empty; n counts items with at least two of them);
    - kappa: each pair of people, each judge with each person, each judge with the majority of people (items on which they tie
      are left out).

    Undefined (nan, with a reason): no shared items; for kappa also two raters who both gave one and the same answer throughout (0 ÷ 0).
    Where only one of the two did, kappa is 0 whatever the other said, and `reason` says so; it says as well why a value has no interval.
    """
    table = read_ratings(ratings)
    scores = table[criterion]
    groups = None if clusters is None else table.facet(clusters)[0]
    counts, values = value_counts(scores.item, scores.score, scores.items)
    several = int((np.asarray(counts.sum(axis=1)).ravel() > 1).sum())
    people = {} if scores.unlinked else {table.people[i]: scores.of(int(i)) for i in scores.people}
    judges = {name: np.round(score, DIGITS) for name, score in scores.judges.items()}
    majority = _majority(counts, values)
    pairs = [(a, b, people[a], people[b]) for a, b in combinations(people, 2)]
    pairs += [(j, p, judges[j], people[p]) for j in judges for p in people]
    pairs += [(j, MAJORITY, judges[j], majority) for j in judges]
    statistics: list[Statistic] = [_alpha(counts), *(_kappa(x, y) for _, _, x, y in pairs)]
    own, drawn = bootstrap(statistics, scores.items, resamples=resamples, seed=seed, clusters=groups)
    rows = [
        {"coefficient": "alpha_nominal", "a": "", "b": "", "agreement": _pairwise(counts), "n": several}
        | columns({"value": (float(own[0]), drawn[0])}, why_undefined(counts) if np.isnan(own[0]) else "")
    ]
    for (a, b, x, y), value, many in zip(pairs, own[1:].tolist(), drawn[1:], strict=True):
        both = ~np.isnan(x) & ~np.isnan(y)
        why = _why(a, b, x[both], y[both])
        share = float(np.mean(x[both] == y[both])) if both.any() else np.nan
        rows.append(
            {"coefficient": "kappa", "a": a, "b": b, "agreement": share, "n": int(both.sum())} | columns({"value": (value, many)}, why)
        )  # fmt: skip
    found = pd.DataFrame(rows).rename(columns={"value_low": "low", "value_high": "high"})
    found["reason"] = found.reason.str.replace("interval of value:", "no interval:")
    based = basis(table, scores, resamples=resamples, seed=seed, clustered=groups is not None, target="")
    return Figures(found, based)


def _alpha(counts: sparse.csr_array) -> Statistic:
    """1 − observed ÷ expected disagreement, over items with at least two ratings."""
    dense = counts.toarray()
    number = dense.sum(axis=1)
    dense, number = dense * (number > 1)[:, None], number * (number > 1)
    apart = (number**2 - (dense**2).sum(axis=1)) / np.maximum(number - 1, 1)

    def on(weights: Weights) -> Floats:
        weighed = np.asarray(weights, dtype=np.float64)
        by_value = dense.T @ weighed
        total = by_value.sum(axis=0)
        expected = total**2 - (by_value**2).sum(axis=0)
        observed = apart @ weighed
        ratio = np.divide(
            observed * (total - 1), expected, out=np.full(len(total), np.nan), where=expected > 0
        )
        return np.asarray(1 - ratio)

    return on


def _kappa(x: Floats, y: Floats) -> Statistic:
    """Kappa of two raters on the items both answered."""
    both = np.flatnonzero(~np.isnan(x) & ~np.isnan(y))
    answers = np.unique(np.concatenate([x[both], y[both]]))
    ours, theirs = (z[both][:, None] == answers for z in (x, y))
    equal = x[both] == y[both]

    def on(weights: Weights) -> Floats:
        weighed = np.asarray(weights[both], dtype=np.float64)
        n = weighed.sum(axis=0)
        observed = equal @ weighed * n
        chance = ((ours.T @ weighed) * (theirs.T @ weighed)).sum(axis=0)
        apart = n**2 - chance
        found = np.divide(observed - chance, apart, out=np.full(len(n), np.nan), where=apart > 0)
        return np.asarray(found)

    return on


def _why(a: str, b: str, x: Floats, y: Floats) -> str:
    """Why two raters' kappa is undefined, or 0 by its construction; empty where it is neither."""
    if not len(x):
        return "no shared items"
    constant = [name for name, z in ((a, x), (b, y)) if (z == z[0]).all()]
    if len(constant) == 2 and x[0] == y[0]:
        return "0 ÷ 0: both gave one answer throughout"
    if len(constant) == 2:
        return "each gave one answer throughout, another than the other: kappa is 0 by its construction"
    if constant:
        return f"{constant[0]} gave one answer throughout: kappa is 0 whatever the other says"
    return ""


def _majority(counts: sparse.csr_array, values: Floats) -> Floats:
    """The answer most people gave to each item; nan where nobody answered or the first place is shared."""
    dense = counts.toarray()
    if not dense.size:
        return np.full(dense.shape[0], np.nan)
    most = dense.max(axis=1)
    alone = (dense == most[:, None]).sum(axis=1) == 1
    return np.where((most > 0) & alone, values[dense.argmax(axis=1)], np.nan)


def _pairwise(counts: sparse.csr_array) -> float:
    """The share of pairs of people who agree, averaged over items with at least two."""
    dense = counts.toarray()
    number = dense.sum(axis=1)
    several = number > 1
    if not several.any():
        return float("nan")
    agreeing = (dense**2).sum(axis=1)[several] - number[several]
    return float(np.mean(agreeing / (number[several] * (number[several] - 1))))
