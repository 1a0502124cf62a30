"""Audits, which are random samples of judgements, and what people found in them and in triage.

After the human evaluation of Jia et al. (“Evaluating language models with creative simulation tasks”): 100
judgements at random, each found reasonable, too high or too low.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, takewhile
from typing import Any

import numpy as np
import pandas as pd
from sqlite_utils import Database

from concord.codes import AuditAct
from concord.errors import StudyError
from concord.estimate import Estimate, undefined
from concord.messages import REASONABLE, REASONABLE_CHOSEN, UNREASONABLE
from concord.rating import FINDINGS
from concord.runs.judged import system
from concord.statistics.nominal import kappa, why_no_kappa
from concord.store import audit as log
from concord.store import spotchecks
from concord.store.spotchecks import Audit
from concord.studies.purposes.spotcheck import criterion_of
from concord.table import Column, Table

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
) -> Audit:
    """Draw a simple random sample of the judgements with a score; a seed draws the same from the same ones.

    Raises StudyError where there are fewer than asked for, and without a name.
    """
    if not name.strip():
        raise StudyError("An audit needs a name, for example “audit-1”.")
    pool = spotchecks.auditable(db, benchmark, judges)
    if n < 1 or len(pool) < n:
        raise StudyError(f"There are {len(pool)} judgements to draw from, too few for an audit of {n}.")
    sample = random.Random(seed).sample(pool, n)
    spotchecks.create_audit(db, name, benchmark, seed, len(pool), [number for _, number in sample])
    facts = log.facts(judges=judges, seed=seed)
    log.record(db, AuditAct.DRAW, name, detail=f"audit of {n} of {len(pool)} judgements; {facts}")
    return next(a for a in spotchecks.audits(db, benchmark) if a.name == name)


def findings(db: Database, benchmark: str, audit: str = "") -> Table:
    """What people found of an audit's judgements; without an audit, what they found in triage.

    Rows are all findings, then those by judge, by the benchmark's facets for it, by model and by person. In
    triage every finding counts. In an audit a judgement counts once, by its first finding, wherever that was
    made, and up to the first judgement without one: this beginning of a random order is a random sample, what
    triage picked further on is not. Raises NotFound for an unknown audit.

    `meta` says how many judgements were `sample` and `looked` at, and how many findings (`items`) count,
    who made them (`people`), and which of these are no people (`simulated`).
    """
    benchmark_value = system(db, benchmark)
    by_facet = [*benchmark_value.spotcheck_facets, *filter(None, [benchmark_value.ending_facet])]
    all_findings = spotchecks.findings(db, benchmark, by_facet)
    sample = [one.judgement for one in spotchecks.drawn(db, audit)] if audit else []
    all_findings = all_findings[all_findings.judgement.isin(sample) if audit else all_findings.desk == ""]
    looked = set(all_findings.judgement)
    if audit:
        all_findings = all_findings[all_findings.judgement.isin(list(takewhile(looked.__contains__, sample)))]
    first_findings = all_findings.drop_duplicates("judgement") if audit else all_findings
    rows = [_shares("all", "", first_findings.finding)]
    for column in ("judge", *by_facet, "player", "person"):
        rows += [
            _shares(str(value), column, group.finding) for value, group in first_findings.groupby(column)
        ]
    # Answers by name have no order: one is wrong, and neither too high nor too low.
    nominal = bool(benchmark_value.criteria) and criterion_of(benchmark_value).scale.named
    percent = partial(Column, digits=3, percent=True, interval="ends")
    optimism = percent("optimism", help="Share of “too high” among unreasonable judgements")
    columns = (
        *map(Column, ("of", "by", "n")),
        percent("reasonable", help="Share of findings"),
        *([Column("wrong")] if nominal else [Column("too_high"), Column("too_low"), optimism]),
    )
    meta: dict[str, Any] = {
        "audit": audit,
        "drawn": len(sample),
        "looked": len(looked),
        "items": len(first_findings),
        "people": sorted(first_findings.person.unique()),
        "simulated": sorted(first_findings.person[first_findings.simulated.astype(bool)].unique()),
    }
    optimistic = "" if nominal else " Optimism: share of “too high” among the others."
    notes = [f"Reasonable: share of findings.{optimistic} Intervals: Wilson, 95%.", *_count_note(meta)]
    agreement = " ".join(_agreement(all_findings))
    title = f"Audit “{audit}”" if audit else "Found in triage"
    notes_with_agreement = tuple(filter(None, [*notes, agreement]))
    return Table("spot-check", title, columns, tuple(rows), notes=notes_with_agreement, meta=meta)


def summary(findings: Table) -> str:
    """What was found, in sentences; “” where nothing was checked."""
    row = findings.rows[0]
    drawn = findings.meta["drawn"]
    share = row["reasonable"]
    n = row["n"]
    if not n or not isinstance(share, Estimate) or share.value is None:
        return ""
    low, high = share.interval or (share.value, share.value)
    reasonable = round(share.value * int(str(n)))
    first = REASONABLE if drawn else REASONABLE_CHOSEN
    rest = [
        words.format(n=row[name])
        for name, words in UNREASONABLE.items()
        if isinstance(row.get(name), int) and row[name]
    ]
    sentences = [first.format(share=share.value, n=n, low=low, high=high, reasonable=reasonable)]
    return " ".join([*sentences, *([f"{', '.join(rest).capitalize()}."] if rest else [])])


def _shares(facet: str, group_value: str, findings: pd.Series[str]) -> dict[str, Any]:
    """Findings counted, as a row."""
    tally = Counter(findings)
    reasonable, high, low, wrong = (tally[name] for name in FINDINGS)
    n = reasonable + high + low + wrong
    row = {"of": facet, "by": group_value, "n": n, "too_high": high, "too_low": low, "wrong": wrong}
    shares = {"reasonable": proportion(reasonable, n), "optimism": proportion(high, high + low)}
    return {**row, **shares}


def _count_note(meta: Mapping[str, Any]) -> Iterator[str]:
    """Which findings count, and whose they are, one sentence each; `meta` is that of `findings`."""
    audit, sample_size, looked, items = (meta[name] for name in ("audit", "drawn", "looked", "items"))
    people = meta["people"]
    simulated = meta["simulated"]
    if audit:
        yield (
            f"The rate uses the first {items} of the {sample_size} randomly drawn judgements, each with its "
            "first finding."
        )
        if looked > items:
            yield (
                f"{looked - items} later ones were checked. They are included when all judgements before "
                "them are checked."
            )
    else:
        yield (
            "These judgements were checked because something seemed wrong, so their rate is not the rate "
            "of all judgements."
        )
        yield f"All findings of the triage are included: {items}, on {looked} judgements."
    if len(people) > 1:
        yield f"{len(people)} reviewers checked them."
    if simulated:
        yield f"Simulated, not people: {', '.join(simulated)}."


def _agreement(checked: pd.DataFrame) -> Iterator[str]:
    """Of each two people, how far their findings of what both checked are equal."""
    codes = checked.assign(code=checked.finding.map(FINDINGS).astype(float))
    by_person = codes.pivot_table(index="judgement", columns="person", values="code")
    for a, b in combinations(map(str, by_person), 2):
        x, y = (column.to_numpy() for _, column in by_person[[a, b]].dropna().items())
        if len(x):
            reason, _ = why_no_kappa(a, b, x, y)
            value = (
                f"κ is undefined ({reason})" if reason else f"κ is {kappa(x, y)(np.ones((len(x), 1)))[0]:.2f}"
            )
            yield f"{a} and {b} checked {len(x)} judgements both: {(x == y).mean():.1%} equal, {value}."


def proportion(k: int, n: int) -> Estimate:
    """A share of k in n with its score interval (Wilson 1927)."""
    if n == 0:
        return undefined("nothing was found", n=0)
    from scipy.special import ndtri  # a tenth of the import time of scipy.stats

    share = k / n
    z = float(ndtri(0.975))
    middle = (k + z * z / 2) / (n + z * z)
    half = z * math.sqrt(n * share * (1 - share) + z * z / 4) / (n + z * z)
    return Estimate(share, middle - half if k else 0.0, middle + half if k < n else 1.0, n, "Wilson")
