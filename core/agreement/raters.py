"""Severity and consistency of annotators and judges on one axis with the items, and what severity changes."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any, Unpack

import numpy as np

from concord.agreement import columns, rasch
from concord.agreement.figures import Drawing, Figure, PointEstimate, cluster_codes, empty, tabulate
from concord.agreement.intervals import RATIO
from concord.agreement.rasch import Answers, Fitted
from concord.agreement.ratings import Bools, Facet, Floats, Ints, Ratings, divide
from concord.agreement.resampling import Statistic, Weights, mean
from concord.agreement.severity import Axis, Placed, placed
from concord.estimate import Estimate, estimate, undefined
from concord.glossary import explain
from concord.table import Cell, Column, Table

MOST_GROUPS = 40
"""With more players than this the items are taken for one group."""
MISFIT = (0.6, 1.4)
"""Mean squares beyond these are misfit on a rating scale (Wright and Linacre 1994)."""
WIDTHS = (0.05, 0.1, 0.2, 0.25, 0.5, 1.0, 2.0)
"""Widths of the classes that items are counted in, in logits; the finest that needs no more than 20."""
SEVERITY = "severity and points: Student's t interval, sandwich variance of the same units"

RATERS = empty(
    "raters",
    "Severity and consistency of raters",
    Column("rater", "Annotator or judge"),
    Column("kind"),
    Column("n", "Answers"),
    Column("severity", "Severity (logits)", interval="ends", signed=True, help=explain("severity")),
    Column(
        "points",
        "In points",
        interval="ends",
        signed=True,
        help="How far this rater's answers lie above those of a rater of severity 0 on the same items.",
    ),
    Column(
        "fit",
        "Consistency",
        help=f"Misfit where infit lies outside {MISFIT[0]} to {MISFIT[1]} and its interval leaves out 1.",
    ),
    Column("infit", interval="ends", help=explain("infit")),
    Column("outfit", interval="ends", help=explain("outfit")),
    caption="Severity above 0: gives lower scores than the average annotator does to the same items. Infit "
    "above 1: less predictable than the severity says; below 1: more so, as after averaging or copying. "
    f"Consistency is called misfit where infit lies outside {MISFIT[0]} to {MISFIT[1]}, the usual bounds on "
    "a rating scale, and its interval leaves out 1.",
)

ITEMS = empty(
    "rater_items",
    "Items on the raters' axis",
    Column("low", "From (logits)", signed=True),
    Column("high", "To", signed=True),
    Column("items"),
    caption="Items of higher logits are scored higher by everybody; a rater whose severity lies above most "
    "items gives the lower half of the scale to most of them.",
)

FAIR = empty(
    "fair",
    "People's means adjusted for severity",
    Column("group", "Player"),
    columns.N,
    Column("people", "Mean of people", interval="ends"),
    Column("fair", "Adjusted", interval="ends", help="As an annotator of severity 0 would score the items."),
    Column("shift", "Change", digits=3, interval="ends", signed=True),
    Column("place", "Place"),
    Column("fair_place", "Adjusted place"),
    caption="A player whose items went to severe annotators gains by the adjustment. Where everybody rated "
    "every item, it changes no order.",
)


def raters(
    table: Ratings,
    criterion: str,
    answers: Mapping[str, Floats],
    players: Facet | None = None,
    **drawing: Unpack[Drawing],
) -> list[Table]:
    """Raters and items on the axis of `concord.agreement.severity`, and people's means adjusted for severity.

    People make the axis, and each judge is placed on it by its own answers to the items they rated; without
    two people who share items, judges and people make it together. On *final* the answers to every counted
    criterion enter, with a difficulty each. `answers` are those of each criterion's scale, low to high.

    Infit and outfit are mean squares of residuals (Wright and Masters 1982), averaged over what is known of
    each item (so that their expectation is 1 however few answers an item has); their intervals resample
    items. The interval of a severity is Student's with a sandwich variance over items or clusters.

    The adjusted means (only where people have names): the mean over a player's items of what a rater of
    severity 0 would give; the interval resamples items and takes severities as known.

    Undefined, with the reason: raters not linked to the others by common items, raters who always give an
    end of the scale, fewer than eight items with two answers, equal answers, judges on another scale.
    """
    groups, names = _groups(table, players)
    axis = placed(table, criterion, answers, groups, cluster_codes(table, drawing.get("clusters")))
    found = [_raters_table(table, criterion, axis, drawing)]
    if axis.fitted is None:
        return found
    found.append(_items_table(table, criterion, axis))
    if axis.of_people and axis.named and len(names) > 1:
        found.append(_fair_table(table, criterion, axis, groups, names, drawing))
    return found


def severity_sentence(tables: Mapping[str, Table]) -> str:
    """Whether adjusting people's means for severity would change the players' order; empty without them."""
    fair = tables.get("fair")
    if fair is None:
        return ""
    means = {str(row["group"]): (_number(row["people"]), _number(row["fair"])) for row in fair.rows}
    swaps = [
        (a, b)
        for a, b in combinations(means, 2)
        if (means[a][0] - means[b][0]) * (means[a][1] - means[b][1]) < 0
    ]
    if not swaps:
        return "Adjusting people's means for the annotators' severity would leave the order of the players."

    def gain(name: str) -> float:
        return means[name][1] - means[name][0]

    a, b = max(swaps, key=lambda pair: abs(gain(pair[0]) - gain(pair[1])))
    first, adjusted = (max(means, key=lambda name: means[name][which]) for which in (0, 1))
    top = f" {adjusted} would be first, not {first}." if adjusted != first else ""
    of = {str(row["group"]): row["fair"] for row in fair.rows}
    open_ = "" if _apart(of[a], of[b]) else " The intervals overlap, so neither order is settled."
    return (
        "Adjusting people's means for the annotators' severity would change the order of the players: "
        f"{a} and {b} have {means[a][0]:.2f} and {means[b][0]:.2f}, adjusted {means[a][1]:.2f} and "
        f"{means[b][1]:.2f}.{top}{open_}"
    )


def _apart(one: Cell, other: Cell) -> bool:
    """Whether the intervals of two figures do not overlap; false where one has none."""
    if not isinstance(one, Estimate) or not isinstance(other, Estimate):
        return False
    if one.interval is None or other.interval is None:
        return False
    return one.interval[0] > other.interval[1] or other.interval[0] > one.interval[1]


def _number(cell: Cell) -> float:
    value = cell.value if isinstance(cell, Estimate) else None
    return np.nan if value is None else value


def _groups(table: Ratings, players: Facet | None) -> tuple[Ints, list[str]]:
    """The player of each item as a number, and their names; one group where there are none, or too many."""
    if players is None or not len(table.units):
        return np.zeros(len(table.units), dtype=np.int64), []
    codes, names = table.facet(players)
    if not 0 < len(names) <= MOST_GROUPS:
        return np.zeros(len(codes), dtype=np.int64), []
    if (codes < 0).any():
        return np.where(codes < 0, len(names), codes), [*map(str, names), ""]
    return codes, list(map(str, names))


def _raters_table(table: Ratings, criterion: str, axis: Axis, drawing: Drawing) -> Table:
    rows: list[dict[str, Any]] = []
    for rater in axis.raters:
        fit = _fit_figures(axis, rater)
        row = {"rater": rater.name, "kind": rater.kind, "n": len(rater.answers.item)}
        rows.append(row | {"severity": rater.severity, "points": _points(axis, rater), **fit})
    found = tabulate(
        RATERS, table, criterion, rows, target=_said(axis), notes=(SEVERITY,), meta=_meta(axis), **drawing
    )
    cells = [{**row, "fit": _verdict(row["infit"])} for row in found.rows]
    severity = np.array([_number(row["severity"]) for row in cells])
    order = [cells[number] for number in np.argsort(-severity, kind="stable")]
    return replace(found, rows=tuple(order))


def _said(axis: Axis) -> str:
    if axis.fitted is None:
        return "rating scale model with facets"
    who = "people make the axis, each judge is placed on it" if axis.of_people else "all raters make the axis"
    return (
        f"rating scale model with facets, marginal maximum likelihood: {who}; reliability of the items' "
        f"places {axis.fitted.reliability:.2f}"
    )


def _meta(axis: Axis) -> dict[str, Any]:
    if axis.fitted is None:
        return {}
    return {
        "thresholds": axis.fitted.threshold.round(6).tolist(),
        "difficulty": axis.fitted.difficulty.round(6).tolist(),
        "reliability": round(axis.fitted.reliability, 6),
    }


def _verdict(infit: Cell) -> str:
    """Misfit where the mean square lies beyond its bounds and its interval on one side of 1."""
    if not isinstance(infit, Estimate) or infit.value is None or infit.interval is None:
        return ""
    if infit.value > MISFIT[1] and infit.interval[0] > 1:
        return "misfit: erratic"
    if infit.value < MISFIT[0] and infit.interval[1] < 1:
        return "misfit: too regular"
    return "as expected"


def _points(axis: Axis, rater: Placed) -> Estimate:
    """Severity in points: the difference from a rater of severity 0, on average over all items."""
    fitted, found = axis.fitted, rater.severity
    if fitted is None or found.value is None:
        return undefined(found.reason, n=found.n)
    weight = np.zeros((fitted.answers.groups, len(rasch.NODES)))
    seen = np.unique(fitted.answers.item)
    np.add.at(weight, fitted.answers.group[seen], fitted.posterior[seen] / len(seen))

    def at(severity: float) -> float:
        gaps = [
            unit * float((weight * (fitted.moments(severity, c)[0] - fitted.moments(0.0, c)[0])).sum())
            for c, unit in enumerate(axis.scales.unit)
        ]
        return float(np.mean(gaps))

    if found.interval is None:
        return estimate(at(found.value), n=found.n, reason=found.reason)
    return estimate(
        *map(at, (found.value, found.interval[1], found.interval[0])), n=found.n, method=found.method
    )


def _fit_figures(axis: Axis, rater: Placed) -> dict[str, Figure]:
    """Infit and outfit of a rater."""
    fitted, posterior, value = axis.fitted, rater.posterior, rater.severity.value
    if fitted is None or posterior is None or value is None:
        why = undefined(rater.severity.reason, n=rater.severity.n)
        return {"infit": why, "outfit": why}
    of = rater.answers
    moments = [fitted.moments(value, c) for c in range(of.criteria)]
    expected, spread = (np.array(part) for part in zip(*moments, strict=True))
    where = of.criterion, of.group[of.item]
    mass, variance = posterior[of.item], np.maximum(spread[where], 1e-9)
    gap = (of.step[:, None] - expected[where]) ** 2
    parts = {
        "infit": ((mass * gap).sum(axis=1), (mass * variance).sum(axis=1)),
        "outfit": ((mass * gap / variance).sum(axis=1), np.ones(len(of.item))),
    }
    n = len(np.unique(of.item))
    return {name: PointEstimate(_ratio(of, *part), n, kind=RATIO) for name, part in parts.items()}


def _ratio(answers: Answers, above: Floats, below: Floats) -> Statistic:
    """A ratio of sums over answers as a statistic of the weights of items."""
    top, bottom = (np.bincount(answers.item, part, minlength=answers.items) for part in (above, below))
    items = np.flatnonzero(bottom)

    def on(weights: Weights) -> Floats:
        weight = weights[items].astype(np.float64)
        return divide(top[items] @ weight, bottom[items] @ weight)

    return on


def _items_table(table: Ratings, criterion: str, axis: Axis) -> Table:
    fitted = axis.fitted
    assert fitted is not None
    place = fitted.location[np.unique(fitted.answers.item)]
    width = next((width for width in WIDTHS if np.ptp(place) / width <= 20), WIDTHS[-1])
    first, last = np.floor(place.min() / width), np.floor(place.max() / width) + 1
    count, edges = np.histogram(place, bins=np.arange(first, last + 1) * width)
    rows = [
        {"low": float(low), "high": float(high), "items": int(items)}
        for low, high, items in zip(edges[:-1], edges[1:], count, strict=True)
    ]
    return tabulate(ITEMS, table, criterion, rows, target=_said(axis), meta=_meta(axis))


def _fair_table(
    table: Ratings, criterion: str, axis: Axis, groups: Ints, names: list[str], drawing: Drawing
) -> Table:
    fitted, target = axis.fitted, table[criterion].target
    assert fitted is not None
    expected = np.array([fitted.moments(0.0, c)[0] for c in range(fitted.answers.criteria)])
    low, unit = axis.scales.low, axis.scales.unit
    as_scored = (low[:, None, None] + unit[:, None, None] * expected).mean(axis=0)
    adjusted = (fitted.posterior * as_scored[groups]).sum(axis=1)
    both = ~np.isnan(target) & _seen(fitted)
    rows: list[dict[str, Any]] = []
    for code, name in enumerate(names):
        mine = both & (groups == code)
        if name and mine.any():
            n = int(mine.sum())
            figures = {"people": target, "fair": adjusted, "shift": adjusted - target}
            rows.append(
                {"group": name, "n": n}
                | {
                    of: PointEstimate(mean(np.where(mine, values, np.nan)), n)
                    for of, values in figures.items()
                }
            )
    found = tabulate(FAIR, table, criterion, rows, target=_said(axis), **drawing)
    places = {
        name: _places(row[of] for row in found.rows)
        for name, of in (("place", "people"), ("fair_place", "fair"))
    }
    return replace(
        found,
        rows=tuple(
            {**row, **{name: of[number] for name, of in places.items()}}
            for number, row in enumerate(found.rows)
        ),
    )


def _places(cells: Iterable[Cell]) -> list[int]:
    values = np.array([_number(cell) for cell in cells])
    return [int((values > value).sum()) + 1 for value in values]


def _seen(fitted: Fitted) -> Bools:
    seen = np.zeros(fitted.answers.items, dtype=bool)
    seen[fitted.answers.item] = True
    return seen
