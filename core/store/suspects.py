"""Conversations that a person should look at: why, in which order, which are settled."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlite_utils import Database

from concord.store.filters import Where, condition


@dataclass(frozen=True)
class Search:
    """Which conversations are searched, and when one is suspect, in points of a scale from `bottom` to `top`.

    Suspect are a final of `low` or less, judges `apart` or more, judges and people `gap` or more, and values
    of the facet `ending`: cut, empty, and a refusal, guessed from words of the reply, where nobody was asked
    the criterion `refusal`.

    If `judges` are named, conversations that none of them judged are left out. `reasons` keeps those with one
    of them, `unsettled_by` those that this rater has not settled.
    """

    benchmark: str
    bottom: float
    top: float
    low: float
    apart: float
    gap: float
    ending: str = ""
    refusal: str = ""
    where: Where = field(default_factory=dict)
    judges: Sequence[str] = ()
    reasons: Sequence[str] = ()
    unsettled_by: int | None = None


@dataclass(frozen=True)
class Suspect:
    """A conversation to look at, and why: low, apart, people, failed, refusal, cut, empty.

    `priority` is one point for each reason, and for low, apart and people up to one more by how far the value
    is beyond the threshold.
    """

    conversation_id: int
    key: str
    player: str
    reasons: tuple[str, ...]
    priority: float
    final: float | None
    spread: float | None
    people: float | None
    failed: int


_SUSPECTS = """
WITH each AS (
    SELECT conversation_id AS id, 'low' AS reason, 1 + (:low - final) / (:low - :bottom) AS weight
        FROM summaries WHERE final <= :low
    UNION ALL SELECT conversation_id, 'apart', 1 + (spread - :apart) / (:top - :bottom - :apart)
        FROM summaries WHERE spread >= :apart
    UNION ALL SELECT conversation_id, 'people', 1 + (abs(final - people) - :gap) / (:top - :bottom - :gap)
        FROM summaries WHERE abs(final - people) >= :gap
    UNION ALL SELECT conversation_id, 'failed', 1 FROM summaries WHERE failed > 0
    UNION ALL SELECT conversation_id, 'refusal', 1 FROM summaries WHERE refused > 0
    UNION ALL SELECT conversation_id, value, 1 FROM facets f
        WHERE name = :ending AND value IN ('cut', 'empty', 'refusal')
            AND (value <> 'refusal' OR NOT EXISTS (
            SELECT 1 FROM scores s WHERE s.conversation_id = f.conversation_id AND s.criterion = :refusal))
), suspects AS (
    SELECT id, sum(weight) AS priority, group_concat(reason) AS reasons FROM each GROUP BY id
)"""


def queue(db: Database, search: Search, *, limit: int | None = None, offset: int = 0) -> list[Suspect]:
    """The suspects (or a page of so many), the highest priority first."""
    where, args = _query(search)
    rows = db.query(
        f"{_SUSPECTS} SELECT c.id AS conversation_id, c.key, c.player, x.reasons, round(x.priority, "
        "6) AS priority, s.final, s.spread, s.people, ifnull(s.failed, 0) AS failed "
        "FROM (SELECT x.id, x.reasons, x.priority FROM suspects x JOIN conversations c ON c.id = x.id "
        f"WHERE {where} AND {_WANTED} ORDER BY x.priority DESC, x.id LIMIT :limit OFFSET :offset) x "
        "JOIN conversations c ON c.id = x.id LEFT JOIN summaries s ON s.conversation_id = c.id "
        "ORDER BY x.priority DESC, c.id",
        args | {"limit": -1 if limit is None else limit, "offset": offset},
    )
    return [Suspect(**{**row, "reasons": tuple(sorted(row["reasons"].split(",")))}) for row in rows]


def counts(db: Database, search: Search) -> dict[str, int]:
    """How many suspects there are: under "" those with one of the reasons asked for, then by reason, whatever
    is asked for. A conversation may have several reasons.
    """
    where, args = _query(search)
    found = f"FROM suspects x JOIN conversations c ON c.id = x.id WHERE {where}"
    rows = db.execute(
        f"{_SUSPECTS} SELECT '', count(*) {found} AND {_WANTED} UNION ALL SELECT * FROM ("
        "SELECT e.reason, count(DISTINCT e.id) FROM each e "
        f"WHERE e.id IN (SELECT c.id {found}) GROUP BY 1 ORDER BY 2 DESC, 1)",
        args,
    )
    return dict(rows.fetchall())


def settled(db: Database, rater: int, judges: Sequence[str] = ()) -> set[int]:
    """The conversations whose judgements (by `judges`) all have a finding by this rater."""
    args = {"rater": rater, "judges": json.dumps(list(judges))}
    return {row[0] for row in db.execute(_settled(judges) + _IN_FULL, args)}


_WANTED = (
    "(:reasons = '[]' OR EXISTS (SELECT 1 FROM json_each(:reasons) r "
    "WHERE instr(',' || x.reasons || ',', ',' || r.value || ',')))"
)
_IN_FULL = " GROUP BY j.conversation_id HAVING count(v.placement_id) = count(*)"


def _settled(judges: Sequence[str]) -> str:
    """The judgements of the conversations that the rater has begun, each with their finding."""
    by = (
        "AND j.rater_id IN (SELECT id FROM raters WHERE kind = 'judge' AND name IN (SELECT value "
        "FROM json_each(:judges)))"
    )
    return (
        "SELECT j.conversation_id FROM judgements j "
        "LEFT JOIN findings v ON v.judgement_id = j.id AND v.rater_id = :rater WHERE j.conversation_id IN "
        f"(SELECT f.conversation_id FROM findings f WHERE f.rater_id = :rater) {by if judges else ''}"
    )


def _query(search: Search) -> tuple[str, dict[str, Any]]:
    """A condition on suspects, and its arguments and those of `_SUSPECTS`."""
    where, args = condition(search.where)
    where = f"c.benchmark = :benchmark AND {where}"
    args |= {**vars(search), "rater": search.unsettled_by}
    args |= {"judges": json.dumps(list(search.judges)), "reasons": json.dumps(list(search.reasons))}
    if search.judges:
        where += (
            " AND EXISTS (SELECT 1 FROM judgements j JOIN raters n ON n.id = j.rater_id WHERE "
            "j.conversation_id = c.id AND n.name IN (SELECT value FROM json_each(:judges)))"
        )
    if search.unsettled_by is not None:
        where += f" AND c.id NOT IN ({_settled(search.judges)}{_IN_FULL})"
    return where, args
