"""What the browser is sent of a pair to compare, and what it reports: a common dialogue and two replies; nothing tells who wrote which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field
from sqlite_utils import Database

from core import comparisons
from core.comparisons import Pair
from core.conversation import Message
from core.rating import Verdict
from pages.parts.review.component import AHEAD, LINE, Moving, name


class Preferred(BaseModel):
    """Which of two a person preferred as they were shown; no verdict takes the answer back."""

    first: int
    second: int
    verdict: Verdict | None
    comment: str = Field("", max_length=4000)


class Pairs:
    """Every pair of the players chosen (all if empty), in the one random order that everybody goes through."""

    def __init__(
        self,
        benchmark: str,
        person: str,
        players: Sequence[str] = (),
        facets: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.benchmark, self.person, self.players, self.facets = (
            benchmark,
            person,
            tuple(players),
            dict(facets or {}),
        )

    @property
    def desk(self) -> str:
        """The name of this work."""
        return name("pairs", self.benchmark, self.person, self.players, sorted(self.facets.items()))

    def fixed(self, title: str, back: str) -> dict[str, Any]:
        """What stays the same while somebody compares."""
        return {
            "desk": self.desk,
            "kind": "pair",
            "title": title,
            "you": self.person,
            "back": back,
            "over": "All compared – thank you!",
            "nothing": "There are no two replies to compare",
        }

    def moving(self, db: Database, wanted: Sequence[int | str] | None) -> Moving:
        """What lies ahead; the pairs asked for. A pair is named by its place in the order."""
        every = comparisons.dealt(db, self.benchmark, self.person, players=self.players, facets=self.facets)
        line = [pair.number for pair, done in every if not done]
        items = [
            item(db, every[int(n) - 1][0])
            for n in (line[: AHEAD + 1] if wanted is None else wanted)
            if 0 < int(n) <= len(every)
        ]
        return Moving(line[:LINE], len(line), len(every), items)


def apply(db: Database, person: str, event: Preferred) -> None:
    """Keep the answer, or take it back."""
    if event.verdict is None:
        comparisons.withdraw(db, person, event.first, event.second)
    else:
        comparisons.answer(db, person, event.first, event.second, event.verdict, event.comment)


def item(db: Database, pair: Pair) -> dict[str, Any]:
    """A pair as it is shown: every value is picked by name, and none of them names a model."""
    one, other = comparisons.shown(db, pair)
    said = [
        {"turn": turn.number, "reply": message is turn.reply, "speaker": "User" if message is turn.user else "Simulator", "text": message.content}
        for turn in one.turns()
        for message in (turn.user, turn.reply)
        if message is not None and message is not one.messages[-1]
    ]  # fmt: skip
    return {
        "id": pair.number,
        "first": pair.first,
        "second": pair.second,
        "title": str(one.context.get("Task", "")),
        "said": said,
        "replies": [_reply(one.messages[-1]), _reply(other.messages[-1])],
        "verdict": None,
        "comment": "",
    }


def _reply(message: Message) -> dict[str, Any]:
    return {"text": message.content, "cut": bool(message.meta.get("cut"))}
