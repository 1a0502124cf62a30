"""How many more items or raters an interval needs."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from concord.estimate import Estimate, estimate, undefined
from concord.scores import DIGITS
from concord.statistics.alpha import people_alpha
from concord.statistics.ceilings import By, held_out_difference
from concord.statistics.figures import (
    Drawing,
    Figure,
    PointEstimate,
    cluster_codes,
    count_clusters,
    empty,
    tabulate,
)
from concord.statistics.intervals import resampled
from concord.statistics.judges import against_people, level_figures
from concord.statistics.ratings import Contender, Ints, Ratings, called
from concord.statistics.reliability import components, no_components, people_per_item
from concord.statistics.resampling import draws, everything
from concord.table import Column, Table

FEWEST_ITEMS = 10
"""No forecast below ten items."""

PEOPLE: tuple[str, ...] = ()
"""No judges: people's ordinal alpha is meant."""

NEEDED = empty(
    "needed",
    "Items needed for intervals half as wide",
    Column("figure"),
    Column("items", "Items now", help="Items that the figure rests on now."),
    Column(
        "half_more",
        "More for half the width",
        digits=0,
        help="Items that people must rate beyond those there are, for an interval half as wide as now.",
    ),
    Column("half", "In all, for half the width", digits=0),
    Column(
        "width",
        "Width now, for these annotators",
        help="Width of the 95% interval for these annotators alone, from end to end.",
    ),
    caption="Intervals hold for these annotators alone; further items are taken to be like these.",
)
GIVEN = (
    "The forecast takes these annotators as given. Intervals for annotators like these are wider by what "
    "depends on the annotators: more items cannot narrow that part, more annotators can."
)

RATERS_PER_ITEM = (1, 2, 3, 5, 8)
DESIGNS = empty(
    "next_designs",
    "More raters for each item, or more items?",
    Column("raters", "Raters of each item"),
    Column("half", "± people's mean", digits=3, help="Over as many items as there are, by such annotators."),
    caption="What more raters of the same items would give.",
)


def needed(
    table: Ratings,
    criterion: str,
    of: Sequence[Sequence[str]] = (PEOPLE,),
    *,
    by: By = "spearman",
    **drawing: Unpack[Drawing],
) -> Table:
    """The number of items for which the 95% interval is half as wide as now, one row a figure.

    `of` are judges and panels, whose Spearman with people's mean, difference from a held-out annotator, bias
    and MAE are meant, or `PEOPLE` for people's ordinal alpha. With `by` “kappa” the difference is one of
    kappa, and there is no Spearman. Further items are taken to be like those there are and rated by as many
    people. A first guess, four times as many, is corrected by what resamples of that size show (`then`).
    Undefined where the figure is. Widths are for these annotators, whatever `people` says.
    """
    resamples, seed = drawing.get("resamples", 1000), drawing.get("seed", 0)
    codes = cluster_codes(table, drawing.get("clusters"))
    rows = [
        _row(*figure, resamples, seed, codes)
        for members in of
        for figure in _figures(table, criterion, tuple(members), by)
    ]
    drawn = "items" if codes is None else "clusters of items"
    notes = (f"resamples of other numbers of {drawn}, {resamples} each, seed {seed}",)
    forecast = tabulate(NEEDED, table, criterion, rows, target="", notes=notes)
    return replace(forecast, notes=(GIVEN, *forecast.notes))


def answer(table: Table, label: str) -> str:
    """How many more items an interval half as wide needs, in words, from `needed` on a criterion.

    It is that of ρ of the judges, else of their difference from a person; of people's alpha where no judge
    rated. “” where it is undefined.
    """
    rows = {row["column"]: row for row in table.rows}
    row = next((rows[name] for name in ("spearman", "difference", "alpha") if name in rows), {})
    more, half = row.get("half_more"), row.get("half")
    if not isinstance(more, Estimate) or more.value is None or not isinstance(half, Estimate):
        return ""
    return (
        f"For an interval half as wide on {label} ({row['figure']}), about {more.value:,.0f} more items "
        f"({half.value:,.0f} in all), for these annotators."
    )


def _figures(
    table: Ratings, criterion: str, members: tuple[str, ...], by: By
) -> Iterator[tuple[str, str, Figure]]:
    """Figures whose interval is to be narrower: their name, their column in the tables of a report."""
    scores = table[criterion]
    if not members:
        yield "People's alpha, ordinal", "alpha", people_alpha(scores, "ordinal")
        return
    who = called(members)
    judge = Contender(who, members, scores.panel(members))
    if by == "spearman":
        yield f"Spearman's ρ of {who}", "spearman", against_people(scores, judge)
    if (difference := held_out_difference(scores, judge, by)) is not None:
        both = ~np.isnan(judge.score) & (scores.present > 0)
        name = f"Difference of {who} from a held-out annotator"
        yield name, "difference", PointEstimate(difference, items=both)
    if not table.no_level(criterion, members):
        level = level_figures(table, criterion, judge)
        yield f"Bias of {who}", "bias", level["bias"]
        yield f"MAE of {who}", "mae", level["mae"]


def _row(
    name: str, column: str, figure: Figure, resamples: int, seed: int, codes: Ints | None
) -> dict[str, Any]:
    row: dict[str, Any] = {"figure": name, "column": column}
    if isinstance(figure, Estimate) or figure.items is None:
        nothing = dict.fromkeys(("width", "half", "half_more"), undefined(figure.reason))
        return row | {"items": figure.n, **nothing}
    every, items = len(figure.items), np.flatnonzero(figure.items)
    on, kind = figure.on, figure.kind
    own = float(on(everything(every))[0])

    def at(size: int) -> Estimate:
        """The width of the interval of so many items."""
        units = round(size * count_clusters(codes, items) / max(len(items), 1))
        weights = draws(every, resamples, seed, among=items, clusters=codes, size=units)
        drawn = np.concatenate([np.empty(0), *map(on, weights)])
        figure = resampled(own, drawn, n=units, kind=kind)
        return (
            Estimate(figure.interval[1] - figure.interval[0]) if figure.interval else undefined(figure.reason)
        )

    now = at(len(items))
    row |= {"items": len(items), "width": now}
    if now.value is None:
        return row | dict.fromkeys(("half", "half_more"), undefined(now.reason))
    guess = max(4 * len(items), FEWEST_ITEMS)
    then = at(guess)
    if then.value is None:
        return row | dict.fromkeys(("half", "half_more", "then"), then)
    half = max(int(np.ceil(guess * (2 * then.value / now.value) ** 2)), FEWEST_ITEMS)
    more = max(half - len(items), 0)
    return row | {"half": estimate(half), "half_more": estimate(more), "then": then}


def designs(table: Ratings, criterion: str) -> Table:
    """How wide the interval of people's mean is with 1 to 8 raters of each item, by `components`.

    `half` is half the width of the interval of the mean of all n items there are, 1.96 · √(σ²ᵢ/n + σ²ᵣ/k +
    σ²ₑ/nk) where the same k raters rate all (Brennan 2001). The first note says what one more rater and one
    more item take from that. Undefined where items, annotators and chance are not told apart or items are
    alike.
    """
    scores = table[criterion]
    crossed, why = components(scores)(everything(scores.items)), no_components(scores)
    if not why and not crossed.item[0] > 1e-12:
        why = "people do not agree on any difference between items"
    now, items = max(round(people_per_item(scores)), 1), int((scores.present > 0).sum())

    def half(raters: int, items: int) -> float:
        return float(1.96 * np.sqrt(crossed.error(raters, items)[0]))

    rows = [
        {"raters": raters, "half": undefined(why) if why else estimate(round(half(raters, items), DIGITS))}
        for raters in RATERS_PER_ITEM
    ]
    sentence = (
        ""
        if why
        else (
            f"one more annotator for all items takes {half(now, items) - half(now + 1, items):.3f} from the "
            f"± {half(now, items):.3f} of people's mean over {items} items by {now} annotators like these; "
            f"one more item takes {half(now, items) - half(now, items + 1):.3f}"
        )
    )
    notes = tuple(filter(None, (sentence, "further items and raters are taken to be like these")))
    return tabulate(DESIGNS, table, criterion, rows, target="", notes=notes)
