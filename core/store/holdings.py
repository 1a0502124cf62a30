"""What a workspace holds, counted: conversations by player, judges, studies."""

from dataclasses import dataclass

from sqlite_utils import Database

from concord.store import pairings
from concord.store.pairings import PairStudy
from concord.store.studies import IN_SIGHT


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
    def blind(self) -> bool:
        """Whether its people answered without seeing a judge's score."""
        return self.source != IN_SIGHT

    @property
    def stands(self) -> str:
        """How far it is, in words."""
        if not self.blind:
            return "in sight of judges"
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


def played(db: Database) -> list[Played]:
    """The conversations by benchmark, language and player."""
    rows = db.query(
        # The counts follow an index; whether a player is a mock is looked up on one of its conversations.
        "SELECT c.benchmark, c.language, c.player, count(*) AS conversations, "
        "count(s.conversation_id) AS judged, (SELECT simulated FROM conversations "
        "WHERE (benchmark, language, player) = (c.benchmark, c.language, c.player) LIMIT 1) AS simulated "
        "FROM conversations c LEFT JOIN summaries s ON s.conversation_id = c.id AND s.judges > 0 "
        "GROUP BY c.benchmark, c.language, c.player ORDER BY 1, 2, 3"
    )
    return [Played(**row | {"simulated": bool(row["simulated"])}) for row in rows]


def judges(db: Database) -> list[Judge]:
    """Every judge that rated something, or failed to, by name."""
    rows = db.execute(
        "SELECT x.name, x.variant, x.simulated, ifnull(g.n, 0), (SELECT count(*) FROM judgements j WHERE "
        "j.rater_id = x.id AND j.failure IS NOT NULL) AS failed FROM raters x LEFT JOIN (SELECT rater_id, "
        "count(*) AS n FROM (SELECT DISTINCT conversation_id, rater_id FROM scores) GROUP BY rater_id) g "
        "ON g.rater_id = x.id WHERE x.kind = 'judge' AND (g.n > 0 OR failed > 0) ORDER BY x.name, x.variant"
    )
    return [Judge(name, version, bool(simulated), *counts) for name, version, simulated, *counts in rows]


def studies(db: Database) -> list[StudyHeld]:
    """Every study, newest first."""
    units = "FROM study_units u {} WHERE u.study_id = t.id"
    dealt = units.format("JOIN assignments a ON a.unit_id = u.id")
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
        f"AND x.simulated) OR EXISTS (SELECT 1 {played} AND c.simulated) FROM studies t WHERE NOT t.pairs "
        "ORDER BY t.id DESC"
    )
    return [StudyHeld(*row[:7], *map(bool, row[7:])) for row in rows]


def pairs(db: Database) -> list[PairsHeld]:
    """Every study of pairs, newest first. Pairs of a discarded scenario are left out."""
    return [_pairs(db, study) for study in pairings.studies(db)]


def _pairs(db: Database, study: PairStudy) -> PairsHeld:
    by = db.execute(
        "SELECT DISTINCT r.id, r.kind, r.simulated FROM pair_studies t JOIN study_pairs p "
        "ON p.study_id = t.id JOIN comparisons x ON x.first_id IN (p.first_id, p.second_id) "
        "AND x.second_id IN (p.first_id, p.second_id) JOIN raters r ON r.id = x.rater_id "
        "WHERE t.name = ? AND x.rubric = t.rubric AND x.failure IS NULL",
        [study.name],
    ).fetchall()
    standings = pairings.standings(db, study=study.name)
    return PairsHeld(
        study.name,
        study.title,
        study.benchmark,
        len(pairings.pairs(db, study.name)),
        sum(s.dealt for s in standings),
        sum(s.done for s in standings),
        sum(kind == "human" for _, kind, _ in by),
        sum(kind == "judge" for _, kind, _ in by),
        any(simulated for *_, simulated in by),
    )
