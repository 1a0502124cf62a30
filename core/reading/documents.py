"""The rows inside a JSON document, whatever its shape: a list, columns, records by id, a list inside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from concord.exchange.json_rows import LISTS, document_value
from concord.exchange.otlp import objects
from concord.reading.vocabulary import kinds_by_name

ID = "id"
RATER = "rater"
MODEL = "model"
DEEPEST = 3

Rows = list[dict[str, Any]]


def rows_of(document: Any) -> tuple[Rows, str, bool]:
    """The rows of a document, where they lie (“” at its top), and whether all columns are raters' answers.

    [] for a document without any. Shapes are tried from the most specific one on.
    """
    if isinstance(document, list):
        return _of_list(document), "", False
    if not isinstance(document, Mapping):
        return [], "", False
    for place in LISTS:
        if listed := objects(document_value(document, place)):
            return listed, place, False
    if rows := _split(document):
        return rows, "", False
    if rows := _by_rater(document):
        return rows, "", False
    if rows := _columns(document):
        return rows, "", False
    rows, raters = _nested(document)
    if rows:
        return rows, "", raters
    inner = max(_lists(document), key=lambda one: len(one[1]), default=("", []))
    if inner[1]:
        return inner[1], inner[0], False
    for name, value in document.items():
        if isinstance(value, Mapping) and len(value) > 1:
            rows, raters = _nested(value)
            if rows := rows or _columns(value):
                return rows, str(name), raters
    return [], "", False


def _of_list(values: Sequence[Any]) -> Rows:
    """The objects of a list; of a list of lists the rows below the names in the first one."""
    if (
        values
        and all(isinstance(value, list) for value in values)
        and all(isinstance(n, str) for n in values[0])
    ):
        return [dict(zip(values[0], row, strict=False)) for row in values[1:]]
    return objects(list(values))


def _split(document: Mapping[str, Any]) -> Rows:
    """A frame that pandas wrote with orient="split", or a table whose rows are lists under names."""
    names = next(
        (document[name] for name in ("columns", "header", "headers", "fields") if name in document), None
    )
    data = next((document[name] for name in ("data", "rows", "values") if name in document), None)
    if not isinstance(names, list) or not isinstance(data, list):
        return []
    if not data or not all(isinstance(row, list) for row in data):
        return []
    titles = [_title(name) for name in names]
    rows = [dict(zip(titles, row, strict=False)) for row in data]
    index = document.get("index")
    if (
        isinstance(index, list)
        and len(index) == len(rows)
        and ID not in titles
        and index != [*range(len(rows))]
    ):
        return [{ID: key, **row} for key, row in zip(index, rows, strict=True)]
    return rows


def _title(name: Any) -> str:
    """The title of a column: levels of a name joined, or the name in an object."""
    if isinstance(name, list):
        return "_".join(map(str, name))
    return str(name.get("name", "") if isinstance(name, dict) else name)


def _by_rater(document: Mapping[str, Any]) -> Rows:
    """Lists of ratings under the names of raters: {"human": [{"id": …, "score": …}], "gpt-4": […]}."""
    if len(document) < 2 or not all(objects(value) for value in document.values()):
        return []
    if {"human", "judge"} - {*kinds_by_name(document).values()}:
        return []
    return [{**row, RATER: rater} for rater, rows in document.items() for row in objects(rows)]


def _columns(document: Mapping[str, Any]) -> Rows:
    """Columns as equally long lists, beside which other facts may stand."""
    lists = {name: value for name, value in document.items() if isinstance(value, list)}
    lengths = [len(value) for value in lists.values()]
    length = max(set(lengths), key=lambda n: (lengths.count(n), n), default=0)
    lists = {name: value for name, value in lists.items() if len(value) == length}
    if len(lists) < 2 or not length or any(objects(value) for value in lists.values()):
        return []
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def _nested(document: Mapping[str, Any]) -> tuple[Rows, bool]:
    """Objects of objects: columns with cells by id, records by id, or raters with what they rated.

    Whether the outer names are raters is said beside.
    """
    inner = {str(name): value for name, value in document.items() if isinstance(value, Mapping) and value}
    facts = len(document) - len(inner)
    if len(inner) < 2 or facts > len(inner):
        return [], False
    keys = dict.fromkeys(str(key) for value in inner.values() for key in value)
    shared = [key for key in keys if sum(key in value for value in inner.values()) * 2 > len(inner)]
    outer_kinds, inner_kinds = ({*kinds_by_name(names).values()} - {None} for names in (inner, keys))
    plain = all(not isinstance(cell, Mapping) for value in inner.values() for cell in value.values())
    raters = len(outer_kinds) > 1 or (bool(outer_kinds) and not inner_kinds)
    if not plain and raters:
        cell_names = {
            str(name) for value in inner.values() for cell in value.values() for name in _names(cell)
        }
        outer_name = MODEL if {"human", "judge"} <= {*kinds_by_name(cell_names).values()} else RATER
        return [
            {outer_name: rater, ID: key, **cell}
            for rater, value in inner.items()
            for key, cell in value.items()
            if isinstance(cell, Mapping)
        ], False
    if not shared and not raters:
        return [], False
    if raters or (not inner_kinds and len(keys) > len(inner)):
        names = {*(name for value in inner.values() for name in value)}
        order = [key for value in inner.values() for key in value]
        rows = [
            {ID: key, **{name: value.get(key) for name, value in inner.items()}}
            for key in dict.fromkeys(order)
            if key in names
        ]
        rater_kinds = [kinds_by_name([name])[name] for name in inner]
        return rows, raters and None in rater_kinds and not {"id", "text"} & {name.lower() for name in inner}
    id_name = ID if ID not in keys else "key"
    return [{id_name: key, **value} for key, value in inner.items()], False


def _names(cell: Any) -> Iterator[Any]:
    yield from cell if isinstance(cell, Mapping) else ()


def _lists(document: Mapping[str, Any], before: str = "", depth: int = 1) -> Iterator[tuple[str, Rows]]:
    """The lists of objects inside a document, each with its place."""
    for name, value in document.items():
        place = f"{before}{name}"
        if listed := objects(value):
            yield place, listed
        elif isinstance(value, Mapping) and depth < DEEPEST:
            yield from _lists(value, f"{place}/", depth + 1)
