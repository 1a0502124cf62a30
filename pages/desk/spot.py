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

    def fixed(self, benchmark: Benchmark, title: str, back: str) -> dict[str, Any]:
        """What stays the same while somebody checks. Each item has its own questions, one a judgement."""
        raw = "mono" if benchmark.last_reply_only else "prose"
        end_text = "All checked – thank you!"
        empty_text = "No judge has scored any of these"
        return form.fixed(
            self.desk, "spot", title, self.person, back, (), end_text=end_text, empty_text=empty_text, raw=raw
        )

    def moving(self, db: Database, item_ids: Sequence[int | str] | None) -> Moving:
        """What lies ahead; the items asked for: judgements of an audit, conversations in triage."""
        rater = spotcheck.rater_of(db, self.person)

        def shown(number: int, conversation: int, single: int | None = None) -> dict[str, Any]:
            return item(spotcheck.screen(db, conversation, self.person), number, single)

        if self.audit:
            sample = spotchecks.drawn(db, self.audit, rater)
            finished = {one.judgement for one in sample if one.found_in is not None}
            conversation_of = {one.judgement: one.conversation for one in sample}
            return form.moving(conversation_of, finished, item_ids, lambda i: shown(i, conversation_of[i], i))
        line = spotchecks.checked(db, self.conversations, rater)
        finished = {conversation for conversation, is_settled in line.items() if is_settled}
        return form.moving(line, finished, item_ids, lambda i: shown(i, i))

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


def item(screen: Screen, number: int, single: int | None = None) -> dict[str, Any]:
    """One conversation as it is shown; `single` shows this judgement alone."""
    conversation = screen.conversation
    benchmark = screen.system
    last = conversation.messages[-1] if conversation.messages else None
    before = history_by(conversation) or conversation.player

    def speaker(message: Message) -> str:
        if message.role == "user":
            return "User"
        return conversation.player if message is last else before

    judgements = [judgement for judgement in screen.judgements if single in (None, judgement.id)]
    people = [r for r in screen.people if r.criterion == screen.criterion.name]
    context = {k: form.as_text(v) for k, v in conversation.context.items() if not k.startswith("_")}
    main = next(iter(benchmark.facets), "")
    other_facets = benchmark.facets[1:]
    facet_values = [
        v for k, v in conversation.facets.items() if k in other_facets and k != benchmark.ending_facet
    ]
    lines = messages(conversation, speaker)
    question = screen.criterion
    scores = ", ".join(f"{r.rater.name} {question.scale.word(r.score)}" for r in people)
    rated = [f"People: {scores}"] if people else []
    criterion = (
        question.label if question.statement == question.label else f"{question.label}: {question.statement}"
    )
    is_settled = judgements and all(judgement.finding for judgement in judgements)
    return {
        "id": number,
        "turn": lines[-1]["turn"] if benchmark.last_reply_only and lines else None,
        "language": conversation.language,
        "about": {
            "title": context.get("Task") or conversation.facets.get(main, conversation.key),
            "facts": [conversation.player, *facet_values, conversation.language, criterion, *rated],
        },
        "context": [[heading, text] for heading, text in context.items() if len(text) > 60],
        "said": lines,
        "questions": [_question(judgement, screen) for judgement in judgements],
        "beside": {str(judgement.id): _judgement_shown(judgement, screen) for judgement in judgements},
        "answers": {str(judgement.id): judgement.finding for judgement in judgements if judgement.finding},
        "reasons": {str(judgement.id): judgement.comment for judgement in judgements},
        "state": "done" if is_settled else "open",
    }


def _question(judgement: JudgementWithFinding, screen: Screen) -> dict[str, Any]:
    """What is asked of a judgement: a finding."""
    judge = run_label(judgement.judge, judgement.repeat) if judgement.repeat else judgement.judge
    findings = [
        {"value": one, "key": KEYS[one]}
        | dict.fromkeys(("shown", "label"), one.replace("_", " ").capitalize())
        for one in spotcheck.possible(screen.criterion)
    ]
    question = {
        "name": str(judgement.id),
        "label": judge,
        "statement": "",
        "reason": "optional",
        "required": True,
    }
    return question | {"options": findings, "low": 0, "high": 0, "across": True}


def _judgement_shown(judgement: JudgementWithFinding, screen: Screen) -> dict[str, Any]:
    """The judge's score and reasons."""
    scale = screen.criterion.scale
    score = "–" if judgement.score is None else scale.word(judgement.score)
    return {
        "score": score if scale.named or judgement.score is None else f"{score} of {scale.high:g}",
        "said": [["", judgement.explanation or "(no explanation)"]],
        "mock": judgement.simulated and "mock" not in judgement.judge,
    }
