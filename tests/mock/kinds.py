"""What kinds of endpoints refuse, ignore and cut, for tests of the code that copes with it.

The messages are worded as the endpoints word them.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from concord.demo.exchanges import exchanges
from concord.errors import not_found


class RefusedCall(NamedTuple):
    """An error: status, message, and the fields `type`, `param` and `code`."""

    status: int
    message: str
    type: str | None = "invalid_request_error"
    param: str | None = None
    code: str | None = None


class EndpointKind(NamedTuple):
    """An endpoint: what it refuses, what it does not look at, and how many tokens of a prompt it reads."""

    refuses: Callable[[Mapping[str, Any]], RefusedCall | None] = lambda _asked: None
    ignores: tuple[str, ...] = ()
    context: int | None = None
    """Tokens of prompt that are read; the rest is cut off in silence."""


def _reasoning(asked: Mapping[str, Any]) -> RefusedCall | None:
    if "max_tokens" in asked:
        said = "Unsupported parameter: 'max_tokens' is not supported with this model. "
        said += "Use 'max_completion_tokens' instead."
        return RefusedCall(400, said, param="max_tokens", code="unsupported_parameter")
    if asked.get("temperature", 1) != 1:
        said = f"Unsupported value: 'temperature' does not support {asked['temperature']} with this model. "
        said += "Only the default (1) value is supported."
        return RefusedCall(400, said, param="temperature", code="unsupported_value")
    for name in ("top_p", "frequency_penalty", "presence_penalty"):
        if name in asked:
            said = f"Unsupported parameter: '{name}' is not supported with this model."
            return RefusedCall(400, said, param=name, code="unsupported_parameter")
    return None


def _anthropic(asked: Mapping[str, Any]) -> RefusedCall | None:
    if "temperature" in asked and "top_p" in asked:
        said = "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
        return RefusedCall(400, said, code="invalid_request_error")
    return None


def _no_schema(asked: Mapping[str, Any]) -> RefusedCall | None:
    if (asked.get("response_format") or {}).get("type") == "json_schema":
        return RefusedCall(400, "This response_format type is unavailable now", code="invalid_request_error")
    return None


def _litellm(asked: Mapping[str, Any]) -> RefusedCall | None:
    if named := [name for name in ("temperature", "top_p", "seed") if name in asked]:
        said = f"litellm.UnsupportedParamsError: openai does not support parameters: {named}, for "
        said += f"model={asked.get('model')}. To drop these, set `litellm.drop_params=True`"
        return RefusedCall(400, said, type="None", code="400")
    return None


def _forbids_more(asked: Mapping[str, Any]) -> RefusedCall | None:
    if "seed" in asked:
        said = (
            "[{'type': 'extra_forbidden', 'loc': ('body', 'seed'), 'msg': 'Extra inputs are not permitted'}]"
        )
        return RefusedCall(422, said, type="BadRequestError")
    return None


def _short(asked: Mapping[str, Any]) -> RefusedCall | None:
    read = len(_said(asked)) // 4
    if read > SHORT:
        said = (
            f"This model's maximum context length is {SHORT} tokens. However, your request has {read} input "
        )
        return RefusedCall(
            400, f"{said}tokens. Please reduce the length of the input messages.", "BadRequestError"
        )
    return None


def _openrouter(asked: Mapping[str, Any]) -> RefusedCall | None:
    if (asked.get("provider") or {}).get("only"):
        return RefusedCall(
            404, "No allowed providers are available for the selected model.", None, None, "404"
        )
    return None


def _azure(asked: Mapping[str, Any]) -> RefusedCall | None:
    if FILTERED in _said(asked):
        said = (
            "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
        )
        return RefusedCall(400, said, None, "prompt", "content_filter")
    return _reasoning(asked)


def _said(asked: Mapping[str, Any]) -> str:
    return "\n".join(str(message.get("content")) for message in asked.get("messages", ()))


SHORT = 1024
"""The context, in tokens, of the kinds that refuse or cut a longer prompt."""
FILTERED = "a violent scene"
"""What the content filter looks for."""
KINDS: Mapping[str, EndpointKind] = {
    "openai-reasoning": EndpointKind(_reasoning),
    "azure": EndpointKind(_azure),
    "anthropic": EndpointKind(
        _anthropic, ("response_format", "seed", "frequency_penalty", "presence_penalty", "n", "logprobs")
    ),
    "vllm": EndpointKind(_short),
    "llama-cpp": EndpointKind(_short),
    "ollama": EndpointKind(context=SHORT),
    "openrouter": EndpointKind(_openrouter),
    "litellm": EndpointKind(_litellm),
    "json-object": EndpointKind(_no_schema),
    "nothing": EndpointKind(lambda _asked: RefusedCall(400, "The temperature is wrong", param="temperature")),
    "strict": EndpointKind(_forbids_more),
}
"""The kinds that `concord mock --like KIND` serves."""


def kind(name: str) -> EndpointKind:
    """A kind by name, of these or of those that ship; “” refuses nothing. Raises NotFound."""
    if not name or name in KINDS:
        return KINDS[name] if name else EndpointKind()
    if name not in (played := exchanges()):
        raise not_found("kind of endpoint", name, [*KINDS, *played])

    def refuses(asked: Mapping[str, Any]) -> RefusedCall | None:
        refused = played[name].refused(asked)
        if refused is None:
            return None
        return RefusedCall(refused.status, refused.body)

    return EndpointKind(refuses)
