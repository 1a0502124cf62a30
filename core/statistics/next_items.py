"""Which items people should rate next: where a judge is expected to err, and what that saves."""

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np

from concord.estimate import Estimate, estimate, undefined
from concord.statistics.figures import Drawing, Figure, PointEstimate, empty, tabulate
from concord.statistics.intervals import RATIO
from concord.statistics.ratings import Bools, CriterionScores, Floats, Ints, Panels, Ratings, divide, sums
from concord.statistics.reliability import Components, components, no_components, people_per_item
from concord.statistics.resampling import Statistic, Weights, everything
from concord.table import Cell, Column, Table

FEWEST = 20
"""Fewer items that people and judges scored do not tell where judges err: their disagreement alone does."""

FLOOR = 0.25
"""The share of a draw that is a simple random sample unless told: no item is left out, whatever is
predicted."""

RATERS_PER_ITEM = (1, 2, 3, 5, 8)

SAVED = empty(
    "next_saved",
    "What a draw by expected error saves",
    Column("rater", "Judge or panel"),
    Column("n", help="Items that people and the judge scored."),
    Column("error", "SD of people less judge", digits=2),
    Column(
        "worth",
        "Evenly drawn items that one is worth",
        interval="ends",
        help="Items of an even draw that narrow the mean as much as one of these does.",
    ),
    caption="Above 1: fewer items have to be rated for the same interval of people's mean. “concord study "
    "draw NAME --next-for mean” draws them and keeps each item's probability, which the leaderboard uses.",
)

DESIGNS = empty(
    "next_designs",
    "More raters for each item, or more items?",
    Column("raters", "Raters of each item"),
    Column("reliability", "Reliability of an item's mean", help="Spearman–Brown, from one rater's."),
    Column("relative", "Eρ², relative", help="Generalizability of items' order, by annotators who rate all."),
    Column("absolute", "Φ, absolute", help="Generalizability of items' level, which severity moves."),
    Column("mean_items", "Items for people's mean", digits=0),
    Column("mean_ratings", "Ratings", digits=0),
    Column("rho", "Expected ρ of the judges", help="With people's mean of so many raters an item."),
    Column("rho_items", "Items for ρ", digits=0),
    Column("rho_ratings", "Ratings for ρ", digits=0),
    caption="Items and ratings for an interval of ± {half:g}. Fewer raters on more items need the fewest "
    "ratings; more raters an item raise what the judges' ρ can reach and tell annotators apart.",
)


def expected_error(judged: Floats, spread: Floats, people: Floats) -> Floats:
    """How far people's score is expected to lie from what judges' score predicts, for each item; above 0.

    `judged` is the judges' mean, `spread` their standard deviation on the item, `people` people's mean; nan
    where there is none. Where 20 items have all three, people's score is regressed on the judges', and the
    absolute residual on the judges' spread and on how far their score is from its mean (least squares), but
    no item gets less than a quarter of the mean. Else it is the spread and its mean. Items without judges get
    the mean. It makes a draw efficient; no estimate depends on its being right.
    """
    seen = ~np.isnan(judged)
    size = np.ones(len(judged))
    if not seen.any():
        return size
    apart = np.nan_to_num(spread)
    far = np.abs(judged - judged[seen].mean())
    both = seen & ~np.isnan(people)
    if both.sum() >= FEWEST:
        line = np.stack([np.ones(both.sum()), judged[both]], axis=1)
        gap = people[both] - line @ np.linalg.lstsq(line, people[both])[0]
        given = np.stack([np.ones(len(judged)), apart, np.nan_to_num(far)], axis=1)
        expected = given @ np.linalg.lstsq(given[both], np.abs(gap))[0]
        least = np.abs(gap).mean() / 4
        size = np.maximum(expected, least) if least > 1e-9 else size
    elif apart[seen].mean() > 1e-9:
        size = by_disagreement(np.where(seen, apart, np.nan))
    size[~seen] = size[seen].mean()
    return np.asarray(size / size.mean())


def by_disagreement(spread: Floats) -> Floats:
    """Sizes that follow judges' standard deviation on each item (nan: the mean of the others).

    The mean is added, as an item on which judges agree by chance may be one on which people differ from them:
    by the standard deviation alone the interval of people's mean is 5 to 18% wider than that of an even draw
    (`bench/draws.py`), with the mean added 9% narrower to 2% wider.
    """
    usual = float(np.nanmean(spread))
    return np.asarray(np.where(np.isnan(spread), usual, spread) + usual)


def chances(size: Floats, n: float) -> Floats:
    """The probability of each item to be among `n` drawn, proportional to its size.

    An item that would pass 1 is drawn for certain, and the others share the rest. The probabilities sum to n.
    Neyman (1934) for sizes.
    """
    chance = np.zeros(len(size))
    certain = np.zeros(len(size), dtype=bool)
    while not certain.all():
        left = n - certain.sum()
        chance[certain] = 1.0
        chance[~certain] = left * size[~certain] / size[~certain].sum()
        over = ~certain & (chance >= 1)
        if not over.any():
            break
        certain |= over
    return np.minimum(chance, 1.0)


def saved(table: Ratings, criterion: str, *, panels: Panels = None, **drawing: Unpack[Drawing]) -> Table:
    """What a draw by expected error would save with each judge and panel.

    `worth` is the variance of the corrected mean of an even draw over that of one by expected error, with
    the squared residuals r² that people's scores show: mean(r²) / (mean(s)·mean(r²/s)), s the size of
    `chances`. The size of each item is predicted from the other half of the items, so that it does not fit
    its own residual. For small shares of all items. Undefined for fewer than 40 items in common, and where
    judges predict people without error.
    """
    scores = table[criterion]
    every = np.array([scores.judges[name] for name in table.judges] or [np.full(scores.items, np.nan)])
    rows: list[Mapping[str, Any]] = []
    for judge in scores.contenders(panels):
        both = ~np.isnan(judge.score) & ~np.isnan(scores.target)
        n = int(both.sum())
        row: dict[str, Figure | str | int] = {"rater": judge.name, "n": n}
        if n < 2 * FEWEST:
            few = undefined(f"{n} items in common, at least {2 * FEWEST} are needed", n=n)
            rows.append(row | {"error": few, "worth": few})
            continue
        spread = _spread(every)
        size, square = np.full(scores.items, np.nan), np.full(scores.items, np.nan)
        half = np.cumsum(both) % 2 == 0
        for mine in (half, ~half):
            others = np.where(mine, np.nan, scores.target)
            size[mine] = expected_error(judge.score, spread, others)[mine]
            fit = both & ~mine
            slope, constant = (
                np.polyfit(judge.score[fit], scores.target[fit], 1)
                if np.ptp(judge.score[fit]) > 0
                else (0.0, scores.target[fit].mean())
            )
            square[mine] = (scores.target - slope * judge.score - constant)[mine] ** 2
        mixed = (1 - FLOOR) * size + FLOOR * np.nanmean(size[both])
        why = "judges predict people without error"
        rows.append(
            row
            | {
                "error": estimate(float(np.sqrt(np.mean(square[both]))), n=n),
                "worth": PointEstimate(_worth(square, mixed, both), n, reason=why, kind=RATIO),
            }
        )
    target = "people's mean, corrected by the judge (PPI++)"
    return tabulate(SAVED, table, criterion, rows, target=target, **drawing)


def _spread(every: Floats) -> Floats:
    """The standard deviation of judges on each item; nan for fewer than two of them."""
    count = (~np.isnan(every)).sum(axis=0)
    mean = divide(np.nansum(every, axis=0), count)
    squares = np.nansum((every - mean) ** 2, axis=0)
    return np.sqrt(divide(squares, np.where(count > 1, count - 1, 0)))


def _worth(square: Floats, size: Floats, both: Bools) -> Statistic:
    items = np.flatnonzero(both)
    parts = np.stack([square[items], size[items], square[items] / size[items]])

    def on(weights: Weights) -> Floats:
        weight = weights[items].astype(np.float64)
        top, mean, below = parts @ weight
        total = weight.sum(axis=0)
        return divide(top * total, np.where(mean * below > 1e-12, mean * below, 0))

    return on


def designs(table: Ratings, criterion: str, rho: Estimate, *, half: float = 0.1) -> Table:
    """Items and ratings for ± `half`, by the number of raters on each item.

    People's ratings are item + error, whose variances are those of one-way analysis of variance with unequal
    numbers (Searle 1971): σ²ₑ = MSW and σ²ᵢ = (MSB − MSW)/k₀. The mean of n items of k raters has variance
    (σ²ᵢ + σ²ₑ/k)/n, so n = (1.96/half)²·(σ²ᵢ + σ²ₑ/k). The reliability of k raters is σ²ᵢ/(σ²ᵢ + σ²ₑ/k)
    (Spearman–Brown). `rho`, the judges' with people's mean as it is now, becomes rho·√(reliability of k /
    reliability now) (Spearman 1904), and its interval is ± half with n = 3 + (1.96·√(1 + ρ²/2)·(1 −
    ρ²)/half)² (Bonett and Wright 2000). There raters are taken as alike in severity; `relative` and
    `absolute` are the coefficients of `components`, where they are not. The first note, and
    `meta["one_more"]`, say what one more rater and one more item add to Φ, and take from the error of the
    mean of all items, 1.96 · √(σ²ᵢ/n + σ²ᵣ/k + σ²ₑ/nk) of n items that the same k raters rate (Brennan 2001).

    Undefined without two ratings of some items, and where raters agree on no difference between items.
    """
    scores = table[criterion]
    variances = _components(scores.item, scores.score, scores.present) if len(scores.item) else None
    why = scores.unlinked if not len(scores.item) else ""
    if variances is None:
        why = why or "fewer than two items with two ratings each"
    elif variances[0] <= 1e-12:
        why = "people do not agree on any difference between items"
    crossed, not_apart = components(scores)(everything(scores.items)), no_components(scores)
    rows: list[dict[str, Cell]] = []
    for raters in RATERS_PER_ITEM:
        row: dict[str, Cell] = {"raters": raters}
        if variances is None or why:
            none = undefined(why)
            rows.append(row | dict.fromkeys([c.name for c in DESIGNS.columns[1:]], none))
            continue
        between, within, mean_raters = variances
        reliability = between / (between + within / raters)
        items = np.ceil((1.96 / half) ** 2 * (between + within / raters))
        row |= {"reliability": estimate(reliability)}
        row |= {
            name: undefined(not_apart) if not_apart else estimate(float(of(raters)[0]))
            for name, of in (("relative", crossed.relative), ("absolute", crossed.absolute))
        }
        row |= {"mean_items": estimate(items), "mean_ratings": estimate(items * raters)}
        if rho.value is None:
            none = undefined(rho.reason)
            rows.append(row | dict.fromkeys(("rho", "rho_items", "rho_ratings"), none))
            continue
        now = between / (between + within / mean_raters)
        value = float(np.clip(rho.value * np.sqrt(reliability / now), -1, 1))
        wide = 1.96 * np.sqrt(1 + value**2 / 2) * (1 - value**2) / half
        items = max(np.ceil(3 + wide**2), 8.0)
        row |= {"rho": estimate(value), "rho_items": estimate(items), "rho_ratings": estimate(items * raters)}
        rows.append(row)
    form = DESIGNS.caption.format(half=half)
    sentence, one_more = ("", {}) if why or not_apart else _one_more(scores, crossed)
    notes = tuple(filter(None, (sentence, "further items and raters are taken to be like these")))
    table_of = empty(DESIGNS.name, DESIGNS.title, *DESIGNS.columns, caption=form)
    meta = {"one_more": one_more}
    return tabulate(table_of, table, criterion, rows, target="", notes=notes, meta=meta)


def _one_more(scores: CriterionScores, crossed: Components) -> tuple[str, dict[str, float]]:
    """What one more rater or item buys, in words and as numbers; see `designs`."""
    raters, items = max(round(people_per_item(scores)), 1), int((scores.present > 0).sum())

    def half(raters: int, items: int) -> float:
        return float(1.96 * np.sqrt(crossed.error(raters, items)[0]))

    now, phi = half(raters, items), crossed.absolute(raters + 1) - crossed.absolute(raters)
    buys = {
        "phi": float(phi[0]),
        "rater": now - half(raters + 1, items),
        "item": now - half(raters, items + 1),
    }
    return (
        f"one more annotator for all items adds {buys['phi']:z.3f} to Φ and takes {buys['rater']:z.3f} from "
        f"the ± {now:.3f} of people's mean over {items} items by {raters} annotators like these; one more "
        f"item takes {buys['item']:z.3f}",
        buys,
    )


def _components(item: Ints, score: Floats, present: Ints) -> tuple[float, float, float] | None:
    """Variance between items and within them, and the mean number of raters; None where neither is known."""
    count = present[present > 0].astype(float)
    total, items = count.sum(), len(count)
    if items < 2 or total <= items:
        return None
    mean = divide(sums(item, score, len(present)), present)
    within = float(((score - mean[item]) ** 2).sum() / (total - items))
    grand = score.mean()
    between = float((count * (mean[present > 0] - grand) ** 2).sum() / (items - 1))
    each = (total - (count**2).sum() / total) / (items - 1)
    return max(between - within, 0.0) / each, within, float(total / items)
