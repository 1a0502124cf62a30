"""Where judges fail: within and between groups of items, such as player models.

A correlation over everything mixes two questions, whether the judge orders groups as people do and whether it orders the items of one
group. They can even disagree in sign (Simpson), so the levels are kept apart.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from core.agreement.basis import Figures, basis, columns
from core.agreement.correlation import correlation, pairs
from core.agreement.panels import called, contenders
from core.agreement.ratings import DIGITS, Floats, Ints, Ratings, divide, read_ratings
from core.agreement.resampling import Statistic, Weights, bootstrap, mean, mean_defined

Groups = Mapping[Hashable, Hashable] | pd.Series

FEWEST_GROUPS = 6
"""Fewer groups than this have no order worth a correlation."""


def within_groups(
    ratings: pd.DataFrame | Ratings,
    criterion: str,
    groups: Groups,
    *,
    panels: Iterable[Sequence[str]] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Figures:
    """Each judge and panel inside each group (unit → player model, or any facet).

    Rows: rater, members, group, n, spearman, spearman_low, spearman_high, bias, bias_low, bias_high, reason. Bias is the mean of judge less
    people. Correlation is undefined for a group of fewer than three items, or where the judge or people give equal scores throughout.
    """
    table = read_ratings(ratings)
    scores = table[criterion]
    codes, names = table.facet(groups)
    plan, statistics = [], list[Statistic]()
    for members in contenders(table, panels):
        score = scores.panel(members)
        for code, name in enumerate(names):
            inside = np.where(codes == code, score, np.nan)
            pair = pairs(inside, scores.target)
            plan.append((members, name, pair))
            statistics += [correlation(pair), mean(table.level(inside) - scores.target)]
    own, drawn = bootstrap(statistics, scores.items, resamples=resamples, seed=seed, among=table.rated)
    rows = []
    for place, (members, name, pair) in enumerate(plan):
        why = pair.undefined
        figures = {
            "spearman": (np.nan if why else own[2 * place], drawn[2 * place]),
            "bias": (own[2 * place + 1], drawn[2 * place + 1]),
        }
        base = {"rater": called(members), "members": members, "group": name, "n": pair.items}
        rows.append(base | columns(figures, why))
    unknown = int((codes < 0).sum())
    notes = (f"{unknown} items belong to no group",) if unknown else ()
    return Figures(pd.DataFrame(rows), basis(table, scores, resamples=resamples, seed=seed, notes=notes))


def levels(
    ratings: pd.DataFrame | Ratings,
    criterion: str,
    groups: Groups,
    *,
    panels: Iterable[Sequence[str]] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Figures:
    """Spearman over everything, within groups and between groups, kept apart: three rows per judge and panel.

    Rows: rater, members, level, spearman, spearman_low, spearman_high, n (items), groups (used), skipped (groups), reason. *within* is the mean over groups of
    the correlation inside each, every group counting once; groups of fewer than three items or of equal scores are skipped and
    counted. *between* correlates the groups' means, and needs six groups. Intervals draw items; groups are taken as they are.
    """
    table = read_ratings(ratings)
    scores = table[criterion]
    codes, names = table.facet(groups)
    raters = contenders(table, panels)
    plan, statistics = [], list[Statistic]()
    for members in raters:
        score = scores.panel(members)
        inside = [pairs(np.where(codes == code, score, np.nan), scores.target) for code in range(len(names))]
        usable = [correlation(pair) for pair in inside if not pair.undefined]
        overall = pairs(score, scores.target)
        filled = sum(pair.items > 0 for pair in inside)
        plan.append((members, overall, len(usable), len(inside) - len(usable), filled))
        statistics += [
            correlation(overall),
            _average(usable),
            _between(score, scores.target, codes, len(names)),
        ]
    own, drawn = bootstrap(statistics, scores.items, resamples=resamples, seed=seed, among=table.rated)
    rows = []
    for place, (members, overall, used, skipped, filled) in enumerate(plan):
        base = {"rater": called(members), "members": members, "n": overall.items}
        reasons = (
            overall.undefined,
            "" if used else "no group has three items whose scores vary",
            ""
            if filled >= FEWEST_GROUPS
            else f"{filled} groups are too few, at least {FEWEST_GROUPS} are needed",
        )
        counts = ((0, 0), (used, skipped), (filled, len(names) - filled))
        for offset, level in enumerate(("overall", "within", "between")):
            value = np.nan if reasons[offset] else own[3 * place + offset]
            why = reasons[offset] or ("equal scores" if np.isnan(value) else "")
            row = base | {"level": level, "groups": counts[offset][0], "skipped": counts[offset][1]}
            rows.append(row | columns({"spearman": (value, drawn[3 * place + offset])}, why))
    return Figures(pd.DataFrame(rows), basis(table, scores, resamples=resamples, seed=seed))


def _average(parts: Sequence[Statistic]) -> Statistic:
    if not parts:
        return lambda weights: np.full(weights.shape[1], np.nan)
    return lambda weights: mean_defined(np.array([part(weights) for part in parts]))


def _between(score: Floats, target: Floats, codes: Ints, groups: int) -> Statistic:
    """Spearman of the groups' means, recomputed in every resample; groups that were not drawn take no part."""
    both = np.flatnonzero(~np.isnan(score) & ~np.isnan(target) & (codes >= 0))
    x, y = score[both][:, None], target[both][:, None]
    code = codes[both]
    member = (code[None, :] == np.arange(groups)[:, None]).astype(np.float64)

    def on(weights: Weights) -> Floats:
        weight = weights[both].astype(np.float64)
        size = member @ weight
        means = [np.round(divide(member @ (weight * values), size), DIGITS) for values in (x, y)]
        rank_x, rank_y = (_places(values) for values in means)
        scale = np.sqrt((rank_x**2).sum(axis=0) * (rank_y**2).sum(axis=0))
        return divide(np.asarray((rank_x * rank_y).sum(axis=0), dtype=np.float64), scale)

    return on


def _places(values: Floats) -> Floats:
    """Centred midranks down each column; nan takes no part and has rank 0."""
    above = (values[:, None] > values[None, :]).sum(axis=1, dtype=np.float64)
    below = (values[:, None] < values[None, :]).sum(axis=1, dtype=np.float64)
    return np.asarray((above - below) / 2, dtype=np.float64)
