"""The progress of a study: the dealt items, and marks that change when its figures could."""

from dataclasses import dataclass

from sqlite_utils import Database

from concord.store.studies import study_id


@dataclass(frozen=True, slots=True)
class Item:
    """One dealt item. `reply_chars` is the length of the player's replies, `seconds` the time at work."""

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


def items(db: Database, name: str) -> list[Item]:
    """Every dealt item of a study, by annotator, in their order. Raises NotFound."""
    rows = db.execute(
        "SELECT x.name, u.id, u.conversation_id, c.key, u.turn, u.stratum, a.state, a.reason, a.flag, "
        "a.seconds, c.reply_chars, a.submitted FROM assignments a JOIN study_units u ON u.id = a.unit_id "
        "JOIN raters x ON x.id = a.rater_id JOIN conversations c ON c.id = u.conversation_id "
        "WHERE u.study_id = ? ORDER BY x.name, a.position",
        [study_id(db, name)],
    )
    return [Item(*row) for row in rows]


def strata(db: Database, name: str) -> list[tuple[str, int]]:
    """The strata of a study and the units drawn of each."""
    sql = "SELECT stratum, count(*) FROM study_units WHERE study_id = ? GROUP BY stratum ORDER BY stratum"
    return list(db.execute(sql, [study_id(db, name)]).fetchall())


def stock(db: Database) -> str:
    """A text that changes when there are more conversations or judgements to draw from."""
    row = db.execute(
        "SELECT (SELECT max(id) FROM conversations), (SELECT max(id) FROM judgements), (SELECT count(*) "
        "FROM judgements WHERE failure IS NOT NULL)"
    ).fetchone()
    return ",".join(map(str, row))


def mark(db: Database, name: str) -> str:
    """A text that changes with what is behind a study's figures. Raises NotFound.

    Ratings are added (their ids rise), replaced or taken back (each leaves a revision), and count by the
    state of their item; imports add criteria and units. Of hidden items the answers count as well,
    and so do answers given in sight of others'.
    """
    row = db.execute(
        """
        SELECT (SELECT count(*) || ',' || ifnull(max(u.id), 0) FROM study_units u WHERE u.study_id = :study),
               (SELECT count(*) || ',' || ifnull(max(r.id), 0) FROM study_units u
                 JOIN ratings r ON r.conversation_id = u.conversation_id WHERE u.study_id = :study),
               (SELECT ifnull(max(id), 0) FROM revisions),
               (SELECT count(*) || ',' || ifnull(max(a.submitted), '') FROM study_units u
                 JOIN assignments a ON a.unit_id = u.id WHERE u.study_id = :study AND a.state = 'done'),
               (SELECT group_concat(n) FROM (SELECT a.rater_id || ':' || count(*) AS n FROM study_units u
                 JOIN assignments a ON a.unit_id = u.id WHERE u.study_id = :study AND a.state != 'skipped'
                 GROUP BY a.rater_id ORDER BY a.rater_id)),
               (SELECT count(*) || ',' || ifnull(max(p.submitted), '') FROM items i
                 JOIN placements p ON p.item_id = i.id WHERE i.study_id = :study AND p.state = 'done'),
               (SELECT count(a.replaced) || ',' || ifnull(max(a.id), 0) FROM items i
                 JOIN placements p ON p.item_id = i.id JOIN answers a ON a.placement_id = p.id
                 WHERE i.study_id = :study),
               (SELECT ifnull(max(id), 0) FROM exclusions WHERE study_id = :study),
               (SELECT ifnull(max(id), 0) FROM registrations WHERE study_id = :study),
               (SELECT group_concat(i.id || g.criterion || g.answer || g.tolerance || g.attention)
                 FROM items i JOIN known_answers g ON g.item_id = i.id WHERE i.study_id = :study),
               (SELECT count(*) FROM criteria
                 WHERE scope = 'study:' || (SELECT name FROM studies WHERE id = :study))
        """,
        {"study": study_id(db, name)},
    ).fetchone()
    return "|".join(map(str, row))
