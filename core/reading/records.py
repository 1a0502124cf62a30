"""Rows with objects inside as flat rows: their fields become columns of the table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from concord.exchange import csv_rows, file_row
from concord.exchange.file_row import FileRow
from concord.rating import RaterKind
from concord.reading.cells import ENOUGH, field_of, is_blank, parsed
from concord.reading.column import SourceColumn
from concord.reading.table import SourceTable
from concord.reading.vocabulary import answers, kind_of_words, kinds_by_name, tokens, words

MOST_RATERS = 50
"""Of so many entries of a list each may be a rater's answers."""
MODELS = 2
"""So many alike objects in a row are records of models."""


def flat(file_rows: Iterable[FileRow], name: str) -> tuple[list[Mapping[str, Any]], list[str], list[str]]:
    """The flat rows of a source called `name`, where each stands, and why others cannot be read."""
    people: dict[str, int] = {}
    flat_rows: list[Mapping[str, Any]] = []
    places: list[str] = []
    broken: list[str] = []
    for row in file_rows:
        place = row.location.removeprefix(f"{name}, ")
        if row.fields is None:
            broken.append(f"{place} {row.wrong}")
            continue
        for fields in _outputs(row.fields):
            nested = any(isinstance(value, Mapping | list) for value in fields.values())
            flat_rows.append(dict(_flat(fields, people)) if nested else fields)
            places.append(place)
    return flat_rows, places, broken


def _outputs(fields: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The replies in a row of promptfoo's table, whose status is the judge's; another row as it is."""
    outputs = fields.get(csv_rows.OUTPUTS)
    if outputs is None and (models := _by_model(fields)):
        return models
    if not isinstance(outputs, list) or not all(isinstance(output, Mapping) for output in outputs):
        return [fields]
    test = {name: value for name, value in fields.items() if name != csv_rows.OUTPUTS}
    names = {"player": "model", "prompt": "variant", "text": "response", "Status": "judge"}
    return [
        {
            **test,
            **{
                names.get(name, name): value
                for name, value in fields_of_output.items()
                if name != csv_rows.FILLED_PROMPT
            },
        }
        for fields_of_output in outputs
    ]


def _by_model(fields: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The records of a row whose objects are alike and hold answers of annotators or judges: one a model.

    {"gpt": {"annot1": {"tone": 4}, "judge": …}, "claude": {…}}: the names of the objects are models.
    """
    inner = {name: value for name, value in fields.items() if isinstance(value, Mapping) and value}
    if len(inner) < MODELS or "human" in kinds_by_name(inner).values():
        return []
    first, *more_keys = ({*map(str, value)} for value in inner.values())
    if any(keys != first for keys in more_keys) or "human" not in kinds_by_name(first).values():
        return []
    rest = {name: value for name, value in fields.items() if name not in inner}
    return [{**rest, "model": name, **value} for name, value in inner.items()]


def _flat(value: Mapping[str, Any], people: dict[str, int], before: str = "") -> Iterator[tuple[str, Any]]:
    """The fields of a row with objects inside as columns: scores by name, other fields by their path.

    `people` are numbered as they come.
    """
    for name, inner in value.items():
        path = f"{before}{name}"
        if name == file_row.AROUND:
            continue
        if isinstance(inner, Mapping):
            score = next((inner[key] for key in ("score", "value") if _plain(inner.get(key))), None)
            if score is None and kind_of_words(tokens(str(name))) and not any(kinds_by_name(inner).values()):
                score = field_of(inner)
            parts = {
                key: part
                for key, part in inner.items()
                if isinstance(part, list) or str(key).lower() in answers("failures")
            }
            yield from ((path, score),) if score is not None else ()
            yield from _flat(inner if score is None else parts, people, f"{path}.")
        elif inner == [] and kinds_by_name([str(name)])[str(name)]:
            yield path, "[]"
        elif isinstance(inner, list) and all(isinstance(entry, Mapping) for entry in inner):
            yield from _named_entries(inner, people, path)
        else:
            yield path, inner if _plain(inner) or inner is None else str(inner)


def with_objects(table: SourceTable) -> SourceTable:
    """A table in which raters' cells that are objects of several scores, written as JSON, are columns."""
    kinds = kinds_by_name(table.columns)
    columns: dict[str, SourceColumn] = {}
    for name, column in table.columns.items():
        objects = _objects(column) if kinds[name] else None
        if objects is None:
            columns[name] = column
            continue
        flat_objects = [dict(_flat(value, {}, f"{name}.")) for value in objects]
        codes = column.coded[0].tolist()
        for title in dict.fromkeys(title for fields in flat_objects for title in fields):
            cells = [flat_objects[code].get(title) if code >= 0 else None for code in codes]
            columns[title] = SourceColumn(title, cells)
    table.columns = columns
    return table


def _objects(column: SourceColumn) -> list[Mapping[str, Any]] | None:
    """The objects in the distinct cells of a column; None where cells are others, or hold one answer."""
    if column.is_numeric or column.long or not column.coded[1]:
        return None
    values = [value for value in column.coded[1] if not is_blank(value)]
    if not values or "{" not in str(values[0]):
        return None
    objects = [parsed(str(value).strip()) for value in column.coded[1]]
    several = [value for value in objects if isinstance(value, Mapping) and field_of(value) is None]
    if len(several) < ENOUGH * len(values):
        return None
    return [value if isinstance(value, Mapping) else {} for value in objects]


def _named_entries(
    entries: Sequence[Mapping[str, Any]], people: dict[str, int], path: str
) -> Iterator[tuple[str, Any]]:
    """Entries with a score, and a name or rater, as columns, one a person; of messages the last."""
    listed = path.rpartition(".")[2]
    if len(entries) <= MOST_RATERS and kinds_by_name([listed])[listed] and all(map(_only_scores, entries)):
        for number, entry in enumerate(entries, 1):
            yield from ((f"{path} {number}.{name}", score) for name, score in entry.items())
        return
    for entry in entries:
        feedback, assertion = (
            part if isinstance(part := entry.get(inner), Mapping) else {}
            for inner in ("feedback", "assertion")
        )
        fields = {**entry, **feedback, "metric": assertion.get("type", entry.get("metric")), **assertion}
        criteria = ("assessment_name", "name", *words("criteria"))
        name = str(next((fields[key] for key in criteria if fields.get(key)), ""))
        rater = next((fields[key] for key in words("raters") if _plain(fields.get(key))), None)
        judges = (fields[key] for key in words("judges_of_entries") if isinstance(fields.get(key), str))
        judge = next(judges, None)
        rater = judge if rater is None else rater
        scores = ("pass", "score", "value", "success", *(words("scores") if rater is not None else ()))
        score = next((fields[key] for key in scores if _plain(fields.get(key))), None)
        if score is None or not (name or rater is not None):
            continue
        source = fields.get("source")
        source = source if isinstance(source, Mapping) else {"source_type": source or ""}
        kind = str(source.get("source_type", "")).upper()
        rater_kind: RaterKind | None = None
        if rater is not None:
            kind_texts = [*(fields.get(key) for key in words("kinds")), rater, "judge" if judge else ""]
            rater_kind = next(
                filter(None, (kinds_by_name([str(text)])[str(text)] for text in kind_texts)), None
            )
        if kind in ("HUMAN", "ANNOTATION") or assertion.get("type") == "human":
            rater_kind = "human"
        elif kind or listed.lower() in words("by_judges"):
            rater_kind = rater_kind or "judge"
        elif rater is not None and listed.lower() in words("by_people"):
            rater_kind = rater_kind or "human"
        if rater_kind == "human":
            annotator = str(rater or source.get("source_id") or fields.get("authorUserId") or "")
            suffix = "" if name == "human" else f" {name}"
            yield f"human {people.setdefault(annotator, len(people) + 1)}{suffix}".rstrip(), score
        else:
            about_whom = f"{rater or ''} {name}".strip()
            yield f"judge {about_whom}" if rater_kind else f"{listed}.{about_whom}", score
    if entries and "content" in entries[-1]:
        yield path, str(entries[-1]["content"])


def _only_scores(entry: Mapping[str, Any]) -> bool:
    """Whether an entry of a list holds numbers alone: answers on several criteria."""
    return bool(entry) and all(
        isinstance(score, int | float) and not str(name).lower().endswith("id")
        for name, score in entry.items()
    )


def _plain(value: Any) -> bool:
    return isinstance(value, str | int | float | bool)
