"""What the browser is sent for a spot-check, and what it reports: the dialogue, each judge's score and
reasons, what a person found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, Field
from sqlite_utils import Database

from core.benchmarks import get
from core.rating import Finding
from core.scores import run_label
from core.store.filters import Where
from core.store.spotchecks import Seen
from core.studies import spotcheck
from core.studies.spotcheck import Screen
from pages.parts.desk.sent import as_text, options
from pages.parts.review.component import AHEAD, LINE, Moving, name
from pages.parts.transcript import history_by


class SpotAnswer(BaseModel):
    """What a person found of a judgement; no finding takes back what they had found."""

    judgement: int
    finding: Finding | None
    comment: str = Field("", max_length=4000)
    corrected: float | None = Field(None, allow_inf_nan=False)


class HuntDesk:
    """What deserves a person's eye, most deserving first.

    `judges` narrows whose scores and verdicts count, and which are shown.
    """

    def __init__(
        self,
        benchmark: str,
        person: str,
        *,
        reasons: Sequence[str] = (),
        where: Where | None = None,
        judges: Sequence[str] = (),
        first: int | None = None,
    ) -> None:
        self.benchmark, self.person, self.judges, self.first = benchmark, person, tuple(judges), first
        self.chosen: dict[str, Any] = {
            "reasons": tuple(reasons),
            "where": dict(where or {}),
            "judges": self.judges,
        }
        # What was read of the queue: a page at a time, not anew with every answer.
        self.line: list[int] = []
        self.because: dict[int, Sequence[str]] = {}
        self.more = True
        self.left = self.of = 0

    @property
    def desk(self) -> str:
        """The name of this work."""
        chosen = sorted((k, str(v)) for k, v in self.chosen.items())
        return name("hunt", self.benchmark, self.person, chosen, self.first)

    def moving(self, db: Database, wanted: Sequence[int | str] | None) -> Moving:
        """What lies ahead; the items asked for."""
        settled = self._settled(db)
        end = set(self.line[-AHEAD - 1 :])
        if self.more and (not self.line or end.intersection(map(int, wanted or ()))):
            self._further(db, settled)
        line = self.line if self.first is None or self.first in self.line else [self.first, *self.line]
        if wanted is None:
            start = line.index(self.first) if self.first is not None else 0
            wanted = line[start : start + AHEAD + 1]
        ids = [int(i) for i in wanted]
        beyond = [i for i in ids if i not in self.because]
        for found in spotcheck.queue(db, self.benchmark, only=beyond, limit=len(beyond)) if beyond else ():
            self.because[found.conversation_id] = found.reasons
        items = [
            item(
                spotcheck.screen(db, i, self.person),
                i,
                self.because.get(i, ()),
                self.judges,
                person=self.person,
            )
            for i in ids
        ]
        return Moving(line, self.left - settled, self.of, items, self.first)

    def _settled(self, db: Database) -> int:
        """How many of the line the person has settled since it was read."""
        return len(spotcheck.settled(db, self.line, self.person, self.judges))

    def _further(self, db: Database, settled: int) -> None:
        """Read the next page of the queue.

        What was passed or only begun is in it still, before what is new.
        """
        page = spotcheck.queue(
            db, self.benchmark, person=self.person, limit=LINE, offset=len(self.line) - settled, **self.chosen
        )
        known = set(self.line)
        self.because |= {s.conversation_id: s.reasons for s in page}
        self.line += [s.conversation_id for s in page if s.conversation_id not in known]
        self.more = len(page) == LINE
        self.left = spotcheck.counts(db, self.benchmark, person=self.person, **self.chosen)[""] + settled
        self.of = self.of or spotcheck.counts(db, self.benchmark, **self.chosen)[""]


class AuditDesk:
    """A random sample in its order, one judgement at a time: only the one that was drawn is shown."""

    def __init__(self, benchmark: str, person: str, audit: str) -> None:
        self.benchmark, self.person, self.audit = benchmark, person, audit

    @property
    def desk(self) -> str:
        """The name of this work."""
        return name("audit", self.benchmark, self.person, self.audit)

    def moving(self, db: Database, wanted: Sequence[int | str] | None) -> Moving:
        """What lies ahead; the items asked for."""
        drawn = spotcheck.items(db, self.audit, self.person)
        where = {judgement: conversation for judgement, conversation, _ in drawn}
        line = [judgement for judgement, _, done in drawn if not done]
        items = [
            item(
                spotcheck.screen(db, where[int(i)], self.person),
                int(i),
                (),
                (),
                only=int(i),
                person=self.person,
            )
            for i in (line[: AHEAD + 1] if wanted is None else wanted)
            if int(i) in where
        ]
        return Moving(line[:LINE], len(line), len(drawn), items)


def fixed(work: HuntDesk | AuditDesk, title: str, back: str) -> dict[str, Any]:
    """What stays the same while somebody checks."""
    asked = spotcheck.question(work.benchmark)
    return {
        "desk": work.desk,
        "kind": "spot",
        "title": title,
        "you": work.person,
        "back": back,
        "options": options(asked.scale),
        "criterion": asked.label if sum(c.counted for c in get(work.benchmark).criteria) > 1 else "",
        "over": "All looked at – thank you!",
        "nothing": "Nothing here deserves a look",
    }


def apply(db: Database, person: str, event: SpotAnswer, audit: str = "") -> None:
    """Keep what was found, or take it back;

    `audit` names the audit whose desk it is. Raises StudyError for a score on the wrong side of the judge's.
    """
    if event.finding is None:
        spotcheck.withdraw(db, event.judgement, person)
    else:
        spotcheck.verify(
            db, event.judgement, person, event.finding, event.comment, event.corrected, audit=audit
        )


def item(
    screen: Screen,
    number: int,
    reasons: Sequence[str],
    judges: Sequence[str],
    only: int | None = None,
    *,
    person: str = "",
) -> dict[str, Any]:
    """One conversation as it is shown.

    `only` shows this judgement alone; `own` is the score this person has given the reply, which is one score,
    whichever judge it was given beside.
    """
    conversation = screen.conversation
    benchmark = get(conversation.benchmark)
    last = conversation.messages[-1] if conversation.messages else None
    before = history_by(conversation) or conversation.player
    speakers = {"user": "User", "assistant": before}
    shown = [
        seen
        for seen in screen.judgements
        if (seen.id == only if only is not None else not judges or seen.judge in judges)
    ]
    study = spotcheck.study_name(benchmark.name)
    own = [
        r.score
        for r in screen.people
        if (r.rater.name, r.study, r.criterion) == (person, study, screen.criterion.name)
    ]
    context = {k: v for k, v in conversation.context.items() if not k.startswith("_")}
    return {
        "id": number,
        "title": str(context.get("Task") or conversation.facets.get(benchmark.facets[0], conversation.key)),
        "facts": [
            conversation.player,
            *(
                v
                for k, v in conversation.facets.items()
                if k in benchmark.facets[1:] and k != benchmark.ending_facet
            ),
            conversation.language,
        ],
        "reasons": [spotcheck.REASONS[reason] for reason in reasons],
        "context": [[heading, as_text(text)] for heading, text in context.items() if len(as_text(text)) > 60],
        "said": [
            {
                "turn": turn.number,
                "reply": message is turn.reply,
                "speaker": conversation.player
                if message is last and message is turn.reply
                else speakers[message.role],
                "text": message.content,
                "cut": bool(message.meta.get("cut")),
            }
            for turn in conversation.turns()
            for message in (turn.user, turn.reply)
            if message is not None
        ],
        "challenging": screen.challenging,
        "last": benchmark.last_reply_only,
        "own": own[0] if own else None,
        "judgements": [_judgement(seen) for seen in shown],
        "people": [
            f"{r.rater.name} {r.score:g}" for r in screen.people if r.criterion == screen.criterion.name
        ],
    }


def _judgement(seen: Seen) -> dict[str, Any]:
    return {
        "id": seen.id,
        "judge": run_label(seen.judge, seen.repeat) if seen.repeat else seen.judge,
        "simulated": seen.simulated and "mock" not in seen.judge,
        "score": seen.score,
        "explanation": seen.explanation,
        "failure": seen.failure,
        "raw": seen.raw,
        "finding": seen.finding,
        "comment": seen.comment,
        "corrected": seen.corrected,
    }
