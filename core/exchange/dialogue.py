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
from typing import Any

from concord.conversation import IMAGES, Message, Role
from concord.errors import ImportRefused
from concord.files import has_half_characters, parse_json

Roles = Mapping[str, Role]

SPEAKERS: dict[str, Role] = {
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("user", "human", "customer", "person", "prompter"), "user"),
    **dict.fromkeys(
        ("assistant", "model", "bot", "ai", "agent", "system agent", "gpt", "chatgpt", "chatbot"), "assistant"
    ),
    **dict.fromkeys(
        ("tool", "function", "observation", "function_response", "tool_response", "tool_result"), "tool"
    ),
    **dict.fromkeys(("function_call", "tool_call"), "assistant"),
    "function_call_output": "tool",
}
"""The role of a speaker, by the name that files give it, in lower case."""
SPEAKS = ("role", "from", "speaker", "sender", "author", "participant")
"""The names of what says who speaks."""
_NAMED_BY = (*SPEAKS[:3], "type", *SPEAKS[3:])
_SAID_IN = ("content", "value", "text", "output", "arguments", "parts", "message", "utterance")
_CALLS = ("function_call", "tool_call")
_MARK = "calls"
"""In a message's meta: the names of the tools that it calls."""
_WORDS = ("text", "input_text", "output_text")
_THOUGHT = ("thinking", "reasoning")
_RESULTS = ("tool_result", "function_call_output", "tool_call_response", "function_response")
_USES = ("tool_use", "tool_call", "function_call")
_READ = (
    *_NAMED_BY,
    *_CALLS,
    "tool_calls",
    "additional_kwargs",
    "reasoning_content",
    "meta",
    "name",
    "function",
)


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


def from_list(
    entries: Sequence[Any], where: str, roles: Roles = SPEAKERS, *, images: bool = False
) -> tuple[Message, ...]:
    """The messages of a list of utterances, with their “meta”. Raises ImportRefused.

    With `images`, where those lie is in the meta of a message too.

    A call of a tool that is followed by another reply becomes a message of the tool before that reply, which
    begins with the words that were said beside the call; a call that nothing follows ends the reply itself.
    """
    read = [
        utterance
        for number, entry in enumerate(entries, 1)
        for utterance in _messages(entry, f"{where}, utterance {number}", roles)
    ]
    if not images:
        read = [
            (replace(message, meta={n: v for n, v in message.meta.items() if n != IMAGES}), calls)
            for message, calls in read
        ]
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


def unread(entry: Any) -> Iterator[str]:
    """The names of an utterance's fields that hold something and are not kept."""
    if not isinstance(entry, Mapping):
        return
    entry = _unpacked(entry)
    if entry.get("type") == "reasoning":
        yield from (name for name in entry if name not in ("type", "id") and _holds(entry[name]))
        return
    content = next((name for name in _SAID_IN if entry.get(name) is not None), "")
    yield from (name for name, value in entry.items() if name not in (*_READ, content) and _holds(value))
    for part in entry[content] if content and isinstance(entry[content], list) else ():
        if isinstance(part, Mapping) and (part.get("type") in _WORDS or _styled(part)):
            yield from (
                f"{content}.{name}"
                for name in part
                if name not in ("type", "text")
                and (name != "content" or "text" in part)
                and _holds(part[name])
            )


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
    if not lists or not all(isinstance(each, list) and len(each) == len(lists[0]) for each in lists):
        return []
    return [dict(zip(value, each, strict=True)) for each in zip(*lists, strict=True)]


def role_of(entry: Any, roles: Roles) -> Role | None:
    """Who speaks an utterance; None where nobody is known by the name it has. “*” is anybody."""
    entry = _unpacked(entry) if isinstance(entry, Mapping) else {}
    speaker = next((entry[name] for name in _NAMED_BY if isinstance(entry.get(name), str)), None)
    return None if speaker is None else _role(speaker, roles)


def _role(speaker: str, roles: Roles) -> Role | None:
    return roles.get(speaker) or roles.get(speaker.strip().lower()) or roles.get("*")


def _messages(entry: Any, where: str, roles: Roles) -> Iterator[tuple[Message, list[str]]]:
    """The message of an entry without its calls of tools, and these; results among its parts come first."""
    if not isinstance(entry, Mapping):
        raise ImportRefused(f'{where}, must be an object such as {{"role": "user", "content": "…"}}.')
    entry = _unpacked(entry)
    if entry.get("type") == "reasoning":  # thoughts stand beside the message in the Responses API
        return
    speaker = next((entry[name] for name in _NAMED_BY if isinstance(entry.get(name), str)), None)
    spoken = next((entry[name] for name in _SAID_IN if entry.get(name) is not None), None)
    if isinstance(spoken, Mapping) and isinstance(spoken.get("parts"), list):
        spoken = spoken["parts"]
    calls = list(_calls(entry))
    if speaker is None or (spoken is None and not calls) or isinstance(spoken, int | float):
        raise ImportRefused(
            f"{where}, needs a “role” (or “speaker”) and a “content” (or “text”), both of them text."
        )
    role = _role(speaker, roles)
    if role is None:
        raise ImportRefused(
            f"{where}: nobody here is called “{speaker[:80]}”. Call the speakers user and assistant, or say "
            "who it is with --role NAME=user, or who all others are with --role '*=user'."
        )
    meta = entry.get("meta", {})
    if not isinstance(meta, Mapping):
        raise ImportRefused(f"{where}: “meta” must be an object.")
    meta = dict(meta)
    if speaker in _CALLS:
        calls, spoken = [(str(entry.get("name") or ""), spoken)], None
    if isinstance(thought := entry.get("reasoning_content"), str) and thought:
        meta.setdefault("thinking", thought)
    parts = spoken if isinstance(spoken, list) else [spoken]
    words, images = list[str](), dict[str, str]()
    rich = any(isinstance(part, str) for part in parts) and any(map(_styled, parts))
    for part in map(_typed, parts):
        if isinstance(part, Mapping) and part.get("type") in _RESULTS:
            content = next((part[n] for n in ("content", "output", "response", "result") if n in part), None)
            result: dict[str, Any] = {"result": named} if (named := _name(part)) else {}
            result |= {IMAGES: shown} if (shown := _images(content)) else {}
            yield Message("tool", _kept(_text(content), where), result), []
        elif isinstance(part, Mapping) and part.get("type") in _THOUGHT:
            thought = _text(part.get(part["type"], part.get("content")))
            meta["thinking"] = "\n".join(filter(None, (meta.get("thinking"), thought)))
        elif isinstance(part, Mapping) and part.get("type") in _USES:
            given = next((part[name] for name in ("input", "arguments", "args") if name in part), None)
            calls.append((str(part.get("name") or ""), given))
        elif part is not None and (text := _text(part)):
            words.append(text)
            images |= _images(part)
    if images:
        meta[IMAGES] = images
    if role == "tool" and _MARK not in meta:
        meta |= {"result": name} if (name := _name(entry)) else {}
    elif role in ("user", "assistant") and speaker not in _CALLS:
        own = "" if speaker.strip().lower() in SPEAKERS else speaker.strip()
        meta |= {"name": named} if (named := str(entry.get("name") or own)) else {}
    called = list[str]()
    if calls and role == "assistant":
        meta[_MARK] = [name for name, _ in calls if name]
        texts = (f"{name}({_text(given)})" if name else _text(given) for name, given in calls)
        called = [_kept(text, where) for text in texts]
    if not words and not called and isinstance(spoken, list) and spoken:
        return  # nothing but results and thoughts
    yield Message(role, _kept(("" if rich else "\n").join(words), where), meta), called


def _unpacked(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message of LangChain, whose fields lie in “kwargs” or “data”, or one whose author is an object."""
    inner = entry.get("kwargs", entry.get("data"))
    if isinstance(inner, Mapping):
        named = entry.get("id")
        by_class = str(named[-1]).removesuffix("Chunk").removesuffix("Message").lower() if named else ""
        role = inner.get("role") or entry.get("type") if entry.get("lc") is None else by_class
        return {**inner, "role": inner.get("role") or role}
    author = entry.get("author")
    if isinstance(author, Mapping) and isinstance(author.get("role"), str):
        return {**entry, "role": author["role"]}
    return entry


def _calls(entry: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The name and the arguments of each tool that a message calls."""
    more = entry.get("additional_kwargs")
    listed = entry.get("tool_calls") or (more.get("tool_calls") if isinstance(more, Mapping) else None)
    one = entry.get("function_call")
    for call in [*(listed if isinstance(listed, list) else []), *([one] if one else [])]:
        if not isinstance(call, Mapping):
            continue
        function = call.get("function")
        of = function if isinstance(function, Mapping) else call
        name = function if isinstance(function, str) else of.get("name")
        given = next((of[key] for key in ("arguments", "args", "input") if key in of), "")
        yield str(name or ""), given


_MEDIA = ("image", "audio", "video", "file", "document")
"""What is named where a file does not hold it; a part of any other type is kept as it stands."""
_UNTYPED = {"functionCall": "function_call", "functionResponse": "function_response", "text": "text"}
_FILES = {"inlineData": "file", "fileData": "file", "inline_data": "file", "file_data": "file"}


def _typed(part: Any) -> Any:
    """A part as one that names its type: those of Gemini are told by the name they have."""
    if not isinstance(part, Mapping) or "type" in part or "content_type" in part:
        return part
    for name, kind in {**_UNTYPED, **_FILES}.items():
        if name in part:
            inner = part[name] if isinstance(part[name], Mapping) else {"text": part[name]}
            if name == "text" and part.get("thought"):
                kind = "thinking"
                inner = {"thinking": part[name]}
            return {"type": kind, **({"file": inner} if name in _FILES else inner)}
    return part


def _styled(part: Any) -> bool:
    """Whether a part is words of a text in bold, a link or the like, as Telegram writes them."""
    return isinstance(part, Mapping) and part.get("type") not in _WORDS and isinstance(part.get("text"), str)


def _name(entry: Mapping[str, Any]) -> str:
    """The tool whose result a message is."""
    return next((entry[key] for key in ("name", "function") if isinstance(entry.get(key), str)), "")


def _text(value: Any) -> str:
    """A part of a message as text; an image or a file by its name."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(_text, value)))
    if not isinstance(value, Mapping) or "type" not in value:
        return json.dumps(value, ensure_ascii=False, default=str)
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
    inner = next(
        (
            value[key]
            for key in (kind, "image_url", "image", "source", "file", "input_audio")
            if value.get(key)
        ),
        value,
    )
    source = inner if isinstance(inner, Mapping) else {"url": inner}
    named = next(
        (source[key] for key in ("url", "uri", "fileUri", "path", "filename", "file_id") if source.get(key)),
        None,
    )
    if isinstance(named, str) and not named.startswith("data:"):
        return f"[{what}: {named}]", named if what == "image" else ""
    data = str(named or source.get("data") or source.get("file_data") or "")
    head, _, body = data.rpartition(",") if data.startswith("data:") else ("", "", data)
    media = head.removeprefix("data:").partition(";")[0] or next(
        (source[name] for name in ("media_type", "mime_type", "mimeType", "format") if source.get(name)), ""
    )
    if not body and source is value and what not in _MEDIA:
        return json.dumps(value, ensure_ascii=False, default=str), ""
    digest = hashlib.sha256(body.encode(errors="replace")).hexdigest()[:12]
    size = f"{len(body) * 3 // 4:,} bytes, SHA-256 of its text {digest}" if body else "not in the file"
    image = body and (what == "image" or str(media).startswith("image/"))
    text = f"[{what}: {', '.join(filter(None, (str(media or ''), size)))}]"
    return text, data if image and head else f"data:{media};base64,{body}" if image else ""


def _kept(text: str, where: str) -> str:
    if has_half_characters(text):
        raise ImportRefused(
            f"{where}, holds half of a character (a lone surrogate), which no file can keep. Remove it."
        )
    return text
