"""Features of a study's units, for feature bias: lengths, turns, languages, the family of the player."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from concord.arrays import Columns
from concord.statistics.ratings import Floats, Ints

FEATURES = {
    "reply_chars": "characters of a reply",
    "turns": "turns of the dialogue",
    "turn": "turn",
    "place": "place in the annotators' order",
}
"""Features of units as readers see them."""
OWN_FAMILY = "the model is of the judge's family"
"""A feature that differs from judge to judge."""


def features(columns: Columns, units: Sequence[Hashable]) -> dict[str, Floats]:
    """The features that vary, as numbers by item, for feature bias; a language is one against the others.

    The commonest language has no feature of its own.
    """
    if not len(columns.get("unit", ())):
        return {}
    rows = _rows(columns, units)
    present = rows >= 0
    by_name: dict[str, Floats] = {}
    for name, values in columns.items():
        if name == "language":
            spoken = Counter(values[rows[present]].tolist()).most_common()
            for language, _ in spoken[1:]:
                in_language = (values[rows] == language).astype(np.float64)
                by_name[f"language {language}"] = np.where(present, in_language, np.nan)
        elif name != "unit":
            by_name[FEATURES.get(name, name)] = np.where(present, values[rows], np.nan)
    return {name: feature for name, feature in by_name.items() if _varies(feature[~np.isnan(feature)])}


def languages(columns: Columns, units: Sequence[Hashable]) -> list[str]:
    """The language of each unit; “” where it is not known."""
    if not len(columns.get("language", ())):
        return [""] * len(units)
    rows = _rows(columns, units)
    spoken = columns["language"][np.maximum(rows, 0)].tolist()
    return [language if row >= 0 else "" for row, language in zip(rows.tolist(), spoken, strict=True)]


def _rows(columns: Columns, units: Sequence[Hashable]) -> Ints:
    """The row of each unit; -1 where it has none."""
    unit_column = columns["unit"]
    if (
        len(unit_column) == len(units)
        and isinstance(unit_column[0], np.integer)
        and (np.diff(unit_column) == 1).all()
        and unit_column[0] == 1
    ):
        return np.asarray(units, dtype=np.int64) - 1
    row_of_unit = {unit: row for row, unit in enumerate(unit_column.tolist())}
    return np.array([row_of_unit.get(unit, -1) for unit in units], dtype=np.int64)


def _varies(values: Floats) -> bool:
    return len(values) > 0 and bool((values != values[0]).any())


def own_family(
    families: Mapping[str, str], models: Mapping[str, str], judges: Sequence[str], players: Sequence[str]
) -> dict[str, Floats]:
    """Each judge with a family: 1 for the items of a player of this family, 0 for those of another.

    Families stand in models.toml. An item whose player has none is nan; a judge who met only its own
    family, or none of it, is excluded.
    """
    of_items = [families.get(player) for player in players]
    by_judge = {}
    for judge, model in models.items():
        if judge in judges and (family := families.get(model)):
            same_family = np.array(
                [
                    np.nan if family_of_item is None else float(family_of_item == family)
                    for family_of_item in of_items
                ]
            )
            if len(set(same_family[~np.isnan(same_family)].tolist())) == 2:
                by_judge[judge] = same_family
    return by_judge
