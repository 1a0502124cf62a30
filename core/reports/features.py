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


def features(given: Columns, units: Sequence[Hashable]) -> dict[str, Floats]:
    """The features that vary, as numbers by item, for feature bias; a language is one against the others.

    The commonest language has no feature of its own.
    """
    if not len(given.get("unit", ())):
        return {}
    rows = _rows(given, units)
    there = rows >= 0
    by_name: dict[str, Floats] = {}
    for name, values in given.items():
        if name == "language":
            spoken = Counter(values[rows[there]].tolist()).most_common()
            for language, _ in spoken[1:]:
                theirs = (values[rows] == language).astype(np.float64)
                by_name[f"language {language}"] = np.where(there, theirs, np.nan)
        elif name != "unit":
            by_name[FEATURES.get(name, name)] = np.where(there, values[rows], np.nan)
    return {name: of for name, of in by_name.items() if _varies(of[~np.isnan(of)])}


def languages(columns: Columns, units: Sequence[Hashable]) -> list[str]:
    """The language of each unit; “” where it is not known."""
    if not len(columns.get("language", ())):
        return [""] * len(units)
    rows = _rows(columns, units)
    spoken = columns["language"][np.maximum(rows, 0)].tolist()
    return [language if row >= 0 else "" for row, language in zip(rows.tolist(), spoken, strict=True)]


def _rows(columns: Columns, units: Sequence[Hashable]) -> Ints:
    """The row of each unit; -1 where it has none."""
    own = columns["unit"]
    if (
        len(own) == len(units)
        and isinstance(own[0], np.integer)
        and (np.diff(own) == 1).all()
        and own[0] == 1
    ):
        return np.asarray(units, dtype=np.int64) - 1
    where = {unit: row for row, unit in enumerate(own.tolist())}
    return np.array([where.get(unit, -1) for unit in units], dtype=np.int64)


def _varies(values: Floats) -> bool:
    return len(values) > 0 and bool((values != values[0]).any())


def own_family(
    families: Mapping[str, str], models: Mapping[str, str], judges: Sequence[str], players: Sequence[str]
) -> dict[str, Floats]:
    """Each judge with a family: 1 for the items of a player of this family, 0 for those of another.

    Families stand in models.toml. An item whose player has none is nan; a judge who met only its own
    family, or none of it, is left out.
    """
    of_items = [families.get(player) for player in players]
    by_judge = {}
    for judge, model in models.items():
        if judge in judges and (mine := families.get(model)):
            own = np.array([np.nan if of is None else float(of == mine) for of in of_items])
            if len(set(own[~np.isnan(own)].tolist())) == 2:
                by_judge[judge] = own
    return by_judge
