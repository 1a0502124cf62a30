"""Spot-checks: people look at judgements, in triage or in an audit, and say whether each is reasonable."""

from __future__ import annotations

from dataclasses import dataclass

from sqlite_utils import Database

from concord.conversation import Conversation
from concord.errors import StudyError
from concord.rating import FINDINGS, Criterion, Finding, Rater
from concord.runs.benchmark import Benchmark
from concord.runs.judged import system
from concord.store import images, placements, ratings, spotchecks
from concord.store.ratings import StoredRating
from concord.store.spotchecks import JudgementWithFinding

PURPOSE = "spot-check"


@dataclass(frozen=True)
class Screen:
    """What a spot-check shows of a conversation: the dialogue, the judgements with a person's findings, and
    people's ratings.
    """

    conversation_id: int
    conversation: Conversation
    system: Benchmark
    criterion: Criterion
    judgements: tuple[JudgementWithFinding, ...]
    people: tuple[StoredRating, ...]


def screen(db: Database, conversation_id: int, person: str = "") -> Screen:
    """What a spot-check shows of one conversation. Raises NotFound."""
    conversation = images.load(db, conversation_id)
    criterion = question(db, conversation.benchmark)
    people = [r for r in ratings.of_conversation(db, conversation_id) if r.rater.kind == "human"]
    return Screen(
        conversation_id,
        conversation,
        system(db, conversation.benchmark),
        criterion,
        tuple(_judgements(db, conversation_id, criterion, rater_of(db, person))),
        tuple(people),
    )


def verify(
    db: Database,
    judgement_id: int,
    person: str,
    finding: Finding,
    comment: str = "",
    *,
    simulated: bool = False,
    audit: str = "",
) -> None:
    """Store what a person found of a judgement, in an audit or ("") in triage; the finding before it is kept.

    Raises StudyError for a finding that does not go with the criterion, and NotFound for a judgement without
    a score.
    """
    rater = ratings.rater_id(db, Rater(person, "human", simulated=simulated))
    criterion, judgement = _judgement(db, judgement_id, rater)
    if finding not in (allowed := possible(criterion)):
        words = ", ".join(name.replace("_", " ") for name in allowed)
        raise StudyError(f"This verdict has a score on “{criterion.label}”. Choose one of: {words}.")
    item = spotchecks.item(db, judgement_id, rater, audit)
    placements.give(db, PURPOSE, rater, item, "", FINDINGS[finding], comment, judgement.score)


def withdraw(db: Database, judgement_id: int, person: str) -> None:
    """Take back a finding; it is kept as replaced."""
    rater = rater_of(db, person)
    if rater is not None and _judgement(db, judgement_id, rater)[1].finding is not None:
        placements.take_back(db, PURPOSE, rater, spotchecks.item(db, judgement_id, rater), "")


def _judgement(db: Database, judgement_id: int, rater: int | None) -> tuple[Criterion, JudgementWithFinding]:
    """What a judgement was asked, and how it is shown to somebody."""
    conversation, benchmark = spotchecks.subject(db, judgement_id)
    criterion = question(db, benchmark)
    judgements = _judgements(db, conversation, criterion, rater)
    return criterion, next(judgement for judgement in judgements if judgement.id == judgement_id)


def _judgements(
    db: Database, conversation: int, criterion: Criterion, rater: int | None
) -> list[JudgementWithFinding]:
    nominal = not criterion.scale.ordered
    return spotchecks.judgements(db, conversation, criterion.name, rater, nominal=nominal)


def possible(criterion: Criterion) -> tuple[Finding, ...]:
    """What can be found of a judgement: answers by name have no order, so that one is wrong or not."""
    return ("reasonable", "wrong") if criterion.scale.named else ("reasonable", "too_high", "too_low")


def question(db: Database, benchmark: str) -> Criterion:
    """The criterion of which a judgement of a benchmark is found reasonable or not."""
    return criterion_of(system(db, benchmark))


def criterion_of(benchmark: Benchmark) -> Criterion:
    """The first criterion that is counted, else the first. Raises StudyError where nothing is asked."""
    if not benchmark.criteria:
        raise StudyError(
            f"No judge has rated conversations of “{benchmark.name}” by a rubric. Run `concord judge RUBRIC`."
        )
    return next((c for c in benchmark.criteria if c.counted), benchmark.criteria[0])


def rater_of(db: Database, person: str) -> int | None:
    """A person's rater id; None for nobody, and for somebody who has not rated anything yet."""
    return ratings.find_rater(db, Rater(person, "human")) if person else None
