"""Agreement on passages that were marked in a text, and on texts as they should be: what two have in common.

F1 of characters: twice what both marked, divided by what one marked and what the other did; it is pooled
over items, so that long passages count for more. Alpha after Krippendorff (2011), nominal, with characters as
units that are marked or not: what F1 does not take off, agreement by chance, is taken off there.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, Unpack

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
    first: str
    second: str
    shared: float
    of_first: float
    of_second: float
    union: float


class OverlapRow(NamedTuple):
    """A row of the table: a coefficient, and whose answers it compares. Without a judge, people's."""

    coefficient: Literal["f1", "alpha"]
    judge: str = ""
    """The first of the two raters: a judge, or a person where two people are compared."""
    partner: str = ""
    """Another rater, or `PEOPLE`."""


class Sums(NamedTuple):
    """Sums over pairs of raters, one entry an item; in the units of `Common`."""

    shared: Floats
    of_first: Floats
    of_second: Floats
    union: Floats


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
    reason = "nobody marked anything" if units else "no item was answered by both"
    rows: list[dict[str, Any]] = []
    groups = _comparisons(pairs, judges)
    for comparison in sorted(groups, key=lambda comparison: _place(comparison, judges)):
        group = groups[comparison]
        if comparison.coefficient == "f1":
            sums = _sums(group, items)
            statistic = ratio(2 * sums.shared, sums.of_first + sums.of_second)
            kind = replace(DIFFERENCE, ends=(0.0, 1.0))
        elif units:
            among_people = not comparison.judge
            sums = _sums(group, items, per_partner=among_people)
            statistic = _alpha(sums)
            kind = CORRELATION
        else:
            continue
        with_marks = sums.union > 0
        n = int(with_marks.sum())
        rows.append(
            {
                "coefficient": f"{comparison.coefficient}_characters" if units else "similarity",
                "a": comparison.judge,
                "b": comparison.partner,
                "n": n,
                "value": PointEstimate(statistic, n, reason=reason, kind=kind, items=with_marks),
            }
        )
    return tabulate(OVERLAP, table, criterion, rows, target="", **drawing)


def _comparisons(pairs: Sequence[Common], judges: Sequence[str]) -> dict[OverlapRow, list[Common]]:
    """What is compared, with its pairs of answers: every two raters but judges, and all people."""
    groups: dict[OverlapRow, list[Common]] = {}
    for pair in pairs:
        first, partner = sorted((pair.first, pair.second), key=lambda name: (name not in judges, name))
        if partner in judges:
            continue
        comparisons = [OverlapRow("f1", first, partner)]
        if first in judges:
            comparisons += [OverlapRow("f1", first, PEOPLE), OverlapRow("alpha", first, PEOPLE)]
        else:
            comparisons += [OverlapRow("f1"), OverlapRow("alpha")]
        for comparison in comparisons:
            groups.setdefault(comparison, []).append(pair)
    return groups


def _place(comparison: OverlapRow, judges: Sequence[str]) -> tuple[int, str, str, bool]:
    """People together, each judge with all people, then every two."""
    if not comparison.judge:
        order = 0
    elif comparison.partner == PEOPLE:
        order = 1
    elif comparison.judge in judges:
        order = 2
    else:
        order = 3
    return order, comparison.judge, comparison.partner, comparison.coefficient == "f1"


def _sums(pairs: Sequence[Common], items: int, *, per_partner: bool = False) -> Sums:
    """The sums over the pairs of every item; with `per_partner` so that each rater of an item counts once."""
    item = np.array([pair.item for pair in pairs], dtype=np.int64)
    # Of m raters there are m (m − 1) ÷ 2 pairs, and each is in m − 1 of them.
    partners = (np.sqrt(1 + 8 * np.bincount(item, minlength=items)) - 1) / 2

    def total(values: Sequence[float]) -> Floats:
        of_item = np.asarray(np.bincount(item, values, items), dtype=np.float64)
        if per_partner:
            of_item /= np.maximum(partners, 1)
        return of_item

    return Sums(
        shared=total([pair.shared for pair in pairs]),
        of_first=total([pair.of_first for pair in pairs]),
        of_second=total([pair.of_second for pair in pairs]),
        union=total([pair.union for pair in pairs]),
    )


def _alpha(sums: Sums) -> Statistic:
    """Alpha of characters, from what pairs of raters do not share."""
    differ = sums.of_first + sums.of_second - 2 * sums.shared

    def statistic(weights: Weights) -> Floats:
        marks = (sums.of_first + sums.of_second) @ weights
        all_pairs = 2 * (sums.union @ weights)
        by_chance = 2 * marks * (all_pairs - marks)
        return 1 - divide(2 * (differ @ weights) * (all_pairs - 1), by_chance)

    return statistic
