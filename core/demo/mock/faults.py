"""Faults on demand: every n-th call goes wrong in a chosen way, so that tests can see what the client makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Literal

from core.errors import ConfigError

Fault = Literal["rate_limit", "server_error", "dropped", "hang", "malformed", "truncated"]


@dataclass(frozen=True)
class Faults:
    """Every `rate_limit`-th call is answered 429, and so on; 0 means never. Calls are counted from 1 as they arrive.

    Where several fall on the same call the first in this order wins. `models` narrows them to some models, whose calls alone are then counted.
    """

    rate_limit: int = 0
    """429 with a Retry-After of `retry_after` seconds."""
    server_error: int = 0
    """500."""
    dropped: int = 0
    """The connection is closed without an answer."""
    hang: int = 0
    """No answer for `hang_seconds`, then a 500."""
    malformed: int = 0
    """A reply that is not JSON where JSON was asked for."""
    truncated: int = 0
    """The first half of the reply, with finish_reason "length"."""
    retry_after: float = 1.0
    hang_seconds: float = 3600.0
    models: tuple[str, ...] = ()

    def touch(self, model: str) -> bool:
        """Whether calls to this model are counted."""
        return not self.models or model in self.models

    def at(self, number: int) -> Fault | None:
        """What goes wrong with the call of this number (from 1), if anything."""
        for fault, every in self._periods():
            if every and number % every == 0:
                return fault
        return None

    def _periods(self) -> Iterator[tuple[Fault, int]]:
        yield "rate_limit", self.rate_limit
        yield "server_error", self.server_error
        yield "dropped", self.dropped
        yield "hang", self.hang
        yield "malformed", self.malformed
        yield "truncated", self.truncated


def read_faults(text: str) -> Faults:
    """Faults written as `rate_limit=5,server_error=7,models=mock-user+mock-vivid`, as the command line takes them."""
    known = {f.name: f.type for f in fields(Faults)}
    values: dict[str, int | float | tuple[str, ...]] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, _, value = part.partition("=")
        if name not in known:
            raise ConfigError(f"There is no fault “{name}”. Known: {', '.join(known)}.")
        try:
            if name == "models":
                values[name] = tuple(value.split("+"))
            else:
                values[name] = float(value) if known[name] == "float" else int(value)
        except ValueError:
            raise ConfigError(f"The fault “{name}” needs a number, as in {name}=5, not “{value}”.") from None
    return Faults(**values)  # type: ignore[arg-type]
