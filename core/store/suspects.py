"""Conversations that a person should look at: why, in which order, which are settled."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlite_utils import Database

from concord.store.filters import Where, condition


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
)
SELECT c.id AS conversation_id, c.key, c.player, x.reasons, round(x.priority, 6) AS priority, s.final,
    s.spread, s.people
    FROM suspects x JOIN conversations c ON c.id = x.id LEFT JOIN summaries s ON s.conversation_id = c.id
    WHERE c.benchmark = :benchmark AND (:judges = '[]' OR EXISTS (
        SELECT 1 FROM judgements j JOIN raters n ON n.id = j.rater_id
        WHERE j.conversation_id = c.id AND n.name IN (SELECT value FROM json_each(:judges))))
"""


def queue(
    db: Database,
    benchmark: str,
    bounds: Mapping[str, float | str],
    *,
    where: Where | None = None,
    judges: Sequence[str] = (),
) -> list[Suspect]:
    """The suspects of a benchmark, the highest priority first; if `judges` are named, those that one of them
    judged.

    `bounds` say what is suspect, in points of a scale from `bottom` to `top`: a final of `low` or less,
    judges `apart` or more, judges and people `gap` or more. Values of the facet `ending` are suspect, too:
    cut, empty, and a refusal, guessed from words of the reply, where nobody was asked the criterion
    `refusal`.
    """
    wanted, args = condition(where)
    rows = db.query(
        f"{_SUSPECTS} AND {wanted} ORDER BY x.priority DESC, c.id",
        {**args, **bounds, "benchmark": benchmark, "judges": json.dumps(list(judges))},
    )
    return [Suspect(**{**row, "reasons": tuple(sorted(row["reasons"].split(",")))}) for row in rows]


def settled(db: Database, rater: int, judges: Sequence[str] = ()) -> set[int]:
    """The conversations whose judgements (by `judges`) all have a finding by this rater."""
    rows = db.execute(
        "SELECT j.conversation_id FROM judgements j "
        "LEFT JOIN findings v ON v.judgement_id = j.id AND v.rater_id = :rater WHERE j.conversation_id IN "
        "(SELECT f.conversation_id FROM findings f WHERE f.rater_id = :rater) AND (:judges = '[]' "
        "OR j.rater_id IN (SELECT id FROM raters WHERE kind = 'judge' AND name IN (SELECT value "
        "FROM json_each(:judges)))) GROUP BY j.conversation_id HAVING count(v.placement_id) = count(*)",
        {"rater": rater, "judges": json.dumps(list(judges))},
    )
    return {number for (number,) in rows}
