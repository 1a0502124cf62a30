"""Spot-checks: people look at judgements, either where something looks wrong, or in a random sample.

After the human evaluation of Jia et al. (“Evaluating language models with creative simulation tasks”): 100
judgements at random, each found reasonable, too high or too low.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

import pandas as pd
from scipy.stats import binomtest
from sqlite_utils import Database

from core.benchmarks import get
from core.conversation import Conversation, Unit
from core.errors import StudyError, not_found
from core.estimate import Estimate, undefined
from core.rating import Criterion, Finding, Rater, Rating, Verification
from core.store import conversations, ratings, spotchecks, studies, suspects
from core.store.filters import Where
from core.store.ratings import Stored
from core.store.spotchecks import Audit, Seen
from core.store.suspects import Among, Suspect, Suspicion
from core.table import Column, Table

AUDIT = 100
"""How many judgements an audit has, unless told otherwise: as in the paper."""

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


def suspicion(benchmark: str) -> Suspicion:
    """The thresholds, by the scale of the benchmark's counted criteria.

    The lowest third is low, a third of the scale is far apart, and two ninths of it is far from people: on a
    scale of 1 to 10, these are 4 or less, 3 points and 2 points.
    """
    scale, of = question(benchmark).scale, get(benchmark)
    size = scale.high - scale.low
    return Suspicion(
        scale.low,
        scale.high,
        scale.low + size / 3,
        size / 3,
        size * 2 / 9,
        of.ending_facet,
        refusal=of.refusal,
    )


def queue(
    db: Database,
    benchmark: str,
    *,
    person: str = "",
    where: Where | None = None,
    judges: Sequence[str] = (),
    reasons: Sequence[str] = (),
    only: Sequence[int] = (),
    limit: int = 50,
    offset: int = 0,
) -> list[Suspect]:
    """One page of the conversations to look at, the highest priority first, without those that the person has
    settled.

    A conversation is settled when the person has found something of each of its judgements. If `judges` are
    named, only their scores and verdicts count, and only their judgements are to be settled. `only` keeps
    these conversations.
    """
    for reason in reasons:
        if reason not in REASONS:
            raise not_found("reason", reason, REASONS)
    among, rater = _among(db, benchmark, where, judges), _known(db, person)
    return suspects.queue(
        db,
        benchmark,
        suspicion(benchmark),
        among,
        reasons=reasons,
        unsettled_by=rater,
        only=only,
        limit=limit,
        offset=offset,
    )


def counts(
    db: Database,
    benchmark: str,
    *,
    person: str = "",
    where: Where | None = None,
    judges: Sequence[str] = (),
    reasons: Sequence[str] = (),
) -> dict[str, int]:
    """How many conversations there are to look at: under "" all (those with one of `reasons`), then for each
    reason.

    A conversation may have several reasons.
    """
    among, rater = _among(db, benchmark, where, judges), _known(db, person)
    found = suspects.counts(db, benchmark, suspicion(benchmark), among, unsettled_by=rater)
    wanted = set(reasons or REASONS)
    by = {reason: sum(n for together, n in found.items() if reason in together) for reason in REASONS}
    return {"": sum(n for together, n in found.items() if wanted & set(together))} | {
        reason: n for reason, n in sorted(by.items(), key=lambda item: -item[1]) if n
    }


def settled(
    db: Database, conversation_ids: Sequence[int], person: str, judges: Sequence[str] = ()
) -> set[int]:
    """Those of the conversations that the person has settled."""
    rater = _known(db, person)
    return suspects.settled(db, conversation_ids, rater, judges) if rater is not None else set()


def _among(db: Database, benchmark: str, where: Where | None, judges: Sequence[str]) -> Among:
    known = {judge.name for judge in ratings.judges(db, benchmark)} if judges else set()
    for name in judges:
        if name not in known:
            raise not_found("judge", name, known)
    return Among(where or {}, judges)


def queue_table(
    found: Sequence[Suspect], counts: Mapping[str, int], facets: Sequence[Mapping[str, str]] = ()
) -> Table:
    """A page of the queue as a table, with the counts below it.

    `facets` are shown of each conversation, if given.
    """
    shown = list(dict.fromkeys(name for of in facets for name in of))
    by_reason = ", ".join(f"{REASONS[reason]} {n}" for reason, n in counts.items() if reason)
    return Table(
        "spot-check-queue",
        "Conversations to look at",
        (
            Column("conversation"),
            Column("player"),
            *map(Column, shown),
            Column("score", help="Mean of the judges"),
            Column("apart", help="Distance between the highest and the lowest judge"),
            Column("people", help="Mean of people"),
            Column("priority", help="One point for each reason, more for what is far beyond its threshold"),
            Column("because"),
        ),
        tuple(
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
        ),
        notes=(f"{counts['']} conversations" + (f": {by_reason}." if by_reason else "."),),
    )


@dataclass(frozen=True)
class Screen:
    """All that one screen shows of a conversation: the dialogue, each judge's score and reasons with what
    this person found of them, and what people rated. `challenging` is the turn at which the dialogue it was
    cut from became too hard (None where nothing is known)."""

    conversation_id: int
    conversation: Conversation
    criterion: Criterion
    judgements: tuple[Seen, ...]
    people: tuple[Stored, ...]
    challenging: int | None


def screen(db: Database, conversation_id: int, person: str = "") -> Screen:
    """What a spot-check shows of one conversation. Raises NotFound."""
    conversation = conversations.load(db, conversation_id)
    criterion = question(conversation.benchmark)
    people = [r for r in ratings.of_conversation(db, conversation_id) if r.rater.kind == "human"]
    return Screen(
        conversation_id,
        conversation,
        criterion,
        tuple(spotchecks.judgements(db, conversation_id, criterion.name, _known(db, person))),
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
    """Keep what a person found of a judgement; saying it anew replaces it. Of a verdict that could not be
    read they can say “seen”, and the score they would have given. `audit` names the audit at whose desk they
    sit, "" the hunt.

    A corrected score is kept as a rating, too, in a study of its own: the person had seen the judge's score,
    so that it must not mix with blind ratings. Raises StudyError for a score off the scale, or on the wrong
    side of the judge's, and for a finding that does not go with the verdict.
    """
    conversation_id, key, benchmark = spotchecks.about(db, judgement_id)
    criterion = question(benchmark)
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
    """Take a finding back, and the corrected score that was given with it; what was said stays in the
    history."""
    rater = _known(db, person)
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
    sides = {
        "too_high": corrected < score,
        "too_low": corrected > score,
        "reasonable": corrected == score,
        "seen": True,
    }
    if not sides[finding]:
        raise StudyError(
            f"The judge gave {score:g}: {corrected:g} does not go with “{finding.replace('_', ' ')}”. "
            "Change one of the two."
        )


def study_name(benchmark: str) -> str:
    """The study in which corrected scores are kept."""
    return f"spot-check-{benchmark}"


def _study(db: Database, benchmark: str, criterion: Criterion) -> str:
    name = study_name(benchmark)
    if name not in studies.names(db):
        title = f"Corrected scores of {get(benchmark).title}, given in sight of the judges'"
        studies.create(db, studies.Study(name, (criterion,), title=title, source="spot-check"))
    return name


def draw(
    db: Database,
    name: str,
    benchmark: str,
    *,
    n: int = AUDIT,
    seed: int = 0,
    judges: Sequence[str] = (),
    where: Where | None = None,
) -> Audit:
    """Draw a simple random sample of judgements to audit; the same seed draws the same from the same
    judgements.

    Unreadable verdicts have no score and are not among them. Raises StudyError where there are fewer than
    asked for, and without a name.
    """
    if not name.strip():
        raise StudyError("An audit needs a name, such as “audit-1”.")
    pool = spotchecks.auditable(db, benchmark, judges=judges, where=where)
    if n < 1 or len(pool) < n:
        raise StudyError(f"There are {len(pool)} judgements to draw from; an audit of {n} cannot be drawn.")
    chosen = random.Random(seed).sample(pool, n)
    spotchecks.create_audit(db, name, benchmark, seed, len(pool), [number for _, number in chosen])
    return next(a for a in spotchecks.audits(db, benchmark) if a.name == name)


@dataclass(frozen=True)
class AuditProgress:
    """Where a person stands in an audit:

    `done` of its judgements they have found something of, `elsewhere` of these in the hunt or at another
    audit. `next` is the judgement to look at and its conversation (ids), None when all are done.
    """

    items: int
    done: int
    next: tuple[int, int] | None
    elsewhere: int = 0


def progress(db: Database, audit: str, person: str) -> AuditProgress:
    """Where a person stands in an audit. Raises NotFound."""
    every = items(db, audit, person)
    left = [(judgement, conversation) for judgement, conversation, done in every if not done]
    here = spotchecks.found_at(db, audit, _known(db, person))
    done = len(every) - len(left)
    return AuditProgress(len(every), done, left[0] if left else None, done - here)


@dataclass(frozen=True)
class Share:
    """`n` findings: `reasonable`, `too_high` and `too_low`, and beside them `unread` verdicts that were seen.

    `rate` is the share of reasonable ones, `optimism` the share of too high ones among those that are not
    reasonable.
    """

    of: str
    reasonable: int
    too_high: int
    too_low: int
    unread: int

    @property
    def n(self) -> int:
        """The findings about a score. “Seen” says nothing of a score: it enters no share."""
        return self.reasonable + self.too_high + self.too_low

    @property
    def rate(self) -> Estimate:
        """The share of reasonable findings."""
        return proportion(self.reasonable, self.n)

    @property
    def optimism(self) -> Estimate:
        """The share of “too high” among the findings that are not reasonable."""
        return proportion(self.too_high, self.too_high + self.too_low)


@dataclass(frozen=True)
class Findings:
    """What people found: overall, and by judge, by the benchmark's facets for it, by model and by person.

    In the hunt (`unbiased` False) there are `items` findings, of `looked` judgements; `audited` of these are
    also in an audit; `drawn` is 0. In an audit `drawn` judgements were drawn, somebody looked at `looked` of
    them, `items` count, and `hunted` of these were found in the hunt or in another audit. `people` found what
    counts; `simulated` of them are no people.
    """

    audit: str
    unbiased: bool
    drawn: int
    items: int
    overall: Share
    by: Mapping[str, tuple[Share, ...]]
    people: tuple[str, ...]
    simulated: tuple[str, ...]
    looked: int
    audited: int = 0
    hunted: int = 0


def findings(
    db: Database, benchmark: str, audit: str = "", *, where: Where | None = None, judges: Sequence[str] = ()
) -> Findings:
    """What people found of an audit's judgements; without an audit, what they found in the hunt.

    In the hunt every finding counts. In an audit a judgement counts once, as the first person found it,
    wherever that was: the draw is random, whoever looked before. While an audit is under way, it counts up to
    the first judgement that nobody has looked at. The order is random, so that this beginning is a random
    sample; what was looked at further on, because it was met in the hunt, is not. The filters keep findings
    of these conversations and judges. Raises NotFound for an unknown audit or judge.
    """
    _among(db, benchmark, where, judges)
    of = get(benchmark)
    by_facet = [*of.spotcheck_facets, *filter(None, [of.ending_facet])]
    table = spotchecks.findings(db, benchmark, by_facet)
    drawn = [judgement for judgement, _, _ in spotchecks.audit_items(db, audit)] if audit else []
    if audit:
        first = table[table.judgement.isin(drawn)].drop_duplicates("judgement")
        looked = set(first.judgement)
        chosen = first[first.judgement.isin(list(takewhile(looked.__contains__, drawn)))]
    else:
        chosen = table[table.desk == ""]
        looked = set(chosen.judgement)
    if where:
        chosen = chosen[chosen.judgement.isin(spotchecks.findings(db, benchmark, (), where).judgement)]
    if judges:
        chosen = chosen[chosen.judge.isin(list(judges))]
    by = {
        column: tuple(share(str(value), rows.finding) for value, rows in chosen.groupby(column, sort=True))
        for column in ("judge", *by_facet, "player", "person")
    }
    return Findings(
        audit,
        bool(audit),
        len(drawn),
        len(chosen),
        share("all", chosen.finding),
        by,
        tuple(sorted(chosen.person.unique())),
        tuple(sorted(chosen.person[chosen.simulated.astype(bool)].unique())),
        len(looked) if audit else chosen.judgement.nunique(),
        0 if audit else chosen.judgement[chosen.audits != ""].nunique(),
        int((chosen.desk != audit).sum()) if audit else 0,
    )


def share(of: str, found: pd.Series[str]) -> Share:
    """Findings counted."""
    tally = found.value_counts()
    return Share(of, *(int(tally.get(name, 0)) for name in ("reasonable", "too_high", "too_low", "seen")))


def proportion(k: int, n: int) -> Estimate:
    """A share of k in n with its score interval (Wilson 1927)."""
    if n == 0:
        return undefined("nothing was found", n=0)
    interval = binomtest(k, n).proportion_ci(method="wilson")
    return Estimate(k / n, float(interval.low), float(interval.high), n, "Wilson")


def table(found: Findings) -> Table:
    """The findings as a table: all, then by judge, facet, model and person."""
    rows = [("", found.overall), *((by, share) for by, shares in found.by.items() for share in shares)]
    columns = [
        Column("of"),
        Column("by"),
        Column("n"),
        Column("reasonable", digits=3, percent=True, interval="ends", help="Share of findings"),
        Column("too_high"),
        Column("too_low"),
        Column(
            "optimism",
            digits=3,
            percent=True,
            interval="ends",
            help="Share of too high among the unreasonable",
        ),
        *([Column("unreadable")] if found.overall.unread else []),
    ]
    return Table(
        "spot-check",
        f"Audit “{found.audit}”" if found.audit else "Found in the hunt",
        tuple(columns),
        tuple(
            {
                "by": by,
                "of": share.of,
                "n": share.n,
                "reasonable": share.rate,
                "too_high": share.too_high,
                "too_low": share.too_low,
                "optimism": share.optimism,
                "unreadable": share.unread,
            }
            for by, share in rows
        ),
        notes=tuple(notes(found)),
        meta={
            "audit": found.audit,
            "unbiased": found.unbiased,
            "drawn": found.drawn,
            "items": found.items,
            "looked": found.looked,
            "audited": found.audited,
            "hunted": found.hunted,
            "people": list(found.people),
            "simulated": list(found.simulated),
        },
    )


def question(benchmark: str) -> Criterion:
    """The criterion of which a judgement is found reasonable or not: the first that is counted, else the
    first."""
    criteria = get(benchmark).criteria
    return next((c for c in criteria if c.counted), criteria[0])


def items(db: Database, audit: str, person: str) -> list[tuple[int, int, bool]]:
    """An audit in its order: (judgement, conversation, whether the person has found something of it).

    Raises NotFound.
    """
    return spotchecks.audit_items(db, audit, _known(db, person))


def _known(db: Database, person: str) -> int | None:
    """A person's rater id; None for nobody, and for somebody who has not rated anything yet."""
    return ratings.find_rater(db, Rater(person, "human")) if person else None


def notes(found: Findings) -> list[str]:
    """What a reader has to know of the figures, one sentence each."""
    told = [
        "Reasonable: share of findings. Optimism: share of too high among the others. Intervals: Wilson, 95%."
    ]
    if found.unbiased:
        told.append(
            f"The first {found.items} of the {found.drawn} judgements drawn at random count, each once, "
            "as its first reader found it."
        )
        if found.hunted:
            told.append(
                f"{found.hunted} of these were found in the hunt or in another audit, "
                "and count as found there."
            )
        if found.looked > found.items:
            told.append(
                f"{found.looked - found.items} more were looked at further on in the drawn order or "
                "are filtered out. Those further on count when everything before them was looked at: "
                "what the hunt picked is no random sample."
            )
    else:
        told.append(
            "These judgements were looked at because something seemed wrong: "
            "their rate is not the judges' rate."
        )
        told.append(
            f"Every finding made in the hunt counts: {found.items}, of {found.looked} judgements"
            + (f"; {found.audited} of these judgements are also in audits." if found.audited else ".")
        )
    if found.overall.unread:
        told.append(
            f"{found.overall.unread} verdicts that could not be read were seen. "
            "They have no score and enter no share."
        )
    if len(found.people) > 1:
        told.append(f"{len(found.people)} people looked.")
    if found.simulated:
        told.append(f"Simulated, not people: {', '.join(found.simulated)}.")
    return told
