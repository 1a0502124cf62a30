"""Read the rows of a file one after another: JSON Lines, JSON, CSV, Parquet and Excel.

A row is a mapping with the place where it stands. Memory does not grow with the length of the file, but for
JSON, which is one value, and the texts of Excel.
"""

import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any

from concord.errors import ImportRefused
from concord.exchange import otlp, spreadsheet
from concord.exchange.cells import UTF_8, by_column, lines_of
from concord.exchange.dialogue import transposed
from concord.exchange.otlp import objects
from concord.files import extras, parse_json, read_text
from concord.files.limits import FILE_BYTES, RECORD
from concord.messages import equal_names
from concord.reading.delimited import encoding_of, form_of, named_records, renaming

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
PACKED = {".eval": "Inspect", ".xlsx": "Excel", ".xlsm": "Excel"}
"""The kinds of files that are ZIPs, by the endings of their names."""
AROUND = "^"
"""The name under which a row of such a document has what stands around the list."""
BATCH = 32
"""Rows of a Parquet file that are decoded at once."""
ROW_GROUP = 2**30
"""Bytes of a row group of a Parquet file, unpacked."""
LARGEST_SAMPLE = 2**28
"""Bytes of a sample of an Inspect log, unpacked."""


@dataclass(frozen=True)
class FileRow:
    """One row: the place as error messages begin, and its fields; None with the reason if it is broken.

    `size` are the bytes of a line of JSON Lines.
    """

    where: str
    fields: Mapping[str, Any] | None
    wrong: str = ""
    size: int = 0

    @property
    def whole(self) -> Mapping[str, Any]:
        """The fields. Raises ImportRefused for a row that is broken."""
        if self.fields is None:
            raise ImportRefused(f"{self.where}, {self.wrong}")
        return self.fields

    def cells(self, required: Sequence[str]) -> dict[str, str]:
        """The fields as texts, by names in lower case. Raises ImportRefused where a required one is empty."""
        cells = {
            name.strip().lower(): "" if value is None else str(value).strip()
            for name, value in self.whole.items()
        }
        if missing := [name for name in required if not cells.get(name)]:
            raise ImportRefused(f"{self.where}, has no {missing[0]}. Each row needs {', '.join(required)}.")
        return cells


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
    if _MESSAGE.match(text.decode(errors="replace")):
        return "WhatsApp"
    suffix, begins = path.suffix.lower(), text[:1]
    if begins == b"{":
        first, broken, rest = text.partition(b"\n")
        # An object that ends with its line begins JSON Lines, unless nothing follows and the name says JSON.
        if suffix == ".json":
            return "JSON Lines" if rest.strip() and _whole(first) else "JSON"
        return "JSON Lines" if suffix == ".jsonl" or not broken or _whole(first) else "JSON"
    if suffix in (".csv", ".tsv"):
        return "CSV"
    if begins == b"[":
        return "JSON"
    if suffix in (".yaml", ".yml"):
        raise ImportRefused(f"{path} is YAML, which Concord cannot read. Convert it to JSON.")
    return "JSON Lines" if suffix in (".json", ".jsonl", ".ndjson") else "CSV"


def _whole(line: bytes) -> bool:
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
    own = {"Parquet": _parquet, "Excel": _sheet, "Inspect": _inspect, "WhatsApp": _messages}
    own |= {"JSON": _document, "JSON Lines": _lines}
    return unpacked_spans(own.get(kind, _cells)(path))


def _inside(path: Path, kind: str, place: str) -> Iterator[FileRow]:
    """The objects at a place in a file, each with what stands around it there."""
    outer: Iterator[FileRow]
    if kind == "JSON":
        whole = document(path)
        listed = whole if isinstance(whole, list) else [whole]
        outer = (
            FileRow(f"{path}, entry {n}", each) for n, each in enumerate(listed, 1) if isinstance(each, dict)
        )
    else:
        outer = read(path, kind)
    some = False
    for row in outer:
        inner: Any = row.fields or {}
        names = [place] if place in inner else place.split(".")
        for name in names:
            inner = inner.get(name) if isinstance(inner, dict) else None
        rows = objects(list(inner.values()) if _of_objects(inner) else inner)
        rows = rows or ([inner] if isinstance(inner, dict) and inner else [])
        around = {name: value for name, value in (row.fields or {}).items() if name != names[0]}
        for number, fields in enumerate(rows, 1):
            some = True
            yield FileRow(f"{row.where}, {place} {number}", {**fields, AROUND: around} if around else fields)
        if row.fields is None:
            yield row
    if not some:
        raise ImportRefused(
            f"--rows {place}: {path} has no list of objects there. Give its path as names joined by dots."
        )


def _of_objects(value: Any) -> bool:
    """Whether an object holds nothing but objects, such as rows by their ids."""
    return (
        isinstance(value, dict) and len(value) > 1 and all(isinstance(each, dict) for each in value.values())
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
                yield FileRow(f"{row.where}, span {number}", span)


def _json(text: str) -> Any:
    """A value of JSON; NaN and Infinity, as Python writes them, are missing. Raises ValueError."""
    try:
        return parse_json(text)
    except ValueError:
        if "NaN" not in text and "Infinity" not in text:
            raise
    return parse_json(json.dumps(json.loads(text, parse_constant=lambda _: None)))


def _lines(path: Path) -> Iterator[FileRow]:
    with _opened(path), path.open("rb") as file:
        for number, raw in enumerate(lines_of(file, str(path), RECORD), 1):
            row = of_line(raw, f"{path}, line {number}", first=number == 1)
            if row is not None:
                yield row


def of_line(raw: bytes, where: str, *, first: bool) -> FileRow | None:
    """The row of a line of JSON Lines, which may be the `first` of its file; None for an empty one."""
    try:
        line = raw.decode("utf-8-sig" if first else "utf-8").strip()
        fields = _json(line) if line else None
    except UnicodeDecodeError:
        return FileRow(where, None, "is not UTF-8. Save the file as UTF-8.")
    except ValueError as error:
        return FileRow(where, None, f"is not valid JSON ({error}). Every line must be one JSON object.")
    if isinstance(fields, dict):
        return FileRow(where, fields, size=len(raw))
    return FileRow(where, None, "is not a JSON object. Every line must be one.") if line else None


def _document(path: Path) -> Iterator[FileRow]:
    whole = document(path)
    if isinstance(whole, dict) and "eval" in whole and "status" in whole and not whole.get("samples"):
        raise ImportRefused(f"{path}: the run of Inspect ({whole['status']}) has no samples. Run it again.")
    around: Mapping[str, Any] = {}
    rows = whole
    if isinstance(whole, dict):
        there = (place for place in LISTS if SIBLINGS.get(place, place.partition("/")[0]) in whole)
        place = next((place for place in there if objects(at(whole, place))), "")
        rows = at(whole, place) if place else _of_columns(whole) or _by_name(whole) or [whole]
        around = {name: value for name, value in whole.items() if place and value is not rows}
        if "/" in place:
            outer, _, inner = place.partition("/")
            around[outer] = {name: value for name, value in whole[outer].items() if name != inner}
    if not isinstance(rows, list):
        raise ImportRefused(
            f"{path} holds neither a list of objects nor an object. Save one row as an object."
        )
    for number, fields in enumerate(rows, 1):
        where = f"{path}, entry {number}"
        if objects(fields):
            fields = {"messages": fields}
        if isinstance(fields, dict):
            yield FileRow(where, {**fields, AROUND: around} if around else fields)
        else:
            wrong = 'is not an object. Write each entry as one, such as {"prompt": "…", "response": "…"}.'
            yield FileRow(where, None, wrong)


_BETWEEN = re.compile(r"(?<=^\})\s*(?=^\{)", re.M)
"""Where one object ends and the next begins in a file of several, each on lines of its own."""


def document(path: Path) -> Any:
    """The value that a JSON file holds; a list of them where there are several objects."""
    text = read_text(path, ImportRefused)
    try:
        parts = _BETWEEN.split(text)
        return [_json(part) for part in parts] if len(parts) > 1 else _json(text)
    except ValueError as error:
        raise ImportRefused(f"{path} is not valid JSON: {error}.") from error


def _by_name(whole: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of an object whose values are objects with the same fields, each with its name as `key`; []
    for any other object.
    """
    values = [value for value in whole.values() if isinstance(value, dict)]
    alike = (
        len(values) > 1 and len(values) == len(whole) and all(v.keys() == values[0].keys() for v in values)
    )
    texts = alike and any(isinstance(value, str | list) for value in values[0].values())
    return [{"key": name, **value} for name, value in whole.items()] if texts else []


def _of_columns(whole: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a data frame that pandas wrote by columns, or of a table whose rows are lists under names.

    [] for any other object.
    """
    names, data = whole.get("columns"), whole.get("data")
    if isinstance(names, list) and isinstance(data, list) and all(isinstance(row, list) for row in data):
        return [dict(zip(map(str, names), row, strict=False)) for row in data]
    columns = list(whole.values())
    listed = transposed(whole) if len(columns) > 1 else []
    if listed and not any(isinstance(cell, dict | list) for row in listed for cell in row.values()):
        return listed
    if not all(isinstance(column, dict) and column.keys() == columns[0].keys() for column in columns):
        return []
    numbers = list(columns[0]) if columns else []
    if not all(number.isdecimal() for number in numbers):
        return []
    return [{name: column[number] for name, column in whole.items()} for number in numbers]


def at(whole: Any, place: str) -> Any:
    """What lies in a document at a path, whose parts a slash divides; None for nothing."""
    for name in place.split("/"):
        whole = whole.get(name) if isinstance(whole, dict) else None
    return whole


def _cells(path: Path) -> Iterator[FileRow]:
    numbered = named_records(path)
    number, header = next(numbered, (1, []))
    if not any(header):
        raise ImportRefused(f"{path} is empty. Its first line must name the columns.")
    columns = header
    outputs = [place for place, name in enumerate(columns) if _OUTPUT.fullmatch(name)]
    for name in filter(None, columns[: outputs[0]] if outputs else columns):
        if columns.count(name) > 1:
            command = renaming(path, form_of(path))
            raise ImportRefused(equal_names(f"{path}, line {number}", name, command))
    for number, cells in numbered:
        where = f"{path}, line {number}"
        try:
            if outputs and len(cells) == len(columns):
                beside = by_column(where, columns[: outputs[0]], cells[: outputs[0]])
                yield FileRow(where, {**beside, OUTPUTS: list(_outputs(columns, cells, outputs, beside))})
            else:
                yield FileRow(where, by_column(where, columns, cells))
        except ImportRefused as error:
            yield FileRow(where, None, str(error).removeprefix(where).lstrip(", "))


OUTPUTS = "promptfoo outputs"
"""The name under which a row of promptfoo's table has what its models replied."""
_OUTPUT = re.compile(r"\[([^\]]+)\] (.*)", re.S)
_REPLY = re.compile(
    r"\[(PASS|FAIL|ERROR)\] (?:\((-?[\d.]+)[^)\n]*\)\n\n)?(.*?)(?:\n\n(?:Pass|Fail) Reason: (.*))?", re.S
)
"""What a cell holds where the table has no columns for the score and its reasons."""


FILLED = "filled prompt"
"""The name under which a reply in it has its prompt, with the row's variables in the template."""
_VARIABLE = re.compile(r"\{\{-?\s*([\w.-]+?)\s*-?\}\}")


def _outputs(
    columns: list[str], cells: list[str], places: list[int], variables: Mapping[str, str]
) -> Iterator[dict[str, str]]:
    """The replies in a row of promptfoo's table: a column each, followed by what is said of it."""
    for place, end in zip(places, [*places[1:], len(cells)], strict=True):
        head, text = _OUTPUT.fullmatch(columns[place]), cells[place]
        about = dict(zip(columns[place + 1 : end], cells[place + 1 : end], strict=True))
        if "Status" not in about and (parts := _REPLY.fullmatch(text)):
            text = parts[3]
            reason = parts[4] or about.get("Grader Reason", "")
            about |= {"Status": parts[1], "Score": parts[2] or "", "Grader Reason": reason}
        if head is not None and text:
            filled = _VARIABLE.sub(lambda named: variables.get(named[1], named[0]), head[2])
            yield {"player": head[1], "prompt": head[2], FILLED: filled, "text": text, **about}


_MESSAGE = re.compile(
    r"\u200e?\[?(\d{1,4}[./-]\d{1,2}[./-]\d{1,4},? \d{1,2}[:.]\d\d(?:[:.]\d\d)?(?:\s?[APap]\.?[Mm]\.?)?)"
    r"(?:\]| -) (?:([^:\n]{1,80}): )?(.*)",
    re.S,
)
"""The first line of a message as WhatsApp exports it: when, who unless it is a notice, and what was said."""


def _messages(path: Path) -> Iterator[FileRow]:
    """The messages of a chat that WhatsApp exported as text; a line without a date goes on with one."""
    where, message = "", dict[str, str]()
    lines = read_text(path, ImportRefused).replace("\r\n", "\n").removesuffix("\n").split("\n")
    for number, line in enumerate([*lines, None], 1):
        if line is not None and not (parts := _MESSAGE.fullmatch(line)):
            message["text"] += f"\n{line}"
            continue
        if message:
            yield FileRow(where, message)
        if line is not None and parts:
            where = f"{path}, line {number}"
            message = {"sent": parts[1], **({"speaker": parts[2]} if parts[2] else {}), "text": parts[3]}


def check_parquet(path: Path, file: Any) -> None:
    """Raise ImportRefused for a Parquet file that unpacks to far more than it takes."""
    total, size = file.metadata.num_rows, path.stat().st_size
    if total > size:  # equal rows are packed into almost nothing, and take minutes to be read
        raise ImportRefused(
            f"{path} has {total:,} rows in {size:,} bytes. Concord reads at most one row per byte."
        )
    for group in range(file.metadata.num_row_groups):
        if (size := file.metadata.row_group(group).total_byte_size) > ROW_GROUP:
            raise ImportRefused(
                f"{path}: the row group {group + 1} takes {size:,} bytes unpacked. Write it with "
                "smaller row groups."
            )


def _parquet(path: Path) -> Iterator[FileRow]:
    extras.require("pyarrow", purpose=f"{path} is Parquet: reading it")
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with _opened(path), parquet.ParquetFile(path, pre_buffer=False) as file:
            check_parquet(path, file)
            number = 0
            for batch in file.iter_batches(BATCH, use_threads=False):
                if batch.nbytes > BATCH * RECORD:
                    raise ImportRefused(f"{path}: the rows after row {number} are too large to be read.")
                for fields in batch.to_pylist():
                    number += 1
                    yield FileRow(f"{path}, row {number}", fields)
    except (pa.ArrowException, OSError, ValueError, UnicodeDecodeError) as error:
        raise ImportRefused(
            f"{path} is not a complete Parquet file: {str(error).splitlines()[0][:200]}. Copy or create "
            "the file again."
        ) from error


def _inspect(path: Path) -> Iterator[FileRow]:
    """The samples of an Inspect log, read by Inspect itself, one after another."""
    try:
        from inspect_ai.log import read_eval_log, read_eval_log_samples
    except ImportError:
        raise ImportRefused(
            f"{path} is a log of Inspect. Install Concord with its extra “inspect”, or convert the log "
            "with `inspect log convert --to json`."
        ) from None
    try:
        with zipfile.ZipFile(path) as archive:
            for part in archive.infolist():
                if part.file_size > LARGEST_SAMPLE:
                    raise ImportRefused(f"{path}: {part.filename} takes {part.file_size:,} bytes unpacked.")
            samples = sum(part.filename.startswith("samples/") for part in archive.infolist())
        header = read_eval_log(str(path), header_only=True)
        if not samples:
            raise ImportRefused(f"{path}: the run of Inspect ({header.status}) has no samples. Run it again.")
        reason = header.error.message if header.error else ""
        around = {
            AROUND: {
                "status": header.status,
                "error": {"message": reason},
                "eval": {"model": header.eval.model, "task": header.eval.task},
            }
        }
        left_out = {"events", "store", "attachments"}
        listed = header.eval.dataset.sample_ids is not None  # older logs are not read sample by sample
        for number, sample in enumerate(
            read_eval_log_samples(str(path), all_samples_required=False, resolve_attachments=True)
            if listed
            else read_eval_log(str(path), resolve_attachments=True).samples or (),
            1,
        ):
            fields = json.loads(sample.model_dump_json(exclude=left_out))
            yield FileRow(f"{path}, sample {number}", {**fields, **around})
    except (OSError, ValueError, KeyError, RuntimeError, zipfile.BadZipFile) as error:
        message = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise ImportRefused(
            f"{path} is not a log that Inspect can read: {message}. Copy or create the file again."
        ) from error


def _sheet(path: Path) -> Iterator[FileRow]:
    """The rows of the first sheet of an Excel file, whose first row names the columns."""
    numbered = spreadsheet.lines(path)
    _, header = next(numbered, (1, ()))
    names = ["" if name is None else str(name).strip() for name in header]
    spreadsheet.refuse_equal(path, 1, names)
    for number, cells in numbered:
        if any(cell is not None for cell in cells):
            named = {name: cell for name, cell in zip(names, cells, strict=True) if name}
            yield FileRow(f"{path}, row {number}", named)


@contextmanager
def _opened(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ImportRefused(f"{path} cannot be read: {error.strerror or error}.") from error
