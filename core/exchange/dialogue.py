"""Read a dialogue of another tool: a list of {"role" or "speaker", "content" or "text"}, or plain text."""

from collections.abc import Mapping, Sequence
from json import JSONDecodeError
from typing import Any

from concord.conversation import Message, Role
from concord.errors import ImportRefused
from concord.files import has_half_characters, parse_json

_SPEAKERS: dict[str, Role] = {
    "system": "system",
    **dict.fromkeys(("user", "human", "customer", "person"), "user"),
    **dict.fromkeys(("assistant", "model", "bot", "ai", "agent", "system agent"), "assistant"),
}


def from_cell(text: str, where: str) -> tuple[Message, ...]:
    """The messages of a cell: a JSON list of utterances, else one reply. Raises ImportRefused."""
    value = None
    # “[laughs] Hello” is a reply like any other.
    if text.lstrip()[:1] == "[":
        try:
            value = parse_json(text)
        except JSONDecodeError:
            pass
        except ValueError as error:
            raise ImportRefused(f"{where}: the dialogue cannot be kept: {error}.") from error
    if isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):
        return from_list(value, where)
    return (Message("assistant", text),)


def from_list(entries: Sequence[Any], where: str) -> tuple[Message, ...]:
    """The messages of a list of utterances, with their “meta”. Raises ImportRefused."""
    return tuple(_message(entry, f"{where}, utterance {number}") for number, entry in enumerate(entries, 1))


def as_list(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The messages as `from_list` reads them back."""
    return [
        {"role": m.role, "content": m.content, **({"meta": dict(m.meta)} if m.meta else {})} for m in messages
    ]


def _message(entry: Any, where: str) -> Message:
    if not isinstance(entry, Mapping):
        raise ImportRefused(f'{where}, must be an object such as {{"role": "user", "content": "…"}}.')
    speaker, content = entry.get("role", entry.get("speaker")), entry.get("content", entry.get("text"))
    if not isinstance(speaker, str) or not isinstance(content, str):
        raise ImportRefused(
            f"{where}, needs a “role” (or “speaker”) and a “content” (or “text”), both of them text."
        )
    if has_half_characters(content):
        raise ImportRefused(
            f"{where}, holds half of a character (a lone surrogate), which no file can keep. Remove it."
        )
    role = _SPEAKERS.get(speaker.strip().lower())
    if role is None:
        raise ImportRefused(
            f"{where}: nobody here is called “{speaker}”. Call the speakers user and assistant."
        )
    meta = entry.get("meta", {})
    if not isinstance(meta, Mapping):
        raise ImportRefused(f"{where}: “meta” must be an object.")
    return Message(role, content, dict(meta))
