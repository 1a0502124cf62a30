"""The rows of JSON Lines and of a JSON document: a list of objects in it, columns, or objects by name."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from concord.errors import ImportRefused
from concord.exchange.cells import lines_of
from concord.exchange.dialogue import transposed
from concord.exchange.file_row import AROUND, FileRow, readable
from concord.exchange.otlp import objects
from concord.files import parse_json, read_text
from concord.files.limits import RECORD

LISTS = (
    "outputs",
    "results/results",
    "results",
    "samples",
    "traces",
    "runs",
    "rows",
    "data",
    "table/results",
    "testCases",
    "testRunData/testCases",
    "testRunData/conversationalTestCases",
    "conversationalTestCases",
    "test_cases",
    "test_results",
    "request_states",
    "examples",
    "tasks_output",
    "datasetRunItems",
    "cases",
    "items",
    "records",
    "events",
    "content",
)
"""Where the rows of a JSON document lie that is an object; the first that is a list of objects counts."""
SIBLINGS = {"items": "experiment", "records": "page", "events": "cursor", "content": "total"}
"""What must stand beside a list of a name that other objects have too."""


def holds_objects(value: Any) -> bool:
    """Whether an object holds nothing but objects, such as rows by their ids."""
    return (
        isinstance(value, dict)
        and len(value) > 1
        and all(isinstance(element, dict) for element in value.values())
    )


def json_value(text: str) -> Any:
    """A value of JSON; NaN and Infinity, as Python writes them, are missing. Raises ValueError."""
    try:
        return parse_json(text)
    except ValueError:
        if "NaN" not in text and "Infinity" not in text:
            raise
    return parse_json(json.dumps(json.loads(text, parse_constant=lambda _: None)))


def line_rows(path: Path) -> Iterator[FileRow]:
    """The rows of a file of JSON Lines."""
    with readable(path), path.open("rb") as file:
        for number, raw in enumerate(lines_of(file, str(path), RECORD), 1):
            row = of_line(raw, f"{path}, line {number}", first=number == 1)
            if row is not None:
                yield row


def of_line(raw: bytes, location: str, *, first: bool) -> FileRow | None:
    """The row of a line of JSON Lines, which may be the `first` of its file; None for an empty one."""
    try:
        line = raw.decode("utf-8-sig" if first else "utf-8").strip()
        fields = json_value(line) if line else None
    except UnicodeDecodeError:
        return FileRow(location, None, "is not UTF-8. Save the file as UTF-8.")
    except ValueError as error:
        return FileRow(location, None, f"is not valid JSON ({error}). Every line must be one JSON object.")
    if isinstance(fields, dict):
        return FileRow(location, fields, size=len(raw))
    return FileRow(location, None, "is not a JSON object. Every line must be one.") if line else None


def document_rows(path: Path) -> Iterator[FileRow]:
    """The rows of a JSON document, each with what stands around them. Raises ImportRefused."""
    content = document(path)
    if isinstance(content, dict) and "eval" in content and "status" in content and not content.get("samples"):
        raise ImportRefused(f"{path}: the run of Inspect ({content['status']}) has no samples. Run it again.")
    around: Mapping[str, Any] = {}
    rows = content
    if isinstance(content, dict):
        place = next((place for place in LISTS if lists_rows(content, place)), "")
        rows = (
            document_value(content, place)
            if place
            else _of_columns(content) or _by_name(content) or [content]
        )
        around = {name: value for name, value in content.items() if place and value is not rows}
        if "/" in place:
            outer, _, inner = place.partition("/")
            around[outer] = {name: value for name, value in content[outer].items() if name != inner}
    if not isinstance(rows, list):
        raise ImportRefused(
            f"{path} holds neither a list of objects nor an object. Save one row as an object."
        )
    for number, fields in enumerate(rows, 1):
        location = f"{path}, entry {number}"
        if objects(fields):
            fields = {"messages": fields}
        if isinstance(fields, dict):
            yield FileRow(location, {**fields, AROUND: around} if around else fields)
        else:
            wrong = 'is not an object. Write each entry as one, such as {"prompt": "…", "response": "…"}.'
            yield FileRow(location, None, wrong)


_BETWEEN = re.compile(r"(?<=^\})\s*(?=^\{)", re.M)
"""Where one object ends and the next begins in a file of several, each on lines of its own."""


def document(path: Path) -> Any:
    """The value that a JSON file holds; a list of them where there are several objects."""
    text = read_text(path, ImportRefused)
    try:
        parts = _BETWEEN.split(text)
        return [json_value(part) for part in parts] if len(parts) > 1 else json_value(text)
    except ValueError as error:
        raise ImportRefused(f"{path} is not valid JSON: {error}.") from error


def _by_name(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of an object whose values are objects with the same fields, each with its name as `key`; []
    for any other object.
    """
    values = [value for value in content.values() if isinstance(value, dict)]
    alike = (
        len(values) > 1 and len(values) == len(content) and all(v.keys() == values[0].keys() for v in values)
    )
    texts = alike and any(isinstance(value, str | list) for value in values[0].values())
    return [{"key": name, **value} for name, value in content.items()] if texts else []


def _of_columns(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a data frame that pandas wrote by columns, or of a table whose rows are lists under names.

    [] for any other object.
    """
    names = content.get("columns")
    data = content.get("data")
    if isinstance(names, list) and isinstance(data, list) and all(isinstance(row, list) for row in data):
        return [dict(zip(map(str, names), row, strict=False)) for row in data]
    columns = list(content.values())
    listed = transposed(content) if len(columns) > 1 else []
    if listed and not any(isinstance(cell, dict | list) for row in listed for cell in row.values()):
        return listed
    if not all(isinstance(column, dict) and column.keys() == columns[0].keys() for column in columns):
        return []
    numbers = list(columns[0]) if columns else []
    if not all(number.isdecimal() for number in numbers):
        return []
    return [{name: column[number] for name, column in content.items()} for number in numbers]


def lists_rows(content: Any, place: str) -> bool:
    """Whether the rows of a document lie at a place of `LISTS`, beside what goes with it."""
    if place not in LISTS or not isinstance(content, dict):
        return False
    return SIBLINGS.get(place, place.partition("/")[0]) in content and bool(
        objects(document_value(content, place))
    )


def document_value(content: Any, place: str) -> Any:
    """What lies in a document at a path, whose parts a slash divides; None for nothing."""
    for name in place.split("/"):
        content = content.get(name) if isinstance(content, dict) else None
    return content
