"""A table of labels whose rows people did not get at random: read with the weight of each labelled row."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from concord.errors import ImportRefused
from concord.reading import joined, labels
from concord.reading.cells import number_of
from concord.reading.joined import Join
from concord.reading.labels import LabelTable
from concord.reading.options import NO_OPTIONS, TableOptions
from concord.statistics.inclusion import effective, sampling_gap, weights_of_strata

UNLIKE = 0.001
"""How often a table whose labelled rows are a random draw is said to have others."""
MOST_NAMED = 3
"""So many strata and rows are named."""


@dataclass(frozen=True)
class LabelSource:
    """Where people's labels come from, if not the table itself, and how their rows were drawn.

    `labels` is a second table and `labels_id` its column of ids. `weight` is a column that says how many rows
    a labelled row stands for; `strata` a column of groups, or a judge, by which rows were drawn.
    """

    labels: Any = None
    labels_id: str = ""
    weight: str = ""
    strata: str = ""


SAME_TABLE = LabelSource()
"""People's labels stand in the table, on a random draw of its rows."""


def read(
    table: Any,
    options: TableOptions = NO_OPTIONS,
    source: LabelSource = SAME_TABLE,
    **treatment: Unpack[labels.Treatment],
) -> tuple[LabelTable, Join | None]:
    """A table with people's labels and the weights of their rows, and how labels met rows, if joined.

    Raises ImportRefused for weights that are no numbers above 0, and where both a weight and strata are
    stated; NotFound for a column or a judge.
    """
    if source.weight and source.strata:
        raise ImportRefused("Use either --weight or --strata.")
    table_options = replace(options, other_columns=(source.weight,)) if source.weight else options
    label_table, join = _read(table, table_options, source, **treatment)
    if source.weight:
        return _weighted(label_table, source.weight), join
    if not source.strata:
        return replace(label_table, warnings=(*label_table.warnings, *_unlike(label_table))), join
    if source.strata not in (*label_table.data.judges, *label_table.data.facets):
        label_table, join = _read(
            table, replace(options, other_columns=(source.strata,)), source, **treatment
        )
    return _stratified(label_table, source.strata), join


def _read(
    table: Any, options: TableOptions, source: LabelSource, **treatment: Unpack[labels.Treatment]
) -> tuple[LabelTable, Join | None]:
    if source.labels is None:
        return labels.read(table, options, **treatment), None
    other_columns = tuple(filter(None, (source.weight, source.strata)))
    return joined.read(
        table, source.labels, options, labels_id=source.labels_id, other_columns=other_columns, **treatment
    )


def _labelled(table: LabelTable) -> set[int]:
    """The units that a person rated."""
    data = table.data
    return {int(unit) for unit in data.column("unit")[data.column("kind") == "human"].tolist()}


def _weighted(table: LabelTable, column: str) -> LabelTable:
    """The table with the weights of a column, of which labelled rows need one each."""
    if not table.other_cells:
        raise ImportRefused("A table with one rating per row (Concord's own format) cannot have weights.")
    (cells,) = table.other_cells.values()
    weights: dict[int, float] = {}
    for unit in sorted(_labelled(table)):
        number = number_of(cells.get(unit, ""))
        if number is None or number <= 0:
            raise ImportRefused(
                f"The row “{table.keys[unit]}” has a label and no weight above 0 in {column}: "
                f"“{cells.get(unit, '')[:40]}”. A weight is the number of rows that a labelled row "
                "represents."
            )
        weights[unit] = number
    return _with_weights(table, weights, {}, f"the column {column}")


def _stratified(table: LabelTable, name: str) -> LabelTable:
    """The table with each labelled row standing for its part of its stratum."""
    data = table.data
    units = [*table.keys]
    stratum: Mapping[int, str]
    if name in data.judges:
        by_judge = (data.column("rater") == name) & (data.column("kind") == "judge")
        scores = zip(
            data.column("unit")[by_judge].tolist(), data.column("score")[by_judge].tolist(), strict=True
        )
        stratum = {int(unit): f"{score:g}" for unit, score in scores}
    elif name in data.facets:
        stratum = data.facets[name]
    elif table.other_cells:
        (stratum,) = table.other_cells.values()
    else:
        raise ImportRefused(
            f"A table with one rating per row (Concord's own format) cannot have the strata {name}."
        )
    texts = [stratum.get(unit, "") for unit in units]
    codes = np.unique(texts, return_inverse=True)[1].astype(np.int64)
    labelled = _labelled(table)
    is_labelled = np.array([unit in labelled for unit in units], dtype=bool)
    weights = weights_of_strata(codes, is_labelled)
    empty = {text for text, code in zip(texts, codes, strict=True) if not is_labelled[codes == code].any()}
    if empty:
        examples = ", ".join(sorted(f"“{text}”" for text in empty)[:MOST_NAMED])
        unseen = f"no row with {name} {examples} is labelled, so figures do not cover these rows"
        table = replace(table, warnings=(*table.warnings, unseen))
    of_units = {unit: float(weight) for unit, weight in zip(units, weights, strict=True) if weight > 0}
    return _with_weights(table, of_units, dict(zip(units, codes.tolist(), strict=True)), name)


def _unlike(table: LabelTable) -> list[str]:
    """That rows with people are no random draw: a judge scores them otherwise than the others."""
    data = table.data
    criterion = data.column("criterion")
    rater = data.column("rater")
    kind = data.column("kind")
    unit = np.asarray(data.column("unit"))
    score = np.asarray(data.column("score"))
    is_labelled = np.isin(unit, np.unique(unit[kind == "human"]))
    ordered = [one.name for one in data.study.criteria if one.scale.ordered and not one.scale.sets]
    tests = max(len(data.judges) * len(ordered), 1)
    for name in ordered:
        for judge in data.judges:
            by_judge = (criterion == name) & (rater == judge) & (kind == "judge")
            if sampling_gap(score[by_judge], is_labelled[by_judge]) <= UNLIKE / tests:
                labelled, rest_mean = (
                    float(score[by_judge & side].mean()) for side in (is_labelled, ~is_labelled)
                )
                return [
                    f"{judge} scores labelled rows {labelled:.2f} and the others {rest_mean:.2f} on average, "
                    f"so the labels are not a random sample. If {judge} chose them, add --strata {judge}"
                ]
    return []


def _with_weights(
    table: LabelTable, weights: Mapping[int, float], strata: Mapping[int, int], basis: str
) -> LabelTable:
    """The table with weights, and a warning that figures count rows by them."""
    size = effective(np.array([*weights.values()]))
    warning = (
        f"labelled rows are weighted by {basis}: {len(weights):,} rows are worth {size:,.0f} random rows"
    )
    data = replace(table.data, weights=weights, strata=strata)
    return replace(table, data=data, warnings=(*table.warnings, warning))
