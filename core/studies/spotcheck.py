"""Spot-checks: people look at what judges said, at what looks wrong first, or at a random sample whose rate is unbiased.

After the human evaluation of Jia et al. (“Evaluating language models with creative simulation tasks”): 100 judgements at random, each found reasonable, too high or too low.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

import pandas as pd
from sqlite_utils import Database

from core.benchmarks import get
from core.conversation import Conversation, Unit
from core.errors import StudyError, not_found
from core.rating import Criterion, Finding, Rater, Rating, Verification
from core.store import conversations, ratings, spotchecks, studies, suspects
from core.store.ratings import Stored
from core.store.spotchecks import Audit, Seen
from core.store.suspects import Among, Suspect, Suspicion

AUDIT = 100
Z = 1.959963984540054
"""The 97.5% point of the normal distribution."""

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

Facets = Mapping[str, Sequence[str]]


def suspicion(benchmark: str) -> Suspicion:
    """The thresholds by the scale of the benchmark's counted criteria: the lowest third is low, a third of the scale is far apart, and two
    ninths of it is far from people (on a scale of 1 to 10: 4 or less, 3 points, 2 points)."""
    scale = question(benchmark).scale
    size = scale.high - scale.low
    return Suspicion(scale.low, scale.high, scale.low + size / 3, size / 3, size * 2 / 9)


def queue(
    db: Database, benchmark: str, *, person: str = "", facets: Facets | None = None, players: Sequence[str] = (),
    judges: Sequence[str] = (), reasons: Sequence[str] = (), only: Sequence[int] = (), limit: int = 50, offset: int = 0,
) -> list[Suspect]:  # fmt: skip
    """One page of the conversations that deserve a person's eye, most deserving first; what the person has settled is left out.

    A conversation is settled when the person has found something of each of its judgements. With `judges` it is their scores and
    verdicts that count, and their judgements that are to be settled. `only` keeps these conversations.
    """
    for reason in reasons:
        if reason not in REASONS:
            raise not_found("reason", reason, REASONS)
    return suspects.queue(
        db, benchmark, suspicion(benchmark), _among(db, benchmark, facets, players, judges), reasons=reasons,
        unsettled_by=_known(db, person), only=only, limit=limit, offset=offset,
    )  # fmt: skip


def counts(
    db: Database, benchmark: str, *, person: str = "", facets: Facets | None = None, players: Sequence[str] = (),
    judges: Sequence[str] = (), reasons: Sequence[str] = (),
) -> dict[str, int]:  # fmt: skip
    """How many deserve it: under "" those with one of `reasons` (all together, unless given); then by every reason (a conversation may
    have several)."""
    found = suspects.counts(
        db, benchmark, suspicion(benchmark), _among(db, benchmark, facets, players, judges), unsettled_by=_known(db, person)
    )  # fmt: skip
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


def _among(
    db: Database, benchmark: str, facets: Facets | None, players: Sequence[str], judges: Sequence[str]
) -> Among:
    known = {judge.name for judge in ratings.judges(db, benchmark)} if judges else set()
    for name in judges:
        if name not in known:
            raise not_found("judge", name, known)
    return Among(facets or {}, players, judges)


@dataclass(frozen=True)
class Screen:
    """All that one screen shows of a conversation: the dialogue, each judge's score and reasons with what this person found of them, and
    what people rated. `challenging` is the turn at which the dialogue it was cut from became too hard (None where nothing is known)."""

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
    db: Database, judgement_id: int, person: str, finding: Finding, comment: str = "", corrected: float | None = None,
    *, simulated: bool = False, audit: str = "",
) -> None:  # fmt: skip
    """Keep what a person found of a judgement; saying it anew replaces it. Of a verdict that could not be read they can say “seen”, and
    the score they would have given. `audit` names the audit at whose desk they sit, "" the hunt.

    A corrected score is kept as a rating, too, in a study of its own: the person had seen the judge's score, so that it must not
    mix with blind ratings. Raises StudyError for a score off the scale, or on the wrong side of the judge's, and for a finding that
    does not go with the verdict.
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
    """Take a finding back, and the corrected score that was given with it; what was said stays in the history."""
    rater = _known(db, person)
    if rater is not None:
        _, _, benchmark = spotchecks.about(db, judgement_id)
        spotchecks.withdraw(db, judgement_id, rater, study_name(benchmark))


def _check(criterion: Criterion, seen: Seen, finding: Finding, corrected: float | None) -> None:
    if seen.failure is not None and finding != "seen":
        raise StudyError(
            "This verdict could not be read: there is no score to find reasonable or not. Say that it was seen."
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
            f"The judge gave {score:g}: {corrected:g} does not go with “{finding.replace('_', ' ')}”. Change one of the two."
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
    db: Database, name: str, benchmark: str, *, n: int = AUDIT, seed: int = 0, judges: Sequence[str] = (),
    facets: Facets | None = None,
) -> Audit:  # fmt: skip
    """Draw a simple random sample of judgements to audit; the same seed draws the same from the same judgements.

    Unreadable verdicts have no score and are not among them. Raises StudyError where there are fewer than asked for, and without a name.
    """
    if not name.strip():
        raise StudyError("An audit needs a name, such as “audit-1”.")
    pool = spotchecks.auditable(db, benchmark, judges=judges, facets=facets)
    if n < 1 or len(pool) < n:
        raise StudyError(f"There are {len(pool)} judgements to draw from; an audit of {n} cannot be drawn.")
    chosen = random.Random(seed).sample(pool, n)
    spotchecks.create_audit(db, name, benchmark, seed, len(pool), [number for _, number in chosen])
    return next(a for a in spotchecks.audits(db, benchmark) if a.name == name)


@dataclass(frozen=True)
class Progress:
    """Where a person stands in an audit: `done` of its judgements they have found something of, `elsewhere` of these in the hunt or at
    another audit. `next` is the judgement to look at and its conversation (ids), None when all are done."""

    items: int
    done: int
    next: tuple[int, int] | None
    elsewhere: int = 0


def progress(db: Database, audit: str, person: str) -> Progress:
    """Where a person stands in an audit. Raises NotFound."""
    every = items(db, audit, person)
    left = [(judgement, conversation) for judgement, conversation, done in every if not done]
    here = spotchecks.found_at(db, audit, _known(db, person))
    done = len(every) - len(left)
    return Progress(len(every), done, left[0] if left else None, done - here)


@dataclass(frozen=True)
class Share:
    """`n` findings, of them `reasonable`, `too_high`, `too_low`; `unread` verdicts that could not be read were seen besides. `rate` = reasonable / n with its Wilson interval, `optimism` = too high /
    (too high + too low) with its own; each None where there is nothing to divide by."""

    of: str
    n: int
    reasonable: int
    too_high: int
    too_low: int
    rate: float | None
    rate_ci: tuple[float, float] | None
    optimism: float | None
    optimism_ci: tuple[float, float] | None
    unread: int = 0


@dataclass(frozen=True)
class Findings:
    """What people found: overall, and by judge, by each facet of the benchmark, by person.

    Of the hunt (`unbiased` False): `items` findings (unreadable verdicts among them), of `looked` judgements, `audited` of which also lie
    in an audit; `drawn` is 0. Of an audit: `drawn` judgements, `looked` of them looked at by anybody, `items` counted, `hunted` of these
    as somebody found them in the hunt or in another audit. `people` found what is counted, `simulated` of them are no people.
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
    db: Database, benchmark: str, audit: str = "", *, facets: Facets | None = None, players: Sequence[str] = (), judges: Sequence[str] = (),
) -> Findings:  # fmt: skip
    """What people found of an audit's judgements; without one, everything they found in the hunt (where they looked because it looked wrong).

    Of the hunt every finding counts, whether or not an audit drew its judgement later. Of an audit a judgement counts once, as the first
    person found it, wherever that was: the draw is random, whoever looked before. While it is under way its beginning counts, up to the
    first judgement that nobody has looked at: the order is random, so that a beginning is a random sample, while what the hunt
    happened to settle further on is not. The filters keep findings of these conversations and judges. Raises NotFound for an unknown
    audit or judge.
    """
    _among(db, benchmark, facets, players, judges)
    by_facet = [*get(benchmark).spotcheck_facets, *filter(None, [get(benchmark).ending_facet])]
    table = spotchecks.findings(db, benchmark, by_facet)
    items = [judgement for judgement, _, _ in spotchecks.audit_items(db, audit)] if audit else []
    if audit:
        first = table[table.judgement.isin(items)].drop_duplicates("judgement")
        looked = set(first.judgement)
        chosen = first[first.judgement.isin(list(takewhile(looked.__contains__, items)))]
    else:
        chosen = table[table.desk == ""]
        looked = set(chosen.judgement)
    kept = {"player": players, "judge": judges} | {n: v for n, v in (facets or {}).items() if n in by_facet}
    for column, allowed in kept.items():
        if allowed:
            chosen = chosen[chosen[column].isin(list(allowed))]
    by = {
        column: tuple(share(str(value), rows.finding) for value, rows in chosen.groupby(column, sort=True))
        for column in ("judge", *by_facet, "player", "person")
    }
    return Findings(
        audit,
        bool(audit),
        len(items),
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
    """Findings counted. “Seen” says nothing of a score: it enters neither `n` nor any share."""
    tally = found.value_counts()
    reasonable, high, low, unread = (
        int(tally.get(name, 0)) for name in ("reasonable", "too_high", "too_low", "seen")
    )
    wrong = high + low
    n = reasonable + wrong
    return Share(
        of,
        n,
        reasonable,
        high,
        low,
        reasonable / n if n else None,
        wilson(reasonable, n),
        high / wrong if wrong else None,
        wilson(high, wrong),
        unread,
    )


def wilson(k: int, n: int) -> tuple[float, float] | None:
    """The 95% score interval of a share of k in n (Wilson 1927): (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n); None for n = 0."""
    if n == 0:
        return None
    p, z2 = k / n, Z * Z
    middle, half = p + z2 / (2 * n), Z * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    # At the ends the two parts are equal, which floating point misses by a hair.
    low = 0.0 if k == 0 else (middle - half) / (1 + z2 / n)
    high = 1.0 if k == n else (middle + half) / (1 + z2 / n)
    return low, high


def question(benchmark: str) -> Criterion:
    """The criterion of which a judgement is found reasonable or not: the first that is counted, else the first."""
    criteria = get(benchmark).criteria
    return next((c for c in criteria if c.counted), criteria[0])


def items(db: Database, audit: str, person: str) -> list[tuple[int, int, bool]]:
    """An audit in its order: (judgement, conversation, whether the person has found something of it). Raises NotFound."""
    return spotchecks.audit_items(db, audit, _known(db, person))


def _known(db: Database, person: str) -> int | None:
    """A person's rater id; None for nobody, and for somebody who has not rated anything yet."""
    return ratings.find_rater(db, Rater(person, "human")) if person else None


def notes(found: Findings) -> list[str]:
    """What a reader has to know of the figures, one sentence each."""
    told = [
        "Reasonable: share of findings; optimism: share of too high among the unreasonable; intervals by Wilson, 95%."
    ]
    if found.unbiased:
        told.append(
            f"The first {found.items} of the {found.drawn} judgements drawn at random count, each once, as its first reader found it."
        )
        if found.hunted:
            told.append(
                f"{found.hunted} of these were found in the hunt or in another audit, and count as found there."
            )
        if found.looked > found.items:
            told.append(
                f"{found.looked - found.items} more were looked at further on in the drawn order or are filtered out. Those count when "
                "everything before them was looked at: what the hunt picked is no random sample."
            )
    else:
        told.append(
            "These judgements were looked at because something seemed wrong: their rate is not the judges' rate."
        )
        told.append(
            f"Every finding made in the hunt counts: {found.items}, of {found.looked} judgements"
            + (f"; {found.audited} of these judgements also lie in audits." if found.audited else ".")
        )
    if found.overall.unread:
        told.append(
            f"{found.overall.unread} verdicts that could not be read were seen; without a score they enter none of these shares."
        )
    if len(found.people) > 1:
        told.append(f"{len(found.people)} people looked.")
    if found.simulated:
        told.append(f"Mock models, who are no people: {', '.join(found.simulated)}.")
    return told
