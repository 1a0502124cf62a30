"""What a workspace holds, counted: conversations by player, studies."""

from dataclasses import dataclass

from sqlite_utils import Database

from concord.store import studies as stored
from concord.store.database import records, scalar
from concord.store.purposes import RATED


@dataclass(frozen=True)
class Played:
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
    `pairs_of` is the benchmark of a study of pairs, “” of others; `counted` is what is counted, in words.
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
    counted: str = "items"

    @property
    def stands(self) -> str:
        """How far it is, in words."""
        if self.dealt:
            how = "compared" if self.pairs_of else "rated"
            return "complete" if self.closed == self.dealt else f"being {how}"
        return "imported" if self.rated else "not dealt yet"


def holds(db: Database, benchmark: str) -> bool:
    """Whether anything of a benchmark is stored: conversations, or what it is run on."""
    tables = " UNION ALL ".join(
        f"SELECT 1 FROM {of} WHERE benchmark = :name" for of in ("conversations", "scenarios")
    )
    return bool(scalar(db, f"SELECT EXISTS ({tables})", {"name": benchmark}))


def judged(db: Database, benchmark: str) -> int:
    """The number of conversations of a benchmark of which a judge has a usable judgement."""
    sql = (
        "SELECT count(DISTINCT j.conversation_id) FROM judgements j JOIN conversations c "
        "ON c.id = j.conversation_id WHERE c.benchmark = ? AND j.failure IS NULL"
    )
    return int(scalar(db, sql, [benchmark]))


def played(db: Database) -> list[Played]:
    """The conversations by benchmark, language and player."""
    sql = (
        # Whether a player is a mock is looked up on one of its conversations.
        "SELECT c.benchmark, c.language, c.player, c.conversations, c.judged, (SELECT simulated "
        "FROM conversations WHERE (benchmark, language, player) = (c.benchmark, c.language, c.player) "
        "LIMIT 1) AS simulated FROM player_counts c ORDER BY 1, 2, 3"
    )
    return records(db, Played, sql)


def studies(db: Database) -> list[StudyHeld]:
    """Every study, newest first."""
    units = "FROM items u {} WHERE u.study_id = t.id AND u.known = ''"
    dealt = units.format(f"JOIN placements a ON a.item_id = u.id AND a.purpose IN {RATED}")
    judged = units.format(
        "JOIN scores s ON s.conversation_id = u.conversation_id JOIN raters x ON x.id = s.rater_id"
    )
    judged += " AND x.kind = 'judge'"
    by = "FROM scores s JOIN raters x ON x.id = s.rater_id WHERE s.study_id = t.id"
    played = units.format("JOIN conversations c ON c.id = u.conversation_id")
    sql = (
        f"SELECT t.name, t.title, t.source, (SELECT count(*) {units.format('')}), (SELECT count(*) {dealt}), "
        f"(SELECT count(*) {dealt} AND a.state <> 'open'), (SELECT count(DISTINCT s.rater_id) {by}), "
        f"EXISTS (SELECT 1 {judged}), EXISTS (SELECT 1 {by} AND x.simulated) OR EXISTS (SELECT 1 {judged} "
        f"AND x.simulated) OR EXISTS (SELECT 1 {played} AND c.simulated) FROM studies t "
        "WHERE t.kind = 'ratings' ORDER BY t.id DESC"
    )
    return records(db, StudyHeld, sql)


def pairs(db: Database) -> list[StudyHeld]:
    """Every study of pairs, newest first. Pairs of a discarded scenario are left out."""
    compared = (
        "FROM items i JOIN comparisons x ON x.first_id IN (i.conversation_id, i.other_id) AND x.second_id IN "
        "(i.conversation_id, i.other_id) AND x.rubric = t.rubric AND x.failure IS NULL "
        "JOIN raters r ON r.id = x.rater_id WHERE i.study_id = t.id"
    )
    items = f"FROM items i {{}} WHERE i.study_id = t.id AND i.known = '' AND {stored.KEPT}"
    dealt = items.format(f"JOIN placements p ON p.item_id = i.id AND p.purpose IN {RATED}")
    one = f"DISTINCT iif({stored.RANKED}, i.stratum, i.id)"
    each = f"DISTINCT p.rater_id || ' ' || {stored.ONE}"
    sql = (
        "SELECT t.name, t.title, t.source, "
        f"(SELECT count({one}) {items.format('')}), (SELECT count({each}) {dealt}), "
        f"(SELECT count({each}) {dealt} AND p.state <> 'open'), "
        f"(SELECT count(DISTINCT r.id) {compared} AND r.kind = 'human'), "
        f"(SELECT count(DISTINCT r.id) {compared} AND r.kind = 'judge'), EXISTS (SELECT 1 {compared} AND "
        "r.simulated), t.benchmark, "
        f"iif({stored.RANKED}, 'groups', 'pairs') FROM studies t WHERE t.kind = 'pairs' "
        "AND t.source <> 'own' ORDER BY t.id DESC"
    )
    return records(db, StudyHeld, sql)
