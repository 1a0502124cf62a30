"""The interface of an agent architecture, its values, and a conversation of two minds."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from concord.benchmarks.stss.memory import Memory, Stream
from concord.benchmarks.stss.schedule import Day, Wish
from concord.benchmarks.stss.tasks import SocialTask
from concord.benchmarks.stss.town import Clock, Resident, Town, hour_of
from concord.errors import CallFailed

Said = Sequence[tuple[str, str]]
"""Who said what so far."""
ROUNDS = 8
"""A round is an utterance and its reply; it takes a minute."""
UNUSABLE_SHARE = 0.1
"""A simulation fails if more of the performer's thoughts than this share had no usable reply."""
OPENING = 1
"""The fewest utterances before a conversation can end."""


@dataclass(frozen=True)
class Now:
    """The world at one step, as everybody in it sees it."""

    town: Town
    clock: Clock
    step: int

    @property
    def time(self) -> datetime:
        """The moment."""
        return self.clock.time(self.step)

    @property
    def label(self) -> str:
        """The moment as the names of calls begin; it sorts, so that the latest call tells the town's time."""
        return f"day {self.clock.day(self.step) + 1} {hour_of(self.clock.minute(self.step))}"


class Neighbour(NamedTuple):
    """Another resident as one sees them: name and action."""

    name: str
    doing: str


@dataclass
class Self:
    """A resident as its mind sees it. `task` is None for everybody but the performer.

    A mind may store what it needs in `notes`; `repairs` lists what could not be used. `thoughts` counts what
    its model was asked, `unusable` are the failures where no reply could be used.
    """

    resident: Resident
    task: SocialTask | None = None
    memory: Stream = field(default_factory=Stream)
    day: Day = ()
    doing: str = ""
    place: str = ""
    notes: dict[str, Any] = field(default_factory=dict)
    repairs: list[tuple[datetime, str]] = field(default_factory=list)
    thoughts: int = 0
    unusable: list[CallFailed] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The resident's name."""
        return self.resident.name

    @property
    def seen(self) -> Neighbour:
        """What others see."""
        return Neighbour(self.name, self.doing)

    def remember(self, time: datetime, text: str, importance: int, kind: str) -> None:
        """Add to the memory stream."""
        self.memory.add(Memory(time, text, importance, kind))


class DayPlan(NamedTuple):
    """A day as a mind wishes it: when to get up, what to do. `outline` is stored as a memory."""

    wishes: Sequence[Wish]
    wake: str | None = None
    outline: str = ""


class Utterance(NamedTuple):
    """An utterance, and whether the speaker is done."""

    text: str
    done: bool = False


class Kept(NamedTuple):
    """What a resident keeps of a conversation, its importance (1 to 10), and whether it changes today."""

    summary: str
    importance: int = 5
    changes_today: bool = False


class Mind(Protocol):
    """An agent architecture: six thoughts, asked of many residents at once; each may change only its `me`."""

    async def prepare(self, me: Self, now: Now) -> None:
        """Before the first day. All scenes of a task share what this leaves in `me.notes`."""

    async def plan(self, me: Self, now: Now) -> DayPlan:
        """At midnight: the day that begins."""

    async def approaches(self, me: Self, other: Neighbour, now: Now) -> bool:
        """On noticing somebody in the same room: whether to speak to them."""

    async def says(self, me: Self, other: Neighbour, said: Said, now: Now) -> Utterance:
        """In a conversation: the next utterance. An empty one ends it."""

    async def keeps(self, me: Self, other: Neighbour, said: Said, now: Now) -> Kept:
        """After a conversation: what to remember."""

    async def revises(self, me: Self, now: Now) -> Sequence[Wish] | None:
        """After a conversation that changes today: the rest of the day, or None to leave it."""


async def converse(first: tuple[Self, Mind], second: tuple[Self, Mind], now: Now) -> list[tuple[str, str]]:
    """What the two say in turn.

    The conversation ends when one is done and the other has replied or says nothing, or after ROUNDS.
    """
    said: list[tuple[str, str]] = []
    speakers = (first, second)
    done = [False, False]
    for turn in range(2 * ROUNDS):
        (me, mind), (other, _) = speakers[turn % 2], speakers[1 - turn % 2]
        utterance = await mind.says(me, other.seen, tuple(said), now)
        text = utterance.text.strip()
        if not text:
            break
        said.append((me.name, text))
        done[turn % 2] = utterance.done
        if all(done) or (utterance.done and turn > OPENING):
            break
    return said


def require_usable(me: Self, share: float = UNUSABLE_SHARE) -> None:
    """Raises CallFailed if more than a share of a mind's thoughts had no usable reply."""
    if len(me.unusable) > share * me.thoughts:
        last = me.unusable[-1]
        failure = CallFailed(
            f"{me.name} had no usable reply to {len(me.unusable)} of {me.thoughts} thoughts, more than "
            f"{share:.0%}: what was done is not what the model wanted. The last: {last}",
            kind=last.kind,
            raw=last.raw,
            reason=f"unusable thoughts: {last.reason}",
        )
        failure.model = last.model
        raise failure


def minutes(said: Said) -> float:
    """How long a conversation takes."""
    return max(1.0, len(said) / 2)
