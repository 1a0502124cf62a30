"""What a chat completion says: the reply's text, apart from thinking, and how it ended.

Endpoints differ in where they put things. The table in docs/replies.md lists every rule that is here.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from concord.configuration import UNREPORTED, Reported
from concord.llm.surrogates import paired
from concord.llm.thinking import visible_reply
from concord.rating import NOTHING_SPENT, Spent

RAW = 2000
"""Characters of a body that are kept where it gave no reply."""

LENGTH = ("length", "max_tokens", "max_output_tokens", "model_length", "incomplete")
FILTERED = (
    "content_filter",
    "content_filtered",
    "safety",
    "recitation",
    "prohibited_content",
    "blocklist",
    "spii",
    "image_safety",
    "guardrail_intervened",
    "sensitive",
    "moderation",
    "flagged",
)
BROKEN_OFF = ("error", "network_error", "abort", "aborted", "cancelled", "insufficient_system_resource")
CUT = (*LENGTH, *FILTERED, *BROKEN_OFF)
"""Values of finish_reason, in lower case, with which a reply ends before its end. Not all endpoints send one:
whether a verdict is complete is read from its text (`concord.llm.replies`).
"""


def _name(finish: str) -> str:
    return finish.lower().replace("-", "_")


def filtered(finish: str) -> bool:
    """Whether a reply ended with a finish_reason that says that a filter of the endpoint ended it."""
    return _name(finish) in FILTERED


def ended_by_endpoint(finish: str) -> bool:
    """Whether the endpoint ended a reply for what is neither its length nor its end."""
    return filtered(finish) or _name(finish) in BROKEN_OFF


def ended_early(finish: str) -> str:
    """Why a reply is not whole, in a sentence."""
    if filtered(finish):
        return f"A content filter of the endpoint ended it (finish_reason {finish})."
    if ended_by_endpoint(finish):
        return f"The endpoint broke it off (finish_reason {finish})."
    return "It was truncated at the length limit; keep the explanations shorter."


class Broken(ValueError):
    """A body that is no chat completion; `status` is an error's that a body of status 200 holds, or 0."""

    def __init__(self, message: str, status: int = 0):
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class ReplyDetails:
    """What a reply says beside its text. `lacks` says why there is no text, in a sentence; “” where there is
    one, or where the reply is an empty text. `raw` is the body of a reply without text. `arguments` are those
    of tool calls, as JSON. `unopened` says that the reply closed thinking that it had not opened.
    """

    thinking: str = ""
    thinking_tokens: int = 0
    refused: bool = False
    finish: str = ""
    lacks: str = ""
    raw: str = ""
    arguments: tuple[str, ...] = ()
    unopened: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The fields that say something, as plain values."""
        return {name: value for name, value in vars(self).items() if value != getattr(PLAIN, name)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "ReplyDetails":
        """What `as_dict` gave; unknown names are excluded."""
        known_fields = {f.name: values[f.name] for f in fields(cls) if f.name in values}
        return cls(**{**known_fields, "arguments": tuple(known_fields.get("arguments", ()))})


PLAIN = ReplyDetails()


def marks(cut: bool, details: ReplyDetails) -> dict[str, Any]:
    """What is kept with an utterance beside its text, each where it holds: cut, refused, thinking and its
    tokens.
    """
    values: dict[str, Any] = {"cut": True} if cut else {}
    if details.refused:
        values["refused"] = True
    if details.thinking or details.thinking_tokens:
        values |= {"thinking": details.thinking, "thinking_tokens": details.thinking_tokens}
    return values


@dataclass(frozen=True)
class Completion:
    """What an endpoint answered. `cut` says that the reply stopped before its end; `tokens` are those in, out
    and cached (of those in), of which the client makes what was `usage`.
    """

    text: str
    cut: bool
    usage: Spent = NOTHING_SPENT
    reported: Reported = UNREPORTED
    details: ReplyDetails = PLAIN
    tokens: tuple[int, int, int] = (0, 0, 0)


def decoded(content: bytes | str) -> Any:
    """The JSON value of a body; lone halves of surrogate pairs, which no store takes, become U+FFFD.

    Raises Broken for what is no JSON, or nested too deep to be read.
    """
    try:
        value = json.loads(content)
        if (b"\\ud" if isinstance(content, bytes) else "\\ud") in content.lower():  # type: ignore[operator]
            value = json.loads(paired(json.dumps(value, ensure_ascii=False)))
    except RecursionError:
        raise Broken("The body is JSON that is nested too deep") from None
    except ValueError:
        start = content[:200] if isinstance(content, str) else content[:200].decode("utf-8", "replace")
        raise Broken(f"The body is not JSON but begins with “{start.strip()}”") from None
    return value


def read(content: bytes) -> Completion:
    """A chat completion. Raises Broken for a body that is none."""
    reply = decoded(content)
    try:
        return _read(reply, content)
    except RecursionError:
        raise Broken("The body is JSON that is nested too deep") from None


def _read(reply: Any, content: bytes) -> Completion:
    if not isinstance(reply, dict):
        raise Broken("The body is JSON, but no object")
    choices = reply.get("choices")
    if reply.get("error") and not choices:
        raise _error(reply["error"])
    if not isinstance(choices, list) or not choices:
        raise Broken("It has no `choices`")
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, dict) else None
    if isinstance(choice, dict) and choice.get("error"):
        raise _error(choice["error"])
    if not isinstance(message, dict):
        raise Broken("Its first choice has no `message`")
    finish = choice["finish_reason"][:200] if isinstance(choice.get("finish_reason"), str) else ""
    text, thinking, refusal = _content(message.get("content"))
    parts = visible_reply(text)
    text = parts.text
    thinking = "\n".join(filter(None, [_reasoning(message), thinking, parts.thinking]))
    declined = message.get("refusal")
    refusal = refusal or (declined if isinstance(declined, str) else "")
    is_refusal = bool(refusal) and not text.strip()
    text = refusal if is_refusal else text
    cut = _name(finish) in CUT
    lacks = "" if text.strip() else _lacks(message, _name(finish), thinking)
    tokens_in, tokens_out, cached, thinking_tokens = _tokens(reply.get("usage"))
    raw = content[:RAW].decode("utf-8", "replace") if not text.strip() else ""
    details = ReplyDetails(
        thinking,
        thinking_tokens,
        is_refusal,
        finish,
        lacks,
        raw,
        _arguments(message),
        bool(parts.draft.strip()),
    )
    tokens = tokens_in, tokens_out, cached
    return Completion(text, cut, reported=reported(reply), details=details, tokens=tokens)


def reported(reply: Mapping[str, Any]) -> Reported:
    """The model and fingerprint of a reply; what is not a text is excluded."""
    values = (reply.get("model"), reply.get("system_fingerprint"))
    return Reported(*(value[:200] if isinstance(value, str) else "" for value in values))


def _content(content: Any) -> tuple[str, str, str]:
    """Text, thinking and refusal of a message's content: a text, a list of parts, or nothing."""
    if isinstance(content, str):
        return content, "", ""
    if not isinstance(content, list):
        if content is None:
            return "", "", ""
        raise Broken("Its content is neither text nor a list of parts")
    by_kind: dict[str, list[str]] = {"text": [], "thinking": [], "refusal": []}
    for part in content:
        if isinstance(part, str):
            by_kind["text"].append(part)
        elif isinstance(part, dict):
            kind = str(part.get("type", "text"))
            if kind in ("thinking", "reasoning"):
                by_kind["thinking"].append(_words(part))
            elif kind == "refusal":
                by_kind["refusal"].append(_words(part.get("refusal")))
            elif isinstance(part.get("text"), str):
                by_kind["text"].append(part["text"])
        else:
            raise Broken("Its content has a part that is neither text nor an object")
    return "".join(by_kind["text"]), "\n".join(by_kind["thinking"]), "".join(by_kind["refusal"])


def _reasoning(message: Mapping[str, Any]) -> str:
    """The thinking that an endpoint puts into fields of its own."""
    for name in ("reasoning_content", "reasoning", "reasoning_details"):
        if thinking := _words(message.get(name)):
            return thinking
    return ""


def _words(value: Any) -> str:
    """The text of a part of thinking, which endpoints nest differently."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return "\n".join(filter(None, map(_words, value)))
    if isinstance(value, dict):
        names = ("thinking", "text", "summary", "reasoning", "content")
        return next((words for name in names if (words := _words(value.get(name)))), "")
    return ""


def _arguments(message: Mapping[str, Any]) -> tuple[str, ...]:
    """What a message calls tools with, as JSON. Concord offers none; some servers make one of a schema."""
    calls = message.get("tool_calls")
    listed = calls[:MOST_CALLS] if isinstance(calls, list) else []
    functions = [call.get("function") for call in listed if isinstance(call, dict)]
    texts = []
    for function in (*functions, message.get("function_call")):
        arguments = function.get("arguments") if isinstance(function, dict) else None
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments, ensure_ascii=False)
        if isinstance(arguments, str) and arguments.strip():
            texts.append(arguments)
    return tuple(texts)


MOST_CALLS = 8
"""Tool calls of a message whose arguments are looked at."""
_MORE_TOKENS = "Raise max_tokens for it in models.toml, or turn its thinking off or lower"


def _lacks(message: Mapping[str, Any], finish: str, thinking: str) -> str:
    """Why a message has no text, and the remedy; “” for an empty text without thinking that stopped."""
    if finish in FILTERED:
        return f"A content filter removed it (finish_reason {finish})."
    if finish in LENGTH:
        before = "the reply began" if thinking else "any text"
        return f"The length limit was reached before {before}. {_MORE_TOKENS}."
    if finish in BROKEN_OFF:
        return f"It ended with “{finish}” before {'the reply began' if thinking else 'any text'}."
    if message.get("tool_calls") or message.get("function_call") or finish == "tool_calls":
        return (
            "It only calls tools, and none were offered. Where its server makes a tool of the reply's form, "
            'write replies = "text" for it in models.toml.'
        )
    content = message.get("content")
    if content is None and not thinking:
        return "Its content is null."
    if thinking:
        return f"It holds thinking only. {_MORE_TOKENS}; or have its server tell thinking and reply apart."
    if not isinstance(content, str):
        return "It holds no part of type text."
    return "" if finish in ("stop", "eos", "end_turn") else "It is empty, and its finish_reason is not stop."


def _tokens(usage: Any) -> tuple[int, int, int, int]:
    """Tokens in, out, cached and of thinking. Those in contain the cached ones; those out contain those of
    thinking, also where an endpoint counts them apart.
    """

    def number(section: Any, *names: str) -> int:
        numbers = (section.get(name) for name in names) if isinstance(section, dict) else ()
        return next((int(n) for n in numbers if isinstance(n, int | float) and 0 <= n < 2**53), 0)

    tokens_in = number(usage, "prompt_tokens")
    tokens_out = number(usage, "completion_tokens")
    details = usage.get("completion_tokens_details") if isinstance(usage, dict) else None
    thinking_tokens = number(details, "reasoning_tokens") or number(usage, "reasoning_tokens")
    if thinking_tokens and number(usage, "total_tokens") == tokens_in + tokens_out + thinking_tokens:
        tokens_out += thinking_tokens
    details = usage.get("prompt_tokens_details") if isinstance(usage, dict) else None
    cached = number(details, "cached_tokens") or number(usage, "prompt_cache_hit_tokens")
    return tokens_in, tokens_out, min(tokens_in, cached), thinking_tokens


def _error(error: Any) -> Broken:
    """An error that a body of status 200 holds, as OpenRouter sends it."""
    code = error.get("code") if isinstance(error, dict) else 0
    message = error.get("message") if isinstance(error, dict) else error
    status = int(code) if isinstance(code, int) or (isinstance(code, str) and code.isdigit()) else 0
    return Broken(f"Its body holds an error: {str(message)[:200]}", status if 400 <= status < 600 else 0)
