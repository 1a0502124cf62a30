"""Triage: which conversations a person should look at, by what looks wrong in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from sqlite_utils import Database

from concord.errors import check_known
from concord.runs.judged import system
from concord.store import ratings, spotchecks
from concord.store.filters import Where
from concord.store.spotchecks import Suspect
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


def bounds(db: Database, benchmark: str) -> dict[str, float | str]:
    """What is suspect, by the scale of the benchmark's counted criteria (of a rubric's, where one was used).

    The lowest third is low, a third of the scale is far apart, and two ninths of it is far from people: on a
    scale of 1 to 10, these are 4 or less, 3 points and 2 points.
    """
    scale, of = question(db, benchmark).scale, system(db, benchmark)
    size = scale.high - scale.low
    return dict[str, float | str](
        bottom=scale.low,
        top=scale.high,
        low=scale.low + size / 3,
        apart=size / 3,
        gap=size * 2 / 9,
        ending=of.ending_facet,
        refusal=of.refusal,
    )


def queue(
    db: Database,
    benchmark: str,
    *,
    person: str = "",
    where: Where | None = None,
    judges: Sequence[str] = (),
) -> list[Suspect]:
    """The conversations to look at, the highest priority first, without those that the person has settled.

    Settled are those whose judgements (by `judges`) all have a finding of the person. If `judges` are named,
    only what one of them judged is there. Raises NotFound for an unknown judge.
    """
    names = {judge.name for judge in ratings.judges(db, benchmark)} if judges else set()
    check_known("judge", judges, names)
    every = spotchecks.queue(db, benchmark, bounds(db, benchmark), where=where, judges=judges)
    rater = rater_of(db, person)
    done = spotchecks.settled(db, rater, judges) if rater is not None else set()
    return [one for one in every if one.conversation_id not in done]


def because(line: Sequence[Suspect], reasons: Sequence[str]) -> list[Suspect]:
    """Those with one of these reasons; all where none is named. Raises NotFound for an unknown reason."""
    check_known("reason", reasons, REASONS)
    return [one for one in line if not reasons or {*reasons} & {*one.reasons}]


def counts(line: Sequence[Suspect]) -> dict[str, int]:
    """How many there are by reason, the most frequent first. A conversation may have several reasons."""
    return dict(Counter(reason for one in line for reason in one.reasons).most_common())


def queue_table(
    page: Sequence[Suspect],
    line: Sequence[Suspect],
    number: int,
    facets: Sequence[Mapping[str, str]] = (),
) -> Table:
    """A page of the queue, with these facets of each conversation; below it the number of all that were asked
    for, and how many in the whole line have which reason.
    """
    shown = list(dict.fromkeys(name for of in facets for name in of))
    by_reason = ", ".join(f"{REASONS[reason]} {n}" for reason, n in counts(line).items())
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
    note = f"{number} conversations" + (f": {by_reason}." if by_reason else ".")
    return Table("spot-check-queue", "Conversations to look at", columns, rows, notes=(note,))
