"""The parts of a message of another tool: texts, calls of tools and their results, thoughts, media.

Images and files are named, and where an image lies is kept beside the message.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

TEXT_KINDS = ("text", "input_text", "output_text")
_NAMES = ("name", "toolName", "tool_name", "function")
ARGUMENTS = ("input", "arguments", "args", "tool_kwargs")
PART_KINDS = ("type", "content_type", "block_type", "part_kind", "kind")
"""The names of what says of which type a part is."""


def first_value(value: Mapping[str, Any], names: Sequence[str]) -> Any:
    """What an object has under the first of these names that has something; None where none has."""
    return next((value[name] for name in names if value.get(name) not in (None, "")), None)


def tool_calls_of(entry: Mapping[str, Any]) -> Iterator[Any]:
    """The calls of tools beside the words of a message, as parts of it."""
    extra_fields = entry.get("additional_kwargs")
    listed = entry.get("tool_calls") or (
        extra_fields.get("tool_calls") if isinstance(extra_fields, Mapping) else None
    )
    one = entry.get("function_call")
    for call in [*(listed if isinstance(listed, list) else []), *([one] if one else [])]:
        if not isinstance(call, Mapping):
            continue
        call = {name.removeprefix("tool_call.").removeprefix("function."): call[name] for name in call}
        call = inner if isinstance(inner := call.get("tool_call"), Mapping) else call
        function = call.get("function")
        owner = function if isinstance(function, Mapping) else call
        name = function if isinstance(function, str) else owner.get("name")
        yield {"type": "tool_call", "name": name, "arguments": first_value(owner, ARGUMENTS)}


_MEDIA = ("image", "audio", "video", "file", "document")
"""What is named where a file does not hold it; a part of any other type is kept as it stands."""
_UNTYPED = {
    **{"functionCall": "function_call", "functionResponse": "function_response", "text": "text"},
    **{"tool_call": "tool_call", "tool_call_result": "tool_result", "toolUse": "tool_use"},
    **{"toolResult": "tool_result", "reasoningContent": "reasoningContent"},
    **dict.fromkeys(("inlineData", "fileData", "inline_data", "file_data"), "file"),
}
"""The types of parts that are told by the name they have."""


def typed_parts(part: Any) -> Iterator[Any]:
    """A part as one that names its type; a call of a tool that holds its result, as both."""
    if not isinstance(part, Mapping):
        yield part
        return
    kind = next((part[name] for name in PART_KINDS if isinstance(part.get(name), str)), "")
    invocation = part.get("toolInvocation", part)
    invoked = isinstance(invocation, Mapping) and (invocation is not part or "toolCallId" in invocation)
    if invoked and kind not in ("tool-call", "tool-result"):
        name = invocation.get("toolName") or kind.removeprefix("tool-")
        yield {
            "type": "tool_call",
            "name": name,
            "arguments": invocation.get("input", invocation.get("args")),
        }
        if (
            output := invocation.get("output", invocation.get("result", invocation.get("errorText")))
        ) is not None:
            yield {"type": "tool_result", "name": name, "content": output}
        return
    if not kind and {"name", "arguments"} <= part.keys():
        kind = "function_call"
    elif not kind and {"call_id", "content"} <= part.keys():
        kind = "tool_result"
    elif not kind and (name := next((name for name in _UNTYPED if name in part), "")):
        inner = part[name]
        kind = "thinking" if part.get("thought") else _UNTYPED[name]
        if kind == "file":
            part = {"file": inner}
        elif isinstance(inner, Mapping):
            part = inner
    elif not kind:
        yield part
        return
    if kind == "step-start":  # where the model was called again
        return
    if isinstance(text := part.get("text"), Mapping) and isinstance(text.get("value"), str):
        part = {**part, **{n: v for n, v in text.items() if n != "value"}, "text": text["value"]}
    yield {**part, "type": kind.replace("-", "_")}


def tool_name(entry: Mapping[str, Any]) -> str:
    """The tool whose call or result a message or a part is."""
    origin = entry["origin"] if isinstance(entry.get("origin"), Mapping) else {}
    names = (holder[key] for holder in (entry, origin) for key in _NAMES if isinstance(holder.get(key), str))
    return next(names, "")


def part_text(value: Any) -> str:
    """A part of a message as text; an image or a file by its name."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(part_text, value)))
    if isinstance(value, Mapping) and value.keys() in ({"text"}, {"answer"}):
        return part_text(*value.values())
    if not isinstance(value, Mapping) or "type" not in value:
        return json.dumps(value, ensure_ascii=False, default=str)
    if value["type"] in ("json", "text") and "value" in value:  # what a tool gave, in the AI SDK
        return part_text(value["value"])
    if value["type"] in TEXT_KINDS:
        return part_text(value.get("text", value.get("content")))
    kind = str(value["type"])
    names = ("text",) if any(medium in kind for medium in _MEDIA) else ("text", kind)
    text = next((value[name] for name in names if isinstance(value.get(name), str)), None)
    return _file(value)[0] if text is None else str(text)


def part_images(value: Any) -> dict[str, str]:
    """Where the images of a part, or of a list of parts, lie, by what stands in the text for each."""
    if isinstance(value, list):
        return {text: source for part in value for text, source in part_images(part).items()}
    text, source = _file(value)
    return {text: source} if source else {}


def _file(value: Any) -> tuple[str, str]:
    """An image, a sound or a file by its address or name, else its type and size; and where an image lies."""
    kind = str(value.get("type", "")) if isinstance(value, Mapping) else ""
    if not kind or kind in TEXT_KINDS:
        return "", ""
    medium = next((name for name in ("image", "audio") if name in kind), kind.removeprefix("input_"))
    inner = first_value(value, (kind, "image_url", "image", "source", "file", "input_audio")) or value
    source = inner if isinstance(inner, Mapping) else {"url": inner}
    address = first_value(source, ("url", "uri", "fileUri", "path", "asset_pointer", "filename", "file_id"))
    if isinstance(address, str) and not address.startswith("data:"):
        return f"[{medium}: {address}]", address if medium == "image" else ""
    data = str(address or source.get("data") or source.get("file_data") or "")
    head, _, body = data.rpartition(",") if data.startswith("data:") else ("", "", data)
    types = ("media_type", "mime_type", "mimeType", "mediaType", "format")
    media = head.removeprefix("data:").partition(";")[0] or first_value(source, types)
    if not body and source is value and medium not in _MEDIA:
        return json.dumps(value, ensure_ascii=False, default=str), ""
    digest = hashlib.sha256(body.encode(errors="replace")).hexdigest()[:12]
    size = f"{len(body) * 3 // 4:,} bytes, SHA-256 of its text {digest}" if body else "not in the file"
    text = f"[{medium}: {', '.join(filter(None, (str(media or ''), size)))}]"
    if not body or not (medium == "image" or str(media).startswith("image/")):
        return text, ""
    return text, data if head else f"data:{media};base64,{body}"
