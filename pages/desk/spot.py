"""What the browser is sent for a spot-check, and what it reports."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

from sqlite_utils import Database

from concord.conversation import Message
from concord.errors import StudyError
from concord.rating import Finding
from concord.runs.benchmark import Benchmark
from concord.scores import run_label
from concord.store import spotchecks, suspects
from concord.store.filters import Where
from concord.store.spotchecks import Seen
from concord.studies import spotcheck
from concord.studies.spotcheck import Screen
from pages.desk import form
from pages.desk.component import name
from pages.desk.form import DeskEvent, Moving, Placed, messages, options
from pages.parts.transcript import history_by


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
        done = suspects.settled(db, self.line, rater, self.judges) if rater else set()
        end = set(self.line[-form.AHEAD - 1 :])
        if self.more and (not self.line or end.intersection(map(int, wanted or ()))):
            self._further(db, len(done))
        line = self.line if self.first is None or self.first in self.line else [self.first, *self.line]
        strip: list[Placed] = [(i, "done" if i in done else "open", False) for i in line]
        start = line.index(self.first) if self.first is not None else 0
        ids = [int(i) for i in form.ahead(strip[start:], wanted)]
        beyond = [i for i in ids if i not in self.because]
        every = spotcheck.search(db, self.benchmark)
        for found in suspects.queue(db, every, only=beyond, limit=len(beyond)) if beyond else ():
            self.because[found.conversation_id] = found.reasons
        items = [
            item(spotcheck.screen(db, i, self.person), i, self.person, self.because.get(i, ()), self.judges)
            for i in ids
        ]
        return Moving(strip, items, (self.of - self.left + len(done), self.of), self.first)

    def _further(self, db: Database, settled: int) -> None:
        """Read the next page of the queue; what is not `settled` of the former ones precedes it."""
        search = spotcheck.search(db, self.benchmark, person=self.person, **self.chosen)
        page = suspects.queue(db, search, limit=form.LINE, offset=len(self.line) - settled)
        known = set(self.line)
        self.because |= {s.conversation_id: s.reasons for s in page}
        self.line += [s.conversation_id for s in page if s.conversation_id not in known]
        self.more = len(page) == form.LINE
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
        strip, count = form.windowed([(i, "done" if done else "open", False) for i, _, done in drawn])
        items = [
            item(spotcheck.screen(db, where[i], self.person), i, self.person, only=i)
            for i in map(int, form.ahead(strip, wanted))
            if i in where
        ]
        return Moving(strip, items, count)


def fixed(work: QueueDesk | AuditDesk, of: Benchmark, title: str, back: str) -> dict[str, Any]:
    """What stays the same while somebody checks. Each item has its own questions, one a judgement."""
    raw = "mono" if of.last_reply_only else "prose"
    over, nothing = "All looked at – thank you!", "Nothing here deserves a look"
    return form.fixed(work.desk, "spot", title, work.person, back, (), over=over, nothing=nothing, raw=raw)


def apply(db: Database, person: str, event: DeskEvent, audit: str = "") -> None:
    """Store what was found (in this audit), or delete it.

    Raises StudyError for a score on the wrong side of the judge's.
    """
    if event.do != "answer" or not event.criterion.isdecimal():
        return
    judgement, score = int(event.criterion), event.score
    match score:
        case None:
            return spotcheck.withdraw(db, judgement, person)
        case "reasonable" | "too_high" | "too_low" | "seen":
            return spotcheck.verify(db, judgement, person, score, event.text, audit=audit)
        case str():
            raise StudyError(f"“{score}” says nothing of a judge's score.")
    conversation, _, benchmark = spotchecks.about(db, judgement)
    name_of = spotcheck.question(db, benchmark).name
    [seen] = [s for s in spotchecks.judgements(db, conversation, name_of) if s.id == judgement]
    return spotcheck.verify(db, judgement, person, implied(seen, score), event.text, score, audit=audit)


def implied(seen: Seen, score: float) -> Finding:
    """What a score that somebody would have given says of the judge's."""
    if seen.failure is not None:
        return "seen"
    if seen.score is None or score == seen.score:
        return "reasonable"
    return "too_high" if score < seen.score else "too_low"


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
    context = {k: form.as_text(v) for k, v in conversation.context.items() if not k.startswith("_")}
    main, others = next(iter(benchmark.facets), ""), benchmark.facets[1:]
    kept = [v for k, v in conversation.facets.items() if k in others and k != benchmark.ending_facet]
    told = messages(conversation, speaker)
    asked = screen.criterion
    known = ", ".join(f"{r.rater.name} {asked.scale.word(r.score)}" for r in people)
    rated = [f"People: {known}"] if people else []
    criterion = asked.label if asked.statement == asked.label else f"{asked.label}: {asked.statement}"
    hard = screen.challenging
    for message in told:
        if message["turn"] == hard and not message["reply"]:
            message["note"] = f"Turn {hard} was found too hard for the simulator of this dialogue"
    tags = [[spotcheck.REASONS[reason], None] for reason in reasons]
    settled = shown and all(seen.finding for seen in shown)
    answers = {str(seen.id): seen.finding if seen.corrected is None else seen.corrected for seen in shown}
    return {
        "id": number,
        "turn": told[-1]["turn"] if benchmark.last_reply_only and told else None,
        "language": conversation.language,
        "about": {
            "title": context.get("Task") or conversation.facets.get(main, conversation.key),
            "facts": [conversation.player, *kept, conversation.language, criterion, *rated],
            "tags": [*tags, [f"challenging: turn {hard} ↑", hard]] if hard and len(told) > 2 else tags,
        },
        "context": [[heading, text] for heading, text in context.items() if len(text) > 60],
        "said": told,
        "own": own[0] if own else None,
        "questions": [_question(seen, screen) for seen in shown],
        "beside": {str(seen.id): _beside(seen, screen) for seen in shown},
        "answers": {name: answer for name, answer in answers.items() if answer is not None},
        "reasons": {str(seen.id): seen.comment for seen in shown},
        "state": "done" if settled else "open",
        "reason": "",
        "flag": "",
    }


FINDINGS: Sequence[tuple[Finding, str, str]] = (
    ("reasonable", "Reasonable", "r"),
    ("too_high", "Too high", "h"),
    ("too_low", "Too low", "l"),
)
SEEN: tuple[Finding, str, str] = ("seen", "Seen", "s")
"""All there is to say of a verdict that could not be read; a score of one's own may go with it."""


def _question(seen: Seen, screen: Screen) -> dict[str, Any]:
    """What is asked of a judgement: a finding, or the score that somebody would have given."""
    judge = run_label(seen.judge, seen.repeat) if seen.repeat else seen.judge
    found = [
        {"value": finding, "shown": label, "label": label, "key": key, "row": "finding"}
        for finding, label, key in ((SEEN,) if seen.failure is not None else FINDINGS)
    ]
    scale = screen.criterion.scale
    scores = [
        option
        | {"implies": implied(seen, option["value"])}
        | {"label": scale.word(option["value"]) if scale.named else option["shown"]}
        for option in options(scale)
    ]
    about = {"name": str(seen.id), "label": judge, "statement": "", "reason": "optional", "required": True}
    return about | {"options": [*found, *scores], "low": 0, "high": 0, "across": True}


def _beside(seen: Seen, screen: Screen) -> dict[str, Any]:
    """The judge's score and reasons, or what its verdict failed of."""
    scale = screen.criterion.scale
    score = "–" if seen.score is None else scale.word(seen.score)
    return {
        "score": score if scale.named or seen.score is None else f"{score} of {scale.high:g}",
        "said": [["", seen.explanation or "(no explanation)"]] if seen.failure is None else [],
        "failure": seen.failure,
        "raw": (seen.raw or "(nothing)") if seen.failure is not None else "",
        "mock": seen.simulated and "mock" not in seen.judge,
        "own": None,
    }
