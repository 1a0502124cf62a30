"""What a workspace holds, counted: conversations by player, studies."""

from dataclasses import dataclass

from sqlite_utils import Database

from concord.store.database import records, scalar
from concord.store.purposes import RATED


@dataclass(frozen=True)
class PlayerConversations:
    """The number of conversations of a player in a language, and how many of them a judge rated."""

    benchmark: str
    language: str
    player: str
    conversations: int
    judged: int
    simulated: bool


@dataclass(frozen=True)
class StudyHeld:
    """A study: items dealt to people, and how many of them are closed (answered or skipped).

    `rated` counts people with answers in it, of pairs voters of a file, too; `judged` the judges of pairs,
    and says of other studies whether there are any. `simulated`: a mock rated, judged or played some of it.
    `pairs_of` is the benchmark of a study of pairs, “” of others; `counting_unit` says what is counted.
    """

    name: str
    title: str
    source: str
    units: int
    dealt: int
    closed: int
    rated: int
    judged: int
    simulated: bool
    pairs_of: str = ""
    counting_unit: str = "items"

    @property
    def stands(self) -> str:
        """How far it is, in words."""
        if self.dealt and self.closed == self.dealt:
            return "complete"
        if self.dealt:
            return "being compared" if self.pairs_of else "being rated"
        return "imported" if self.rated else "not dealt yet"


def holds(db: Database, benchmark: str) -> bool:
    """Whether anything of a benchmark is stored: conversations, or what it is run on."""
    sql = (
        "SELECT EXISTS (SELECT 1 FROM conversations WHERE benchmark = :name) "
        "OR EXISTS (SELECT 1 FROM scenarios WHERE benchmark = :name)"
    )
    return bool(scalar(db, sql, {"name": benchmark}))


def judged(db: Database, benchmark: str) -> int:
    """The number of conversations of a benchmark of which a judge has a usable judgement."""
    sql = (
        "SELECT count(DISTINCT j.conversation_id) FROM judgements j JOIN conversations c "
        "ON c.id = j.conversation_id WHERE c.benchmark = ? AND j.failure IS NULL"
    )
    return int(scalar(db, sql, [benchmark]))


def players(db: Database) -> list[PlayerConversations]:
    """The conversations by benchmark, language and player."""
    sql = (
        # Whether a player is a mock is looked up on one of its conversations.
        "SELECT c.benchmark, c.language, c.player, c.conversations, c.judged, (SELECT simulated "
        "FROM conversations WHERE (benchmark, language, player) = (c.benchmark, c.language, c.player) "
        "LIMIT 1) AS simulated FROM player_counts c ORDER BY 1, 2, 3"
    )
    return records(db, PlayerConversations, sql)


def studies(db: Database) -> list[StudyHeld]:
    """Every study, newest first."""
    sql = f"""
        SELECT t.name, t.title, t.source,
            (SELECT count(*) FROM items u WHERE u.study_id = t.id AND u.known = '') AS units,
            (SELECT count(*) FROM items u JOIN placements p ON p.item_id = u.id AND p.purpose IN {RATED}
                WHERE u.study_id = t.id AND u.known = '') AS dealt,
            (SELECT count(*) FROM items u JOIN placements p ON p.item_id = u.id AND p.purpose IN {RATED}
                WHERE u.study_id = t.id AND u.known = '' AND p.state <> 'open') AS closed,
            (SELECT count(DISTINCT s.rater_id) FROM scores s WHERE s.study_id = t.id) AS rated,
            EXISTS (SELECT 1 FROM items u JOIN scores s ON s.conversation_id = u.conversation_id
                JOIN raters x ON x.id = s.rater_id AND x.kind = 'judge'
                WHERE u.study_id = t.id AND u.known = '') AS judged,
            EXISTS (SELECT 1 FROM scores s JOIN raters x ON x.id = s.rater_id
                WHERE s.study_id = t.id AND x.simulated)
            OR EXISTS (SELECT 1 FROM items u JOIN scores s ON s.conversation_id = u.conversation_id
                JOIN raters x ON x.id = s.rater_id AND x.kind = 'judge'
                WHERE u.study_id = t.id AND u.known = '' AND x.simulated)
            OR EXISTS (SELECT 1 FROM items u JOIN conversations c ON c.id = u.conversation_id
                WHERE u.study_id = t.id AND u.known = '' AND c.simulated) AS simulated
        FROM studies t WHERE t.kind = 'ratings' ORDER BY t.id DESC
        """
    return records(db, StudyHeld, sql)


def pairs(db: Database) -> list[StudyHeld]:
    """Every study of pairs, newest first. Pairs of a discarded scenario are excluded."""
    sql = f"""
        SELECT t.name, t.title, t.source,
            (SELECT count(DISTINCT iif(i.ranked, i.stratum, i.id)) FROM study_items i
                WHERE i.study_id = t.id AND i.known = '' AND i.asked) AS units,
            (SELECT count(DISTINCT p.rater_id || ' ' || p.entry) FROM placed_items p
                WHERE p.study_id = t.id AND p.known = '' AND p.asked AND p.purpose IN {RATED}) AS dealt,
            (SELECT count(DISTINCT p.rater_id || ' ' || p.entry) FROM placed_items p
                WHERE p.study_id = t.id AND p.known = '' AND p.asked AND p.purpose IN {RATED}
                AND p.state <> 'open') AS closed,
            (SELECT count(DISTINCT x.rater_id) FROM compared_items x
                WHERE x.study_id = t.id AND x.kind = 'human') AS rated,
            (SELECT count(DISTINCT x.rater_id) FROM compared_items x
                WHERE x.study_id = t.id AND x.kind = 'judge') AS judged,
            EXISTS (SELECT 1 FROM compared_items x WHERE x.study_id = t.id AND x.simulated) AS simulated,
            t.benchmark AS pairs_of,
            iif(EXISTS (SELECT 1 FROM criteria k WHERE k.scope = 'study:' || t.name
                AND k.scale ->> '$[2]' = 'ranking'), 'groups', 'pairs') AS counting_unit
        FROM studies t WHERE t.kind = 'pairs' AND t.source <> 'own' ORDER BY t.id DESC
        """
    return records(db, StudyHeld, sql)
