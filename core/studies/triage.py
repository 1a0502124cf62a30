"""Triage: which conversations a person should look at, by what looks wrong in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlite_utils import Database

from concord.errors import check_known
from concord.runs.judged import system
from concord.store import ratings, suspects
from concord.store.filters import Where
from concord.store.suspects import Search, Suspect, Suspicion
from concord.studies.purposes.spotcheck import question, rater_of
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
