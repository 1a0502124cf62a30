"""Spot-checks: people look at judgements, either in triage, where something looks wrong, or in an audit, a
random sample; and what they found.

After the human evaluation of Jia et al. (“Evaluating language models with creative simulation tasks”): 100
judgements at random, each found reasonable, too high or too low.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, takewhile

import numpy as np
import pandas as pd
from scipy.stats import binomtest
from sqlite_utils import Database

from concord.conversation import Conversation
from concord.errors import StudyError, check_known
from concord.estimate import Estimate, undefined
from concord.rating import FINDINGS, Criterion, Finding, Rater
from concord.runs.benchmark import Benchmark
from concord.runs.judged import system
from concord.statistics.nominal import kappa, why_no_kappa
from concord.store import audit as log
from concord.store import images, placements, ratings, spotchecks, suspects
from concord.store.filters import Where
from concord.store.ratings import Stored
from concord.store.spotchecks import Audit, Seen
from concord.store.suspects import Search, Suspect, Suspicion
from concord.table import Column, Table, record

PURPOSE = "spot-check"
SIZE = 100
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
        conversation.context.get("_challenging") or None,
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

    A verdict that could not be read can only be “seen”. Raises StudyError for a finding that does not go with
    the verdict.
    """
    rater = ratings.rater_id(db, Rater(person, "human", simulated=simulated))
    criterion, seen = _seen(db, judgement_id, rater)
    if finding not in (allowed := possible(criterion, seen)):
        if seen.failure is not None:
            raise StudyError(
                "This verdict could not be read: there is no score to find reasonable or not. "
                "Say that it was seen."
            )
        words = ", ".join(name.replace("_", " ") for name in allowed)
        raise StudyError(f"This verdict has a score on “{criterion.label}”. Say one of: {words}.")
    item = spotchecks.item(db, judgement_id, rater, audit)
    placements.give(db, PURPOSE, rater, item, "", FINDINGS[finding], comment, seen.score)


def withdraw(db: Database, judgement_id: int, person: str) -> None:
    """Take back a finding; it is kept as replaced."""
    rater = rater_of(db, person)
    if rater is not None and _seen(db, judgement_id, rater)[1].finding is not None:
        placements.take_back(db, PURPOSE, rater, spotchecks.item(db, judgement_id, rater), "")


def add_seconds(db: Database, judgement_id: int, person: str, seconds: float, audit: str = "") -> None:
    """Add time at work on a judgement."""
    rater = ratings.rater_id(db, Rater(person, "human"))
    item = spotchecks.item(db, judgement_id, rater, audit)
    placements.add_seconds(db, rater, placements.beside(db, rater, PURPOSE, item), seconds)


def _seen(db: Database, judgement_id: int, rater: int | None) -> tuple[Criterion, Seen]:
    """What a judgement was asked, and how it is shown to somebody."""
    conversation, benchmark = spotchecks.about(db, judgement_id)
    criterion = question(db, benchmark)
    every = _judgements(db, conversation, criterion, rater)
    return criterion, next(seen for seen in every if seen.id == judgement_id)


def _judgements(db: Database, conversation: int, criterion: Criterion, rater: int | None) -> list[Seen]:
    nominal = not criterion.scale.ordered
    return spotchecks.judgements(db, conversation, criterion.name, rater, nominal=nominal)


def possible(criterion: Criterion, seen: Seen) -> tuple[Finding, ...]:
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


def draw(
    db: Database,
    name: str,
    benchmark: str,
    *,
    n: int = SIZE,
    seed: int = 0,
    judges: Sequence[str] = (),
    where: Where | None = None,
) -> Audit:
    """Draw a simple random sample of the judgements with a score; a seed draws the same from the same ones.

    Raises StudyError where there are fewer than asked for, and without a name.
    """
    if not name.strip():
        raise StudyError("An audit needs a name, such as “audit-1”.")
    pool = spotchecks.auditable(db, benchmark, judges=judges, where=where)
    if n < 1 or len(pool) < n:
        raise StudyError(f"There are {len(pool)} judgements to draw from; an audit of {n} cannot be drawn.")
    chosen = random.Random(seed).sample(pool, n)
    spotchecks.create_audit(db, name, benchmark, seed, len(pool), [number for _, number in chosen])
    facts = log.facts(judges=judges, where=where, seed=seed)
    log.record(db, "drawn", name, detail=f"audit of {n} of {len(pool)} judgements; {facts}")
    return next(a for a in spotchecks.audits(db, benchmark) if a.name == name)


@dataclass(frozen=True)
class AuditProgress:
    """How many of an audit's judgements a person has found something of, and the next one.

    `next` is (judgement, conversation).
    """

    items: int
    done: int
    next: tuple[int, int] | None


def progress(db: Database, audit: str, person: str) -> AuditProgress:
    """Where a person stands in an audit. Raises NotFound."""
    every = spotchecks.drawn(db, audit, rater_of(db, person))
    left = [(one.judgement, one.conversation) for one in every if one.found_in is None]
    return AuditProgress(len(every), len(every) - len(left), left[0] if left else None)


@dataclass(frozen=True)
class Share:
    """Findings counted: of how many judgements the scores are reasonable, too high, too low or wrong.

    `unread` counts verdicts that could not be read and were seen, in no share.
    """

    of: str
    reasonable: int
    too_high: int
    too_low: int
    wrong: int
    unread: int

    @classmethod
    def of_findings(cls, of: str, findings: pd.Series[str]) -> Share:
        """Findings counted."""
        tally = Counter(findings)
        return cls(of, *(tally[name] for name in FINDINGS))

    @property
    def n(self) -> int:
        """The findings about a score."""
        return self.reasonable + self.too_high + self.too_low + self.wrong

    @property
    def rate(self) -> Estimate:
        """The share of reasonable findings."""
        return proportion(self.reasonable, self.n)

    @property
    def optimism(self) -> Estimate:
        """The share of “too high” among the findings that are too high or too low."""
        return proportion(self.too_high, self.too_high + self.too_low)


@dataclass(frozen=True)
class Findings:
    """What people found: overall, and by judge, by the benchmark's facets for it, by model and by person.

    In triage there are `items` findings of `looked` judgements. In an audit somebody looked at `looked` of
    the `drawn` judgements, and `items` count. `people` found what counts; `simulated` of them are no people.
    `named`: answers have no order, so that one is wrong and neither too high nor too low. `agreement` says of
    each two people how far they agree on judgements that both checked.
    """

    audit: str
    drawn: int
    items: int
    overall: Share
    by: Mapping[str, tuple[Share, ...]]
    people: tuple[str, ...]
    simulated: tuple[str, ...]
    looked: int
    named: bool
    agreement: tuple[str, ...]


def findings(db: Database, benchmark: str, audit: str = "") -> Findings:
    """What people found of an audit's judgements; without an audit, what they found in triage.

    In triage every finding counts. In an audit a judgement counts once, by its first finding, wherever that
    was made, and up to the first judgement without one: this beginning of a random order is a random sample,
    what triage picked further on is not. Raises NotFound for an unknown audit.
    """
    of = system(db, benchmark)
    by_facet = [*of.spotcheck_facets, *filter(None, [of.ending_facet])]
    every = spotchecks.findings(db, benchmark, by_facet)
    drawn = [one.judgement for one in spotchecks.drawn(db, audit)] if audit else []
    every = every[every.judgement.isin(drawn) if audit else every.desk == ""]
    looked = set(every.judgement)
    if audit:
        every = every[every.judgement.isin(list(takewhile(looked.__contains__, drawn)))]
    chosen = every.drop_duplicates("judgement") if audit else every
    by = {
        column: tuple(Share.of_findings(str(value), rows.finding) for value, rows in chosen.groupby(column))
        for column in ("judge", *by_facet, "player", "person")
    }
    return Findings(
        audit,
        len(drawn),
        len(chosen),
        Share.of_findings("all", chosen.finding),
        by,
        tuple(sorted(chosen.person.unique())),
        tuple(sorted(chosen.person[chosen.simulated.astype(bool)].unique())),
        len(looked),
        bool(of.criteria) and criterion_of(of).scale.named,
        tuple(_agreement(every)),
    )


def _agreement(checked: pd.DataFrame) -> Iterator[str]:
    """Of each two people, how far their findings of the scores that both checked are equal."""
    codes = checked[checked.finding != "seen"].assign(
        code=lambda rows: rows.finding.map(FINDINGS).astype(float)
    )
    by_person = codes.pivot_table(index="judgement", columns="person", values="code")
    for a, b in combinations(map(str, by_person), 2):
        x, y = (column.to_numpy() for _, column in by_person[[a, b]].dropna().items())
        if len(x):
            why, _ = why_no_kappa(a, b, x, y)
            value = f"κ is undefined ({why})" if why else f"κ is {kappa(x, y)(np.ones((len(x), 1)))[0]:.2f}"
            yield f"{a} and {b} checked {len(x)} judgements both: {(x == y).mean():.1%} equal, {value}."


def proportion(k: int, n: int) -> Estimate:
    """A share of k in n with its score interval (Wilson 1927)."""
    if n == 0:
        return undefined("nothing was found", n=0)
    interval = binomtest(k, n).proportion_ci(method="wilson")
    return Estimate(k / n, float(interval.low), float(interval.high), n, "Wilson")


def table(result: Findings) -> Table:
    """The findings as a table: all, then by judge, facet, model and person."""
    rows = [("", result.overall), *((by, share) for by, shares in result.by.items() for share in shares)]
    percent = partial(Column, digits=3, percent=True, interval="ends")
    optimism = percent("optimism", help="Share of too high among the unreasonable")
    columns = [
        *map(Column, ("of", "by", "n")),
        percent("reasonable", help="Share of findings"),
        *([Column("wrong")] if result.named else [Column("too_high"), Column("too_low"), optimism]),
        *([Column("unreadable")] if result.overall.unread else []),
    ]
    figures = [
        record(share)
        | {"by": by, "n": share.n, "unreadable": share.unread}
        | {"reasonable": share.rate, "optimism": share.optimism}
        for by, share in rows
    ]
    basis = {name: value for name, value in record(result).items() if name not in ("overall", "by")}
    title = f"Audit “{result.audit}”" if result.audit else "Found in triage"
    return Table("spot-check", title, tuple(columns), tuple(figures), notes=tuple(_notes(result)), meta=basis)


def _notes(result: Findings) -> Iterator[str]:
    """What a reader has to know of the figures, one sentence each."""
    optimism = "" if result.named else " Optimism: share of too high among the others."
    yield f"Reasonable: share of findings.{optimism} Intervals: Wilson, 95%."
    if result.audit:
        yield (
            f"The first {result.items} of the {result.drawn} judgements drawn at random count, each once, "
            "as its first reader found it."
        )
        if result.looked > result.items:
            yield (
                f"{result.looked - result.items} more were looked at further on in the drawn order. They "
                "count when everything before them was looked at: what triage picked is no random sample."
            )
    else:
        yield (
            "These judgements were looked at because something seemed wrong: "
            "their rate is not the judges' rate."
        )
        yield f"Every finding made in triage counts: {result.items}, of {result.looked} judgements."
    if result.overall.unread:
        yield (
            f"{result.overall.unread} verdicts that could not be read were seen. "
            "They have no score and enter no share."
        )
    if len(result.people) > 1:
        yield f"{len(result.people)} people looked."
    if result.agreement:
        yield " ".join(result.agreement)
    if result.simulated:
        yield f"Simulated, not people: {', '.join(result.simulated)}."
