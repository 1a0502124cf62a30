"""The gate of an endpoint: how many calls may be in flight, and when the next one may be sent.

Additive increase, multiplicative decrease: the number grows with every answer and shrinks when the endpoint
throttles. What the endpoint asks for (Retry-After) holds for all its calls.
"""

import asyncio
import random
from collections import deque
from collections.abc import Callable

START = 128
"""Calls in flight at first, where more are allowed; the number doubles until the endpoint throttles."""
DECREASE = 0.9
DECREASE_SOON = 0.7
"""What is left of the number after a refusal, and after one that comes less than a round later."""
NEAR = 0.95
PAST = 1.05
FAR = 1.5
"""Shares of the number at which the endpoint throttled last: slow growth from NEAR to PAST, doubling beyond
FAR.
"""
SLOW = 0.1
"""Growth near that number, in calls for each round of answers; else 1."""
LEAST_PAUSE = 0.02
LONGEST_PAUSE = 30.0
"""Seconds that an endpoint rests which throttles without saying for how long: doubled each time."""
STATED_PAUSE = 1.0
"""So long rests, after some refusals in a row, one that asks for less than it needs."""
PROBE_SECONDS = (0.5, 8.0)
"""Between two tries of an endpoint that cannot be reached: from, doubling, to."""
FIRST_SECONDS = 15.0
DOWN_SECONDS = 300.0
"""How long an endpoint is waited for that has never answered, and that has answered before."""


class Gate:
    """Lets the calls of one endpoint through, in their order. It belongs to one event loop."""

    def __init__(self, limit: int, endpoint: str = ""):
        self.most = limit
        self.where = endpoint
        self.in_flight = 0
        self.throttles = 0
        """Calls that were throttled."""
        self._limit = float(min(limit, START))
        self._ceiling = float("inf")
        self._shrunk_at = -1.0
        self._before = 0.0
        self._sent = 0
        self._refused = 0
        self._answers = START
        self._factor = DECREASE
        self._in_a_row = 0
        self._opens_at = 0.0
        self._answered_at: float | None = None
        self._began_at: float | None = None
        self._down_since: float | None = None
        self._probes = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = asyncio.Event()
        self._clock: Callable[[], float] = asyncio.get_running_loop().time

    @property
    def limit(self) -> int:
        """Calls that may be in flight now."""
        return 1 if self._down_since is not None else max(1, int(self._limit))

    @property
    def now(self) -> float:
        """The loop's time, as `enter` gives it."""
        return self._clock()

    async def enter(self) -> float:
        """Wait for a place; returns when that was. `leave` gives it back."""
        if not self._waiting and self._may_pass():
            self.in_flight += 1
            return self._clock()
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        self._wake()
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.leave()
            raise
        return self._clock()

    def leave(self) -> None:
        """Give a place back."""
        self.in_flight -= 1
        if self._waiting:
            self._wake()

    def allow(self, limit: int) -> None:
        """Let at most so many calls be in flight from now on."""
        self.most = limit
        self._limit = min(self._limit, float(limit))

    async def rest(self, seconds: float) -> None:
        """Wait outside the gate, no longer than until `stop`."""
        try:
            async with asyncio.timeout(seconds):
                await self._stopped.wait()
        except TimeoutError:
            pass

    def stop(self) -> None:
        """Let everybody through who waits: the run has stopped, and no call will be sent."""
        self._stopped.set()
        self._wake()

    def record_answer(self) -> None:
        """A call was answered, well or not: the endpoint is there and has taken it."""
        self._answered_at = self._clock()
        self._in_a_row = self._probes = 0
        self._answers += 1
        self._down_since = None
        if self._limit < self.most and self.in_flight >= int(self._limit):
            self._limit = min(float(self.most), self._limit + self._growth())
        if self._waiting:
            self._wake()

    def throttled(self, sent_at: float, after: float | None) -> float:
        """A call was refused for now; returns for how many seconds nothing was answered."""
        now = self._clock()
        self.throttles += 1
        self._began_at = now if self._began_at is None else self._began_at
        if sent_at > self._shrunk_at:
            self._shrunk_at = now
            self._before = self._limit
            self._sent = self.in_flight
            self._factor = DECREASE if self._answers >= self._limit else DECREASE_SOON
            self._refused = self._answers = 0
            self._in_a_row += 1
            pause = LEAST_PAUSE * 2 ** min(self._in_a_row, 16)
            longest = LONGEST_PAUSE
            if after is not None:
                longest = min(longest, STATED_PAUSE)
            self._close(min(longest, pause) * random.uniform(0.5, 1))
        self._refused += 1
        # Of calls that filled the places, the endpoint took those that it did not refuse; where few were in
        # flight, a refusal says nothing of how many at once are too many.
        accepted = float(self._sent - self._refused) if 2 * self._sent >= self._before else self._before
        self._limit = max(1.0, min(self._before * self._factor, accepted))
        self._ceiling = max(1.0, min(self._before, accepted))
        if after is not None:
            self._close(after)
        return now - (self._began_at if self._answered_at is None else self._answered_at)

    def unreachable(self, sent_at: float) -> float | None:
        """A call did not arrive; returns for how many more seconds the endpoint is waited for.

        None if the endpoint answered another call meanwhile: then it is there, and only this call failed.
        """
        if self._answered_at is not None and self._answered_at >= sent_at:
            return None
        now = self._clock()
        if self._down_since is None:
            self._down_since = now
        first, longest = PROBE_SECONDS
        self._close(min(longest, first * 2 ** min(self._probes, 10)) * random.uniform(0.75, 1))
        self._probes += 1
        return max(0.0, self._patience - (now - self._down_since))

    def status(self) -> str:
        """Why calls wait, in a sentence; “” where they do not."""
        now = self._clock()
        if self._down_since is not None and self._probes:
            down_seconds = now - self._down_since
            left = self._patience - (now - self._down_since)
            return (
                f"{self.where} cannot be reached for {down_seconds:.0f} s; waiting for it, "
                f"{max(0, left):.0f} s more"
            )
        if self._opens_at - now > 1:
            return f"{self.where} asks to wait {self._opens_at - now:.0f} s"
        if now - self._shrunk_at < 10 and self._shrunk_at > 0:
            return f"{self.where} throttles: {self.limit} of {self.most} calls at once"
        return ""

    @property
    def _patience(self) -> float:
        return FIRST_SECONDS if self._answered_at is None else DOWN_SECONDS

    def _growth(self) -> float:
        share = self._limit / self._ceiling
        if self._ceiling == float("inf") or share > FAR:
            return 1.0
        return (SLOW if NEAR <= share <= PAST else 1.0) / self._limit

    def _close(self, pause: float) -> None:
        self._opens_at = max(self._opens_at, self._clock() + pause)

    def _may_pass(self) -> bool:
        if self._stopped.is_set():
            return True
        return self.in_flight < self.limit and self._clock() >= self._opens_at

    def _wake(self) -> None:
        """Let through who may pass now; where only time is missing, come back."""
        while self._waiting and self._may_pass():
            place = self._waiting.popleft()
            if not place.done():
                self.in_flight += 1
                place.set_result(None)
        if self._waiting and self.in_flight < self.limit and self._opens_at > self._clock():
            if self._timer is not None:
                self._timer.cancel()
            self._timer = asyncio.get_running_loop().call_at(self._opens_at, self._wake)
