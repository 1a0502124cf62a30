"""A command for a file of an unknown form: where its conversations may be, by its first rows.

It is a suggestion that reads the file and stores nothing; the user knows which field is what.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from concord.errors import ImportRefused
from concord.exchange import dialogue
from concord.exchange.dialogue import SPEAKERS
from concord.exchange.embedded_text import parsed, talk
from concord.exchange.file_row import AROUND
from concord.exchange.otlp import objects
from concord.exchange.rows import lists_inside
from concord.exchange.shapes import shape_of

LABELS = ("id", "key", "uid", "uuid", "model", "name", "title", "language", "lang", "source", "split")
"""Names of fields that are no words of a dialogue."""
REPLIES = ("output", "response", "answer", "reply", "completion", "generation", "assistant")
"""Names of fields that hold a reply."""
SAMPLED = 20
"""Entries of a list inside a row that are looked at."""
DEPTH = 3
"""Objects inside of objects whose texts are looked at."""
Fields = Mapping[str, Any]


def command(path: Path, rows: Sequence[Fields], place: str = "") -> str:
    """The command that reads a file with these first rows; “” where no field holds a text."""
    ways = _options(rows)
    if not ways:
        return ""
    options = [*(("--rows", place) if place else ()), *ways]
    return shlex.join(["concord", "import", "conversations", str(path), *options, "--check"])


def _options(rows: Sequence[Fields]) -> list[str]:
    row = rows[0]
    for name in lists_inside(row):
        entries = [entry for entry in objects(_inner(row, name)) if entry]
        if entries and shape_of(entries[0]) is not None and not _speakers(entries[:SAMPLED]):
            return ["--rows", name]
    if turns := _turns(rows):
        return _mapped(turns)
    for name, value in _leaves(row):
        if isinstance(value, str) and isinstance(talk(value), list):
            return _mapped({"talk": name})
    texts = [name for name, value in _leaves(row) if _is_text(value) and name.lower() not in LABELS]
    for name, value in _leaves(row):
        entries = objects(parsed(value))
        if speakers := _speakers(entries):
            replies = any(SPEAKERS.get(speaker.lower()) == "assistant" for speaker in speakers)
            if replies:
                return _mapped({"messages": name})
            if len(speakers) > 1:
                return [
                    *_mapped({"messages": name}),
                    "--role",
                    f"{speakers[-1]}=assistant",
                    "--role",
                    "*=user",
                ]
            answers = [text for text in texts if text != name]
            replies_named = [text for text in answers if text.rpartition(".")[2].lower() in REPLIES]
            reply = next(iter(replies_named), answers[-1] if answers else "")
            return _mapped({"messages": name, "assistant": reply}) if reply else []
    if len(texts) > 1:
        return _mapped({"user": texts[0], "assistant": texts[1]})
    for name in lists_inside(row):
        entries = [entry for entry in objects(_inner(row, name)) if entry]
        if not entries:
            continue
        turns = _turns(entries, row)
        inner = _mapped(turns) if turns else _options(entries[:SAMPLED])
        if inner:
            return ["--rows", name, *inner]
    return []


def _mapped(places: Mapping[str, str]) -> list[str]:
    return [word for name, path in places.items() for word in ("--map", f"{name}={path}")]


def _leaves(fields: Fields, depth: int = DEPTH) -> Iterator[tuple[str, Any]]:
    """The paths of values that are no objects, the outermost first."""
    for name, value in fields.items():
        if name != AROUND and not isinstance(value, Mapping):
            yield str(name), value
    for name, value in fields.items():
        if name != AROUND and isinstance(value, Mapping) and depth > 1:
            yield from ((f"{name}.{path}", leaf) for path, leaf in _leaves(value, depth - 1))


def _inner(fields: Any, path: str) -> Any:
    if isinstance(fields, Mapping) and path in fields:
        return fields[path]
    name, _, rest = path.partition(".")
    return _inner(fields.get(name), rest) if isinstance(fields, Mapping) and rest else None


def _is_text(value: Any) -> bool:
    """Whether a value is something that somebody may have said: no number and no date."""
    if not isinstance(value, str) or not value.strip():
        return False
    return not value.replace(".", "").replace("-", "").replace(":", "").strip().isdecimal()


def _speakers(entries: Sequence[Fields]) -> list[str]:
    """Who speaks in a list of messages, in their order; [] for a list of other things."""
    try:
        utterances = dialogue.utterances(entries, "", {**SPEAKERS, "*": "user"}) if entries else []
    except ImportRefused:
        return []
    names = ("role", "from", "sender", "speaker", "author", "type")
    speakers = [next((entry[n] for n in names if isinstance(entry.get(n), str)), "") for entry in entries]
    return list(dict.fromkeys(filter(None, speakers))) if utterances else []


def _turns(rows: Sequence[Fields], around: Fields | None = None) -> dict[str, str]:
    """The columns of a table with a turn a row: a speaker, a text, and a conversation that comes again, or
    that is named around the rows.
    """
    columns: dict[str, list[Any]] = {
        name: [row.get(name) for row in rows]
        for name in rows[0]
        if name != AROUND and not isinstance(rows[0][name], Mapping | list)
    }
    speaker = next((n for n, values in columns.items() if all(map(_is_speaker, values))), "")
    rest = {name: values for name, values in columns.items() if name != speaker}
    repeated = {name: len(set(values)) for name, values in rest.items() if len(set(values)) < len(values)}
    texts = [name for name, values in rest.items() if all(map(_is_text, values)) and name not in repeated]
    if not speaker or not texts or len(rows) < 2:
        return {}
    labels = (f"{AROUND}.{n}" for n, value in (around or {}).items() if isinstance(value, str | int))
    conversation = next(iter(repeated), "") if around is None else next(labels, "")
    if not conversation:
        return {}
    numbers = [n for n, values in rest.items() if n != conversation and all(map(_is_number, values))]
    order = {"order": numbers[0]} if numbers else {}
    return {"conversation": conversation, "speaker": speaker, "text": texts[0], **order}


def _is_speaker(value: Any) -> bool:
    return isinstance(value, str) and value.strip().lower() in SPEAKERS


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and value.strip().isdecimal())
