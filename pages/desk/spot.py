"""The desk of a spot-check: what the browser is sent of judgements, and what it reports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlite_utils import Database

from concord.conversation import Message
from concord.errors import StudyError
from concord.rating import Finding
from concord.runs.benchmark import Benchmark
from concord.scores import run_label
from concord.store import spotchecks
from concord.store.desk import Event
from concord.store.spotchecks import JudgementWithFinding
from concord.studies.purposes import spotcheck
from concord.studies.purposes.spotcheck import Screen
from pages.desk import form
from pages.desk.component import name
from pages.desk.form import Moving, messages
from pages.parts.transcript import history_by

KEYS: Mapping[Finding, str] = {"reasonable": "r", "too_high": "h", "too_low": "l", "wrong": "x"}


@dataclass(frozen=True)
class CheckDesk:
    """Judgements to check: those of an audit in its order, or, in triage, those of these conversations."""

    benchmark: str
    person: str
    audit: str = ""
    conversations: Sequence[int] = ()

    @property
    def desk(self) -> str:
        """The name of this work."""
        kind = "audit" if self.audit else "triage"
        return name(kind, self.benchmark, self.person, self.audit or self.conversations)

    def fixed(self, of: Benchmark, title: str, back: str) -> dict[str, Any]:
        """What stays the same while somebody checks. Each item has its own questions, one a judgement."""
        raw = "mono" if of.last_reply_only else "prose"
        over, nothing = "All checked – thank you!", "No judge has scored any of these"
        return form.fixed(
            self.desk, "spot", title, self.person, back, (), over=over, nothing=nothing, raw=raw
        )

    def moving(self, db: Database, wanted: Sequence[int | str] | None) -> Moving:
        """What lies ahead; the items asked for: judgements of an audit, conversations in triage."""
        rater = spotcheck.rater_of(db, self.person)

        def shown(number: int, conversation: int, only: int | None = None) -> dict[str, Any]:
            return item(spotcheck.screen(db, conversation, self.person), number, only)

        if self.audit:
            drawn = spotchecks.drawn(db, self.audit, rater)
            done = {one.judgement for one in drawn if one.found_in is not None}
            where = {one.judgement: one.conversation for one in drawn}
            return form.moving(where, done, wanted, lambda i: shown(i, where[i], i))
        line = spotchecks.checked(db, self.conversations, rater)
        done = {conversation for conversation, settled in line.items() if settled}
        return form.moving(line, done, wanted, lambda i: shown(i, i))

    def apply(self, db: Database, event: Event) -> None:
        """Store what was found, or take it back.

        Raises StudyError for what says nothing of a judge's score.
        """
        judgement = int(event.criterion[:15]) if event.criterion.isdecimal() else 0
        match event.do, event.score:
            case "answer", None:
                spotcheck.withdraw(db, judgement, self.person)
            case "answer", "reasonable" | "too_high" | "too_low" | "wrong" as finding:
                spotcheck.verify(db, judgement, self.person, finding, event.text, audit=self.audit)
            case "answer", other:
                raise StudyError(f"“{other}” is not an answer about a judge's score.")


def item(screen: Screen, number: int, only: int | None = None) -> dict[str, Any]:
    """One conversation as it is shown; `only` shows this judgement alone."""
    conversation = screen.conversation
    benchmark = screen.system
    last = conversation.messages[-1] if conversation.messages else None
    before = history_by(conversation) or conversation.player

    def speaker(message: Message) -> str:
        if message.role == "user":
            return "User"
        return conversation.player if message is last else before

    shown = [seen for seen in screen.judgements if only in (None, seen.id)]
    people = [r for r in screen.people if r.criterion == screen.criterion.name]
    context = {k: form.as_text(v) for k, v in conversation.context.items() if not k.startswith("_")}
    main, others = next(iter(benchmark.facets), ""), benchmark.facets[1:]
    kept = [v for k, v in conversation.facets.items() if k in others and k != benchmark.ending_facet]
    lines = messages(conversation, speaker)
    question = screen.criterion
    scores = ", ".join(f"{r.rater.name} {question.scale.word(r.score)}" for r in people)
    rated = [f"People: {scores}"] if people else []
    criterion = (
        question.label if question.statement == question.label else f"{question.label}: {question.statement}"
    )
    settled = shown and all(seen.finding for seen in shown)
    return {
        "id": number,
        "turn": lines[-1]["turn"] if benchmark.last_reply_only and lines else None,
        "language": conversation.language,
        "about": {
            "title": context.get("Task") or conversation.facets.get(main, conversation.key),
            "facts": [conversation.player, *kept, conversation.language, criterion, *rated],
        },
        "context": [[heading, text] for heading, text in context.items() if len(text) > 60],
        "said": lines,
        "questions": [_question(seen, screen) for seen in shown],
        "beside": {str(seen.id): _beside(seen, screen) for seen in shown},
        "answers": {str(seen.id): seen.finding for seen in shown if seen.finding},
        "reasons": {str(seen.id): seen.comment for seen in shown},
        "state": "done" if settled else "open",
    }


def _question(seen: JudgementWithFinding, screen: Screen) -> dict[str, Any]:
    """What is asked of a judgement: a finding."""
    judge = run_label(seen.judge, seen.repeat) if seen.repeat else seen.judge
    findings = [
        {"value": one, "key": KEYS[one]}
        | dict.fromkeys(("shown", "label"), one.replace("_", " ").capitalize())
        for one in spotcheck.possible(screen.criterion)
    ]
    about = {"name": str(seen.id), "label": judge, "statement": "", "reason": "optional", "required": True}
    return about | {"options": findings, "low": 0, "high": 0, "across": True}


def _beside(seen: JudgementWithFinding, screen: Screen) -> dict[str, Any]:
    """The judge's score and reasons."""
    scale = screen.criterion.scale
    score = "–" if seen.score is None else scale.word(seen.score)
    return {
        "score": score if scale.named or seen.score is None else f"{score} of {scale.high:g}",
        "said": [["", seen.explanation or "(no explanation)"]],
        "mock": seen.simulated and "mock" not in seen.judge,
    }
