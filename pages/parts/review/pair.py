"""The comparison of pairs: what the browser is sent, and what it reports. Nothing names a reply's model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, Field
from sqlite_utils import Database

from concord.rating import Verdict
from concord.store import conversations, pairings
from concord.studies import comparisons
from pages.parts.review.component import AHEAD, LINE, Moving, name, said


class PairAnswer(BaseModel):
    """The answer for a pair as it was shown; None as verdict withdraws it."""

    first: int
    second: int
    verdict: Verdict | None
    comment: str = Field("", max_length=4000)


@dataclass(frozen=True)
class AllPairs:
    """Every pair of the chosen players (all if empty), in one random order for everybody."""

    benchmark: str
    person: str
    players: Sequence[str] = ()
    facets: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def desk(self) -> str:
        """The name of this work."""
        return name("pairs", self.benchmark, self.person, self.players, sorted(self.facets.items()))

    def moving(self, db: Database, wanted: Sequence[int | str] | None) -> Moving:
        """What lies ahead; the pairs asked for. A pair is named by its place in the order."""
        every = comparisons.dealt(db, self.benchmark, self.person, players=self.players, facets=self.facets)
        line = [number for number, (_, done) in enumerate(every, 1) if not done]
        items = []
        for n in map(int, line[: AHEAD + 1] if wanted is None else wanted):
            if 0 < n <= len(every):
                (first, second), _ = every[n - 1]
                given = comparisons.given(db, self.person, first, second)
                about = {"first": first, "second": second}
                items.append(item(db, n, first, second, *given) | {"about": about})
        return Moving(line[:LINE], len(line), len(every), items)


@dataclass(frozen=True)
class Dealt:
    """The pairs dealt to an annotator, in order. They have numbers, so that no conversation's id is sent."""

    benchmark: str
    rater: int
    person: str

    @property
    def desk(self) -> str:
        """The name of this work."""
        return name("dealt pairs", self.benchmark, self.rater)

    def moving(self, db: Database, wanted: Sequence[int | str] | None) -> Moving:
        """The open pairs, at first also those settled; of the pairs asked for only this person's."""
        every = dict(pairings.desk(db, self.rater, self.benchmark))
        line = [number for number, done in every.items() if not done]
        past = [number for number, done in every.items() if done] if wanted is None else []
        items = []
        asked = line[: AHEAD + 1] if wanted is None else [n for n in wanted if isinstance(n, int)]
        for number in asked:
            if number in every:
                pair = pairings.get(db, self.rater, number)
                items.append(item(db, pair.id, pair.first, pair.second, pair.verdict, pair.comment))
        gone = [number for number in asked if number not in every]
        return Moving(line[:LINE], len(line), len(every), items, past=past, gone=gone)


def fixed(work: AllPairs | Dealt, title: str, back: str, *, bare: bool = False) -> dict[str, Any]:
    """The constant part of what the browser is sent. `back` names the page behind; `bare`: no menu."""
    about = {"desk": work.desk, "kind": "pair", "title": title, "you": work.person, "back": back}
    over, nothing = "All compared – thank you!", "There are no two replies to compare"
    return about | {"bare": bare, "over": over, "nothing": nothing}


def item(
    db: Database, number: int, first: int, second: int, verdict: Verdict | None, comment: str
) -> dict[str, Any]:
    """A pair as it is shown, with its answer. Values are picked by name, and none of them names a model."""
    one, other = conversations.load(db, first), conversations.load(db, second)
    before = said(one, lambda message: "User" if message.role == "user" else "Simulator")
    replies = [
        {"text": m.content, "cut": bool(m.meta.get("cut"))} for m in (one.messages[-1], other.messages[-1])
    ]
    title = str(one.context.get("Task", ""))
    shown = {"id": number, "title": title, "said": before[:-1], "replies": replies}
    return shown | {"verdict": verdict, "comment": comment}
