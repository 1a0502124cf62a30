"""What may go wrong with calls, for tests of the code that copes with it."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from concord.errors import ConfigError

Fault = Literal[
    "rate_limit",
    "server_error",
    "dropped",
    "hang",
    "malformed",
    "truncated",
    "null",
    "empty",
    "filtered",
    "tool_calls",
    "declined",
    "thinking",
    "only_thinking",
    "reasoning",
    "parts",
    "no_choices",
    "error_body",
    "html",
    "broken",
    "overloaded",
    "unavailable",
    "unauthorized",
    "no_credit",
    "echo",
    "echo_ok",
    "echo_reply",
    "trickle",
]


@dataclass(frozen=True)
class Faults:
    """Every `rate_limit`-th call is answered 429, and so on; 0 means never. Calls are counted from 1.

    Where several fall on the same call the first in this order wins. With `models`, only calls to these
    models are counted and go wrong.
    """

    rate_limit: int = 0  # 429 with a Retry-After of `retry_after` seconds
    server_error: int = 0  # 500
    dropped: int = 0  # the connection is closed without an answer
    hang: int = 0  # no answer for `hang_seconds`, then a 500
    malformed: int = 0  # a reply that is not JSON where JSON was asked for
    truncated: int = 0  # the first half of the reply, with finish_reason "length"
    null: int = 0  # content null
    empty: int = 0  # content ""
    filtered: int = 0  # content "", with finish_reason "content_filter"
    tool_calls: int = 0  # tool calls without content
    declined: int = 0  # content null, and a text in the field `refusal`
    thinking: int = 0  # <think>…</think> before the reply
    only_thinking: int = 0  # <think>… to the length limit
    reasoning: int = 0  # thinking in `reasoning_content`, counted in the usage
    parts: int = 0  # content as a list of parts
    no_choices: int = 0  # `choices` empty
    error_body: int = 0  # an error in a body of status 200, as OpenRouter sends it
    html: int = 0  # a page of status 200
    broken: int = 0  # the first bytes of a JSON body of status 200
    overloaded: int = 0  # 529
    unavailable: int = 0  # 503
    unauthorized: int = 0  # 401
    no_credit: int = 0  # 402
    echo: int = 0  # 400 with a message that repeats the Authorization header
    echo_ok: int = 0  # a body of status 200 that repeats the Authorization header
    echo_reply: int = 0  # a completion that repeats the Authorization header
    trickle: int = 0  # a body that never ends, a byte now and then
    capacity: int = 0  # more calls in flight than this are answered 429 at once
    per_minute: int = 0  # more calls in a minute than this are answered 429 at once
    cache_from: int = 0  # beginnings of prompts of so many tokens are cached, as OpenAI counts them
    batch_seconds: float = 0.0  # from the creation of a batch until it has ended
    batch_upload_seconds: float = 0.0  # until the first file, which is kept, is acknowledged
    batch_create_seconds: float = 0.0  # until the first batch, which is created, is acknowledged
    batch_lost: int = 0  # every so many batches are created without an answer
    batch_invalid: int = 0  # every so many batches fail as a whole
    batch_most: int = 0  # batches of more lines fail: too much would be queued
    batch_queue: int = 0  # batches fail while so many are under way: too much would be queued
    batch_expired: int = 0  # every so many batches expire with half of their lines answered
    # Of the lines of all batches, every so many are answered 400 or 500, lost, cut in the midst, or answered
    # twice, together with a call that nobody made.
    batch_refused: int = 0
    batch_error: int = 0
    batch_missing: int = 0
    batch_garbled: int = 0
    batch_repeated: int = 0
    retry_after: float = 1.0
    hang_seconds: float = 3600.0
    models: tuple[str, ...] = ()

    def at(self, number: int) -> Fault | None:
        """What goes wrong with the call of this number, if anything."""
        periods = ((fault, getattr(self, fault)) for fault in get_args(Fault))
        return next((fault for fault, every in periods if every and number % every == 0), None)

    def of_line(self, number: int) -> str:
        """What goes wrong with the line of a batch of this number; “” if nothing does."""
        names = ("refused", "error", "missing", "garbled", "repeated")
        periods = ((f"batch_{name}", getattr(self, f"batch_{name}")) for name in names)
        return next((fault for fault, every in periods if every and number % every == 0), "")


def read_faults(text: str) -> Faults:
    """Faults written as `rate_limit=5,server_error=7,models=mock-user+mock-vivid`. Raises ConfigError."""
    seconds = (field.name for field in fields(Faults) if field.type is float)
    types: dict[str, Callable[[str], Any]] = dict.fromkeys(seconds, float)
    types["models"] = lambda names: tuple(names.split("+"))
    known = {field.name for field in fields(Faults)}
    values: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        if name not in known:
            raise ConfigError(f"There is no fault “{name}”. Known: {', '.join(sorted(known))}.")
        try:
            values[name] = types.get(name, int)(value)
        except (ValueError, KeyError):
            raise ConfigError(f"The fault “{name}” needs a number, as in {name}=5, not “{value}”.") from None
    return Faults(**values)
