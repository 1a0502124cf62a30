"""What the browser is sent for a spot-check, and what it reports."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

from pydantic import BaseModel, Field
from sqlite_utils import Database

from concord.conversation import Message
from concord.rating import Finding, Scale
from concord.runs.benchmark import Benchmark
from concord.scores import run_label
from concord.store import spotchecks, suspects
from concord.store.filters import Where
from concord.store.spotchecks import Seen
from concord.studies import spotcheck
from concord.studies.spotcheck import Screen
from pages.desk.review.component import AHEAD, LINE, Moving, name, said
from pages.desk.sent import as_text, options
from pages.parts.transcript import history_by


class SpotAnswer(BaseModel):
    """What a person found of a judgement; no finding takes back what they had found."""

    judgement: int
    finding: Finding | None
    comment: str = Field("", max_length=4000)
    corrected: float | None = Field(None, allow_inf_nan=False)


@dataclass(eq=False)
class QueueDesk:
    """The conversations to look at, the highest priority first.

    `judges` narrows whose scores and verdicts count, and which are shown; `first` is shown first.
    """

    benchmark: str
    person: str
    _: KW_ONLY
    reasons: Sequence[str] = ()
    where: Where = field(default_factory=dict)
    judges: Sequence[str] = ()
    first: int | None = None

    def __post_init__(self) -> None:
        reasons, judges = tuple(self.reasons), tuple(self.judges)
        self.chosen: dict[str, Any] = {"reasons": reasons, "where": dict(self.where), "judges": judges}
        # The queue as far as it was read: a page at a time, not anew with every answer.
        self.line: list[int] = []
        self.because: dict[int, Sequence[str]] = {}
        self.more = True
        self.left = self.of = 0

    @property
    def desk(self) -> str:
        """The name of this work."""
        chosen = sorted((k, str(v)) for k, v in self.chosen.items())
        return name("triage", self.benchmark, self.person, chosen, self.first)

    def moving(self, db: Database, wanted: Sequence[int | str] | None) -> Moving:
        """What lies ahead; the items asked for."""
        rater = spotcheck.rater_of(db, self.person)
        settled = len(suspects.settled(db, self.line, rater, self.judges)) if rater else 0
        end = set(self.line[-AHEAD - 1 :])
        if self.more and (not self.line or end.intersection(map(int, wanted or ()))):
            self._further(db, settled)
        line = self.line if self.first is None or self.first in self.line else [self.first, *self.line]
        if wanted is None:
            start = line.index(self.first) if self.first is not None else 0
            wanted = line[start : start + AHEAD + 1]
        ids = [int(i) for i in wanted]
        beyond = [i for i in ids if i not in self.because]
        every = spotcheck.search(db, self.benchmark)
        for found in suspects.queue(db, every, only=beyond, limit=len(beyond)) if beyond else ():
            self.because[found.conversation_id] = found.reasons
        items = [
            item(spotcheck.screen(db, i, self.person), i, self.person, self.because.get(i, ()), self.judges)
            for i in ids
        ]
        return Moving(line, self.left - settled, self.of, items, self.first)

    def _further(self, db: Database, settled: int) -> None:
        """Read the next page of the queue; what is not `settled` of the former ones precedes it."""
        search = spotcheck.search(db, self.benchmark, person=self.person, **self.chosen)
        page = suspects.queue(db, search, limit=LINE, offset=len(self.line) - settled)
        known = set(self.line)
        self.because |= {s.conversation_id: s.reasons for s in page}
        self.line += [s.conversation_id for s in page if s.conversation_id not in known]
        self.more = len(page) == LINE
        self.left = spotcheck.counts(db, search)[""] + settled
        self.of = self.of or spotcheck.counts(db, replace(search, unsettled_by=None))[""]


@dataclass(frozen=True)
class AuditDesk:
    """A random sample of judgements in its order; of a conversation only the judgement drawn is shown."""

    benchmark: str
    person: str
    audit: str

    @property
    def desk(self) -> str:
        """The name of this work."""
        return name("audit", self.benchmark, self.person, self.audit)

    def moving(self, db: Database, wanted: Sequence[int | str] | None) -> Moving:
        """What lies ahead; the items asked for."""
        drawn = spotchecks.audit_items(db, self.audit, spotcheck.rater_of(db, self.person))
        where = {judgement: conversation for judgement, conversation, _ in drawn}
        line = [judgement for judgement, _, done in drawn if not done]
        items = [
            item(spotcheck.screen(db, where[i], self.person), i, self.person, only=i)
            for i in map(int, line[: AHEAD + 1] if wanted is None else wanted)
            if i in where
        ]
        return Moving(line[:LINE], len(line), len(drawn), items)


def fixed(work: QueueDesk | AuditDesk, of: Benchmark, title: str, back: str) -> dict[str, Any]:
    """What stays the same while somebody checks."""
    asked = spotcheck.asked(of)
    return {
        "desk": work.desk,
        "kind": "spot",
        "title": title,
        "you": work.person,
        "back": back,
        "options": [o | {"word": asked.scale.word(o["value"])} for o in options(asked.scale)],
        "criterion": asked.label,
        "statement": asked.statement,
        "named": asked.scale.named,
        "over": "All looked at – thank you!",
        "nothing": "Nothing here deserves a look",
    }


def apply(db: Database, person: str, event: SpotAnswer, audit: str = "") -> None:
    """Store what was found (in this audit), or delete it.

    Raises StudyError for a score on the wrong side of the judge's.
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
    person: str = "",
    reasons: Sequence[str] = (),
    judges: Sequence[str] = (),
    only: int | None = None,
) -> dict[str, Any]:
    """One conversation as it is shown; `only` shows this judgement alone.

    `own` in it is the person's own score of the reply, the same beside every judge.
    """
    conversation = screen.conversation
    benchmark = screen.system
    last = conversation.messages[-1] if conversation.messages else None
    before = history_by(conversation) or conversation.player

    def speaker(message: Message) -> str:
        if message.role == "user":
            return "User"
        return conversation.player if message is last else before

    shown = [
        seen
        for seen in screen.judgements
        if (seen.id == only if only is not None else not judges or seen.judge in judges)
    ]
    people = [r for r in screen.people if r.criterion == screen.criterion.name]
    study = spotcheck.study_name(benchmark.name)
    own = [r.score for r in people if (r.rater.name, r.study) == (person, study)]
    context = {k: as_text(v) for k, v in conversation.context.items() if not k.startswith("_")}
    main, others = next(iter(benchmark.facets), ""), benchmark.facets[1:]
    kept = [v for k, v in conversation.facets.items() if k in others and k != benchmark.ending_facet]
    return {
        "id": number,
        "title": context.get("Task") or conversation.facets.get(main, conversation.key),
        "facts": [conversation.player, *kept, conversation.language],
        "reasons": [spotcheck.REASONS[reason] for reason in reasons],
        "context": [[heading, text] for heading, text in context.items() if len(text) > 60],
        "said": said(conversation, speaker),
        "challenging": screen.challenging,
        "last": benchmark.last_reply_only,
        "own": own[0] if own else None,
        "judgements": [_judgement(seen, screen.criterion.scale) for seen in shown],
        "people": [f"{r.rater.name} {screen.criterion.scale.word(r.score)}" for r in people],
    }


def _judgement(seen: Seen, scale: Scale) -> dict[str, Any]:
    sent = ("id", "score", "explanation", "failure", "raw", "finding", "comment", "corrected")
    return {
        "judge": run_label(seen.judge, seen.repeat) if seen.repeat else seen.judge,
        "word": "–" if seen.score is None else scale.word(seen.score),
        "simulated": seen.simulated and "mock" not in seen.judge,
        **{name: getattr(seen, name) for name in sent},
    }
