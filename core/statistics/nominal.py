"""Agreement on answers without an order, such as yes and no: Krippendorff's nominal alpha and Cohen's kappa.

Alpha as Krippendorff (2011) with all differences alike; kappa as Cohen (1960): (p_o − p_e) ÷ (1 − p_e), where
p_o is the share of items on which two raters agree and p_e the share expected from each rater's own answers.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Unpack

import numpy as np

from concord.estimate import estimate
from concord.statistics import columns, sets
from concord.statistics.alpha import Metric, alpha_figure, value_counts
from concord.statistics.figures import Drawing, PointEstimate, empty, tabulate
from concord.statistics.intervals import of_kappa
from concord.statistics.majority import answer_of_people, shares
from concord.statistics.ratings import DIGITS, Floats, Ratings, divide
from concord.statistics.reliability import pair_gaps
from concord.statistics.resampling import Statistic, Weights, gathering
from concord.table import Column, Table

MAJORITY = "majority of people"

NOMINAL = empty(
    "nominal",
    "Agreement on answers as categories",
    Column("coefficient"),
    Column("a"),
    Column("b"),
    Column("value", digits=3, interval="ends"),
    Column("agreement", "Equal answers", percent=True),
    columns.N,
)


def nominal(table: Ratings, criterion: str, labels: Sequence[str] = (), **drawing: Unpack[Drawing]) -> Table:
    """Agreement on one criterion as categories, one row a figure.

    - alpha_nominal, of sets of labels alpha_masi: people among themselves (a and b empty; n counts items with
      at least two of them);
    - kappa: each pair of people, each judge with each person, each judge with the majority of people (items
      on which they tie are excluded). `agreement` is the share of equal answers. Of sets it is weighted by
      how alike they are (Cohen 1968), the majority's set has what more than half of the people gave, and a
      row for each judge and each of the `labels` says whether it is given to the same items.

    Undefined: no shared items; for kappa also two raters who both gave one and the same answer throughout
    (0 ÷ 0). Where only one of the two did, kappa is 0 whatever the other said, and `note` says so.
    """
    scores = table[criterion]
    counts, values = value_counts(scores.item, scores.score, scores.items)
    gaps = pair_gaps(scores)
    people = {} if scores.unlinked else {table.people[i]: scores.scores_of(int(i)) for i in scores.people}
    judges = {name: np.round(score, DIGITS) for name, score in scores.judges.items()}
    majority = answer_of_people(scores)
    pairs = [(a, b, people[a], people[b]) for a, b in combinations(people, 2)]
    pairs += [(j, p, judges[j], people[p]) for j in judges for p in people]
    pairs += [(j, MAJORITY, judges[j], majority) for j in judges]
    metric: Metric = "masi" if scores.sets else "nominal"
    alpha = alpha_figure(counts, values, metric)
    reason = "" if alpha.n else "no item was rated by two annotators"
    agreement = estimate(float(divide(gaps.near(0).sum(), gaps.pairs.sum())), n=alpha.n, reason=reason)
    row = {"coefficient": f"alpha_{metric}", "a": "", "b": "", "value": alpha, "n": alpha.n}
    rows: list[dict[str, Any]] = [row | {"agreement": agreement}]
    by_label = [
        (a, f"{MAJORITY}: {label}", sets.with_label(x, place), sets.with_label(majority, place))
        for a, x in judges.items()
        for place, label in enumerate(labels)
    ]
    for place, (a, b, x, y) in enumerate([*pairs, *by_label]):
        of_sets = scores.sets and place < len(pairs)
        common = ~np.isnan(x) & ~np.isnan(y)
        n = int(common.sum())
        equal = x[common] == y[common]
        reason, note = why_no_kappa(a, b, x[common], y[common])
        agreement = estimate(float(equal.mean()) if n else np.nan, n=n, reason="" if n else reason)
        kind = of_kappa(rarer(x[common], y[common]), n)
        rows.append(
            {"coefficient": "kappa", "a": a, "b": b, "n": n, "note": note, "agreement": agreement}
            | {"value": PointEstimate(kappa(x, y, of_sets=of_sets), n, reason=reason, kind=kind)}
        )
    noted = (Column("note"),) if any(row.get("note") for row in rows) else ()
    form = replace(NOMINAL, columns=(*NOMINAL.columns, *noted))
    return tabulate(form, table, criterion, rows, target="", **drawing)


def kappa(x: Floats, y: Floats, *, of_sets: bool = False) -> Statistic:
    """Kappa of two raters on the items both answered; of sets of labels weighted by how alike they are."""
    answers = np.unique(np.concatenate([x[~np.isnan(x)], y[~np.isnan(y)]]))
    alike = sets.alike(answers) if of_sets else None
    return kappa_of_shares(shares(x, answers), shares(y, answers), alike)


def rarer(x: Floats, y: Floats) -> int:
    """About how many items hold another answer than the commonest of two raters' (no nan); 0 without
    items.
    """
    _, counts = np.unique(np.round(np.concatenate([x, y]), DIGITS), return_counts=True)
    return round((len(x) + len(y) - int(counts.max(initial=0))) / 2)


def kappa_of_shares(one: Floats, second: Floats, alike: Floats | None = None) -> Statistic:
    """Kappa of raters or groups from the share of each answer on each item (items × answers, nan: none).

    Of one rater and a group it is Schouten's (1982), whose agreement is the mean of those with its members;
    nan where both give one and the same answer to all items. Answers that are alike in part (answers ×
    answers, 1: equal) count in part, as in weighted kappa (Cohen 1968).
    """
    common = np.flatnonzero(~np.isnan(one + second).any(axis=1))
    pooled = np.concatenate([one[common], second[common]], axis=1)
    kinds, kind = np.unique(pooled, axis=0, return_inverse=True)
    place = np.full(len(one), -1)
    place[common] = kind.ravel()
    gather = gathering(place, len(kinds))
    ours, second_kinds = np.split(kinds, 2, axis=1)
    if alike is not None:
        second_kinds = second_kinds @ alike
    equal = (ours * second_kinds).sum(axis=1)

    def statistic(weights: Weights) -> Floats:
        weight: Floats = np.asarray(gather @ weights, dtype=np.float64)
        n: Floats = weight.sum(axis=0)
        chance = ((ours.T @ weight) * (second_kinds.T @ weight)).sum(axis=0)
        denominator = n**2 - chance
        return divide(equal @ weight * n - chance, np.where(denominator > 10**-DIGITS, denominator, 0))

    return statistic


def why_no_kappa(a: str, b: str, x: Floats, y: Floats) -> tuple[str, str]:
    """Why two raters' kappa is undefined, and a note where it is 0 by its construction."""
    if not len(x):
        return "no shared items", ""
    constant = [name for name, z in ((a, x), (b, y)) if (z == z[0]).all()]
    if len(constant) == 2 and x[0] == y[0]:
        return "0 ÷ 0: both gave one answer to all items", ""
    if len(constant) == 2:
        return "", "each gave one answer to all items, and the answers differ: kappa is 0 by construction"
    if constant:
        return "", f"{constant[0]} gave one answer to all items, so kappa is 0 whatever the other answers"
    return "", ""
