"""Figures of one criterion as a Table: all are resampled on the same draws and become Estimates."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict, Unpack, cast

import numpy as np

from concord.estimate import Estimate, undefined
from concord.statistics import intervals
from concord.statistics.inclusion import effective
from concord.statistics.intervals import DIFFERENCE, Kind, resampled
from concord.statistics.kinds import Unlike, kinds_of
from concord.statistics.kinds import draws as kind_draws
from concord.statistics.ratings import Bools, Facet, Floats, Ints, Ratings
from concord.statistics.resampling import (
    Statistic,
    Weights,
    bootstrap,
    figures_of,
    full_sample,
    own_clusters,
)
from concord.table import Column, Note, Table

MEAN_OF_PEOPLE = "compared with the mean of all annotators on the item"


People = Literal["these", "like-these"]
"""Whom intervals are about: the study's annotators, or annotators like them."""


class Drawing(TypedDict, total=False):
    """How resamples are drawn: their number (default 1000), the seed (0), and units to be drawn together.

    `alike` names what units of a cluster share. `people` says whether intervals are for the annotators of the
    study (default) or for annotators like them.
    """

    resamples: int
    seed: int
    clusters: Facet | None
    alike: str
    people: People


@dataclass(frozen=True, eq=False)
class PointEstimate:
    """A figure before its interval: a statistic of weights, and the number of items it rests on.

    `value` is the point value where a library gives it; None takes the statistic of all items, each once.
    `reason` says why the figure is undefined, should it be nan. `kind` says how its interval is found.
    `items` marks the items it rests on: where clusters are drawn, the interval counts those of these items.
    """

    statistic: Statistic
    n: int | None = None
    value: float | None = None
    reason: str = ""
    kind: Kind = DIFFERENCE
    items: Bools | None = None


Figure = PointEstimate | Estimate
"""A figure that is resampled, or one that has no interval."""


def basis(
    table: Ratings,
    criterion: str,
    *,
    method: str = "",
    target: str = MEAN_OF_PEOPLE,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """What figures of one criterion rest on, as plain values; `text`, a Note, says it in one line.

    `items` have at least one person's rating; `people_per_item` is (least, median, most) over these.
    `left_out` counts by reason the items on which judges are not compared, and those nobody rated. `target`
    says what judges are compared with, `method` how the intervals were found.
    """
    level_reasons = dict.fromkeys(table.other_scale.get(criterion, {}).values())
    notes = (
        *notes,
        *table.basis_notes.get(criterion, ()),
        *(f"no figures of level: {level_reason}" for level_reason in level_reasons),
    )
    everywhere = table[criterion].present
    present = everywhere[everywhere > 0]
    fewest, largest = (int(present.min()), int(present.max())) if len(present) else (0, 0)
    median = float(np.median(present)) if len(present) else 0.0
    unrated = len(everywhere) - len(present)
    closed = {} if criterion in table.flags else dict(table.left_out)
    lacking = "without a " + (table.target or "person's rating")
    left_out = closed | ({lacking: unrated} if unrated else {})
    per_item = f"{fewest}" if fewest == largest else f"{fewest} to {largest} (median {median:g})"
    rated = f"{_items(len(present))} rated by {per_item} "
    rated += "annotator" if largest == 1 else "annotators"
    if len(present) != 1:
        rated += " each"
    if table.target:
        rated = f"{_items(len(present))} with a {table.target}"
        if target == MEAN_OF_PEOPLE:
            target = f"against the {table.target} on the item"
    exclusion_words = ", ".join(f"{count} where {reason}" for reason, count in closed.items())
    parts = (
        rated,
        exclusion_words and f"excluded for judges: {exclusion_words}",
        f"{_items(unrated)} {lacking}" if unrated else "",
        target,
    )
    text = " · ".join(filter(None, (*parts, method, *notes)))
    return {
        "text": Note(text, (*parts, *method.split("; "), *notes)),
        "items": len(present),
        "people_per_item": (fewest, median, largest),
        "left_out": left_out,
        "target": target,
        "method": method,
    }


def described(
    kinds: Iterable[Kind] = (),
    *,
    resamples: int = 1000,
    seed: int = 0,
    clusters: object = None,
    alike: str = "",
    people: People = "these",
) -> str:
    """How intervals were found, in words; empty without resamples. `clusters` may be their number."""
    sampling_units = "items" if clusters is None else "clusters of items"
    sampling_units = f"{clusters} {sampling_units}" if isinstance(clusters, int) else sampling_units
    sampling_units += f" with the same {alike}" if alike and clusters is not None else ""
    like_these = people == "like-these"
    words = intervals.described(
        kinds, resamples=resamples, seed=seed, units=sampling_units, like_these=like_these
    )
    return f"{words}; one annotator held out at a time" if words and like_these else words


def compute(
    figures: Sequence[PointEstimate],
    items: int,
    *,
    resamples: int = 1000,
    seed: int = 0,
    subset: Ints | None = None,
    clusters: Ints | None = None,
    method: Callable[[Kind], str] = lambda _kind: "",
    without_each: Floats | None = None,
    inclusion: Floats | None = None,
    kinds: Ints | None = None,
) -> list[Estimate]:
    """Figures of so many items with intervals, all on the same draws: see `resampling.bootstrap`.

    With `kinds`, those of items that are drawn (−1: the others), as many of each kind are drawn as would be
    of items one by one, where the figures do not tell items of a kind apart.

    `method` says how the interval of a kind was found. `without_each` has the figures without each annotator
    in turn (annotators × figures), for intervals that are for annotators like these. With `inclusion`, the
    weights of items, an interval counts as many items of equal weight as say as much.
    """
    drawing: dict[str, Any] = {"resamples": resamples, "seed": seed, "subset": subset, "clusters": clusters}
    drawing |= {"inclusion": inclusion}
    point_values, resampled_values = _bootstrap(
        [each_figure.statistic for each_figure in figures], items, kinds, drawing
    )
    of_items = np.arange(items) if subset is None else subset

    def to_estimate(place: int, figure: PointEstimate, value: float) -> Estimate:
        if figure.value is not None and inclusion is None:
            value = figure.value
        if np.isnan(value):
            return undefined(figure.reason or "undefined", n=figure.n)
        item_indices = of_items if figure.items is None else of_items[figure.items[of_items]]
        n = len(of_items) if figure.n is None else figure.n
        units = count_clusters(clusters, item_indices)
        if inclusion is not None:
            units = min(units, int(effective(inclusion[item_indices])))
        result = resampled(
            value,
            resampled_values[place],
            n=n,
            kind=figure.kind,
            method=method(figure.kind),
            units=min(n, units),
            without_each=None if without_each is None else without_each[:, place],
        )
        return replace(result, n=figure.n)

    values = zip(figures, point_values.tolist(), strict=True)
    return [to_estimate(place, figure, value) for place, (figure, value) in enumerate(values)]


def _bootstrap(
    statistics: Sequence[Statistic], items: int, kinds: Ints | None, drawing: Mapping[str, Any]
) -> tuple[Floats, Floats]:
    """`bootstrap`, by kinds of items where there are some."""
    if kinds is None or drawing["clusters"] is not None:
        return bootstrap(statistics, items, **drawing)
    values, _ = bootstrap(statistics, items, **{**drawing, "resamples": 0})
    weights = kind_draws(kinds, drawing["resamples"], drawing["seed"], drawing["inclusion"])
    try:
        return values, figures_of(statistics, cast(Iterable[Weights], weights))
    except Unlike:
        return bootstrap(statistics, items, **drawing)


def estimates(
    figures: Sequence[Figure],
    table: Ratings,
    *,
    criterion: str = "",
    all_items: bool = False,
    resamples: int = 1000,
    seed: int = 0,
    clusters: Facet | None = None,
    alike: str = "",
    people: People = "these",
    recompute: Callable[[Ratings], Sequence[Figure]] | None = None,
) -> list[Estimate]:
    """Figures of ratings with intervals: of items that a person rated, or of `all_items`.

    Figures of one `criterion` alone may be resampled by kinds of items: see `concord.statistics.kinds`.
    `recompute` makes the same figures of other ratings, in the same order. With it and `people` “like-these”
    intervals are for annotators like these; without it they are for these.
    """
    people = people if recompute else "these"
    places = [place for place, figure in enumerate(figures) if isinstance(figure, PointEstimate)]
    points = [figure for figure in figures if isinstance(figure, PointEstimate)]
    method_words = {"resamples": resamples, "seed": seed}
    method = {
        kind: described([kind], clusters=clusters, alike=alike, people=people, **method_words)
        for kind in {figure.kind for figure in points}
    }
    computed = iter(
        compute(
            points,
            len(table.units),
            subset=None if all_items else table.rated,
            clusters=cluster_codes(table, clusters),
            method=method.__getitem__,
            inclusion=None if table.inclusion is None or all_items else table.inclusion.weights,
            kinds=kinds_of(table, criterion, resamples) if criterion and not all_items else None,
            without_each=(
                _without_each(table, recompute, len(figures))[:, places]
                if recompute and people != "these"
                else None
            ),
            **method_words,
        )
    )
    return [figure if isinstance(figure, Estimate) else next(computed) for figure in figures]


def _without_each(table: Ratings, recompute: Callable[[Ratings], Sequence[Figure]], number: int) -> Floats:
    """So many figures without each annotator in turn (annotators × figures); nan where one is undefined."""

    weighted = table.inclusion is not None
    full_weights = (
        full_sample(len(table.units)) if table.inclusion is None else table.inclusion.weights[:, None]
    )

    def value(figure: Figure) -> float:
        if isinstance(figure, Estimate) or (figure.value is not None and not weighted):
            return math.nan if figure.value is None else figure.value
        return float(figure.statistic(full_weights)[0])

    people = sorted({person for scores in table.criteria.values() for person in scores.people.tolist()})
    rows = [[value(figure) for figure in recompute(table.excluding(person))] for person in people]
    return np.array(rows, dtype=np.float64).reshape(len(people), number)


def population_words(table: Ratings, criterion: str, people: People) -> str:
    """Whom intervals are about, in words; empty without people who can be distinguished."""
    scores = table[criterion]
    count = 0 if scores.unlinked or table.target else len(scores.people)
    if not count:
        return ""
    if people == "these":
        return f"for these {count} annotators" if count > 1 else "for this annotator"
    return f"for annotators like these {count}"


def cluster_codes(table: Ratings, clusters: Facet | None) -> Ints | None:
    """The cluster of each unit, −1 where it stands alone; None where units are drawn one by one."""
    return None if clusters is None else table.facet(clusters)[0]


def count_clusters(codes: Ints | None, items: Ints) -> int:
    """How many clusters these items are of (`codes`, −1: none); how many items where there are none."""
    if codes is None:
        return len(items)
    return int(own_clusters(codes[items]).max(initial=-1)) + 1


def tabulate(
    form: Table,
    table: Ratings,
    criterion: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    target: str = MEAN_OF_PEOPLE,
    notes: Sequence[str] = (),
    meta: Mapping[str, Any] | None = None,
    all_items: bool = False,
    recompute: Callable[[Ratings], Sequence[Mapping[str, Any]]] | None = None,
    **drawing: Unpack[Drawing],
) -> Table:
    """`form` with rows of one criterion: figures become Estimates, their basis is noted and kept in `meta`.

    `recompute` makes the same rows of other ratings; only with it can intervals be for annotators like these.
    Where these are asked for and cannot be, the caption says so.
    """
    instead = recompute is None and drawing.get("people") == "like-these"
    if recompute is None:
        drawing["people"] = "these"
    figures = list(_figures(rows))
    computed = estimates(
        figures, table, criterion=criterion, all_items=all_items, **drawing, recompute=_figures_of(recompute)
    )
    pairs = [(old, new) for old, new in zip(figures, computed, strict=True) if isinstance(old, PointEstimate)]
    fresh = (new for _, new in pairs)
    method = described([old.kind for old, new in pairs if new.interval], **drawing) if pairs else ""
    population = (
        population_words(table, criterion, drawing.get("people", "these")) if method and target else ""
    )
    method = "; ".join(filter(None, [method, population]))
    intervals_for = population_words(table, criterion, "these") if instead and target and method else ""
    rests_on = basis(table, criterion, method=method, target=target, notes=notes)
    return replace(
        form,
        caption=" ".join(
            filter(
                None, [form.caption, f"Intervals here are {intervals_for} alone." if intervals_for else ""]
            )
        ),
        rows=tuple(
            {key: next(fresh) if isinstance(cell, PointEstimate) else cell for key, cell in row.items()}
            for row in rows
        ),
        notes=(rests_on.pop("text"),),
        meta={"basis": rests_on, **(meta or {})},
    )


def _figures(rows: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    for row in rows:
        yield from (cell for cell in row.values() if isinstance(cell, PointEstimate | Estimate))


def _figures_of(
    recompute: Callable[[Ratings], Sequence[Mapping[str, Any]]] | None,
) -> Callable[[Ratings], list[Figure]] | None:
    return (lambda table: list(_figures(recompute(table)))) if recompute else None


def empty(name: str, title: str, *columns: Column, caption: str = "") -> Table:
    """A table without rows, as `tabulate` takes it."""
    return Table(name, title, columns, (), caption)


def _items(number: int) -> str:
    return "1 item" if number == 1 else f"{number} items"
