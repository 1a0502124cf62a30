"""Limits on guessing a passphrase: a wait for each source, a delay for everybody, and none is locked out."""

import ipaddress
from collections import OrderedDict, deque
from dataclasses import dataclass, field

from concord.errors import NotAllowed

FREE = 5
"""Wrong guesses of a source that start no wait."""
LONGEST_WAIT = 300.0
LONGEST_DELAY = 3.0
HOUR = 3600.0
SOURCES = 10_000
"""So many sources are remembered; the one that guessed longest ago is forgotten first."""


@dataclass
class Tries:
    """Wrong guesses of one source in a row."""

    wrong: int = 0
    until: float = 0.0
    last: float = 0.0


@dataclass
class Guesses:
    """Wrong guesses by source, and those of the last hour together. Times are seconds of a monotonic clock.

    A source is refused while it waits: after five wrong guesses 2 seconds, twice as long after each further
    one, up to five minutes; an hour without a guess and it starts anew. Guesses from everywhere together only
    make each check slower, up to three seconds, so that the right passphrase from elsewhere always goes on.
    """

    sources: OrderedDict[str, Tries] = field(default_factory=OrderedDict)
    wrong: deque[float] = field(default_factory=deque)

    def begin(self, source: str, now: float) -> float:
        """Count a guess as wrong before it is checked, so that guesses at the same time do not slip through.

        Returns the seconds to wait before the check. "" is a source that is not known: it is never refused.
        Raises NotAllowed while the source waits.
        """
        delay = self.delay(now)
        if source:
            tries = self.sources.setdefault(source, Tries())
            if tries.until > now:
                raise NotAllowed(f"Too many wrong guesses. Try again in {tries.until - now:.0f} seconds.")
            tries.wrong = 1 + (tries.wrong if now < tries.last + HOUR else 0)
            tries.last = now
            if (over := tries.wrong - FREE) > 0:
                tries.until = now + min(LONGEST_WAIT, 2.0 ** min(over, 9))
            self.sources.move_to_end(source)
            if len(self.sources) > SOURCES:
                self.sources.popitem(last=False)
        self.wrong.append(now)
        return delay

    def delay(self, now: float) -> float:
        """How long a check is held back: 50 ms for each wrong guess of the last hour."""
        while self.wrong and self.wrong[0] < now - HOUR:
            self.wrong.popleft()
        return min(LONGEST_DELAY, len(self.wrong) / 20)

    def right(self, source: str) -> None:
        """Forget the wrong guesses of a source after a right one."""
        self.sources.pop(source, None)
        if self.wrong:
            self.wrong.pop()


def network(address: str) -> str:
    """The source that an address belongs to: itself, of IPv6 its /64, which one household or server has.

    "" for a loopback address: behind it may be a proxy that does not name the browser's.
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    if parsed.is_loopback:
        return ""
    return str(ipaddress.ip_network((parsed, 64), strict=False)) if parsed.version == 6 else str(parsed)
