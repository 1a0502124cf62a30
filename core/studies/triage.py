"""Triage: which conversations a person should look at, by what looks wrong in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlite_utils import Database

from concord.errors import check_known
from concord.runs.judged import system
from concord.store import ratings
from concord.store.filters import Where
from concord.store.suspects import Search, Suspect
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

    The thresholds follow the scale of the benchmark's counted criteria (of a rubric's, where one was used):
    the lowest third is low, a third of the scale is far apart, and two ninths of it is far from people. On a
    scale of 1 to 10, these are 4 or less, 3 points and 2 points.

    Settled are those whose judgements (by `judges`) all have a finding of the person. If `judges` are named,
    only what one of them judged is there. Raises NotFound for an unknown reason or judge.
    """
    check_known("reason", reasons, REASONS)
    names = {judge.name for judge in ratings.judges(db, benchmark)} if judges else set()
    check_known("judge", judges, names)
    scale, of = question(db, benchmark).scale, system(db, benchmark)
    size = scale.high - scale.low
    points = (scale.low, scale.high, scale.low + size / 3, size / 3, size * 2 / 9)
    looked = (where or {}, judges, reasons, rater_of(db, person))
    return Search(benchmark, *points, of.ending_facet, of.refusal, *looked)


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
