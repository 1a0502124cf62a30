"""What one span of OpenTelemetry says, by whichever convention its instrumentation follows.

Versions of the GenAI conventions (messages with parts; events), OpenLLMetry, OpenInference, Vercel's AI SDK,
and attributes that hold input and output in the form of a library. No text is changed.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from concord.exchange import dialogue
from concord.exchange.embedded_text import parsed
from concord.exchange.otlp import ATTRIBUTES, MESSAGES, objects
from concord.exchange.row_dialogue import inside, is_message, is_part
from concord.exchange.row_paths import first, value_at

Entries = list[dict[str, Any]]


_PARTS_OF_STRANDS = ("text", "toolUse", "toolResult", "reasoningContent", "image", "document", "video")


class SpanDialogue(NamedTuple):
    """What a span says: its messages, and the attributes that they come from."""

    entries: Entries
    attributes: tuple[str, ...]
    choices: int = 1
    """How many replies it has to choose from; the first is the one."""


def speech_of(fields: Mapping[str, Any]) -> SpanDialogue | None:
    """The messages of a span by the first convention of which it has a reply, else by the first it has."""
    speeches = [speech for read in _CONVENTIONS if (speech := read(fields)) is not None and speech.entries]
    replied = (speech for speech in speeches if any(map(_is_reply, speech.entries)))
    return next(replied, speeches[0] if speeches else None)


def _is_reply(entry: Mapping[str, Any]) -> bool:
    return dialogue.SPEAKERS.get(str(entry.get("role", "")).lower()) == "assistant"


def _of_parts(fields: Mapping[str, Any]) -> SpanDialogue | None:
    """`gen_ai.input.messages` and `gen_ai.output.messages`, whose messages have parts."""
    attributes = fields[ATTRIBUTES]
    systems = ("gen_ai.system_instructions", "gen_ai.system.instructions")
    inputs = ("gen_ai.input.messages", "gen_ai.input_messages")
    outputs = ("gen_ai.output.messages", "gen_ai.output_messages")
    entries = [_with_parts(item) for item in listed(_json(first(attributes, systems)), "system")]
    history = ("pydantic_ai.all_messages",)
    if (messages := first(attributes, history)) is not None:
        return SpanDialogue(
            [*entries, *map(_with_parts, listed(_json(messages), "user"))],
            (*systems, *history, "final_result"),
        )
    entries += [_with_parts(item) for item in listed(_json(first(attributes, inputs)), "user")]
    replies, choices = _first_choice(
        [_with_parts(e) for e in listed(_json(first(attributes, outputs)), "assistant")]
    )
    return SpanDialogue([*entries, *replies], (*systems, *inputs, *outputs), choices)


def _first_choice(replies: Entries) -> tuple[Entries, int]:
    """The first of replies to choose from, each of which says why it ended; and how many there are."""
    choices = [item for item in replies if _is_reply(item) and item.get("finish_reason") is not None]
    if len(replies) > 1 and len(choices) == len(replies):
        return replies[:1], len(replies)
    return replies, 1


def _with_parts(entry: dict[str, Any]) -> dict[str, Any]:
    """A message whose images and files are as other tools write them."""
    parts = entry.get("parts")
    return {**entry, "parts": [*map(_part, parts)]} if isinstance(parts, list) else entry


def _part(part: Any) -> Any:
    if not isinstance(part, Mapping):
        return part
    kind = part.get("type")
    if kind in ("server_tool_call", "server_tool_call_response"):
        inner = part.get(kind)
        plain = {name: value for name, value in part.items() if name != kind}
        return {
            **plain,
            **(inner if isinstance(inner, Mapping) else {}),
            "type": kind.removeprefix("server_"),
        }
    if kind not in ("blob", "uri", "file"):
        return part
    names = {"uri": "url", "content": "data", "file_id": "file_id", "mime_type": "media_type"}
    source = {names[name]: value for name, value in part.items() if name in names and value is not None}
    rest = {name: value for name, value in part.items() if name not in (*names, "modality", "type")}
    return {**rest, "type": str(part.get("modality") or "file"), "source": source}


def _of_events(fields: Mapping[str, Any]) -> SpanDialogue | None:
    """Events of the names `gen_ai.user.message`, `gen_ai.choice`, `gen_ai.content.prompt` and their like."""
    strands = str(first(fields[ATTRIBUTES], ("gen_ai.system", "gen_ai.provider.name"))).startswith("strands")
    entries = Entries()
    choices = set[int]()
    events = fields.get(MESSAGES, ())
    for event in sorted(events, key=lambda event: _choice(event) is not None):
        details = event["attributes"]
        body = (
            event["body"] if event["body"] is not None else _json(value_at(details, "gen_ai.event.content"))
        )
        body = _json(body)
        details = {**details, **body} if isinstance(body, Mapping) else details
        kind = event["name"].removeprefix("gen_ai.").removesuffix(".message")
        if kind.startswith("content."):
            role = "user" if kind.endswith("prompt") else "assistant"
            name = "gen_ai.prompt" if role == "user" else "gen_ai.completion"
            value = value_at(details, name)
            entries += listed(_messages(value) if value is not None else body, role)
            continue
        if (choice := _choice(event)) is not None:
            choices.add(choice)
            if choice != min(choices):
                continue
            message = details.get("message", details.get("content"))
            # A message may be written as JSON; content is a text, whatever it looks like.
            inner = _json(details.get("message"))
            spoken = isinstance(inner, Mapping) and bool({"content", "tool_calls"} & {*inner})
            if spoken and ("role" in inner or {*inner} <= {*_OF_MESSAGES}):
                details = inner
            else:
                details = {"content": message, "tool_calls": details.get("tool_calls")}
        role = {"choice": "assistant"}.get(kind, kind)
        entry = {
            name: details[name]
            for name in ("name", "id", "content", "tool_calls")
            if details.get(name) is not None
        }
        entry["tool_calls"] = _json(entry["tool_calls"]) if "tool_calls" in entry else None
        content = _json(entry.get("content"))
        parts = (
            strands
            and isinstance(content, list)
            and all(isinstance(item, Mapping) and {*item} & {*_PARTS_OF_STRANDS} for item in content)
        )
        if parts or _all_parts(content):
            entry["content"] = content
        entry = {name: value for name, value in entry.items() if value is not None}
        if "content" in entry or "tool_calls" in entry:
            entries.append({"role": role, **entry})
    return SpanDialogue(entries, (), len(choices) or 1) if entries else None


_OF_MESSAGES = ("role", "content", "tool_calls", "name", "id", "finish_reason", "function_call")
"""What a message of an event that does not say its role may have."""


def _choice(event: Mapping[str, Any]) -> int | None:
    """Which of the replies to choose from an event is; None for what is no reply."""
    if event["name"] not in ("gen_ai.choice", "gen_ai.content.completion"):
        return None
    body = event["body"] if isinstance(event["body"], Mapping) else {}
    index = first({**event["attributes"], **body}, ("index",))
    return int(index) if isinstance(index, int | str) and str(index).isdecimal() else 0


def _of_prompts(fields: Mapping[str, Any]) -> SpanDialogue | None:
    """`gen_ai.prompt.0.role` and its like, or `gen_ai.prompt` with a text or the JSON of messages."""
    attributes = fields[ATTRIBUTES]
    prompts = ("gen_ai.prompt", "gen_ai.content.prompt", "llm.prompts")
    completions = ("gen_ai.completion", "gen_ai.content.completion", "llm.completions")
    if first(attributes, (*prompts, *completions)) is None:
        return None
    entries = [_with_json(item) for item in listed(_messages(first(attributes, prompts)), "user")]
    replies = [_with_json(item) for item in listed(_messages(first(attributes, completions)), "assistant")]
    if all(map(_is_reply, replies)) and replies:
        return SpanDialogue([*entries, replies[0]], (*prompts, *completions), len(replies))
    return SpanDialogue([*entries, *replies], (*prompts, *completions))


def _with_json(entry: dict[str, Any]) -> dict[str, Any]:
    """A message of OpenLLMetry, which writes lists of parts as JSON."""
    content = _json(entry.get("content"))
    return {**entry, "content": content} if _all_parts(content) else entry


def _all_parts(value: Any) -> bool:
    """Whether a value is a list of parts that name their type."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(item, Mapping) and item.get("type") in _PART_TYPES and len(item) > 1 for item in value
        )
    )


_PART_TYPES = (
    "text",
    "input_text",
    "output_text",
    "image",
    "image_url",
    "input_image",
    "tool_use",
    "tool_result",
    "thinking",
    "redacted_thinking",
    "tool-call",
    "tool-result",
    "file",
    "document",
    "input_audio",
)


def _of_openinference(fields: Mapping[str, Any]) -> SpanDialogue | None:
    """`llm.input_messages.0.message.role` and its like."""
    attributes = fields[ATTRIBUTES]
    inputs = parsed(value_at(attributes, "llm.input_messages"))
    outputs = parsed(value_at(attributes, "llm.output_messages"))
    if not objects(inputs) and not objects(outputs):
        return None
    entries = [_openinference(item) for item in objects(inputs)]
    replies = [_openinference(item) for item in objects(outputs)]
    sources = ("llm.input_messages", "llm.output_messages", "input.value", "output.value")
    return SpanDialogue([*entries, *replies], (*sources, "input.mime_type", "output.mime_type"))


def _openinference(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message of OpenInference under the usual names."""
    plain = _unprefixed(message, "message")
    entry = {
        name: plain[name]
        for name in ("role", "content", "name", "tool_call_id")
        if plain.get(name) is not None
    }
    parts = [_unprefixed(item, "message_content") for item in objects(plain.get("contents"))]
    if parts:
        entry["content"] = [_content(part) for part in parts]
    calls = [_unprefixed(item, "tool_call") for item in objects(plain.get("tool_calls"))]
    functions = [_unprefixed(call, "function") for call in calls]
    if calls:
        entry["tool_calls"] = [
            {"id": call.get("id"), "name": function.get("name"), "arguments": function.get("arguments")}
            for call, function in zip(calls, functions, strict=True)
        ]
    if name := plain.get("function_call_name"):
        entry["function_call"] = {"name": name, "arguments": plain.get("function_call_arguments_json")}
    return entry


def _unprefixed(value: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The fields of an object that stand under a name, or behind a prefix; its own where neither does."""
    inner = value.get(prefix)
    plain = {name: item for name, item in value.items() if name != prefix}
    plain = {name.removeprefix(f"{prefix}."): item for name, item in plain.items()}
    return {**plain, **inner} if isinstance(inner, Mapping) else plain


def _content(part: Mapping[str, Any]) -> dict[str, Any]:
    image = first(part, ("image.image.url", "image.url", "image"))
    if isinstance(image, str):
        return {"type": "image", "source": {"url": image}}
    return {"type": "text", **part} if "text" in part else dict(part)


def _of_ai_sdk(fields: Mapping[str, Any]) -> SpanDialogue | None:
    """`ai.prompt`, `ai.prompt.messages`, `ai.response.text` and `ai.response.toolCalls`."""
    attributes = fields[ATTRIBUTES]
    prompts = ("ai.prompt.messages", "ai.prompt")
    replies = ("ai.response.text", "ai.result.text", "ai.response.object", "ai.result.object")
    calls = ("ai.response.toolCalls", "ai.result.toolCalls")
    if first(attributes, (*prompts, *replies, *calls)) is None:
        return None
    prompt = _json(first(attributes, prompts))
    entries = Entries()
    if isinstance(prompt, Mapping):
        entries += listed(prompt.get("system"), "system") if prompt.get("system") else []
        prompt = prompt.get("messages") or prompt.get("prompt")
    entries += listed(prompt, "user")
    text = first(attributes, replies)
    invocations = _json(first(attributes, calls))
    reply: dict[str, Any] = {"role": "assistant"} | ({"content": text} if isinstance(text, str) else {})
    reply |= {"tool_calls": [dict(call) for call in objects(invocations)]} if objects(invocations) else {}
    for call in reply.get("tool_calls", ()):
        call["name"] = call.get("toolName")
    return SpanDialogue([*entries, *([reply] if len(reply) > 1 else [])], (*prompts, *replies, *calls))


_VALUES = (
    ("gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response"),
    ("request_data", "response_data"),
    ("langfuse.observation.input", "langfuse.observation.output"),
    ("mlflow.spanInputs", "mlflow.spanOutputs"),
    ("input.value", "output.value"),
    ("langfuse.trace.input", "langfuse.trace.output"),
)
"""Pairs of attributes that hold input and output, in the form of the library that was called."""


def _of_values(fields: Mapping[str, Any]) -> SpanDialogue | None:
    attributes = fields[ATTRIBUTES]
    for inputs, outputs in _VALUES:
        if value_at(attributes, inputs) is None or value_at(attributes, outputs) is None:
            continue
        entries = Entries()
        for name, role in ((inputs, "user"), (outputs, "assistant")):
            value = value_at(attributes, name)
            mime = value_at(attributes, f"{name.removesuffix('.value')}.mime_type")
            value = value if mime == "text/plain" else _json(value)
            if isinstance(value, Mapping) and isinstance(value.get("contents"), list):
                system = first(value, ("config.system_instruction", "config.systemInstruction"))
                entries += listed(system, "system") if system is not None else []
                value = value["contents"]
            entries += listed(value, role)
        types = [f"{name.removesuffix('.value')}.mime_type" for name in (inputs, outputs)]
        return SpanDialogue(entries, (inputs, outputs, *types))
    return None


_CONVENTIONS = (_of_parts, _of_events, _of_prompts, _of_openinference, _of_ai_sdk, _of_values)


def _json(value: Any) -> Any:
    """The list or object that an attribute holds as JSON; any other value as it is."""
    inner = parsed(value)
    return inner if isinstance(inner, Mapping | list) else value


def _messages(value: Any) -> Any:
    """The messages with roles that an attribute holds as JSON; any other text as it is."""
    inner = _json(value)
    entries = inner if isinstance(inner, list) else [inner]
    roles = all(isinstance(item, Mapping) and isinstance(item.get("role"), str) for item in entries)
    return inner if roles or _all_parts(inner) else value


def listed(value: Any, role: str) -> Entries:
    """The messages in a value, each with who says it: texts, parts and objects are said by this role."""
    if value is None or value in ("", [], {}):
        return []
    if isinstance(value, list):
        if all(map(is_part, value)) or all(
            isinstance(item, Mapping) and "content" in item and "type" in item and "role" not in item
            for item in value
        ):
            return [{"role": role, "content": [_part(item) for item in value]}]
        flat = [item for one in value for item in (one if isinstance(one, list) else [one])]
        return [entry for item in flat for entry in listed(item, role)]
    if not isinstance(value, Mapping):
        return [{"role": role, "content": str(value)}]
    if is_message(value) or "parts" in value:
        return [{"role": role, **value}]
    name, inner = inside(value)
    if name:
        return listed(inner, role)
    if "content" in value or "tool_calls" in value:
        return [{"role": role, **value}]
    return [{"role": role, "content": json.dumps(value, ensure_ascii=False, default=str)}]
