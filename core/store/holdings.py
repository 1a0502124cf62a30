"""What a workspace holds, counted: conversations by player, judges, studies."""

from dataclasses import dataclass

from sqlite_utils import Database

from concord.store import studies as stored
from concord.store.database import once
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
class Judge:
    """A judge, how many conversations it rated, and how many of its judgements failed."""

    name: str
    version: str
    simulated: bool
    rated: int
    failed: int


@dataclass(frozen=True)
class StudyHeld:
    """A study: items dealt to people, and how many of them are closed (rated or skipped). `rated` counts
    people with ratings in it; `simulated` says whether a mock rated, judged or played any of it.
    """

    name: str
    title: str
    source: str
    units: int
    dealt: int
    closed: int
    rated: int
    judged: bool
    simulated: bool

    @property
    def stands(self) -> str:
        """How far it is, in words."""
        if self.dealt:
            return "complete" if self.closed == self.dealt else "being rated"
        return "imported" if self.rated else "not dealt yet"


@dataclass(frozen=True)
class PairsHeld:
    """A study of pairs: `dealt` to people, of which they compared or skipped `done`. `people` and `judges`
    count who compared any, voters of a file among the people; `simulated` says whether a mock did.
    """

    name: str
    title: str
    benchmark: str
    pairs: int
    dealt: int
    done: int
    people: int
    judges: int
    simulated: bool

    @property
    def stands(self) -> str:
        """How far it is, in words."""
        if self.dealt:
            return "complete" if self.done == self.dealt else "being compared"
        return "imported" if self.people else "not dealt yet"


def holds(db: Database, benchmark: str) -> bool:
    """Whether anything of a benchmark is stored: conversations, or what it is run on."""
    tables = " UNION ALL ".join(
        f"SELECT 1 FROM {of} WHERE benchmark = :name" for of in ("conversations", "scenarios")
    )
    return bool(db.execute(f"SELECT EXISTS ({tables})", {"name": benchmark}).fetchone()[0])


@once
def played(db: Database) -> list[Played]:
    """The conversations by benchmark, language and player."""
    rows = db.query(
        # Whether a player is a mock is looked up on one of its conversations.
        "SELECT c.benchmark, c.language, c.player, c.conversations, c.judged, (SELECT simulated "
        "FROM conversations WHERE (benchmark, language, player) = (c.benchmark, c.language, c.player) "
        "LIMIT 1) AS simulated FROM player_counts c ORDER BY 1, 2, 3"
    )
    return [Played(**row | {"simulated": bool(row["simulated"])}) for row in rows]


@once
def judges(db: Database) -> list[Judge]:
    """Every judge that rated something, or failed to, by name."""
    rows = db.execute(
        "SELECT x.name, x.variant, x.simulated, (SELECT ifnull(sum(rated), 0) FROM rater_counts g WHERE "
        "g.rater_id = x.id) AS rated, (SELECT count(*) FROM judgements j WHERE j.rater_id = x.id "
        "AND j.failure IS NOT NULL) AS failed FROM raters x WHERE x.kind = 'judge' "
        "AND (rated > 0 OR failed > 0) ORDER BY x.name, x.variant"
    )
    return [Judge(name, version, bool(simulated), *counts) for name, version, simulated, *counts in rows]


@once
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
    rows = db.execute(
        f"SELECT t.name, t.title, t.source, (SELECT count(*) {units.format('')}), (SELECT count(*) {dealt}), "
        f"(SELECT count(*) {dealt} AND a.state <> 'open'), (SELECT count(DISTINCT s.rater_id) {by}), "
        f"EXISTS (SELECT 1 {judged}), EXISTS (SELECT 1 {by} AND x.simulated) OR EXISTS (SELECT 1 {judged} "
        f"AND x.simulated) OR EXISTS (SELECT 1 {played} AND c.simulated) FROM studies t "
        "WHERE t.kind = 'ratings' ORDER BY t.id DESC"
    )
    return [StudyHeld(*row[:7], *map(bool, row[7:])) for row in rows]


@once
def pairs(db: Database) -> list[PairsHeld]:
    """Every study of pairs, newest first. Pairs of a discarded scenario are left out."""
    compared = (
        "FROM items i JOIN comparisons x ON x.first_id IN (i.conversation_id, i.other_id) AND x.second_id IN "
        "(i.conversation_id, i.other_id) AND x.rubric = json_extract(t.meta, '$.rubric.name') "
        "AND x.failure IS NULL JOIN raters r ON r.id = x.rater_id WHERE i.study_id = t.id"
    )
    items = f"FROM items i {{}} WHERE i.study_id = t.id AND i.known = '' AND {stored.KEPT}"
    dealt = items.format(f"JOIN placements p ON p.item_id = i.id AND p.purpose IN {RATED}")
    rows = db.execute(
        "SELECT t.name, t.title, json_extract(t.meta, '$.drawn.benchmark'), "
        f"(SELECT count(*) {items.format('')}), (SELECT count(*) {dealt}), "
        f"(SELECT count(*) {dealt} AND p.state <> 'open'), "
        f"(SELECT count(DISTINCT r.id) {compared} AND r.kind = 'human'), "
        f"(SELECT count(DISTINCT r.id) {compared} AND r.kind = 'judge'), EXISTS (SELECT 1 {compared} AND "
        "r.simulated) "
        "FROM studies t WHERE t.kind = 'pairs' AND t.source <> 'own' ORDER BY t.id "
        "DESC"
    )
    return [PairsHeld(*row[:8], *map(bool, row[8:])) for row in rows]
