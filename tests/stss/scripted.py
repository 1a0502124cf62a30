"""A mind without a model: it follows habits and says given lines.

For measuring the world alone, and for tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from concord.benchmarks.stss.mind import DayPlan, Now, Self, Transcript
from concord.benchmarks.stss.schedule import Wish, habits
from concord.benchmarks.stss.thoughts import Speech, Summary


def kept(summary: str, changes_today: bool = False) -> Summary:
    """What is kept of a conversation, neither weighty nor light."""
    return Summary(summary=summary, importance=5, changes_today=changes_today)


@dataclass
class ScriptedMind:
    """Habits, with wishes added for each day (0 is the first).

    It speaks to those in `lines`, a line at a time.
    """

    days: Mapping[int, Sequence[Wish]] = field(default_factory=dict)
    lines: Mapping[str, Sequence[str]] = field(default_factory=dict)

    async def prepare(self, me: Self, now: Now) -> None:
        """Nothing to prepare."""

    async def plan(self, me: Self, now: Now) -> DayPlan:
        """The habitual day with what was added."""
        return DayPlan([*habits(me.resident), *self.days.get(now.clock.day(now.step), ())])

    async def approaches(self, me: Self, other: Self, now: Now) -> bool:
        """Whether there is something to say to them."""
        return other.name in self.lines

    async def says(self, me: Self, other: Self, said: Transcript, now: Now) -> Speech:
        """The next line; “I see.” without one."""
        lines = self.lines.get(other.name, ("I see.",))
        mine = sum(speaker == me.name for speaker, _ in said)
        return Speech(utterance=lines[mine] if mine < len(lines) else "", done=mine + 1 >= len(lines))

    async def keeps(self, me: Self, other: Self, said: Transcript, now: Now) -> Summary:
        """What was said, word for word."""
        return kept(" ".join(f"{speaker}: {text}" for speaker, text in said))

    async def revises(self, me: Self, now: Now) -> Sequence[Wish] | None:
        """A script does not change."""
        return None
