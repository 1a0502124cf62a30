"""Spot-checks: people look at judgements, either in triage, where something looks wrong, or in an audit.

After the human evaluation of Jia et al. (“Evaluating language models with creative simulation tasks”): 100
judgements at random, each found reasonable, too high or too low.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlite_utils import Database

from concord.conversation import Conversation, Unit
from concord.errors import StudyError, not_found
from concord.rating import Criterion, Finding, Rater, Rating, Verification
from concord.runs.benchmark import Benchmark
from concord.runs.judged import system
from concord.store import conversations, ratings, spotchecks, studies, suspects
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
    only their scores and verdicts count. Raises NotFound for an unknown reason or judge.
    """
    for reason in reasons:
        if reason not in REASONS:
            raise not_found("reason", reason, REASONS)
    check_judges(db, benchmark, judges)
    return Search(benchmark, suspicion(db, benchmark), where or {}, judges, reasons, rater_of(db, person))


def counts(db: Database, search: Search) -> dict[str, int]:
    """How many conversations there are to look at: under "" those with one of the reasons asked for, then by
    reason. A conversation may have several reasons.
    """
    found = suspects.counts(db, search)
    wanted = set(search.reasons or REASONS)
    by = {reason: sum(n for together, n in found.items() if reason in together) for reason in REASONS}
    return {"": sum(n for together, n in found.items() if wanted & set(together))} | {
        reason: n for reason, n in sorted(by.items(), key=lambda item: -item[1]) if n
    }


def check_judges(db: Database, benchmark: str, judges: Sequence[str]) -> None:
    """Raises NotFound for a judge that has rated nothing of the benchmark."""
    known = {judge.name for judge in ratings.judges(db, benchmark)} if judges else set()
    for name in judges:
        if name not in known:
            raise not_found("judge", name, known)


def queue_table(
    found: Sequence[Suspect], counts: Mapping[str, int], facets: Sequence[Mapping[str, str]] = ()
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
        for s, of in zip(found, facets or [{}] * len(found), strict=True)
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
    conversation = conversations.load(db, conversation_id)
    criterion = question(db, conversation.benchmark)
    people = [r for r in ratings.of_conversation(db, conversation_id) if r.rater.kind == "human"]
    return Screen(
        conversation_id,
        conversation,
        system(db, conversation.benchmark),
        criterion,
        tuple(spotchecks.judgements(db, conversation_id, criterion.name, rater_of(db, person))),
        tuple(people),
        conversation.context.get("_challenging") or None,
    )


def verify(
    db: Database,
    judgement_id: int,
    person: str,
    finding: Finding,
    comment: str = "",
    corrected: float | None = None,
    *,
    simulated: bool = False,
    audit: str = "",
) -> None:
    """Store what a person found of a judgement, in an audit or ("") in triage; it replaces the earlier one.

    A verdict that could not be read can only be “seen”. A corrected score is also a rating, in a study of its
    own, because it is not blind. Raises StudyError for a score off the scale or on the wrong side of the
    judge's, and for a finding that does not go with the verdict.
    """
    conversation_id, key, benchmark = spotchecks.about(db, judgement_id)
    criterion = question(db, benchmark)
    seen = next(s for s in spotchecks.judgements(db, conversation_id, criterion.name) if s.id == judgement_id)
    _check(criterion, seen, finding, corrected)
    rater = ratings.rater_id(db, Rater(person, "human", simulated=simulated))
    spotchecks.uncorrect(db, judgement_id, rater, study_name(benchmark))
    spotchecks.save(db, Verification(seen.key, person, finding, comment, corrected), rater, audit)
    if corrected is not None:
        study = _study(db, benchmark, criterion)
        given = Rating(Unit(key), criterion.name, corrected, comment)
        spotchecks.correct(db, studies.study_id(db, study), conversation_id, rater, given)


def withdraw(db: Database, judgement_id: int, person: str) -> None:
    """Delete a finding, and the corrected score given with it, which stays as a revision."""
    rater = rater_of(db, person)
    if rater is not None:
        _, _, benchmark = spotchecks.about(db, judgement_id)
        spotchecks.withdraw(db, judgement_id, rater, study_name(benchmark))


def _check(criterion: Criterion, seen: Seen, finding: Finding, corrected: float | None) -> None:
    if seen.failure is not None and finding != "seen":
        raise StudyError(
            "This verdict could not be read: there is no score to find reasonable or not. "
            "Say that it was seen."
        )
    if seen.failure is None and finding == "seen":
        raise StudyError("This verdict has a score. Say whether it is reasonable, too high or too low.")
    if corrected is None:
        return
    if corrected not in criterion.scale:
        raise StudyError(f"{corrected:g} is not on the scale of “{criterion.label}”.")
    score = seen.score if seen.score is not None else corrected
    side = {"too_high": corrected < score, "too_low": corrected > score, "reasonable": corrected == score}
    word = criterion.scale.word
    if not side.get(finding, True):
        raise StudyError(
            f"The judge gave {word(score)}: {word(corrected)} does not go with "
            f"“{finding.replace('_', ' ')}”. Change one of the two."
        )


def study_name(benchmark: str) -> str:
    """The study in which corrected scores are kept."""
    return f"spot-check-{benchmark}"


def _study(db: Database, benchmark: str, criterion: Criterion) -> str:
    name = study_name(benchmark)
    if name not in studies.names(db):
        title = f"Corrected scores of {system(db, benchmark).title}, given in sight of the judges'"
        studies.create(db, studies.Study(name, (criterion,), title=title, source=studies.IN_SIGHT))
    return name


def question(db: Database, benchmark: str) -> Criterion:
    """The criterion of which a judgement of a benchmark is found reasonable or not."""
    return asked(system(db, benchmark))


def asked(of: Benchmark) -> Criterion:
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
