"""Read a dialogue of another tool: a list of messages in any of the usual forms, or plain text.

A message has a “role” (or “from”, “speaker”, “type”) and a “content” (or “value”, “text”), as text or as
parts (`concord.exchange.message_parts`). Calls of tools and their results become messages of the role “tool”.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from json import JSONDecodeError
from typing import Any, NamedTuple

from concord.conversation import IMAGES, Message, Role
from concord.errors import ImportRefused
from concord.exchange.message_parts import (
    ARGUMENTS,
    PART_KINDS,
    TEXT_KINDS,
    first_value,
    part_images,
    part_text,
    tool_calls_of,
    tool_name,
    typed_parts,
)
from concord.files import parse_json

Roles = Mapping[str, Role]

SPEAKERS: dict[str, Role] = {
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("user", "human", "customer", "person", "prompter"), "user"),
    **dict.fromkeys(
        ("assistant", "model", "bot", "ai", "agent", "system agent", "gpt", "chatgpt", "chatbot", "gemini"),
        "assistant",
    ),
    **dict.fromkeys(
        ("tool", "function", "observation", "function_response", "tool_response", "tool_result"), "tool"
    ),
    **dict.fromkeys(("function_call", "tool_call"), "assistant"),
    **dict.fromkeys(("function_call_output", "functionexecutionresultmessage"), "tool"),
    **{"systemmessage": "system", "usermessage": "user", "assistantmessage": "assistant"},
}
"""The role of a speaker, by the name that files give it, in lower case."""
SPEAKS = ("role", "from", "speaker", "source", "sender", "author", "participant")
"""The names of what says who speaks."""
SLACK_SPEAKS = ("username", "user", "bot_id")
"""The names of it in Slack, which are other things elsewhere."""
_NAMED_BY = (*SPEAKS, *SLACK_SPEAKS, "type")
_FLAGS: Mapping[str, tuple[Role, Role]] = {
    **dict.fromkeys(("is_user", "isCreatedByUser"), ("assistant", "user")),
    "isBot": ("user", "assistant"),
}
"""The names of what says whether a person or a model speaks: who does where it is false, and where true."""
_SAID_IN = (
    "parts",
    "items",
    "contents",
    "content",
    "value",
    "text",
    "output",
    "arguments",
    "message",
    "utterance",
    "mes",
    "blocks",
)
_CALLS = ("function_call", "tool_call")
_MARK = "calls"
"""In a message's meta: the names of the tools that it calls."""
_THINKING = ("thinking", "reasoning", "reasoningContent")
_RESULTS = (
    "tool_result",
    "tool_return",
    "function_result",
    "function_response",
    "function_call_output",
    "tool_call_response",
)
_USES = ("tool_use", "tool_call", "function_call")
_GAVE = ("content", "output", "response", "result", "tool_result")
_READ = {
    *PART_KINDS,
    *_FLAGS,
    *_CALLS,
    "tool_calls",
    "toolInvocations",
    "additional_kwargs",
    "reasoning_content",
    "meta",
    "name",
    "function",
    "instructions",
}


class Utterance(NamedTuple):
    """A message without the calls of tools that stand in it, and these as texts."""

    message: Message
    calls: tuple[str, ...] = ()


def from_cell(text: str, location: str) -> tuple[Message, ...]:
    """The messages of a cell: a JSON list of utterances, else one reply. Raises ImportRefused."""
    value = None
    # “[laughs] Hello” is a reply like any other.
    if text.lstrip()[:1] == "[":
        try:
            value = parse_json(text)
        except JSONDecodeError:
            pass
        except ValueError as error:
            raise ImportRefused(f"{location}: the dialogue cannot be kept: {error}.") from error
    if isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):
        return tuple(
            replace(m, meta={name: v for name, v in m.meta.items() if name != IMAGES})
            for m in from_list(value, location)
        )
    return (Message("assistant", text),)


def from_list(entries: Sequence[Any], location: str, roles: Roles = SPEAKERS) -> tuple[Message, ...]:
    """The messages of a list of utterances, with their “meta” and where images lie. Raises ImportRefused."""
    return joined_messages(utterances(entries, location, roles))


def joined_messages(read: Sequence[Utterance]) -> tuple[Message, ...]:
    """Utterances as messages.

    A call of a tool that is followed by another reply becomes a message of the tool before that reply, which
    begins with the words that were said beside the call; a call that nothing follows ends the reply itself.
    """
    backwards = list[Message]()
    following: Role | None = None
    reply = 0  # the place of the reply that follows
    for message, calls in reversed(read):
        if calls and following == "assistant":
            words = filter(None, (message.content, backwards[reply].content))
            meta = dict(message.meta)
            if image_sources := {**meta.pop(IMAGES, {}), **backwards[reply].images}:
                backwards[reply] = replace(
                    backwards[reply], meta={**backwards[reply].meta, IMAGES: image_sources}
                )
            backwards[reply] = replace(backwards[reply], content="\n\n".join(words))
            backwards.append(Message("tool", "\n".join(calls), meta))
            continue
        if calls:
            message = replace(message, content="\n".join(filter(None, (message.content, *calls))))
        if message.role in ("user", "assistant"):
            following = message.role
            reply = len(backwards)
        backwards.append(message)
    return tuple(reversed(backwards))


def utterances(
    entries: Sequence[Any], location: str, roles: Roles = SPEAKERS, left: set[str] | None = None
) -> list[Utterance]:
    """What is said in a list of utterances. Raises ImportRefused.

    To `left` are added the names of the fields that hold something and are not kept. Instructions that each
    request repeats stand once.
    """
    left = set() if left is None else left
    read = list[Utterance]()
    instructions = set[str]()
    for number, entry in enumerate(entries, 1):
        if type(entry) is dict and entry.keys() == _PLAIN and (plain := _plain(entry, roles)):
            read.append(plain)
            continue
        for part in _unpacked(entry):
            if isinstance(part, Mapping) and part.get("kind") == "instructions":
                if part["content"] in instructions:
                    continue
                instructions.add(part["content"])
            read += _utterances_of(part, f"{location}, utterance {number}", roles, left)
    return read


_PLAIN = {"role", "content"}


def _plain(entry: Mapping[str, Any], roles: Roles) -> Utterance | None:
    """A message that has nothing but a usual role and a text, which most have; None for any other."""
    role = entry["role"]
    content = entry["content"]
    if type(content) is not str or role not in ("user", "assistant", "system"):
        return None
    known_role = roles.get(role)
    return Utterance(Message(known_role, content)) if known_role in ("user", "assistant", "system") else None


def _holds(value: Any) -> bool:
    return value is not None and value not in ("", [], {})


def as_list(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The messages as `from_list` reads them back."""
    return [
        {"role": m.role, "content": m.content, **({"meta": dict(m.meta)} if m.meta else {})} for m in messages
    ]


def transposed(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A list of objects that a column of Hugging Face holds as an object of equally long lists; else []."""
    lists = list(value.values())
    if not lists or not all(isinstance(column, list) and len(column) == len(lists[0]) for column in lists):
        return []
    return [dict(zip(value, column, strict=True)) for column in zip(*lists, strict=True)]


def _speaker(entry: Mapping[str, Any], roles: Roles) -> str | None:
    """Who speaks: of the names that an utterance has for it, the first that is known, else the first."""
    names = [entry[name] for name in _NAMED_BY if isinstance(entry.get(name), str)]
    known_names = (name for name in names if name in roles or name.strip().lower() in roles)
    return next(known_names, names[0] if names else None)


def _utterances_of(entry: Any, location: str, roles: Roles, left: set[str]) -> Iterator[Utterance]:
    """What an entry says: another utterance after each tool's result. `roles` has “*” for anybody."""
    if not isinstance(entry, Mapping):
        raise ImportRefused(f'{location}, must be an object such as {{"role": "user", "content": "…"}}.')
    if entry.get("type") == "reasoning":  # thoughts stand beside the message in the Responses API
        left |= {name for name in entry if name not in ("type", "id") and _holds(entry[name])}
        return
    said_in = next((name for name in _SAID_IN if entry.get(name) not in (None, [])), "")
    speaker = _speaker(entry, roles)
    spoken = entry.get(said_in)
    left |= {
        name
        for name, value in entry.items()
        if name not in (said_in, *_READ) and _holds(value) and not (name in _NAMED_BY and value == speaker)
    }
    if isinstance(spoken, Mapping) and isinstance(spoken.get("parts"), list):
        spoken = spoken["parts"]
    tool_calls = list(tool_calls_of(entry))
    if speaker is None or (spoken is None and not tool_calls) or isinstance(spoken, int | float):
        raise ImportRefused(
            f"{location}, needs a “role” (or “speaker”) and a “content” (or “text”), both of them text."
        )
    role = roles.get(speaker) or roles.get(speaker.strip().lower()) or roles.get("*")
    if role is None:
        raise ImportRefused(
            f"{location}: the speaker “{speaker[:80]}” is unknown. Name the speakers user and "
            f"assistant, or give the role with --role '{speaker[:80]}=user' (or =assistant), or "
            "the role of all others with --role '*=user'."
        )
    meta = entry.get("meta", {})
    if not isinstance(meta, Mapping):
        raise ImportRefused(f"{location}: “meta” must be an object.")
    meta = dict(meta)
    if speaker in _CALLS:
        tool_calls = [{"type": "tool_call", "name": entry.get("name"), "arguments": spoken}]
        spoken = None
    if isinstance(thinking := entry.get("reasoning_content"), str) and thinking:
        meta.setdefault("thinking", thinking)
    invoked = entry.get("toolInvocations") if said_in != "parts" else None
    tool_calls += [{"toolInvocation": item} for item in invoked] if isinstance(invoked, list) else []
    parts = [*tool_calls, *(spoken if isinstance(spoken, list) else [spoken])]
    if role == "tool" and _MARK not in meta:
        meta |= {"result": name} if (name := tool_name(entry)) else {}
    elif role in ("user", "assistant") and speaker not in _CALLS:
        speaker_name = "" if speaker.strip().lower() in SPEAKERS else speaker.strip()
        meta |= {"name": name} if (name := str(entry.get("name") or speaker_name)) else {}
    words = list[str]()
    calls = list[tuple[str, Any]]()
    for part in (typed for item in parts for typed in typed_parts(item)):
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind in _RESULTS:
            if words or calls:
                yield _utterance(role, "\n".join(words), meta, calls)
                words = []
                calls = []
                meta = {n: meta[n] for n in ("name",) if n in meta}
            content = first_value(part, _GAVE)
            result: dict[str, Any] = {"result": name} if (name := tool_name(part)) else {}
            result |= {IMAGES: image_sources} if (image_sources := part_images(content)) else {}
            yield Utterance(Message("tool", part_text(content), result))
        elif kind in _THINKING:
            thinking = part_text(first_value(part, (kind, "content", "text", "reasoningText")))
            meta["thinking"] = "\n".join(filter(None, (meta.get("thinking"), thinking)))
        elif kind in _USES:
            calls.append((tool_name(part), first_value(part, ARGUMENTS)))
        elif part is not None:
            if isinstance(part, Mapping) and kind in TEXT_KINDS:
                text_fields = {*PART_KINDS, "text" if "text" in part else "content"}
                left |= {
                    f"{said_in}.{name}" for name in part if name not in text_fields and _holds(part[name])
                }
            if text := part_text(part):
                words.append(text)
            if image_sources := part_images(part):
                meta[IMAGES] = {**meta.get(IMAGES, {}), **image_sources}
    if words or calls or not (isinstance(spoken, list) and spoken):
        yield _utterance(role, "\n".join(words), meta, calls)


def _utterance(role: Role, words: str, meta: dict[str, Any], calls: list[tuple[str, Any]]) -> Utterance:
    """An utterance with its calls of tools, which only a reply has."""
    if not calls or role != "assistant":
        return Utterance(Message(role, words, meta))
    texts = (f"{name}({part_text(arguments)})" if name else part_text(arguments) for name, arguments in calls)
    meta[_MARK] = [name for name, _ in calls if name]
    return Utterance(Message(role, words, meta), tuple(texts))


def _unpacked(entry: Any) -> Iterator[Any]:
    """An utterance as one object that says who speaks; as several where it is a request of Pydantic AI.

    The fields of LangChain's lie in “kwargs” or “data”, those of spans and logs in “message”; an author is an
    object, or a flag says whether a person speaks.
    """
    if not isinstance(entry, Mapping):
        yield entry
        return
    parts = entry.get("parts")
    kind = entry.get("kind")
    listed = parts if isinstance(parts, list) else []
    if kind in ("request", "response") and listed and all(isinstance(part, Mapping) for part in listed):
        if isinstance(entry.get("instructions"), str):
            yield {"role": "system", "content": entry["instructions"], "kind": "instructions"}
        if kind == "response":
            yield {**entry, "role": "assistant"}
        rest = {name: value for name, value in entry.items() if name not in ("parts", "instructions")}
        for part in listed if kind == "request" else ():
            speaker = {"system-prompt": "system", "user-prompt": "user"}.get(part.get("part_kind"), "tool")
            yield {**rest, **part, "role": speaker, "function": part.get("tool_name"), "tool_name": None}
        return
    inner = entry.get("kwargs", entry.get("data"))
    if isinstance(inner, Mapping):
        class_path = entry.get("id")
        by_class = (
            str(class_path[-1]).removesuffix("Chunk").removesuffix("Message").lower() if class_path else ""
        )
        role = inner.get("role") or entry.get("type") if entry.get("lc") is None else by_class
        entry = {**inner, "role": inner.get("role") or role}
    elif isinstance(inner := entry.get("message"), Mapping):
        entry = {**{name: value for name, value in entry.items() if name not in ("message", "type")}, **inner}
    elif isinstance(inner := entry.get("payload"), Mapping) and entry.get("type") == "response_item":
        entry = {**{name: value for name, value in entry.items() if name not in ("payload", "type")}, **inner}
    elif "_role" in entry or "message.role" in entry:
        entry = {name.removeprefix("_").removeprefix("message."): value for name, value in entry.items()}
    if isinstance(author := entry.get("author"), Mapping):
        class_path = author.get("nickname") or author.get("name") or entry.get("name")
        flags = {name: author[name] for name in ("role", *_FLAGS) if name in author}
        rest = {f"author.{n}": v for n, v in author.items() if n not in flags and v != class_path}
        entry = {**entry, **flags, **rest, "name": class_path, "author": None}
    for flag, speakers in _FLAGS.items():
        if isinstance(entry.get(flag), bool):
            entry = {**entry, "role": speakers[entry[flag]]}
    yield entry
