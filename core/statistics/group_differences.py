"""In which groups of items judges differ from people otherwise than elsewhere, and how sure that is."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from concord.codes import Shown
from concord.messages import GROUPS_DIFFER, MEASURES, SHOWN
from concord.statistics.figures import cluster_codes
from concord.statistics.items import contrasts, permuted
from concord.statistics.majority import answer_of_people
from concord.statistics.ratings import DIGITS, Bools, Facet, Floats, Ints, Ratings
from concord.statistics.spread import on_scale
from concord.table import Column, Table

FEWEST = 4
"""Items of a group below which nothing is said of it."""

PERMUTED = 1999
MOST_PERMUTED = 20_000
"""Permutations behind a p-value, and the items beyond which it is that of the normal distribution."""

Measure = Literal["wrong", "distance", "favours"]
"""What differs: the share of answers unlike people's, the distance from people, or the score minus
people's."""


class GroupDifference(NamedTuple):
    """A judge on the items of a group beside all others.

    `inside` and `outside` are the measure's means on either; `n` counts the group's items. `compared` is how
    many differences `p` allows for.
    """

    judge: str
    facet: str
    group: str
    measure: Measure
    inside: float
    outside: float
    n: int
    compared: int
    p: float


def group_differences(
    table: Ratings,
    criterion: str,
    facets: Mapping[str, Facet],
    judges: Sequence[str],
    *,
    nominal: bool,
    clusters: Facet | None = None,
    seed: int = 0,
) -> list[GroupDifference]:
    """Differences of judges between a group of items and all others, by every facet (name → unit → group),
    the surest first.

    Answers read by `name` have the share that is unlike people's, and only groups where it is larger: p is
    that of Fisher's exact test (1935), or of permutations of groups among clusters where items hang together.
    Scores have their distance from people and what they give beyond people, both on the judge's own scale
    (`concord.statistics.spread`), so that a judge which spreads its scores less favours nobody. Each
    difference is divided by its standard error, of unequal variances, and compared with the largest of
    `PERMUTED` permutations (max-t, Westfall and Young 1993), of more than `MOST_PERMUTED` items with the
    normal distribution. p allows for all judges, groups and facets (Bonferroni, where it is not max-t).
    """
    differences: list[GroupDifference] = []
    for facet, facet_values in facets.items():
        codes, names = table.facet(facet_values)
        facet_differences = (_of_answers if nominal else _of_scores)(
            table, criterion, facet, codes, [str(name) for name in names], judges, clusters, seed, len(facets)
        )
        differences += facet_differences
    compared = sum(one.compared for one in {one.facet: one for one in differences}.values())
    times = len({one.facet for one in differences})
    corrected = [one._replace(p=min(1.0, one.p * times), compared=compared) for one in differences]
    return sorted(corrected, key=lambda one: (one.p, -abs(one.inside - one.outside)))


MOST_LISTED = 20
"""Differences of a table, sorted by p."""
ADJUSTED = "Adjusted for all judges, groups and facets."


def differences_table(differences: Sequence[GroupDifference], share: float) -> Table:
    """The surest differences, one row each; `shown` where p is at most `share`."""
    rows = [
        {**one._asdict(), "shown": Shown.SHOWN if one.p <= share else Shown.NOT_SHOWN}
        for one in differences[:MOST_LISTED]
    ]
    columns = (
        Column("judge", "Judge"),
        Column("facet", "Divided by"),
        Column("group", "Value"),
        Column("measure", "What differs", words=MEASURES),
        Column("inside", "Here"),
        Column("outside", "Elsewhere"),
        Column("n"),
        Column("p", "p (all groups)", digits=4, least=0.0001, help=ADJUSTED),
        Column("shown", "Shown", words=SHOWN, folded=Shown.NOT_SHOWN),
    )
    return Table(
        "group_differences",
        "Largest differences between groups",
        columns,
        tuple(rows),
        caption=GROUPS_DIFFER[any(row["shown"] == Shown.SHOWN for row in rows)],
    )


def _of_answers(
    table: Ratings,
    criterion: str,
    facet: str,
    codes: Ints,
    names: Sequence[str],
    judges: Sequence[str],
    clusters: Facet | None,
    seed: int,
    times: int,
) -> list[GroupDifference]:
    scores = table[criterion]
    people = answer_of_people(table[criterion])
    rows: list[tuple[str, int, Floats, Bools]] = []
    for judge in judges:
        score = scores.judges[judge]
        common = np.isfinite(score + people) & (codes >= 0)
        wrong = np.where(common, np.abs(score - people) > 10**-DIGITS, np.nan)
        counts = np.bincount(codes[common], minlength=len(names))
        enough = np.flatnonzero(counts >= FEWEST)
        if len(enough) > 1 and np.isin(codes[common], enough).any():
            rows += [(judge, int(group), wrong, common) for group in enough]
    cluster = cluster_codes(table, clusters)
    differences = []
    for judge, group, wrong, common in rows:
        inside_group = common & (codes == group)
        rest = common & (codes != group)
        inside = float(wrong[inside_group].mean())
        outside = float(wrong[rest].mean())
        if inside <= outside:
            continue
        hits = int(wrong[inside_group].sum())
        all_wrong = int(wrong[common].sum())
        p = fisher(hits, int(inside_group.sum()), all_wrong, int(common.sum()))
        if cluster is not None:
            p = _among_clusters(wrong, inside_group, common, cluster, seed, times * len(rows))
        p = min(1.0, p * len(rows))
        differences.append(
            GroupDifference(
                judge, facet, names[group], "wrong", inside, outside, int(inside_group.sum()), len(rows), p
            )
        )
    return differences


def fisher(hits: int, inside: int, wrong: int, items: int) -> float:
    """The one-sided p of Fisher's exact test: so many `hits` or more among the items `inside`, of so many
    wrong answers to so many items.
    """
    from scipy.special import gammaln  # a tenth of the import time of scipy.stats

    def choose(n: Floats | int, k: Floats) -> Floats:
        return np.asarray(gammaln(np.add(n, 1)) - gammaln(k + 1) - gammaln(np.subtract(n, k) + 1))

    k = np.arange(hits, min(inside, wrong) + 1, dtype=np.float64)
    k = k[wrong - k <= items - inside]
    logs = choose(inside, k) + choose(items - inside, wrong - k) - choose(items, np.array(float(wrong)))
    return float(min(1.0, np.exp(logs).sum()))


def _among_clusters(
    wrong: Floats, inside_group: Bools, compared_items: Bools, cluster: Ints, seed: int, times: int
) -> float:
    """The share of permutations of a group among clusters with as many wrong answers in it, or more."""
    items = np.flatnonzero(compared_items)
    rng = np.random.default_rng([seed, len(items)])
    hits = float(wrong[inside_group].sum())
    as_many = 1
    number = PERMUTED * min(times, 50)
    for shuffled in permuted(inside_group[items].astype(np.int64), cluster[items], rng, number):
        as_many += int(
            (shuffled @ wrong[items] >= hits * shuffled.sum(axis=1) / inside_group.sum() - 1e-9).sum()
        )
    return as_many / (number + 1)


def _of_scores(
    table: Ratings,
    criterion: str,
    facet: str,
    codes: Ints,
    names: Sequence[str],
    judges: Sequence[str],
    clusters: Facet | None,
    seed: int,
    times: int,
) -> list[GroupDifference]:
    scores = table[criterion]
    codes = np.where(np.isnan(scores.target), -1, codes)
    count = np.bincount(codes[codes >= 0], minlength=len(names))
    enough = count >= FEWEST
    items = np.flatnonzero((codes >= 0) & enough[codes])
    if enough.sum() < 2:
        return []
    rows: list[tuple[str, Measure, int]] = []
    gaps: list[Floats] = []
    for judge in judges:
        if table.no_level(criterion, (judge,)):
            continue
        for way, gap in enumerate(on_scale(scores, scores.judges[judge])):
            for measure, values in (("favours", gap[items]), ("distance", np.abs(gap[items]))):
                if np.isfinite(values).sum() >= FEWEST and np.nanstd(values) > 0:
                    rows.append((judge, measure, way))  # type: ignore[arg-type]
                    gaps.append(values)
    if not rows:
        return []
    group_codes = np.flatnonzero(enough)
    item_group = np.searchsorted(group_codes, codes[items])
    gap_rows = np.array(gaps)
    far = np.array([measure == "distance" for _, measure, _ in rows])[:, None, None]
    t, n = contrasts(gap_rows, item_group[None], len(group_codes))
    t = np.nan_to_num(np.where(far, t, np.abs(t)), nan=-np.inf)
    p = _p_of_scores(
        gap_rows, item_group, len(group_codes), t[:, :, 0], far, _cluster(table, clusters, items), seed, times
    )
    differences: dict[tuple[str, Measure, int], GroupDifference] = {}
    for row, (judge, measure, _) in enumerate(rows):
        for group in range(len(group_codes)):
            if not np.isfinite(t[row, group, 0]):
                continue
            inside, outside = (
                float(np.nanmean(gap_rows[row, row_items]))
                for row_items in (item_group == group, item_group != group)
            )
            if measure == "distance" and inside <= outside:
                continue
            size = int(n[row, group, 0])
            name = names[group_codes[group]]
            of_group = (judge, facet, name, measure, inside, outside, size)
            one = GroupDifference(*of_group, compared=t[:, :, 0].size, p=float(p[row, group]))
            # Of two ways to find the judge's scale the less sure counts.
            earlier = differences.get((judge, measure, group))
            differences[judge, measure, group] = (
                max(earlier, one, key=lambda row_items: row_items.p) if earlier else one
            )
    return [*differences.values()]


def _cluster(table: Ratings, clusters: Facet | None, items: Ints) -> Ints | None:
    codes = cluster_codes(table, clusters)
    return None if codes is None else codes[items]


def _p_of_scores(
    gap_rows: Floats,
    item_group: Ints,
    groups: int,
    t: Floats,
    far: Bools,
    cluster: Ints | None,
    seed: int,
    times: int,
) -> Floats:
    """p of each t beside the largest of permutations, or by the normal distribution."""
    if len(item_group) > MOST_PERMUTED:
        from scipy.special import ndtr

        sides = np.where(far[:, :, 0], 1, 2)
        return np.asarray(np.minimum(1.0, sides * ndtr(-t) * t.size))
    rng = np.random.default_rng([seed, len(item_group)])
    as_large = np.ones(t.shape)
    number = PERMUTED * times
    for shuffled in permuted(item_group, cluster, rng, number):
        statistics, _ = contrasts(gap_rows, shuffled, groups)
        statistics = np.where(far, statistics, np.abs(statistics))
        largest = np.nanmax(statistics, axis=(0, 1), initial=0.0)
        as_large += (largest[None, None, :] >= t[:, :, None] - 1e-9).sum(axis=2)
    return as_large / (number + 1)
