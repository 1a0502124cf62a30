"""The spending limit of a run: a call reserves what it may cost before it is sent.

Reserved is the most that a call may cost: as many tokens in as its body has bytes, and as many out as it may
write. Calls whose reservations do not fit into what is left wait for others to end; one that is alone is sent
if what it is expected to cost fits. A run therefore spends at most what one call costs more than expected
beyond its limit.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from concord.errors import CallFailed, ConfigError, RunStopped
from concord.llm.models import Model
from concord.rating import Spent

CAPS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
"""Parameters that bound the tokens of a reply."""
UNCAPPED_TOKENS = 4096
"""A reply without such a bound is taken to have no more, or than twice the longest so far."""
BYTES_PER_TOKEN = 4.0
"""Of a model that has not been called yet."""
ROUNDING = 1e-9


def check_priced(models: Iterable[Model]) -> None:
    """Raises ConfigError, naming the models, unless all have a price."""
    if missing := sorted(model.name for model in models if model.price is None):
        names = ", ".join(f"“{name}”" for name in missing)
        raise ConfigError(
            f"A spending limit needs the price of every model; models.toml has none for {names}. Add price = "
            "{ input = …, output = … } per million tokens (0 for what costs nothing), or set no limit."
        )


def most_tokens(params: Mapping[str, Any]) -> int | None:
    """The tokens that a reply to a call with these parameters may have; None where nothing bounds it."""
    return min((params[name] for name in CAPS if isinstance(params.get(name), int)), default=None)


@dataclass
class _Usage:
    """What calls to a model had so far."""

    calls: int = 0
    size: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    longest: int = 0


@dataclass(eq=False)
class Reserved:
    """What a call is expected to cost and what it may cost at most; then what it did cost."""

    expected: float
    maximum: float
    usage: Spent | None = None


class Budget:
    """The limit of all runs of a plan, as one run keeps it. It belongs to one event loop."""

    def __init__(
        self,
        limit: float,
        models: Mapping[str, Model],
        guesses: Mapping[str, float],
        grant: Callable[[float], Awaitable[None]],
        halt: Callable[[str], None],
        ask_lease: Callable[[float], Awaitable[float]] | None = None,
    ):
        self.limit = limit
        self.elsewhere = 0.0
        """What other runs of the plan count for, known before the first call."""
        self.lost = 0.0
        """What calls that ended without an answer may have cost."""
        self._models = models
        self._guesses = guesses
        """Tokens out of a call, by model, before any was made."""
        self._grant = grant
        self._halt = halt
        self._ask_lease = ask_lease
        """Asks whoever shares out the limit for so much more; what is given is added to it, 0 for nothing."""
        self._seen = {name: _Usage() for name in models}
        self._spent = self._granted = 0.0
        self._in_flight: set[Reserved] = set()
        self._changed = asyncio.Event()
        self._asking = asyncio.Lock()
        self._over = False

    @asynccontextmanager
    async def reserved(self, model: str, size: int, token_limit: int | None) -> AsyncIterator[Reserved]:
        """Reserve what a call to a model may cost, for the block, which notes what was `spent`.

        `size` is that of what is sent in bytes, `token_limit` the tokens out it may have. Raises RunStopped
        where the call does not fit into what is left, or the run has stopped.
        """
        reservation = await self._reserve(model, size, token_limit)
        try:
            yield reservation
        except (CallFailed, asyncio.CancelledError) as error:
            if not isinstance(error, CallFailed) or error.code.maybe_paid:
                # The call was sent: it may have been paid for.
                self.lost += reservation.expected
            raise
        finally:
            if reservation.usage is not None:
                self._spent += reservation.usage.cost
                self._learn(model, size, reservation.usage)
            self._give_back(reservation)

    def record_usage(self, usage: Spent) -> None:
        """Count what was not reserved here: answers of batches."""
        self._spent += usage.cost

    def stop(self) -> None:
        """Let everybody through who waits: the run has stopped, and no call will be sent."""
        self._over = True
        self._changed.set()

    @property
    def left(self) -> float:
        """What may still be spent, calls in flight included."""
        return self.limit - self.elsewhere - self._spent - self.lost + ROUNDING

    async def _reserve(self, model: str, size: int, token_limit: int | None) -> Reserved:
        while not self._over:
            reservation = self._cost(model, size, token_limit)
            alone = not self._in_flight
            in_flight = sum(one.maximum for one in self._in_flight)
            if in_flight + reservation.maximum <= self.left or (alone and reservation.expected <= self.left):
                self._in_flight.add(reservation)
                try:
                    await self._granting()
                except BaseException:
                    self._give_back(reservation)
                    raise
                return reservation
            if alone:
                if self._ask_lease is not None:
                    lease = await self._ask_lease(reservation.expected - self.left)
                    self.limit += lease
                    if lease > 0:
                        continue
                self._halt(self._sentence(reservation))
            else:
                self._changed.clear()
                await self._changed.wait()
        raise RunStopped("The run has stopped.")

    async def _granting(self) -> None:
        """Have what was spent and is in flight granted, and half of what is in flight ahead.

        What is granted is stored before a call is sent: it counts, however this process ends.
        """
        async with self._asking:
            in_flight = sum(one.expected for one in self._in_flight)
            total = self._spent + self.lost + in_flight
            if total > self._granted:
                amount = max(total, min(total + in_flight / 2, self.limit - self.elsewhere))
                await self._grant(amount)
                self._granted = amount

    def _give_back(self, reservation: Reserved) -> None:
        self._in_flight.discard(reservation)
        self._changed.set()

    def _cost(self, name: str, size: int, token_limit: int | None) -> Reserved:
        model = self._models[name]
        past = self._seen[name]
        tokens_in = size * (past.tokens_in / past.size if past.size else 1 / BYTES_PER_TOKEN)
        tokens_out = past.tokens_out / past.calls if past.calls else self._guesses.get(name, 0.0)
        if model.kind == "embeddings":
            tokens_out = 0.0
            token_limit = 0
        elif token_limit is None:
            token_limit = max(UNCAPPED_TOKENS, 2 * past.longest)
        expected = model.cost(round(tokens_in), round(min(tokens_out, token_limit)))
        return Reserved(expected, max(expected, model.cost(size, token_limit)))

    def _learn(self, name: str, size: int, usage: Spent) -> None:
        past = self._seen[name]
        past.calls += 1
        past.size += size
        past.tokens_in += usage.input_tokens
        past.tokens_out += usage.output_tokens
        past.longest = max(past.longest, usage.output_tokens)

    def _sentence(self, reservation: Reserved) -> str:
        parts = [f"this run has spent {self._spent:.2f}"]
        if self.elsewhere:
            parts.append(f"other runs of its plan {self.elsewhere:.2f}")
        if self.lost:
            parts.append(f"calls without an answer may have cost {self.lost:.2f}")
        return (
            f"Stopped at the spending limit of {self.limit:g}: {', '.join(parts)}, and the next call would "
            f"cost about {reservation.expected:.2g}. Raise --max-cost to continue."
        )
