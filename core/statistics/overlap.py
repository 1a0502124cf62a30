"""Agreement on passages that were marked in a text, and on texts as they should be: what two have in common.

F1 of characters: twice what both marked, divided by what one marked and what the other did; it is pooled
over items, so that long passages count for more. Alpha after Krippendorff (2011), nominal, with characters as
units that are marked or not: what F1 does not take off, agreement by chance, is taken off there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Unpack

import numpy as np

from concord.statistics import columns
from concord.statistics.figures import Drawing, PointEstimate, empty, tabulate
from concord.statistics.intervals import CORRELATION, DIFFERENCE
from concord.statistics.ratings import Floats, Ratings, divide
from concord.statistics.resampling import Statistic, Weights, ratio
from concord.table import Column, Table

PEOPLE = "all people"
OVERLAP = empty(
    "overlap",
    "Overlap of two answers",
    Column("coefficient"),
    Column("a"),
    Column("b"),
    Column("value", digits=3, interval="ends"),
    columns.N,
    caption="Pooled over all items.",
)


class Common(NamedTuple):
    """What two raters' answers to one item have in common, of what each of them holds, and of the whole."""

    item: int
    one: str
    second: str
    shared: float
    of_one: float
    of_other: float
    union: float


def overlap(
    table: Ratings,
    criterion: str,
    pairs: Sequence[Common],
    judges: Sequence[str],
    *,
    units: bool,
    **drawing: Unpack[Drawing],
) -> Table:
    """F1 of every two raters who answered the same items, of each judge with all people, and alpha.

    With `units` answers are marks on characters, and alpha has a row for people and one for each judge with
    them. `n` counts the items. Undefined without an item in common, and where nobody marked anything.
    """
    items = len(table.units)
    groups: dict[tuple[str, str, str], list[Common]] = {}
    for pair in pairs:
        one, second = sorted((pair.one, pair.second), key=lambda name: (name not in judges, name))
        if one in judges and second in judges:
            continue
        groups.setdefault(("f1", one, second), []).append(pair)
        if one in judges:
            groups.setdefault(("f1", one, PEOPLE), []).append(pair)
            groups.setdefault(("alpha", one, PEOPLE), []).append(pair)
        else:
            groups.setdefault(("f1", "", ""), []).append(pair)
            groups.setdefault(("alpha", "", ""), []).append(pair)
    rows: list[dict[str, Any]] = []
    for (name, one, second), pair_group in sorted(groups.items(), key=lambda group: _place(group[0], judges)):
        if name == "alpha" and not units:
            continue
        sums = _sums(pair_group, items, per_partner=name == "alpha" and not one)
        n = int((sums["whole"] > 0).sum())
        statistic = (
            ratio(2 * sums["both"], sums["of_one"] + sums["of_other"]) if name == "f1" else _alpha(sums)
        )
        reason = "nobody marked anything" if units else "no item was answered by both"
        kind = replace(DIFFERENCE, ends=(0.0, 1.0)) if name == "f1" else CORRELATION
        row = {"coefficient": f"{name}_characters" if units else "similarity", "a": one, "b": second, "n": n}
        figure = PointEstimate(statistic, n, reason=reason, kind=kind, items=sums["whole"] > 0)
        rows.append(row | {"value": figure})
    return tabulate(OVERLAP, table, criterion, rows, target="", **drawing)


def _place(group: tuple[str, str, str], judges: Sequence[str]) -> tuple[int, str, str, bool]:
    """People together, each judge with all people, then every two."""
    name, one, second = group
    order = 0 if not one else 1 if second == PEOPLE else 2 if one in judges else 3
    return order, one, second, name == "f1"


def _sums(pairs: Sequence[Common], items: int, *, per_partner: bool) -> Mapping[str, Floats]:
    """The sums over the pairs of every item; with `per_partner` so that each rater of an item counts once."""
    item = np.array([pair.item for pair in pairs], dtype=np.int64)
    values = np.array([pair[3:] for pair in pairs], dtype=np.float64)
    sums = {
        name: np.asarray(np.bincount(item, values[:, column], items), dtype=np.float64)
        for column, name in enumerate(("both", "of_one", "of_other", "whole"))
    }
    # Of m raters there are m (m − 1) ÷ 2 pairs, and each is in m − 1 of them.
    partners = (np.sqrt(1 + 8 * np.bincount(item, minlength=items)) - 1) / 2
    return {
        name: np.asarray(total / np.maximum(partners, 1)) if per_partner else total
        for name, total in sums.items()
    }


def _alpha(sums: Mapping[str, Floats]) -> Statistic:
    """Alpha of characters, from what pairs of raters do not share."""
    differ = sums["of_one"] + sums["of_other"] - 2 * sums["both"]

    def statistic(weights: Weights) -> Floats:
        marks = (sums["of_one"] + sums["of_other"]) @ weights
        all_pairs = 2 * (sums["whole"] @ weights)
        by_chance = 2 * marks * (all_pairs - marks)
        return 1 - divide(2 * (differ @ weights) * (all_pairs - 1), by_chance)

    return statistic
