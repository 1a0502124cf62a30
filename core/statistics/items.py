"""Where judges fail: in which groups, and on which items.

A correlation over everything mixes two questions, whether the judge orders groups (such as player models) as
people do and whether it orders the items of one group. Here each group stands by itself; their order has
`concord.statistics.systems`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from concord.statistics import columns
from concord.statistics.coefficients import of_answers
from concord.statistics.correlation import correlated, midranks
from concord.statistics.figures import Drawing, PointEstimate, empty, tabulate
from concord.statistics.intervals import BIAS, MAE
from concord.statistics.ratings import (
    DIGITS,
    Bools,
    Contender,
    Facet,
    Floats,
    Ints,
    Panels,
    Ratings,
    divide,
)
from concord.statistics.resampling import CELLS, mean, own_clusters
from concord.table import Column, Table

if TYPE_CHECKING:
    import pandas as pd

DIVISION = "By model, and by every facet that divides the items."
OWN_INTERVALS = "Each interval is for its own row: of 20 rows without bias, one excludes 0 by chance."

GROUPS = empty(
    "groups",
    "Judges within each group of items",
    columns.RATER,
    Column("facet", "Divided by"),
    Column("group", "Value"),
    columns.N,
    columns.SPEARMAN,
    columns.BIAS,
    columns.MAE,
    caption=f"{DIVISION} {OWN_INTERVALS}",
)


def group_agreement(
    table: Ratings,
    criterion: str,
    facets: Mapping[str, Facet],
    *,
    nominal: bool = False,
    panels: Panels = None,
    **drawing: Unpack[Drawing],
) -> Table:
    """Each judge and panel on the items of each value of each facet (name → unit → value): see `_inside`.

    Answers that are read by name (`nominal`) are compared by kappa with those of most annotators, others by ρ
    with annotators' mean.
    """
    coded = {facet: table.facet(groups) for facet, groups in facets.items()}
    agreement = columns.KAPPA if nominal else columns.SPEARMAN
    level = ("bias", "mae") if table[criterion].ordered else ()
    kept_columns = [column for column in GROUPS.columns if column.name not in ("spearman", "bias", "mae")]
    form = replace(
        GROUPS,
        columns=(*kept_columns, agreement, *(column for column in GROUPS.columns if column.name in level)),
        caption=GROUPS.caption if level else DIVISION,
    )
    rows = [
        {"facet": facet, "group": str(name)}
        | _inside(table, criterion, judge, codes == code, nominal=nominal)
        for judge in table[criterion].contenders(panels)
        for facet, (codes, names) in coded.items()
        for code, name in enumerate(names)
    ]
    groups = tabulate(form, table, criterion, rows, **drawing)
    ends = any(figure.interval for name in (agreement.name, *level) for figure in groups.estimates(name))
    return groups if ends else replace(groups, caption="")


def _inside(
    table: Ratings, criterion: str, judge: Contender, selection: Bools, *, nominal: bool
) -> dict[str, Any]:
    """A judge on the chosen items: rater, n, spearman or kappa, and bias and mae (of the judge less people's
    mean).

    The agreement is undefined for fewer than three items and where a score does not vary.
    """
    inside = np.where(selection, judge.score, np.nan)
    target = table[criterion].target
    scores = table[criterion]
    if nominal:
        judges = {one: np.where(selection, scores.judges[one], np.nan) for one in judge.members}
        rho = of_answers(replace(scores, judges=judges), judge._replace(score=inside), "kappa", "nominal")
    else:
        rho = correlated(inside, target, a=judge.name)
    gap = np.where(selection, table.level(criterion, judge), np.nan) - target
    reason = table.no_level(criterion, judge.members) or "no item in common"
    items = ~np.isnan(inside) & ~np.isnan(target)
    bias = PointEstimate(mean(gap), rho.n, reason=reason, kind=BIAS, items=items)
    mae = PointEstimate(mean(np.abs(gap)), rho.n, reason=reason, kind=MAE, items=items)
    agreement = "kappa" if nominal else "spearman"
    return {"rater": judge.name, "n": rho.n, agreement: rho, "bias": bias, "mae": mae}


def largest_differences(table: Ratings, criterion: str, members: Sequence[str]) -> pd.DataFrame:
    """The items that a judge (or a panel) and people scored, the one on which they are farthest apart first.

    Columns: unit, score, mean, people, difference (judge less people). Ties stand in the order of units.
    Where judges and people answer on different scales, difference is that of their places among all items,
    from −1 to 1.
    """
    import pandas as pd

    scores = table[criterion]
    panel = table[criterion].panel(members)
    common = np.flatnonzero(~np.isnan(panel) & ~np.isnan(scores.target))
    score = panel[common]
    target = scores.target[common]
    difference = score - target
    if table.no_level(criterion, members):
        difference = (midranks(score) - midranks(target)) / max(len(common), 1)
    frame = {
        "unit": pd.Series([table.units[item] for item in common.tolist()], dtype=object),
        "score": score,
        "mean": target,
        "people": scores.present[common],
        "difference": difference,
    }
    order = np.argsort(-np.abs(difference).round(DIGITS), kind="stable")
    return pd.DataFrame(frame).iloc[order].reset_index(drop=True)


def permuted(groups: Ints, cluster: Ints | None, rng: np.random.Generator, times: int) -> Iterator[Ints]:
    """Players of items, permuted so many times: some permutations × items each."""
    block = max(1, CELLS // len(groups))
    for start in range(0, times, block):
        yield _permuted(groups, cluster, rng, min(block, times - start))


def _permuted(groups: Ints, cluster: Ints | None, rng: np.random.Generator, rows: int) -> Ints:
    if cluster is None:
        return rng.permuted(np.tile(groups, (rows, 1)), axis=1)
    numbered = own_clusters(cluster)
    first = np.full(int(numbered.max()) + 1, -1)
    first[numbered] = groups
    if (first[numbered] == groups).all():
        return rng.permuted(np.tile(first, (rows, 1)), axis=1)[:, numbered]
    shuffled = np.tile(groups, (rows, 1))
    alone = np.where(cluster < 0, -1, numbered)
    for number in np.unique(alone):
        inside = np.flatnonzero(alone == number)
        shuffled[:, inside] = rng.permuted(shuffled[:, inside], axis=1)
    return shuffled


def contrasts(gaps: Floats, groups: Ints, number: int) -> tuple[Floats, Floats]:
    """t and n (judges × groups × permutations) of the difference of the gap on each group from others'."""
    present = np.isfinite(gaps)
    centred = np.where(present, gaps - np.nanmean(gaps, axis=1, keepdims=True), 0.0)
    spread = (centred**2).sum(axis=1) / np.maximum(present.sum(axis=1) - 1, 1)
    sums_, squares, counts = (
        np.stack(
            [(groups == group).astype(np.float64) @ values.T for group in range(number)], axis=0
        ).transpose(2, 0, 1)
        for values in (centred, centred**2, present.astype(np.float64))
    )
    parts = []
    for total, square, n in (
        (sums_, squares, counts),
        (
            -sums_,
            (centred**2).sum(axis=1)[:, None, None] - squares,
            present.sum(axis=1)[:, None, None] - counts,
        ),
    ):
        mean_ = divide(total, n)
        around = np.maximum(square - n * np.nan_to_num(mean_) ** 2, 0) + spread[:, None, None]
        parts.append((mean_, divide(around, n * n)))
    (inside, of_inside), (outside, of_outside) = parts
    difference = inside - outside
    error = np.sqrt(of_inside + of_outside)
    return np.where(error > 0, difference / np.where(error > 0, error, 1), np.nan), counts
