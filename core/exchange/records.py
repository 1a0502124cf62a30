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
from concord.exchange.rows import FileRow
from concord.exchange.shapes import (
    ROWS,
    Joined,
    Paths,
    Shape,
    SpanRows,
    Turns,
    first,
    forms,
    has,
    parsed,
    shape_of,
)
from concord.files.limits import RECORD
from concord.store.seen import TextsByKey, kept

WHOLE = "*"
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
        beside = [_joined(join, stack.enter_context(kept())) for join in joins]
        records = shaped(rows.read(path, kind, place), shape, beside)
        if shape.nested is not None:
            records = _outermost(records, shape.nested)
        if shape.spans:
            yield from spans.conversations(records)
        else:
            yield from records if shape.turns is None else _gathered(records, shape.turns)
        if unused is not None:
            unused.update({str(join): there.unused() for join, (_, there) in zip(joins, beside, strict=True)})


def names_of_joins(joins: Sequence[Path]) -> dict[str, None]:
    """The names under which rows have what these files add to them."""
    additions = [
        one
        for path in joins
        for row in islice(rows.read(path), 1)
        for one in forms().joined
        if row.fields and has(_by_old_names(row.fields), one)
    ]
    return dict.fromkeys(one.put for one in additions)


def shape_of_spans(joins: Sequence[Path]) -> Shape | None:
    """The form of spans whose messages stand in the log records of these files; None where none has some."""
    for path in joins:
        for row in islice(rows.read(path), 200):
            shape = shape_of(row.fields) if row.fields else None
            if shape is not None and shape.spans:
                return shape
    return None


def shaped(
    file_rows: Iterator[FileRow], shape: Shape, beside: Sequence[tuple[Joined, TextsByKey]] = ()
) -> Iterator[FileRow]:
    """The rows of a file with what belongs to them in others, without the fields that are excluded."""
    for row in file_rows:
        if shape.log and not shape.spans and row.fields is not None and not has(row.fields, shape):
            continue
        if row.fields is None or not (shape.out or beside):
            yield row
            continue
        fields = {name: value for name, value in row.fields.items() if name not in shape.out}
        for how, there in beside:
            fields.setdefault(how.put, None)
            if joined_rows := _belonging(fields, how, there):
                old = fields.get(how.put)
                more = [*(old if isinstance(old, list) else []), *joined_rows]
                fields[how.put] = more if how.many else joined_rows[-1]
        yield replace(row, fields=fields)


def _belonging(fields: Mapping[str, Any], form: Joined, texts: TextsByKey) -> list[Any]:
    """The rows of a joined file that belong to a row."""
    key, part = _key(fields, form.to), _key(fields, form.part)
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
            kind, parent = _key(fields, form.type), _key(fields, form.parent)
            if parent and kind in form.scorers:
                reason = first(fields, form.reason)
                values = parsed(fields.get(form.scores))
                for name, value in values.items() if isinstance(values, Mapping) else ():
                    entry = {"name": name, "value": value, "why": reason}
                    scores.add(parent, row.where, json.dumps(entry, default=str))
                continue
            root = _key(fields, form.root)
            if not parent and kind in form.closed:
                roots.add(root, "", "")
            spans.add(
                WHOLE, row.where, json.dumps([root if parent else "", dict(fields), row.size], default=str)
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
    with kept() as there:
        for row in records:
            key = _key(row.fields or {}, turns.by) if turns.by else WHOLE
            if row.fields is None or not key:
                yield row if row.fields is None else FileRow(row.where, None, f"has no {turns.by[0]}.")
                continue
            there.add(key, row.where, json.dumps(_turn(row.fields, turns), default=str))
        for key in there.every_key():
            placed = there.of(key)
            where = placed[0][0]
            if sum(len(text) for _, text in placed) > RECORD:
                yield FileRow(
                    where, None, f"begins a conversation longer than {RECORD:,} characters. Cut it."
                )
                continue
            turn_rows = [json.loads(text) for _, text in placed]
            turn_rows.sort(key=lambda fields: _place(first(fields, turns.order)))
            same = {
                n: v for n, v in turn_rows[0].items() if all(n in row and row[n] == v for row in turn_rows)
            }
            yield FileRow(where, {**same, ROWS: turn_rows})


def _turn(fields: Mapping[str, Any], turns: Turns) -> Mapping[str, Any]:
    """A row as a message: who speaks and what under the names that every message has."""
    named = {name: paths for name, paths in (("role", turns.speaker), ("content", turns.text)) if paths}
    read = {path for paths in named.values() for path in paths}
    rest = {name: value for name, value in fields.items() if name not in read}
    return {**rest, **{name: first(fields, paths) for name, paths in named.items()}}


def _place(value: Any) -> tuple[int, float, str]:
    """What rows are sorted by: numbers, also those in texts, before other texts."""
    try:
        return 0, float(value), ""
    except (TypeError, ValueError):
        return 1, 0, "" if value is None else str(value)


def _joined(path: Path, there: TextsByKey) -> tuple[Joined, TextsByKey]:
    """What a file adds to the rows of another, and its rows by their keys. Raises ImportRefused."""
    file_rows = rows.read(path)
    some = list(islice(file_rows, 20))
    how = next((one for one in forms().joined if some and has(_by_old_names(some[0].whole), one)), None)
    if how is None:
        known = ", ".join(one.name for one in forms().joined)
        raise ImportRefused(f"--join {path}: its rows must belong to the rows of one of: {known}.")
    for row in (row for part in (some, file_rows) for row in part):
        fields = _by_old_names(row.whole)
        there.add(_key(fields, how.key), row.where, json.dumps(fields, default=str))
    return how, there


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
