"""Read a dialogue of another tool: a list of messages in any of the usual forms, or plain text.

A message has a “role” (or “from”, “speaker”, “type”) and a “content” (or “value”, “text”), as text or as
parts. Calls of tools and their results become messages of the role “tool”; images and files are named, and
where an image lies is kept beside the message.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from json import JSONDecodeError
from typing import Any, NamedTuple

from concord.conversation import IMAGES, Message, Role
from concord.errors import ImportRefused
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
ALSO = ("username", "user", "bot_id")
"""The names of it in Slack, which are other things elsewhere."""
_NAMED_BY = (*SPEAKS, *ALSO, "type")
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
_WORDS = ("text", "input_text", "output_text")
_THOUGHT = ("thinking", "reasoning", "reasoningContent")
_RESULTS = (
    "tool_result",
    "tool_return",
    "function_result",
    "function_response",
    "function_call_output",
    "tool_call_response",
)
_USES = ("tool_use", "tool_call", "function_call")
_NAMES = ("name", "toolName", "tool_name", "function")
_GIVEN = ("input", "arguments", "args", "tool_kwargs")
_GAVE = ("content", "output", "response", "result", "tool_result")
_KINDS = ("type", "content_type", "block_type", "part_kind", "kind")
"""The names of what says of which type a part is."""
_READ = {
    *_KINDS,
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
        return tuple(
            replace(m, meta={name: v for name, v in m.meta.items() if name != IMAGES})
            for m in from_list(value, where)
        )
    return (Message("assistant", text),)


def from_list(entries: Sequence[Any], where: str, roles: Roles = SPEAKERS) -> tuple[Message, ...]:
    """The messages of a list of utterances, with their “meta” and where images lie. Raises ImportRefused."""
    return joined(utterances(entries, where, roles))


def joined(read: Sequence[Utterance]) -> tuple[Message, ...]:
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
            if shown := {**meta.pop(IMAGES, {}), **backwards[reply].images}:
                backwards[reply] = replace(backwards[reply], meta={**backwards[reply].meta, IMAGES: shown})
            backwards[reply] = replace(backwards[reply], content="\n\n".join(words))
            backwards.append(Message("tool", "\n".join(calls), meta))
            continue
        if calls:
            message = replace(message, content="\n".join(filter(None, (message.content, *calls))))
        if message.role in ("user", "assistant"):
            following, reply = message.role, len(backwards)
        backwards.append(message)
    return tuple(reversed(backwards))


def utterances(
    entries: Sequence[Any], where: str, roles: Roles = SPEAKERS, left: set[str] | None = None
) -> list[Utterance]:
    """What is said in a list of utterances. Raises ImportRefused.

    To `left` are added the names of the fields that hold something and are not kept. Instructions that each
    request repeats stand once.
    """
    left = set() if left is None else left
    read, instructions = list[Utterance](), set[str]()
    for number, entry in enumerate(entries, 1):
        if type(entry) is dict and entry.keys() == _PLAIN and (plain := _plain(entry, roles)):
            read.append(plain)
            continue
        for each in _unpacked(entry):
            if isinstance(each, Mapping) and each.get("kind") == "instructions":
                if each["content"] in instructions:
                    continue
                instructions.add(each["content"])
            read += _said(each, f"{where}, utterance {number}", roles, left)
    return read


_PLAIN = {"role", "content"}


def _plain(entry: Mapping[str, Any], roles: Roles) -> Utterance | None:
    """A message that has nothing but a usual role and a text, which most have; None for any other."""
    role, content = entry["role"], entry["content"]
    if type(content) is not str or role not in ("user", "assistant", "system"):
        return None
    known = roles.get(role)
    return Utterance(Message(known, content)) if known in ("user", "assistant", "system") else None


def _holds(value: Any) -> bool:
    return value is not None and value not in ("", [], {})


def _held(value: Mapping[str, Any], names: Sequence[str]) -> Any:
    """What an object has under the first of these names that has something; None where none has."""
    return next((value[name] for name in names if value.get(name) not in (None, "")), None)


def as_list(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The messages as `from_list` reads them back."""
    return [
        {"role": m.role, "content": m.content, **({"meta": dict(m.meta)} if m.meta else {})} for m in messages
    ]


def transposed(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A list of objects that a column of Hugging Face holds as an object of equally long lists; else []."""
    lists = list(value.values())
    if not lists or not all(isinstance(each, list) and len(each) == len(lists[0]) for each in lists):
        return []
    return [dict(zip(value, each, strict=True)) for each in zip(*lists, strict=True)]


def _speaker(entry: Mapping[str, Any], roles: Roles) -> str | None:
    """Who speaks: of the names that an utterance has for it, the first that is known, else the first."""
    named = [entry[name] for name in _NAMED_BY if isinstance(entry.get(name), str)]
    known = (name for name in named if name in roles or name.strip().lower() in roles)
    return next(known, named[0] if named else None)


def _said(entry: Any, where: str, roles: Roles, left: set[str]) -> Iterator[Utterance]:
    """What an entry says: another utterance after each tool's result. `roles` has “*” for anybody."""
    if not isinstance(entry, Mapping):
        raise ImportRefused(f'{where}, must be an object such as {{"role": "user", "content": "…"}}.')
    if entry.get("type") == "reasoning":  # thoughts stand beside the message in the Responses API
        left |= {name for name in entry if name not in ("type", "id") and _holds(entry[name])}
        return
    said_in = next((name for name in _SAID_IN if entry.get(name) not in (None, [])), "")
    speaker, spoken = _speaker(entry, roles), entry.get(said_in)
    left |= {
        name
        for name, value in entry.items()
        if name not in (said_in, *_READ) and _holds(value) and not (name in _NAMED_BY and value == speaker)
    }
    if isinstance(spoken, Mapping) and isinstance(spoken.get("parts"), list):
        spoken = spoken["parts"]
    called = list(_calls(entry))
    if speaker is None or (spoken is None and not called) or isinstance(spoken, int | float):
        raise ImportRefused(
            f"{where}, needs a “role” (or “speaker”) and a “content” (or “text”), both of them text."
        )
    role = roles.get(speaker) or roles.get(speaker.strip().lower()) or roles.get("*")
    if role is None:
        raise ImportRefused(
            f"{where}: the speaker “{speaker[:80]}” is unknown. Name the speakers user and "
            f"assistant, or give the role with --role '{speaker[:80]}=user' (or =assistant), or "
            "the role of all others with --role '*=user'."
        )
    meta = entry.get("meta", {})
    if not isinstance(meta, Mapping):
        raise ImportRefused(f"{where}: “meta” must be an object.")
    meta = dict(meta)
    if speaker in _CALLS:
        called, spoken = [{"type": "tool_call", "name": entry.get("name"), "arguments": spoken}], None
    if isinstance(thought := entry.get("reasoning_content"), str) and thought:
        meta.setdefault("thinking", thought)
    invoked = entry.get("toolInvocations") if said_in != "parts" else None
    called += [{"toolInvocation": each} for each in invoked] if isinstance(invoked, list) else []
    parts = [*called, *(spoken if isinstance(spoken, list) else [spoken])]
    if role == "tool" and _MARK not in meta:
        meta |= {"result": name} if (name := _name(entry)) else {}
    elif role in ("user", "assistant") and speaker not in _CALLS:
        own = "" if speaker.strip().lower() in SPEAKERS else speaker.strip()
        meta |= {"name": named} if (named := str(entry.get("name") or own)) else {}
    words, calls = list[str](), list[tuple[str, Any]]()
    for part in (typed for each in parts for typed in _typed(each)):
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind in _RESULTS:
            if words or calls:
                yield _utterance(role, "\n".join(words), meta, calls)
                words, calls, meta = [], [], {n: meta[n] for n in ("name",) if n in meta}
            content = _held(part, _GAVE)
            result: dict[str, Any] = {"result": named} if (named := _name(part)) else {}
            result |= {IMAGES: shown} if (shown := _images(content)) else {}
            yield Utterance(Message("tool", _text(content), result))
        elif kind in _THOUGHT:
            thought = _text(_held(part, (kind, "content", "text", "reasoningText")))
            meta["thinking"] = "\n".join(filter(None, (meta.get("thinking"), thought)))
        elif kind in _USES:
            calls.append((_name(part), _held(part, _GIVEN)))
        elif part is not None:
            if isinstance(part, Mapping) and kind in _WORDS:
                known = {*_KINDS, "text" if "text" in part else "content"}
                left |= {f"{said_in}.{name}" for name in part if name not in known and _holds(part[name])}
            if text := _text(part):
                words.append(text)
            if shown := _images(part):
                meta[IMAGES] = {**meta.get(IMAGES, {}), **shown}
    if words or calls or not (isinstance(spoken, list) and spoken):
        yield _utterance(role, "\n".join(words), meta, calls)


def _utterance(role: Role, words: str, meta: dict[str, Any], calls: list[tuple[str, Any]]) -> Utterance:
    """An utterance with its calls of tools, which only a reply has."""
    if not calls or role != "assistant":
        return Utterance(Message(role, words, meta))
    texts = (f"{name}({_text(given)})" if name else _text(given) for name, given in calls)
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
    parts, kind = entry.get("parts"), entry.get("kind")
    listed = parts if isinstance(parts, list) else []
    if kind in ("request", "response") and listed and all(isinstance(part, Mapping) for part in listed):
        if isinstance(entry.get("instructions"), str):
            yield {"role": "system", "content": entry["instructions"], "kind": "instructions"}
        if kind == "response":
            yield {**entry, "role": "assistant"}
        rest = {name: value for name, value in entry.items() if name not in ("parts", "instructions")}
        for part in listed if kind == "request" else ():
            by = {"system-prompt": "system", "user-prompt": "user"}.get(part.get("part_kind"), "tool")
            yield {**rest, **part, "role": by, "function": part.get("tool_name"), "tool_name": None}
        return
    inner = entry.get("kwargs", entry.get("data"))
    if isinstance(inner, Mapping):
        named = entry.get("id")
        by_class = str(named[-1]).removesuffix("Chunk").removesuffix("Message").lower() if named else ""
        role = inner.get("role") or entry.get("type") if entry.get("lc") is None else by_class
        entry = {**inner, "role": inner.get("role") or role}
    elif isinstance(inner := entry.get("message"), Mapping):
        entry = {**{name: value for name, value in entry.items() if name not in ("message", "type")}, **inner}
    elif isinstance(inner := entry.get("payload"), Mapping) and entry.get("type") == "response_item":
        entry = {**{name: value for name, value in entry.items() if name not in ("payload", "type")}, **inner}
    elif "_role" in entry or "message.role" in entry:
        entry = {name.removeprefix("_").removeprefix("message."): value for name, value in entry.items()}
    if isinstance(author := entry.get("author"), Mapping):
        named = author.get("nickname") or author.get("name") or entry.get("name")
        flags = {name: author[name] for name in ("role", *_FLAGS) if name in author}
        rest = {f"author.{n}": v for n, v in author.items() if n not in flags and v != named}
        entry = {**entry, **flags, **rest, "name": named, "author": None}
    for flag, speakers in _FLAGS.items():
        if isinstance(entry.get(flag), bool):
            entry = {**entry, "role": speakers[entry[flag]]}
    yield entry


def _calls(entry: Mapping[str, Any]) -> Iterator[Any]:
    """The calls of tools beside the words of a message, as parts of it."""
    more = entry.get("additional_kwargs")
    listed = entry.get("tool_calls") or (more.get("tool_calls") if isinstance(more, Mapping) else None)
    one = entry.get("function_call")
    for call in [*(listed if isinstance(listed, list) else []), *([one] if one else [])]:
        if not isinstance(call, Mapping):
            continue
        call = {name.removeprefix("tool_call.").removeprefix("function."): call[name] for name in call}
        call = inner if isinstance(inner := call.get("tool_call"), Mapping) else call
        function = call.get("function")
        of = function if isinstance(function, Mapping) else call
        name = function if isinstance(function, str) else of.get("name")
        yield {"type": "tool_call", "name": name, "arguments": _held(of, _GIVEN)}


_MEDIA = ("image", "audio", "video", "file", "document")
"""What is named where a file does not hold it; a part of any other type is kept as it stands."""
_UNTYPED = {
    **{"functionCall": "function_call", "functionResponse": "function_response", "text": "text"},
    **{"tool_call": "tool_call", "tool_call_result": "tool_result", "toolUse": "tool_use"},
    **{"toolResult": "tool_result", "reasoningContent": "reasoningContent"},
    **dict.fromkeys(("inlineData", "fileData", "inline_data", "file_data"), "file"),
}
"""The types of parts that are told by the name they have."""


def _typed(part: Any) -> Iterator[Any]:
    """A part as one that names its type; a call of a tool that holds its result, as both."""
    if not isinstance(part, Mapping):
        yield part
        return
    kind = next((part[name] for name in _KINDS if isinstance(part.get(name), str)), "")
    own = part.get("toolInvocation", part)
    invoked = isinstance(own, Mapping) and (own is not part or "toolCallId" in own)
    if invoked and kind not in ("tool-call", "tool-result"):
        name = own.get("toolName") or kind.removeprefix("tool-")
        yield {"type": "tool_call", "name": name, "arguments": own.get("input", own.get("args"))}
        if (output := own.get("output", own.get("result", own.get("errorText")))) is not None:
            yield {"type": "tool_result", "name": name, "content": output}
        return
    if not kind and {"name", "arguments"} <= part.keys():
        kind = "function_call"
    elif not kind and {"call_id", "content"} <= part.keys():
        kind = "tool_result"
    elif not kind and (name := next((name for name in _UNTYPED if name in part), "")):
        inner = part[name]
        kind = "thinking" if part.get("thought") else _UNTYPED[name]
        part = {"file": inner} if kind == "file" else inner if isinstance(inner, Mapping) else part
    elif not kind:
        yield part
        return
    if kind == "step-start":  # where the model was called again
        return
    if isinstance(text := part.get("text"), Mapping) and isinstance(text.get("value"), str):
        part = {**part, **{n: v for n, v in text.items() if n != "value"}, "text": text["value"]}
    yield {**part, "type": kind.replace("-", "_")}


def _name(entry: Mapping[str, Any]) -> str:
    """The tool whose call or result a message or a part is."""
    origin = entry["origin"] if isinstance(entry.get("origin"), Mapping) else {}
    named = (of[key] for of in (entry, origin) for key in _NAMES if isinstance(of.get(key), str))
    return next(named, "")


def _text(value: Any) -> str:
    """A part of a message as text; an image or a file by its name."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(_text, value)))
    if isinstance(value, Mapping) and value.keys() in ({"text"}, {"answer"}):
        return _text(*value.values())
    if not isinstance(value, Mapping) or "type" not in value:
        return json.dumps(value, ensure_ascii=False, default=str)
    if value["type"] in ("json", "text") and "value" in value:  # what a tool gave, in the AI SDK
        return _text(value["value"])
    if value["type"] in _WORDS:
        return _text(value.get("text", value.get("content")))
    kind = str(value["type"])
    names = ("text",) if any(medium in kind for medium in _MEDIA) else ("text", kind)
    said = next((value[name] for name in names if isinstance(value.get(name), str)), None)
    return _file(value)[0] if said is None else str(said)


def _images(value: Any) -> dict[str, str]:
    """Where the images of a part, or of a list of parts, lie, by what stands in the text for each."""
    if isinstance(value, list):
        return {text: source for part in value for text, source in _images(part).items()}
    text, source = _file(value)
    return {text: source} if source else {}


def _file(value: Any) -> tuple[str, str]:
    """An image, a sound or a file by its address or name, else its type and size; and where an image lies."""
    kind = str(value.get("type", "")) if isinstance(value, Mapping) else ""
    if not kind or kind in _WORDS:
        return "", ""
    what = "image" if "image" in kind else "audio" if "audio" in kind else kind.removeprefix("input_")
    inner = _held(value, (kind, "image_url", "image", "source", "file", "input_audio")) or value
    source = inner if isinstance(inner, Mapping) else {"url": inner}
    named = _held(source, ("url", "uri", "fileUri", "path", "asset_pointer", "filename", "file_id"))
    if isinstance(named, str) and not named.startswith("data:"):
        return f"[{what}: {named}]", named if what == "image" else ""
    data = str(named or source.get("data") or source.get("file_data") or "")
    head, _, body = data.rpartition(",") if data.startswith("data:") else ("", "", data)
    types = ("media_type", "mime_type", "mimeType", "mediaType", "format")
    media = head.removeprefix("data:").partition(";")[0] or _held(source, types)
    if not body and source is value and what not in _MEDIA:
        return json.dumps(value, ensure_ascii=False, default=str), ""
    digest = hashlib.sha256(body.encode(errors="replace")).hexdigest()[:12]
    size = f"{len(body) * 3 // 4:,} bytes, SHA-256 of its text {digest}" if body else "not in the file"
    image = body and (what == "image" or str(media).startswith("image/"))
    text = f"[{what}: {', '.join(filter(None, (str(media or ''), size)))}]"
    return text, data if image and head else f"data:{media};base64,{body}" if image else ""
