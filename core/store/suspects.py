"""Conversations that deserve a person's eye, in the store: why, in which order, and which of them a person has settled."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlite_utils import Database

from core.store.spotchecks import LOOKED


@dataclass(frozen=True)
class Suspicion:
    """From where on a conversation deserves a look, in points of a scale from `bottom` to `top`: a final score of `low` or less, judges
    `apart` or more, judges and people `gap` or more. `endings` are values of the facet “ending” that deserve one by themselves."""

    bottom: float
    top: float
    low: float
    apart: float
    gap: float
    endings: tuple[str, ...] = ("cut", "empty", "refusal")


@dataclass(frozen=True)
class Among:
    """Which conversations are looked through; everything empty means all of them.

    With `judges` (by name) it is their scores and verdicts that count: final is their mean, spread how far the furthest of them is from
    any judge, and a conversation that none of them has judged is passed over.
    """

    facets: Mapping[str, Sequence[str]]
    players: Sequence[str] = ()
    judges: Sequence[str] = ()


@dataclass(frozen=True)
class Suspect:
    """A conversation that deserves a look. `reasons`: low, apart, people, failed (an unreadable verdict), refusal, cut, empty.

    `priority` is one point for each reason, and for low, apart and people up to one more for how far beyond the threshold it is.
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


# What `summaries` says of a conversation, by some judges only; the means as `ratings.refresh` makes them.
_OF_JUDGES = """
named AS (SELECT id FROM raters WHERE kind = 'judge' AND name IN (SELECT value FROM json_each(:judges))),
each_criterion AS (
    SELECT conversation_id, rater_id, sum(total) / sum(n) AS mean FROM scores
    WHERE study_id IS NULL AND rater_id IN (SELECT id FROM raters WHERE kind = 'judge')
      AND criterion NOT IN (SELECT name FROM criteria WHERE scope = :benchmark AND NOT counted)
    GROUP BY conversation_id, rater_id, criterion
), each_judge AS (
    SELECT conversation_id, rater_id IN named AS chosen, avg(mean) AS mean FROM each_criterion GROUP BY conversation_id, rater_id
), means AS (
    SELECT conversation_id, avg(mean) FILTER (WHERE chosen) AS final,
           max(max(mean) - min(mean) FILTER (WHERE chosen), max(mean) FILTER (WHERE chosen) - min(mean)) AS spread
    FROM each_judge GROUP BY conversation_id
), unread AS (
    SELECT conversation_id, count(*) AS failed FROM judgements WHERE failure IS NOT NULL AND rater_id IN named GROUP BY conversation_id
), stood AS MATERIALIZED (
    SELECT s.conversation_id, round(m.final, 9) AS final, round(m.spread, 9) AS spread, s.people, ifnull(u.failed, 0) AS failed
    FROM summaries s LEFT JOIN means m ON m.conversation_id = s.conversation_id LEFT JOIN unread u ON u.conversation_id = s.conversation_id
)"""

# A refusal that a judge or a person saw counts; the words a reply opens with count where nobody was asked.
_SUSPECTS = """
each AS (
    SELECT conversation_id AS id, 'low' AS reason, 1 + (:low - final) / (:low - :bottom) AS weight FROM {stood} WHERE final <= :low
    UNION ALL SELECT conversation_id, 'apart', 1 + (spread - :apart) / (:top - :bottom - :apart) FROM {stood} WHERE spread >= :apart
    UNION ALL SELECT conversation_id, 'people', 1 + (abs(final - people) - :gap) / (:top - :bottom - :gap)
        FROM {stood} WHERE abs(final - people) >= :gap
    UNION ALL SELECT conversation_id, 'failed', 1 FROM {stood} WHERE failed > 0
    UNION ALL SELECT conversation_id, 'refusal', 1 FROM summaries WHERE refused > 0
    UNION ALL SELECT conversation_id, value, 1 FROM facets f WHERE name = 'ending' AND value IN (SELECT value FROM json_each(:endings))
        AND (value <> 'refusal' OR NOT EXISTS (SELECT 1 FROM scores s WHERE s.conversation_id = f.conversation_id AND s.criterion = 'refusal'))
), suspects AS (
    SELECT id, sum(weight) AS priority, group_concat(reason) AS reasons FROM each GROUP BY id
)"""


def queue(
    db: Database, benchmark: str, suspicion: Suspicion, among: Among, *, reasons: Sequence[str] = (), unsettled_by: int | None = None,
    only: Sequence[int] = (), limit: int = 50, offset: int = 0,
) -> list[Suspect]:  # fmt: skip
    """One page of the conversations that deserve a look, the most deserving first.

    `reasons` keeps those with one of them; `unsettled_by` leaves out what this rater has settled; `only` keeps these conversations.
    """
    where, args = _where(benchmark, suspicion, among, unsettled_by)
    if reasons:
        where += " AND EXISTS (SELECT 1 FROM json_each(:reasons) r WHERE instr(',' || x.reasons || ',', ',' || r.value || ','))"
        args["reasons"] = json.dumps(list(reasons))
    if only:
        where += " AND c.id IN (SELECT value FROM json_each(:only))"
        args["only"] = json.dumps(list(only))
    source, stood = _source(among)
    rows = db.query(
        f"{source} SELECT c.id, c.key, c.player, x.reasons, x.priority, s.final, s.spread, s.people, "
        "ifnull(s.failed, 0) AS failed FROM (SELECT x.id, x.reasons, x.priority FROM suspects x JOIN conversations c ON c.id = x.id "
        f"WHERE {where} ORDER BY x.priority DESC, x.id LIMIT :limit OFFSET :offset) x JOIN conversations c ON c.id = x.id "
        f"LEFT JOIN {stood} s ON s.conversation_id = c.id ORDER BY x.priority DESC, c.id",
        args | {"limit": limit, "offset": offset},
    )
    return [
        Suspect(
            r["id"], r["key"], r["player"], tuple(sorted(r["reasons"].split(","))), round(r["priority"], 6), r["final"], r["spread"],
            r["people"], r["failed"],
        )
        for r in rows
    ]  # fmt: skip


def counts(
    db: Database, benchmark: str, suspicion: Suspicion, among: Among, *, unsettled_by: int | None = None
) -> dict[tuple[str, ...], int]:  # fmt: skip
    """How many conversations deserve a look, by all the reasons each has (sorted)."""
    where, args = _where(benchmark, suspicion, among, unsettled_by)
    found: dict[tuple[str, ...], int] = {}
    for reasons, n in db.execute(
        f"{_source(among)[0]} SELECT x.reasons, count(*) FROM suspects x JOIN conversations c ON c.id = x.id "
        f"WHERE {where} GROUP BY x.reasons",
        args,
    ):
        together = tuple(sorted(reasons.split(",")))
        found[together] = found.get(together, 0) + n
    return found


def settled(
    db: Database, conversation_ids: Sequence[int], rater: int, judges: Sequence[str] = ()
) -> set[int]:
    """Those of the conversations of which this rater has found something of every judgement (of every one by `judges`, if named)."""
    only = " AND j.conversation_id IN (SELECT value FROM json_each(:ids))"
    args = {"rater": rater, "judges": json.dumps(list(judges)), "ids": json.dumps(list(conversation_ids))}
    return {row[0] for row in db.execute(_settled(judges) + only + _IN_FULL, args)}


_IN_FULL = " GROUP BY j.conversation_id HAVING count(v.id) = count(*)"


def _settled(judges: Sequence[str]) -> str:
    """The judgements of what the rater has begun with, each beside their finding: from the findings, which are few, to conversations."""
    by = "AND j.rater_id IN (SELECT id FROM raters WHERE kind = 'judge' AND name IN (SELECT value FROM json_each(:judges)))"
    return (
        f"SELECT j.conversation_id FROM judgements j LEFT JOIN verifications v ON v.judgement_id = j.id AND v.rater_id = :rater AND {LOOKED} "
        "WHERE j.conversation_id IN (SELECT b.conversation_id FROM verifications f JOIN judgements b ON b.id = f.judgement_id "
        f"WHERE f.rater_id = :rater) {by if judges else ''}"
    )


def _source(among: Among) -> tuple[str, str]:
    """The beginning of a query that looks for suspects, and the table that says how their conversations stood."""
    stood = "stood" if among.judges else "summaries"
    each = _SUSPECTS.format(stood=stood)
    return f"WITH {_OF_JUDGES},{each}" if among.judges else f"WITH {each}", stood


def _where(
    benchmark: str, suspicion: Suspicion, among: Among, unsettled_by: int | None
) -> tuple[str, dict[str, Any]]:
    clauses = ["c.benchmark = :benchmark"]
    args: dict[str, Any] = {
        "benchmark": benchmark, "bottom": suspicion.bottom, "top": suspicion.top, "low": suspicion.low, "apart": suspicion.apart,
        "gap": suspicion.gap, "endings": json.dumps(suspicion.endings),
    }  # fmt: skip
    for i, (name, allowed) in enumerate(among.facets.items()):
        if allowed:
            clauses.append(
                f"c.id IN (SELECT conversation_id FROM facets WHERE name = :f{i} AND value IN (SELECT value FROM json_each(:v{i})))"
            )
            args |= {f"f{i}": name, f"v{i}": json.dumps(list(allowed))}
    if among.players:
        clauses.append("c.player IN (SELECT value FROM json_each(:players))")
        args["players"] = json.dumps(list(among.players))
    if among.judges:
        clauses.append(
            "EXISTS (SELECT 1 FROM judgements j WHERE j.conversation_id = c.id AND j.rater_id IN named)"
        )
        args["judges"] = json.dumps(list(among.judges))
    if unsettled_by is not None:
        clauses.append(f"c.id NOT IN ({_settled(among.judges)}{_IN_FULL})")
        args["rater"] = unsettled_by
    return " AND ".join(clauses), args
