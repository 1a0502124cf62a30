"""The records of a file: a row each, or the rows of one conversation together, with what other files add.

What has to be found again is kept on the disk, so that memory does not grow with the files.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from concord.errors import ImportRefused
from concord.exchange import rows, spans
from concord.exchange.embedded_text import parsed
from concord.exchange.file_row import FileRow
from concord.exchange.row_paths import Paths, first
from concord.exchange.shapes import ROWS, JoinedFile, Shape, SpanRows, Turns, forms, has, shape_of
from concord.files.limits import RECORD
from concord.store.seen import TextsByKey, kept

ONE_CONVERSATION = "*"
"""The key of the rows of a file that is one conversation."""
Unused = Counter[str]
"""How many rows of each joined file belong to no row of the first."""


def read(
    path: Path,
    kind: str,
    shape: Shape,
    joins: Sequence[Path] = (),
    unused: Unused | None = None,
    place: str = "",
) -> Iterator[FileRow]:
    """The records of a file, or of what lies at a place in it, in its order.

    Raises ImportRefused where the rest of it cannot be read.
    """
    with ExitStack() as stack:
        joined_files = [_joined_file(join, stack.enter_context(kept())) for join in joins]
        records = shaped(rows.read(path, kind, place), shape, joined_files)
        if shape.nested is not None:
            records = _outermost(records, shape.nested)
        if shape.spans:
            yield from spans.conversations(records)
        else:
            yield from records if shape.turns is None else _gathered(records, shape.turns)
        if unused is not None:
            unused.update(
                {str(join): texts.unused() for join, (_, texts) in zip(joins, joined_files, strict=True)}
            )


def names_of_joins(joins: Sequence[Path]) -> dict[str, None]:
    """The names under which rows have what these files add to them."""
    additions = [
        one
        for path in joins
        for row in islice(rows.read(path), 1)
        for one in forms().joins
        if row.fields and has(_by_old_names(row.fields), one)
    ]
    return dict.fromkeys(one.field for one in additions)


def shape_of_spans(joins: Sequence[Path]) -> Shape | None:
    """The form of spans whose messages stand in the log records of these files; None where none has some."""
    for path in joins:
        for row in islice(rows.read(path), 200):
            shape = shape_of(row.fields) if row.fields else None
            if shape is not None and shape.spans:
                return shape
    return None


def shaped(
    file_rows: Iterator[FileRow], shape: Shape, joined_files: Sequence[tuple[JoinedFile, TextsByKey]] = ()
) -> Iterator[FileRow]:
    """The rows of a file with what belongs to them in others, without the fields that are excluded."""
    for row in file_rows:
        if shape.log and not shape.spans and row.fields is not None and not has(row.fields, shape):
            continue
        if row.fields is None or not (shape.excluded or joined_files):
            yield row
            continue
        fields = {name: value for name, value in row.fields.items() if name not in shape.excluded}
        for form, texts in joined_files:
            fields.setdefault(form.field, None)
            if joined_rows := _belonging(fields, form, texts):
                old = fields.get(form.field)
                listed = [*(old if isinstance(old, list) else []), *joined_rows]
                fields[form.field] = listed if form.as_list else joined_rows[-1]
        yield replace(row, fields=fields)


def _belonging(fields: Mapping[str, Any], form: JoinedFile, texts: TextsByKey) -> list[Any]:
    """The rows of a joined file that belong to a row."""
    key = _key(fields, form.row_key)
    part = _key(fields, form.part)
    if part in ("", key):
        return [json.loads(text) for _, text in texts.of(key)] if key else []
    outermost = first(fields, form.parent) is None

    def is_about(text: str) -> bool:
        subject = _key(json.loads(text), form.subject)
        return subject == part or (not subject and outermost)

    return [json.loads(text) for name in filter(None, (key, part)) for _, text in texts.of(name, is_about)]


def _outermost(records: Iterator[FileRow], form: SpanRows) -> Iterator[FileRow]:
    """Rows without those that are spans inside of others, with the scores that these have of them."""
    with kept() as spans, kept() as scores, kept() as roots:
        for row in records:
            if (fields := row.fields) is None:
                yield row
                continue
            kind = _key(fields, form.type)
            parent = _key(fields, form.parent)
            if parent and kind in form.scorers:
                reason = first(fields, form.reason)
                values = parsed(fields.get(form.scores))
                for name, value in values.items() if isinstance(values, Mapping) else ():
                    entry = {"name": name, "value": value, "why": reason}
                    scores.add(parent, row.location, json.dumps(entry, default=str))
                continue
            root = _key(fields, form.root)
            if not parent and kind in form.closed:
                roots.add(root, "", "")
            spans.add(
                ONE_CONVERSATION,
                row.location,
                json.dumps([root if parent else "", dict(fields), row.size], default=str),
            )
        for place, text in spans.every_text():
            root, fields, size = json.loads(text)
            if root and roots.of(root):
                continue
            values = parsed(fields.get(form.scores))
            names = values if isinstance(values, Mapping) else {}
            entries = [json.loads(entry) for _, entry in scores.of(_key(fields, form.id))]
            entries = [entry for entry in entries if names.get(entry["name"]) is None]
            yield FileRow(place, {**fields, form.name: entries} if entries else fields, size=size)


def _gathered(records: Iterator[FileRow], turns: Turns) -> Iterator[FileRow]:
    """The rows of each conversation as one record: their fields that are equal, and all of them at “rows”."""
    with kept() as texts:
        for row in records:
            key = _key(row.fields or {}, turns.conversation) if turns.conversation else ONE_CONVERSATION
            if row.fields is None or not key:
                yield (
                    row
                    if row.fields is None
                    else FileRow(row.location, None, f"has no {turns.conversation[0]}.")
                )
                continue
            texts.add(key, row.location, json.dumps(_turn(row.fields, turns), default=str))
        for key in texts.every_key():
            row_texts = texts.of(key)
            location = row_texts[0][0]
            if sum(len(text) for _, text in row_texts) > RECORD:
                yield FileRow(
                    location, None, f"begins a conversation longer than {RECORD:,} characters. Cut it."
                )
                continue
            turn_rows = [json.loads(text) for _, text in row_texts]
            turn_rows.sort(key=lambda fields: _place(first(fields, turns.order)))
            constant = {
                n: v for n, v in turn_rows[0].items() if all(n in row and row[n] == v for row in turn_rows)
            }
            yield FileRow(location, {**constant, ROWS: turn_rows})


def _turn(fields: Mapping[str, Any], turns: Turns) -> Mapping[str, Any]:
    """A row as a message: who speaks and what under the names that every message has."""
    paths_by_name = {
        name: paths for name, paths in (("role", turns.speaker), ("content", turns.text)) if paths
    }
    read = {path for paths in paths_by_name.values() for path in paths}
    rest = {name: value for name, value in fields.items() if name not in read}
    return {**rest, **{name: first(fields, paths) for name, paths in paths_by_name.items()}}


def _place(value: Any) -> tuple[int, float, str]:
    """What rows are sorted by: numbers, also those in texts, before other texts."""
    try:
        return 0, float(value), ""
    except (TypeError, ValueError):
        return 1, 0, "" if value is None else str(value)


def _joined_file(path: Path, texts: TextsByKey) -> tuple[JoinedFile, TextsByKey]:
    """What a file adds to the rows of another, and its rows by their keys. Raises ImportRefused."""
    file_rows = rows.read(path)
    first_rows = list(islice(file_rows, 20))
    form = next(
        (one for one in forms().joins if first_rows and has(_by_old_names(first_rows[0].complete), one)), None
    )
    if form is None:
        form_names = ", ".join(one.name for one in forms().joins)
        raise ImportRefused(f"--join {path}: its rows must belong to the rows of one of: {form_names}.")
    for row in (row for part in (first_rows, file_rows) for row in part):
        fields = _by_old_names(row.complete)
        texts.add(_key(fields, form.key), row.location, json.dumps(fields, default=str))
    return form, texts


def _by_old_names(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row, with the ids of what it is about where Langfuse's newer scores have them in a `subject`."""
    subject = fields.get("subject")
    if not isinstance(subject, Mapping) or not isinstance(kind := subject.get("kind"), str):
        return fields
    trace = first(subject, ("traceId", "trace_id"))
    return {**fields, **({"traceId": trace} if trace else {}), f"{kind}Id": subject.get("id")}


def _key(fields: Mapping[str, Any], paths: Paths) -> str:
    value = first(fields, paths)
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
