"""Audits, which are random samples of judgements, and what people found in them and in triage.

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

from concord.errors import StudyError
from concord.estimate import Estimate, undefined
from concord.rating import FINDINGS
from concord.runs.judged import system
from concord.statistics.nominal import kappa, why_no_kappa
from concord.store import audit as log
from concord.store import spotchecks
from concord.store.filters import Where
from concord.store.spotchecks import Audit
from concord.studies.purposes.spotcheck import criterion_of
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
    facts = log.facts(judges=judges, where=where, seed=seed)
    log.record(db, "drawn", name, detail=f"audit of {n} of {len(pool)} judgements; {facts}")
    return next(a for a in spotchecks.audits(db, benchmark) if a.name == name)


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
