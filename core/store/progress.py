"""The progress of a study: the dealt items, and marks that change when its figures could."""

from dataclasses import dataclass

from sqlite_utils import Database

from concord.codes import AuditAct
from concord.store.purposes import RATED
from concord.store.studies import study_id


@dataclass(frozen=True, slots=True)
class Item:
    """One dealt item. `reply_chars` is the length of the player's replies, `seconds` the time at work.

    `reason` is why it was skipped, `flag` the comment on it; `kind` is “item”, or the purpose of one that is
    not rated.
    """

    annotator: str
    unit: int
    conversation_id: int
    key: str
    turn: int | None
    stratum: str
    state: str
    reason: str
    flag: str
    seconds: float
    reply_chars: int
    submitted: str | None
    kind: str = "item"

    @property
    def remarked(self) -> bool:
        """Whether the annotator said something of it: a comment, or why they skipped it."""
        return self.state == "skipped" or bool(self.flag)


# In a group of n each conversation stands in n − 1 of its pairs, whose first ones are n − 1.
_ENTRIES = f"""
    SELECT x.name, min(p.item_id), p.conversation_id, iif(p.ranked, p.stratum, n.key) AS key, p.turn,
        p.stratum, p.state, p.reason, p.flag, sum(p.seconds),
        sum(n.reply_chars) / count(DISTINCT p.conversation_id), p.submitted,
        iif(p.purpose IN {RATED}, 'item', p.purpose) AS kind
    FROM placed_items p JOIN raters x ON x.id = p.rater_id JOIN item_contents n ON n.item_id = p.item_id
    WHERE p.asked AND p.study_id = :study"""


def items(db: Database, name: str) -> list[Item]:
    """Every dealt item of a study, by annotator, in their order. Raises NotFound."""
    sql = f"{_ENTRIES} AND p.purpose IN {RATED} GROUP BY p.rater_id, p.entry ORDER BY x.name, p.position"
    return [Item(*row) for row in db.execute(sql, {"study": study_id(db, name)})]


def remarks(db: Database, name: str, *, with_excluded: bool = False) -> list[Item]:
    """The items of a study, whatever their purpose, of which annotators said something beside their answers,
    by item, turn and annotator; those of annotators who are excluded only on request. Raises NotFound.
    """
    sql = f"""{_ENTRIES} AND (p.flag <> '' OR p.state = 'skipped')
        AND (:with_excluded OR NOT EXISTS (SELECT 1 FROM excluded_raters e
            WHERE e.study_id = p.study_id AND e.rater_id = p.rater_id))
        GROUP BY p.rater_id, p.entry ORDER BY key, ifnull(p.turn, 0), x.name, kind"""
    values = {"study": study_id(db, name), "with_excluded": with_excluded}
    return [Item(*row) for row in db.execute(sql, values)]


def mark(db: Database, name: str) -> str:
    """A text that changes with what is behind a study's figures. Raises NotFound.

    Ratings are added (their ids rise); answers are given, replaced or taken back (each is kept), and count by
    the state of their item; imports add criteria and units. Of hidden items the answers count as well,
    and so do answers given in sight of others'. A name that is removed gives way in every figure.
    """
    row = db.execute(
        """
        SELECT (SELECT count(*) || ',' || ifnull(max(u.id), 0) FROM items u WHERE u.study_id = :study),
               (SELECT count(*) || ',' || ifnull(max(r.id), 0) FROM items u
                 JOIN ratings r ON r.conversation_id = u.conversation_id WHERE u.study_id = :study),
               (SELECT count(*) || ',' || ifnull(max(x.created), '') FROM items u JOIN comparisons x
                 ON x.first_id IN (u.conversation_id, u.other_id)
                 AND x.second_id IN (u.conversation_id, u.other_id)
                 WHERE u.study_id = :study AND u.other_id IS NOT NULL),
               (SELECT count(*) || ',' || ifnull(max(p.id), 0) || ',' || total(p.state = 'done') || ','
                 || total(p.state = 'skipped') || ',' || ifnull(max(p.submitted), '') FROM items i
                 JOIN placements p ON p.item_id = i.id WHERE i.study_id = :study),
               (SELECT count(a.superseded_at) || ',' || ifnull(max(a.id), 0) FROM items i
                 JOIN placements p ON p.item_id = i.id JOIN answers a ON a.placement_id = p.id
                 WHERE i.study_id = :study),
               (SELECT count(*) || ',' || count(e.included) FROM exclusions e WHERE e.study_id = :study),
               (SELECT group_concat(i.id || g.criterion || g.answer || g.tolerance || g.attention)
                 FROM items i JOIN known_answers g ON g.item_id = i.id WHERE i.study_id = :study),
               (SELECT count(*) FROM criteria
                 WHERE scope = 'study:' || (SELECT name FROM studies WHERE id = :study)),
               (SELECT count(*) FROM audit_log WHERE act = :name_removed)
        """,
        {"study": study_id(db, name), "name_removed": AuditAct.NAME_REMOVED},
    ).fetchone()
    return "|".join(map(str, row))
