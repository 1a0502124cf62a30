"""One row of a file as Concord's nouns: its conversations, votes and scores, as its form tells."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from concord.conversation import SYSTEM_PROMPT, Conversation, Message, system_prompt
from concord.errors import ImportRefused
from concord.exchange import dialogue
from concord.exchange.cells import name_in
from concord.exchange.embedded_text import parsed
from concord.exchange.file_row import AROUND, FileRow
from concord.exchange.message_tree import flat_replies, threads_of
from concord.exchange.rating_table import ScoreRow
from concord.exchange.row_dialogue import NoReply, dialogue_of_side, messages_until
from concord.exchange.row_paths import Paths, absent, first, value_at
from concord.exchange.row_reader import FACET, Reading, RowReader, short_text
from concord.exchange.row_scores import scores_of
from concord.exchange.row_votes import votes_of
from concord.exchange.shapes import ENTRY, ROWS, Shape, failure
from concord.rating import Comparison
from concord.runs.registry import SCENARIO

_NAMES = """
english=en chinese=zh russian=ru french=fr german=de spanish=es portuguese=pt japanese=ja italian=it
korean=ko arabic=ar turkish=tr dutch=nl polish=pl vietnamese=vi ukrainian=uk indonesian=id czech=cs
hindi=hi persian=fa hebrew=he swedish=sv greek=el romanian=ro hungarian=hu danish=da finnish=fi
norwegian=no thai=th bulgarian=bg
"""
_LANGUAGES = dict(pair.split("=") for pair in _NAMES.split())
_TEXT = 500
"""Characters of a text that is kept in the metadata."""


@dataclass(frozen=True)
class Entry:
    """What one row holds, and how it was read.

    A score's rater has no name where the file does not say who gave it. `unread` are scores that are neither
    numbers nor known words, as they stand, `unknown` the criteria of scores whose scorer the file does not
    say; `line` is the row where
    Concord wrote it, which may hold other things than conversations.
    """

    conversations: tuple[Conversation, ...]
    reader: RowReader
    votes: tuple[Comparison, ...] = ()
    scores: tuple[ScoreRow, ...] = ()
    unread: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    line: FileRow | None = None
    images: Mapping[str, bytes] = field(default_factory=dict)
    """The images of its messages, by name."""
    missing_images: Sequence[str] = ()
    """Images that are not kept, with the reason."""


class SideDialogue(NamedTuple):
    """A dialogue of a row: the part of the row that it lies in, who replies, and what is said."""

    reader: RowReader
    player: str
    messages: tuple[Message, ...]


def read(fields: Mapping[str, Any], reading: Reading, location: str) -> Entry:
    """The conversations, votes and scores of a row. Raises ImportRefused."""
    shape = reading.shape
    reader = RowReader(fields, reading.shape)
    sides = _sides(reader, reading, location)
    turn = None
    if shape.votes is not None and shape.votes.turn:
        turn = reader.first((shape.votes.turn,), "turn of the vote")
    if turn is not None:
        sides = _cut(reader, sides, turn, location)
    conversations = _conversations(reader, sides, "" if turn is None else f"@{turn}", reading, location)
    votes: tuple[Comparison, ...] = ()
    if shape.votes is not None:
        parts = [side.reader for side in sides[:: len(shape.sides)]]
        votes = votes_of(reader, parts, shape.votes, conversations, reading.benchmark, location)
    scores = list[ScoreRow]()
    unread = list[str]()
    unknown = list[str]()
    if len(shape.sides) == 1:
        for side, conversation in zip(sides, conversations, strict=True):
            row_scores = scores_of(side.reader, conversation, reading)
            scores += row_scores.rows
            unread += row_scores.unread
            unknown += row_scores.unknown
    reader.first(shape.failed, "why it failed")
    if shape.turns is not None:
        row = first(fields, (f"{ROWS}.0",))
        if order := next((path for path in shape.turns.order if value_at(row, path) is not None), ""):
            reader.take(order, "order of the messages")
    return Entry(tuple(conversations), reader, votes, tuple(scores), tuple(unread), tuple(unknown))


def _sides(reader: RowReader, reading: Reading, location: str) -> list[SideDialogue]:
    """The dialogues of a row, part by part. Raises ImportRefused where none has a reply."""
    shape = reading.shape
    sides = list[SideDialogue]()
    parts = _parts(reader, location)
    for part in parts:
        try:
            sides += [
                SideDialogue(part, *dialogue_of_side(part, side, reading, location)) for side in shape.sides
            ]
        except NoReply as no_reply:
            reader.leave(reader.place, reason="parts without a reply")
            if shape.several is not None and (part is not parts[-1] or sides):
                continue
            error = failure(reader.fields, shape)
            if error in (None, "success"):
                raise
            reason = f"{location}: it has no reply, because it ended with an error: {short_text(error)}."
            raise ImportRefused(reason) from no_reply
    if not sides:
        raise NoReply(f"{location}: it has no reply. Remove the row, or set the role of the speaker.")
    return sides


def _cut(reader: RowReader, sides: Sequence[SideDialogue], turn: Any, location: str) -> list[SideDialogue]:
    """The dialogues up to the turn that a vote is about."""
    shortened = [side._replace(messages=messages_until(side.messages, turn, location)) for side in sides]
    if any(len(short.messages) < len(side.messages) for short, side in zip(shortened, sides, strict=True)):
        for side in reader.shape.sides:
            for path in side.messages:
                reader.leave(path, reason="after the turn of the vote")
    return shortened


def _conversations(
    reader: RowReader, sides: Sequence[SideDialogue], suffix: str, reading: Reading, location: str
) -> list[Conversation]:
    """A conversation for each dialogue; `suffix` ends the keys of those that are cut at a turn."""
    shape = reading.shape
    key = _key(reader) or _digest([(side.player, side.messages) for side in sides])
    players = [side.player for side in sides]
    scenario = ""
    if shape.scenario:
        scenario = short_text(reader.first(shape.scenario, "scenario"))
    elif len(sides) > 1:
        scenario = key
    language = reader.first(shape.language, "language")
    conversations = list[Conversation]()
    for place, side in enumerate(sides):
        name = key if len(sides) == 1 else f"{key}/{side.player}"
        if players.count(side.player) > 1:
            name += f"/{_MARKS[place] if place < len(_MARKS) else place + 1}"
        facets = {heading: _facet(side.reader, heading, paths) for heading, paths in shape.facets.items()}
        if scenario:
            facets[SCENARIO] = scenario + suffix
        context = _context(side.reader)
        if reading.show_system_prompt:
            context |= _prompt(side.messages)
        conversation = Conversation(
            benchmark=reading.benchmark,
            key=name_in(location, "key", f"{reading.benchmark}/{name}{suffix}"),
            player=side.player,
            messages=side.messages,
            language=_language(language, location),
            facets={heading: value for heading, value in facets.items() if value},
            context=context,
            meta=_meta(reader.fields),
        )
        conversations.append(conversation)
    if twice := [one for one in conversations[1:] if one.key == conversations[0].key]:
        raise ImportRefused(f"{location}: two conversations have the key “{twice[0].key}”.")
    return conversations


_MARKS = "abcdefghijklmnopqrstuvwxyz"


def _parts(reader: RowReader, location: str) -> list[RowReader]:
    """The row as often as it holds a conversation, with what is that one's own at “@”."""
    several = reader.shape.several
    if several is None:
        return [reader]
    value = parsed(first(reader.fields, several.entries))
    if several.threads == "replies":
        value = flat_replies(value, None)
    listed = value if isinstance(value, list) else []
    if isinstance(value, Mapping):
        listed = dialogue.transposed(value) or [*value.values()]
    if not listed:
        raise ImportRefused(
            f"{location}: there is no list at {' or '.join(several.entries)}. Remove the row."
        )
    if several.threads:
        listed = threads_of([item for item in listed if isinstance(item, Mapping)], several.threads)
    return [reader.entry(item) for item in listed if isinstance(item, Mapping | str)]


def key_of(fields: Mapping[str, Any], shape: Shape) -> str:
    """The key that a row names, without the name of its benchmark; “” where it names none."""
    return _key(RowReader(fields, shape))


def _key(reader: RowReader) -> str:
    """What the first path of a key leads to, or several with “+” between them: texts or numbers; else “”."""
    if absent(reader.fields, reader.shape.key) and not any("+" in path for path in reader.shape.key):
        return ""
    for path in reader.shape.key:
        parts = [value_at(reader.fields, part) for part in path.split("+")]
        is_key = all(
            isinstance(component, str | int) and not isinstance(component, bool) for component in parts
        )
        if is_key and (key := "/".join(str(component).strip() for component in parts)):
            for part in path.split("+"):
                reader.take(part, "key")
            return key
    return ""


def _digest(sides: Sequence[tuple[str, Sequence[Message]]]) -> str:
    """A key for a row that has none: equal rows have the same."""
    dialogues = [[player, [[m.role, m.content] for m in messages]] for player, messages in sides]
    return hashlib.sha256(json.dumps(dialogues).encode()).hexdigest()[:16]


def _language(language: Any, location: str) -> str:
    name = str(language).strip() if language is not None else "en"
    return name_in(location, "language", _LANGUAGES.get(name.lower(), name) or "en")


ALL_FIELDS = "*"
"""The path of a context that is all other fields of a row."""


def _context(reader: RowReader) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for heading, paths in reader.shape.context.items():
        if paths == (ALL_FIELDS,):
            outside = (ENTRY, AROUND, reader.place)
            values[heading] = {name: value for name, value in reader.fields.items() if name not in outside}
            for name in values[heading]:
                reader.take(name, f"context “{heading}”")
        elif not absent(reader.fields, paths):
            unspoken = tuple(path for path in paths if path not in reader.spoken)
            values[heading] = reader.first(unspoken, f"context “{heading}”")
    return {heading: _plain(value) for heading, value in values.items() if value not in (None, [], {})}


def _prompt(messages: Sequence[Message]) -> dict[str, str]:
    """The system prompt of a dialogue as context; empty without one."""
    prompt = system_prompt(messages)
    return {SYSTEM_PROMPT: prompt} if prompt else {}


def _facet(reader: RowReader, name: str, paths: Paths) -> str:
    value = reader.first(paths, f"facet “{name}”")
    if value is None:
        return ""
    if isinstance(value, Mapping) or len(" ".join(str(value).split())) > FACET:
        reader.leave(paths[0], reason=f"a facet has {FACET} characters")
    return short_text(value)


def _meta(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a row that are a single value of moderate length."""
    plain = {name: _plain(v) for name, v in fields.items() if not isinstance(v, Mapping | list | tuple)}
    return {
        name: value
        for name, value in plain.items()
        if (isinstance(value, str) and 0 < len(value) <= _TEXT) or isinstance(value, int | float)
    }


def _plain(value: Any) -> Any:
    """A value that JSON can keep."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return str(value)
