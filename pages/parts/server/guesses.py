"""Limits on guessing a passphrase: a wait for each source, a delay for everybody, and none is locked out."""

import ipaddress
from collections import OrderedDict, deque
from collections.abc import Sequence
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

    def begin(self, source: str, now: float, wider: Sequence[str] = ()) -> float:
        """Count a guess as wrong before it is checked, so that guesses at the same time do not slip through.

        Returns the seconds to wait before the check. "" is a source that is not known: it is never refused.
        `wider` are the networks around it: each may make twice as many wrong guesses as the one within.
        Raises NotAllowed while one of them waits.
        """
        delay = self.delay(now)
        counted = [self.sources.setdefault(one, Tries()) for one in (source, *wider) if one]
        if (until := max((tries.until for tries in counted), default=0.0)) > now:
            raise NotAllowed(f"Too many wrong guesses. Try again in {until - now:.0f} seconds.")
        for width, tries in enumerate(counted):
            tries.wrong = 1 + (tries.wrong if now < tries.last + HOUR else 0)
            tries.last = now
            if (over := tries.wrong - FREE * 2**width) > 0:
                tries.until = now + min(LONGEST_WAIT, 2.0 ** min(over, 9))
        for one in filter(None, (source, *wider)):
            self.sources.move_to_end(one)
        while len(self.sources) > SOURCES:
            self.sources.popitem(last=False)
        self.wrong.append(now)
        return delay

    def delay(self, now: float) -> float:
        """How long a check is held back: 50 ms for each wrong guess of the last hour."""
        while self.wrong and self.wrong[0] < now - HOUR:
            self.wrong.popleft()
        return min(LONGEST_DELAY, len(self.wrong) / 20)

    def unchecked(self, *sources: str) -> None:
        """Take back the count of a guess that was turned away before its check."""
        for tries in filter(None, map(self.sources.get, sources)):
            tries.wrong, tries.until = tries.wrong - 1, 0.0
        if self.wrong:
            self.wrong.pop()

    def right(self, *sources: str) -> None:
        """Forget the wrong guesses of a source, and of the networks around it, after a right one."""
        for one in sources:
            self.sources.pop(one, None)
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


def around(network: str) -> list[str]:
    """The /56 and the /48 of a /64 of IPv6: an organisation has as many of these as it likes."""
    if not network.endswith("/64"):
        return []
    within = ipaddress.ip_network(network)
    return [str(within.supernet(new_prefix=width)) for width in (56, 48)]
