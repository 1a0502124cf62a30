"""Audits: random samples of judgements, and what people found of them or in triage."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import takewhile

import pandas as pd
from scipy.stats import binomtest
from sqlite_utils import Database

from concord.errors import StudyError
from concord.estimate import Estimate, undefined
from concord.runs.judged import system
from concord.store import spotchecks
from concord.store.filters import Where
from concord.store.spotchecks import Audit
from concord.studies.spotcheck import check_judges, rater_of
from concord.table import Column, Table, record

SIZE = 100
"""How many judgements an audit has, unless told otherwise: as in the paper."""


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
    return next(a for a in spotchecks.audits(db, benchmark) if a.name == name)


@dataclass(frozen=True)
class AuditProgress:
    """How many of an audit's judgements a person has found something of, and the next one.

    `elsewhere` of those done were found in triage or at another audit; `next` is (judgement, conversation).
    """

    items: int
    done: int
    next: tuple[int, int] | None
    elsewhere: int = 0


def progress(db: Database, audit: str, person: str) -> AuditProgress:
    """Where a person stands in an audit. Raises NotFound."""
    rater = rater_of(db, person)
    every = spotchecks.audit_items(db, audit, rater)
    left = [(judgement, conversation) for judgement, conversation, done in every if not done]
    done = len(every) - len(left)
    elsewhere = done - spotchecks.found_at(db, audit, rater)
    return AuditProgress(len(every), done, left[0] if left else None, elsewhere)


@dataclass(frozen=True)
class Share:
    """Findings counted; `unread` verdicts were seen and have no score, so that they enter no share."""

    of: str
    reasonable: int
    too_high: int
    too_low: int
    unread: int

    @classmethod
    def of_findings(cls, of: str, found: pd.Series[str]) -> Share:
        """Findings counted."""
        tally = found.value_counts()
        return cls(of, *(int(tally.get(name, 0)) for name in ("reasonable", "too_high", "too_low", "seen")))

    @property
    def n(self) -> int:
        """The findings about a score."""
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

    In triage (`unbiased` False) there are `items` findings of `looked` judgements, `audited` of which are
    also in an audit. In an audit somebody looked at `looked` of the `drawn` judgements, `items` count, and
    `hunted` of these were found in triage or in another audit. `people` found what counts; `simulated` of
    them are no people.
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
    """What people found of an audit's judgements; without an audit, what they found in triage.

    In triage every finding counts. In an audit a judgement counts once, by its first finding, wherever that
    was made, and up to the first judgement without one: this beginning of a random order is a random sample,
    what triage picked further on is not. The filters keep findings of these conversations and judges. Raises
    NotFound for an unknown audit or judge.
    """
    check_judges(db, benchmark, judges)
    of = system(db, benchmark)
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
        column: tuple(Share.of_findings(str(value), rows.finding) for value, rows in chosen.groupby(column))
        for column in ("judge", *by_facet, "player", "person")
    }
    return Findings(
        audit,
        bool(audit),
        len(drawn),
        len(chosen),
        Share.of_findings("all", chosen.finding),
        by,
        tuple(sorted(chosen.person.unique())),
        tuple(sorted(chosen.person[chosen.simulated.astype(bool)].unique())),
        len(looked) if audit else chosen.judgement.nunique(),
        0 if audit else chosen.judgement[chosen.audits != ""].nunique(),
        int((chosen.desk != audit).sum()) if audit else 0,
    )


def proportion(k: int, n: int) -> Estimate:
    """A share of k in n with its score interval (Wilson 1927)."""
    if n == 0:
        return undefined("nothing was found", n=0)
    interval = binomtest(k, n).proportion_ci(method="wilson")
    return Estimate(k / n, float(interval.low), float(interval.high), n, "Wilson")


def table(found: Findings) -> Table:
    """The findings as a table: all, then by judge, facet, model and person."""
    rows = [("", found.overall), *((by, share) for by, shares in found.by.items() for share in shares)]
    percent = partial(Column, digits=3, percent=True, interval="ends")
    columns = [
        *map(Column, ("of", "by", "n")),
        percent("reasonable", help="Share of findings"),
        *map(Column, ("too_high", "too_low")),
        percent("optimism", help="Share of too high among the unreasonable"),
        *([Column("unreadable")] if found.overall.unread else []),
    ]
    figures = [
        record(share)
        | {"by": by, "n": share.n, "unreadable": share.unread}
        | {"reasonable": share.rate, "optimism": share.optimism}
        for by, share in rows
    ]
    basis = {name: value for name, value in record(found).items() if name not in ("overall", "by")}
    title = f"Audit “{found.audit}”" if found.audit else "Found in triage"
    return Table("spot-check", title, tuple(columns), tuple(figures), notes=tuple(_notes(found)), meta=basis)


def _notes(found: Findings) -> list[str]:
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
            told.append(f"{found.hunted} of these were found in triage or in another audit.")
        if found.looked > found.items:
            told.append(
                f"{found.looked - found.items} more were looked at further on in the drawn order or "
                "are filtered out. Those further on count when everything before them was looked at: "
                "what triage picked is no random sample."
            )
    else:
        also = f"; {found.audited} of these judgements are also in audits" if found.audited else ""
        told += [
            "These judgements were looked at because something seemed wrong: "
            "their rate is not the judges' rate.",
            f"Every finding made in triage counts: {found.items}, of {found.looked} judgements{also}.",
        ]
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
