"""The dialogue of one side of a row: messages, or texts that two say by turns, and who replies."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from concord.conversation import Message, Role
from concord.errors import ImportRefused
from concord.exchange import dialogue
from concord.exchange.cells import name_in, nfc
from concord.exchange.dialogue import SPEAKERS, Utterance
from concord.exchange.message_tree import LINKS
from concord.exchange.row_paths import part_at
from concord.exchange.row_reader import Reading, RowReader, short_text, unused_paths
from concord.exchange.shapes import Side
from concord.files import has_half_characters

_ONE_TEXT = (
    "content",
    "text",
    "input",
    "question",
    "query",
    "prompt",
    "output",
    "answer",
    "response",
    "result",
    "generations",
    "message",
)


class NoReply(ImportRefused):
    """A dialogue without a reply."""


def dialogue_of_side(
    reader: RowReader, side: Side, reading: Reading, location: str
) -> tuple[str, tuple[Message, ...]]:
    """Who replies in a dialogue of a row, and its messages: lists one after another, then texts by turns.

    They are joined together, so that a call in one list and its result in the next belong to one reply.
    """
    utterances = list[Utterance]()
    spoken: list[tuple[Role, list[str]]] = []
    for role, paths in side.parts:
        path, value = part_at(reader.fields, paths, role)
        if value is None:
            continue
        reader.take(path, "messages" if path in (*side.messages, *side.talk) else role)
        reader.spoken.add(path)
        if texts := _texts(value):
            spoken.append((role, texts))
            continue
        additions = _utterances(value, role, reader, path, reading, location)
        begins = bool(utterances) and _words(additions[: len(utterances)]) == _words(utterances)
        utterances = additions if begins else [*utterances, *additions]
    # A list of texts by turns is what came before: a question that it holds too is asked again.
    history = any(path in reader.spoken for path in side.talk) and bool(utterances)
    has_answer = history and any(role == "assistant" for role, _ in spoken)
    present = [] if history or not spoken else _words(utterances)
    for turn in range(max((len(texts) for _, texts in spoken), default=0)):
        for role, texts in spoken:
            if turn < len(texts):
                if role != "assistant" and (role, texts[turn], ()) in present:
                    continue  # the list of messages begins with the prompt
                # A system prompt, or the question to an answer that is a message, comes first.
                systems = sum(utterance.message.role == "system" for utterance in utterances)
                first_place = role == "system" or (role == "user" and not has_answer)
                place = systems if first_place and turn == 0 else len(utterances)
                utterances.insert(place, Utterance(Message(role, texts[turn])))
    messages = dialogue.joined_messages(utterances)
    if not messages:
        raise ImportRefused(f"{location}: the dialogue is empty. Remove the row.")
    if not any(m.role == "assistant" for m in messages):
        raise NoReply(
            f"{location}: the dialogue has no reply. Remove the row, or set the role of the speaker."
        )
    if has_half_characters("".join([m.content for m in messages])):
        raise ImportRefused(f"{location}: a text has an incomplete character (a lone surrogate). Remove it.")
    name = reader.first(side.player, "player")
    player = side.unnamed
    if name is not None:
        player = name if isinstance(name, str) else short_text(name)
    return nfc(name_in(location, "player", player.strip() or side.unnamed)), messages


def _words(utterances: Sequence[Utterance]) -> list[tuple[Role, str, tuple[str, ...]]]:
    return [(message.role, message.content, calls) for message, calls in utterances]


def _texts(value: Any) -> list[str]:
    """Plain texts; [] for messages."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and all(text is None or isinstance(text, str) for text in value):
        return [text or "" for text in value]
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict | list):
        return []
    if isinstance(value, int | float):
        return [str(value)]
    return []


def _utterances(
    value: Any, role: Role, reader: RowReader, path: str, reading: Reading, location: str
) -> list[Utterance]:
    """What is said in a value that is no text: messages, one of them, or an object that holds some."""
    roles = reading.speakers
    entries = list[Any]()
    if isinstance(value, list) and value and all(map(is_part, value)):
        entries = [{"role": role, "content": value}]
        roles = SPEAKERS
    elif isinstance(value, list):
        entries = [entry for item in value for entry in (item if isinstance(item, list) else [item])]
    elif not isinstance(value, Mapping):
        return [Utterance(Message(role, str(value)))]
    elif (listed := dialogue.transposed(value)) and is_message(listed[0]):
        entries = listed
    elif is_message(value):
        entries = [value]
    else:
        name, inner = inside(value)
        reader.leave(path, unused_paths(value, {name}) if name else ())
        texts = _texts(inner) if name else [json.dumps(value, ensure_ascii=False, default=str)]
        utterances = [Utterance(Message(role, text)) for text in texts]
        return utterances or _utterances(inner, role, reader, f"{path}.{name}", reading, location)
    left = set[str]()
    utterances = dialogue.utterances(entries, location, roles, left)
    reader.leave(path, sorted(left.difference(LINKS) if reader.threads else left))
    return utterances


_PARTS = ("text", "tool_use", "thinking", "redacted_thinking", "image", "image_url", "output_text")


def is_part(value: Any) -> bool:
    """Whether something is a part of one message, which does not say who speaks."""
    if not isinstance(value, Mapping) or any(
        value.get(n) for n in (*dialogue.SPEAKS, *dialogue.SLACK_SPEAKS)
    ):
        return False
    return value.get("type") in _PARTS or ("type" not in value and isinstance(value.get("text"), str))


def is_message(value: Mapping[str, Any]) -> bool:
    """Whether an object is a message, which says who speaks or of which type it is."""
    if inside(value)[0] not in (*_ONE_TEXT, ""):
        return False
    names_speaker = any(isinstance(value.get(name), str) for name in ("role", "from", "sender", "speaker"))
    typed = isinstance(value.get("type"), str) and ("content" in value or "data" in value)
    return names_speaker or typed or "lc" in value or "kwargs" in value


def inside(value: Mapping[str, Any]) -> tuple[str, Any]:
    """Where in an object its messages or its text lie, and what lies there; “” where the object is all."""
    if isinstance(inner := value.get("messages"), list) and inner:
        return "messages", inner
    if isinstance(inner := value.get("choices"), list) and inner and isinstance(inner[0], Mapping):
        kind = "message" if "message" in inner[0] else "text"
        return f"choices.0.{kind}", inner[0].get(kind)
    if value.keys() <= {"value", "type"} and value.get("value") not in (None, ""):
        return "value", value["value"]
    inside = ((name, value.get(name)) for name in _ONE_TEXT)
    return next(((name, inner) for name, inner in inside if inner not in (None, "")), ("", None))


def messages_until(messages: Sequence[Message], turn: Any, location: str) -> tuple[Message, ...]:
    """A dialogue up to and with the reply in a turn."""
    number = 0
    messages_until = list[Message]()
    for message in messages:
        messages_until.append(message)
        number += message.role == "assistant"
        if message.role == "assistant" and number == turn:
            return tuple(messages_until)
    raise ImportRefused(
        f"{location}: the vote is about turn {turn!r}, but the dialogue has {number} replies."
    )
