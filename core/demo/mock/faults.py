"""What may go wrong with calls, for tests of the code that copes with it."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from core.errors import ConfigError

Fault = Literal["rate_limit", "server_error", "dropped", "hang", "malformed", "truncated"]


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
    retry_after: float = 1.0
    hang_seconds: float = 3600.0
    models: tuple[str, ...] = ()

    def at(self, number: int) -> Fault | None:
        """What goes wrong with the call of this number, if anything."""
        periods = ((fault, getattr(self, fault)) for fault in get_args(Fault))
        return next((fault for fault, every in periods if every and number % every == 0), None)


def read_faults(text: str) -> Faults:
    """Faults written as `rate_limit=5,server_error=7,models=mock-user+mock-vivid`. Raises ConfigError."""
    types: dict[str, Callable[[str], Any]] = {"retry_after": float, "hang_seconds": float}
    types["models"] = lambda names: tuple(names.split("+"))
    known = {field.name for field in fields(Faults)}
    values: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        if name not in known:
            raise ConfigError(f"There is no fault “{name}”. Known: {', '.join(sorted(known))}.")
        try:
            values[name] = types.get(name, int)(value)
        except ValueError:
            raise ConfigError(f"The fault “{name}” needs a number, as in {name}=5, not “{value}”.") from None
    return Faults(**values)
