"""Spot-checks: people look at judgements, either in triage, where something looks wrong, or in an audit.

After the human evaluation of Jia et al. (“Evaluating language models with creative simulation tasks”): 100
judgements at random, each found reasonable, too high or too low.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlite_utils import Database

from concord.conversation import Conversation
from concord.errors import StudyError, check_known
from concord.rating import FINDINGS, Criterion, Finding, Rater
from concord.runs.benchmark import Benchmark
from concord.runs.judged import system
from concord.store import conversations, images, placements, ratings, spotchecks, suspects
from concord.store.filters import Where
from concord.store.ratings import Stored
from concord.store.spotchecks import Seen
from concord.store.suspects import Search, Suspect, Suspicion
from concord.table import Column, Table

REASONS: Mapping[str, str] = {
    "low": "low score",
    "apart": "judges far apart",
    "people": "far from people",
    "failed": "unreadable verdict",
    "refusal": "refusal",
    "cut": "cut off at the length limit",
    "empty": "empty reply",
}
"""Why a conversation deserves a look, in words."""


def suspicion(db: Database, benchmark: str) -> Suspicion:
    """The thresholds, by the scale of the benchmark's counted criteria (of a rubric's, where one was used).

    The lowest third is low, a third of the scale is far apart, and two ninths of it is far from people: on a
    scale of 1 to 10, these are 4 or less, 3 points and 2 points.
    """
    scale, of = question(db, benchmark).scale, system(db, benchmark)
    low, size = scale.low, scale.high - scale.low
    points = (low, scale.high, low + size / 3, size / 3, size * 2 / 9)
    return Suspicion(*points, of.ending_facet, refusal=of.refusal)


def search(
    db: Database,
    benchmark: str,
    *,
    person: str = "",
    where: Where | None = None,
    judges: Sequence[str] = (),
    reasons: Sequence[str] = (),
) -> Search:
    """The conversations to look at, for `suspects.queue`, without those that the person has settled.

    Settled are those whose judgements (by `judges`) all have a finding of the person. If `judges` are named,
    only what one of them judged is there. Raises NotFound for an unknown reason or judge.
    """
    check_known("reason", reasons, REASONS)
    check_judges(db, benchmark, judges)
    return Search(benchmark, suspicion(db, benchmark), where or {}, judges, reasons, rater_of(db, person))


def counts(db: Database, search: Search) -> dict[str, int]:
    """How many conversations there are to look at: under "" those with one of the reasons asked for, then by
    reason. A conversation may have several reasons.
    """
    counted = suspects.counts(db, search)
    wanted = set(search.reasons or REASONS)
    by = {reason: sum(n for together, n in counted.items() if reason in together) for reason in REASONS}
    return {"": sum(n for together, n in counted.items() if wanted & set(together))} | {
        reason: n for reason, n in sorted(by.items(), key=lambda item: -item[1]) if n
    }


def check_judges(db: Database, benchmark: str, judges: Sequence[str]) -> None:
    """Raises NotFound for a judge that has rated nothing of the benchmark."""
    names = {judge.name for judge in ratings.judges(db, benchmark)} if judges else set()
    check_known("judge", judges, names)


def queue_table(
    page: Sequence[Suspect], counts: Mapping[str, int], facets: Sequence[Mapping[str, str]] = ()
) -> Table:
    """A page of the queue, with the counts below it and these facets of each conversation."""
    shown = list(dict.fromkeys(name for of in facets for name in of))
    by_reason = ", ".join(f"{REASONS[reason]} {n}" for reason, n in counts.items() if reason)
    columns = (
        *map(Column, ("conversation", "player", "because")),
        Column("score", help="Mean of the judges"),
        Column("apart", help="Distance between the highest and the lowest judge"),
        Column("people", help="Mean of people"),
        Column("priority", help="One point for each reason, more for what is far beyond its threshold"),
        *map(Column, shown),
    )
    rows = tuple(
        {
            "conversation": s.conversation_id,
            "player": s.player,
            "score": s.final,
            "apart": s.spread,
            "people": s.people,
            "priority": s.priority,
            "because": ", ".join(REASONS[reason] for reason in s.reasons),
            **of,
        }
        for s, of in zip(page, facets or [{}] * len(page), strict=True)
    )
    note = f"{counts['']} conversations" + (f": {by_reason}." if by_reason else ".")
    return Table("spot-check-queue", "Conversations to look at", columns, rows, notes=(note,))


@dataclass(frozen=True)
class Screen:
    """What a spot-check shows of a conversation: the dialogue, the judgements with a person's findings, and
    people's ratings. `challenging` is the turn at which the original dialogue became too hard, if known.
    """

    conversation_id: int
    conversation: Conversation
    system: Benchmark
    criterion: Criterion
    judgements: tuple[Seen, ...]
    people: tuple[Stored, ...]
    challenging: int | None


def screen(db: Database, conversation_id: int, person: str = "") -> Screen:
    """What a spot-check shows of one conversation. Raises NotFound."""
    conversation = images.shown(db, conversations.load(db, conversation_id))
    criterion = question(db, conversation.benchmark)
    people = [r for r in ratings.of_conversation(db, conversation_id) if r.rater.kind == "human"]
    return Screen(
        conversation_id,
        conversation,
        system(db, conversation.benchmark),
        criterion,
        tuple(_judgements(db, conversation_id, criterion, rater_of(db, person))),
        tuple(people),
        conversation.context.get("_challenging") or None,
    )


def verify(
    db: Database,
    judgement_id: int,
    person: str,
    finding: Finding | None,
    comment: str = "",
    corrected: float | None = None,
    *,
    simulated: bool = False,
    audit: str = "",
) -> None:
    """Store what a person found of a judgement, in an audit or ("") in triage; the finding before it is kept.

    A verdict that could not be read can only be “seen”. `corrected` is the score the person would have given
    to the reply; they have one, whoever judged it. It was given in sight of the judge's, so it is no rating;
    without a finding (None) it says by itself what they find. Raises StudyError for a score off the scale or
    on the wrong side of the judge's, and for a finding that does not go with the verdict.
    """
    rater = ratings.rater_id(db, Rater(person, "human", simulated=simulated))
    conversation, criterion, seen = _seen(db, judgement_id, rater)
    if finding is None and corrected is not None:
        finding = implied(criterion, seen, corrected)
    if finding is None:
        raise StudyError(
            "Say what you find of the judge's score, or give the score that you would have given."
        )
    _check(criterion, seen, finding, corrected)
    if (seen.finding, seen.comment, seen.corrected) == (finding, comment, corrected):
        return
    placement = spotchecks.placement(db, judgement_id, rater, audit)
    placements.give(db, placement, "", FINDINGS[finding], comment, seen.score)
    placements.withdraw(db, placement, criterion.name)
    if corrected is not None:
        spotchecks.uncorrect(db, conversation, rater, criterion.name)
        placements.give(db, placement, criterion.name, corrected, shown=seen.score)


def withdraw(db: Database, judgement_id: int, person: str) -> None:
    """Take back a finding, and the corrected score given with it; both are kept as replaced."""
    rater = rater_of(db, person)
    _, criterion, seen = _seen(db, judgement_id, rater)
    if rater is not None and seen.finding is not None:
        placement = spotchecks.placement(db, judgement_id, rater)
        placements.withdraw(db, placement, "")
        placements.withdraw(db, placement, criterion.name)


def add_seconds(db: Database, judgement_id: int, person: str, seconds: float, audit: str = "") -> None:
    """Add time at work on a judgement."""
    rater = ratings.rater_id(db, Rater(person, "human"))
    placements.add_seconds(db, rater, spotchecks.placement(db, judgement_id, rater, audit), seconds)


def implied(criterion: Criterion, seen: Seen, score: float) -> Finding:
    """What a score that somebody would have given says of the judge's."""
    if seen.failure is not None:
        return "seen"
    if seen.score is None or score == seen.score:
        return "reasonable"
    if criterion.scale.named:
        return "wrong"
    return "too_high" if score < seen.score else "too_low"


def _seen(db: Database, judgement_id: int, rater: int | None) -> tuple[int, Criterion, Seen]:
    """The conversation of a judgement (id), what it was asked, and how it is shown to somebody."""
    conversation, benchmark = spotchecks.about(db, judgement_id)
    criterion = question(db, benchmark)
    every = _judgements(db, conversation, criterion, rater)
    return conversation, criterion, next(seen for seen in every if seen.id == judgement_id)


def _judgements(db: Database, conversation: int, criterion: Criterion, rater: int | None) -> list[Seen]:
    nominal = not criterion.scale.ordered
    return spotchecks.judgements(db, conversation, criterion.name, rater, nominal=nominal)


def _check(criterion: Criterion, seen: Seen, finding: Finding, corrected: float | None) -> None:
    if finding not in (allowed := findings(criterion, seen)):
        if seen.failure is not None:
            raise StudyError(
                "This verdict could not be read: there is no score to find reasonable or not. "
                "Say that it was seen."
            )
        words = ", ".join(name.replace("_", " ") for name in allowed)
        raise StudyError(f"This verdict has a score on “{criterion.label}”. Say one of: {words}.")
    if corrected is None:
        return
    if corrected not in criterion.scale:
        raise StudyError(f"{corrected:g} is not on the scale of “{criterion.label}”.")
    if (right := implied(criterion, seen, corrected)) != finding and seen.score is not None:
        word = criterion.scale.word
        raise StudyError(
            f"The judge gave {word(seen.score)}: {word(corrected)} does not go with "
            f"“{finding.replace('_', ' ')}” but with “{right.replace('_', ' ')}”. Change one of the two."
        )


def findings(criterion: Criterion, seen: Seen) -> tuple[Finding, ...]:
    """What can be found of a judgement: answers by name have no order, so that one is wrong or not."""
    if seen.failure is not None:
        return ("seen",)
    return ("reasonable", "wrong") if criterion.scale.named else ("reasonable", "too_high", "too_low")


def question(db: Database, benchmark: str) -> Criterion:
    """The criterion of which a judgement of a benchmark is found reasonable or not."""
    return criterion_of(system(db, benchmark))


def criterion_of(of: Benchmark) -> Criterion:
    """The first criterion that is counted, else the first. Raises StudyError where nothing is asked."""
    if not of.criteria:
        raise StudyError(
            f"No judge has rated conversations of “{of.name}” by a rubric. Have some do so with `concord "
            "judge RUBRIC`."
        )
    return next((c for c in of.criteria if c.counted), of.criteria[0])


def rater_of(db: Database, person: str) -> int | None:
    """A person's rater id; None for nobody, and for somebody who has not rated anything yet."""
    return ratings.find_rater(db, Rater(person, "human")) if person else None
