"""Read the rows of a file one after another: JSON Lines, JSON, CSV, Parquet, Excel, Inspect and WhatsApp.

A row is a mapping with the place where it stands. Memory does not grow with the length of the file, but for
JSON, which is one value, and the texts of Excel.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

from concord.errors import ImportRefused
from concord.exchange import otlp, spreadsheet
from concord.exchange.cells import UTF_8
from concord.exchange.chat_text import CHAT_MESSAGE, chat_rows
from concord.exchange.csv_rows import csv_rows
from concord.exchange.file_row import AROUND, FileRow
from concord.exchange.inspect_log import inspect_rows
from concord.exchange.json_rows import document, document_rows, holds_objects, line_rows
from concord.exchange.otlp import objects
from concord.exchange.parquet_rows import parquet_rows
from concord.files.limits import FILE_BYTES
from concord.reading.delimited import encoding_of

PACKED = {".eval": "Inspect", ".xlsx": "Excel", ".xlsm": "Excel"}
"""The kinds of files that are ZIPs, by the endings of their names."""


def kind_of(path: Path) -> str:
    """JSON Lines, JSON, CSV, Parquet, Excel, Inspect or WhatsApp, by the file's beginning and its name.

    Raises ImportRefused for a file that cannot be read, is empty, or of none of these kinds.
    """
    try:
        if path.is_dir():
            raise ImportRefused(f"{path} is a folder. Give a file in it.")
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(65536)
    except OSError as error:
        raise ImportRefused(f"{path} cannot be read: {error.strerror}.") from error
    if not head.strip(b"\xef\xbb\xbf \t\r\n"):
        raise ImportRefused(f"{path} is empty. It needs at least one row.")
    if size > FILE_BYTES and head[:4] != b"PAR1":
        raise ImportRefused(f"{path} ({size:,} bytes) is larger than {FILE_BYTES:,} bytes. Split it.")
    if head[:4] == b"PAR1":
        return "Parquet"
    if head[:4] == b"PK\3\4" and (packed := PACKED.get(path.suffix.lower())):
        return packed
    if (encoding := encoding_of(head)) != UTF_8:
        if head.decode(encoding, errors="ignore").lstrip("\ufeff \r\n")[:1] not in ("{", "["):
            return "CSV"
        copy = path.with_name(f"{path.stem}-utf8{path.suffix}")
        command = f"iconv -f {encoding.upper()} -t UTF-8 {quote(str(path))} > {quote(str(copy))}"
        raise ImportRefused(f"{path} is UTF-16. Save it as UTF-8: {command}")
    if b"\0" in head:
        raise ImportRefused(
            f"{path} is neither text nor Parquet. Save it as JSON Lines, JSON, CSV or Parquet."
        )
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if CHAT_MESSAGE.match(text.decode(errors="replace")):
        return "WhatsApp"
    suffix = path.suffix.lower()
    begins = text[:1]
    if begins == b"{":
        first, broken, rest = text.partition(b"\n")
        # An object that ends with its line begins JSON Lines, unless nothing follows and the name says JSON.
        if suffix == ".json":
            return "JSON Lines" if rest.strip() and _is_complete(first) else "JSON"
        return "JSON Lines" if suffix == ".jsonl" or not broken or _is_complete(first) else "JSON"
    if suffix in (".csv", ".tsv"):
        return "CSV"
    if begins == b"[":
        return "JSON"
    if suffix in (".yaml", ".yml"):
        raise ImportRefused(f"{path} is YAML, which Concord cannot read. Convert it to JSON.")
    return "JSON Lines" if suffix in (".json", ".jsonl", ".ndjson") else "CSV"


def _is_complete(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def read(path: Path, kind: str = "", place: str = "") -> Iterator[FileRow]:
    """The rows of a file, in its order. A row that is broken is given with the reason.

    With `place`, a path of names joined by dots, the rows are the objects that lie there: in the document, or
    in each of its rows, which may have none. Raises ImportRefused where the rest of the file cannot be read.
    """
    kind = kind or kind_of(path)
    if place:
        return _inside(path, kind, place)
    readers = {"Parquet": parquet_rows, "Excel": _sheet, "Inspect": inspect_rows, "WhatsApp": chat_rows}
    readers |= {"JSON": document_rows, "JSON Lines": line_rows}
    return unpacked_spans(readers.get(kind, csv_rows)(path))


def _inside(path: Path, kind: str, place: str) -> Iterator[FileRow]:
    """The objects at a place in a file, each with what stands around it there."""
    outer: Iterator[FileRow]
    if kind == "JSON":
        document_value = document(path)
        listed = document_value if isinstance(document_value, list) else [document_value]
        outer = (
            FileRow(f"{path}, entry {n}", entry)
            for n, entry in enumerate(listed, 1)
            if isinstance(entry, dict)
        )
    else:
        outer = read(path, kind)
    is_filled = False
    for row in outer:
        inner: Any = row.fields or {}
        names = [place] if place in inner else place.split(".")
        for name in names:
            inner = inner.get(name) if isinstance(inner, dict) else None
        rows = objects(list(inner.values()) if holds_objects(inner) else inner)
        rows = rows or ([inner] if isinstance(inner, dict) and inner else [])
        around = {name: value for name, value in (row.fields or {}).items() if name != names[0]}
        for number, fields in enumerate(rows, 1):
            is_filled = True
            yield FileRow(
                f"{row.location}, {place} {number}", {**fields, AROUND: around} if around else fields
            )
        if row.fields is None:
            yield row
    if not is_filled:
        raise ImportRefused(
            f"--rows {place}: {path} has no list of objects there. Give its path as names joined by dots."
        )


def lists_inside(fields: Mapping[str, Any], depth: int = 3) -> Iterator[str]:
    """The paths of the lists of objects in a row, the shortest first at each step."""
    for name, value in fields.items():
        if objects(value):
            yield str(name)
    for name, value in fields.items():
        plain = re.fullmatch(r"[\w -]{1,60}", str(name))
        if isinstance(value, Mapping) and depth > 1 and plain:
            yield from (f"{name}.{path}" for path in lists_inside(value, depth - 1))


def unpacked_spans(rows: Iterator[FileRow]) -> Iterator[FileRow]:
    """The rows; spans and log records of OpenTelemetry in one form, a row each."""
    for row in rows:
        fields = row.fields or {}
        spans = otlp.unpacked(fields)
        if spans is None:
            attributes = fields.get("attributes")
            if isinstance(attributes, dict):
                row = replace(row, fields={**fields, "attributes": otlp.nested(attributes)})
            yield row
        elif len(spans) == 1:
            yield replace(row, fields=spans[0])
        else:
            for number, span in enumerate(spans, 1):
                yield FileRow(f"{row.location}, span {number}", span)


def _sheet(path: Path) -> Iterator[FileRow]:
    """The rows of the first sheet of an Excel file, whose first row names the columns."""
    numbered = spreadsheet.lines(path)
    _, header = next(numbered, (1, ()))
    names = ["" if name is None else str(name).strip() for name in header]
    spreadsheet.refuse_equal(path, 1, names)
    for number, cells in numbered:
        if any(cell is not None for cell in cells):
            cells_by_name = {name: cell for name, cell in zip(names, cells, strict=True) if name}
            yield FileRow(f"{path}, row {number}", cells_by_name)
