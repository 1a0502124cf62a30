"""Studies in the store: units to rate, who rates what in which order, and the answers given at the desk."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from sqlite_utils import Database

from concord.codes import AuditAct
from concord.errors import NotFound, StudyError, not_found
from concord.rating import Criterion, Rater
from concord.store import audit, conversations, database, ratings
from concord.store.database import column, find, now, records, scalar, update

FILE = "file"
"""The source of a study that is a table of labels, not stored."""
RulePurpose = Literal["extra", "training", "adjudicate"]


@dataclass(frozen=True)
class AskedRubric:
    """The version of a rubric by which a study is rated, with the hash of its content.

    `show` names what stands beside an item (None: all), `system_prompt` to whom that is shown.
    """

    name: str
    version: int = 0
    hash: str = ""
    show: tuple[str, ...] | None = None
    system_prompt: str = "none"


@dataclass(frozen=True)
class StudySample:
    """How the items of a study were sampled: so many of `candidates`, which a `filter` let through.

    `facets` are those whose combinations are the strata, `chance` the lowest and the highest chance of
    inclusion where chances differ, `not_in` the studies without whose conversations it was drawn. A lake's
    sample has its files, their `draw`, and the size of each stratum.
    """

    candidates: int
    size: int
    filter: Mapping[str, Any] = field(default_factory=dict)
    facets: tuple[str, ...] = ()
    allocation: str = ""
    chance: tuple[float, float] | None = None
    not_in: tuple[str, ...] = ()
    draw: str = ""
    files: tuple[str, ...] = ()
    strata: Mapping[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """It as reports and exports have it, without what it has none of."""
        parts: dict[str, Any] = {
            "filter": dict(self.filter),
            "n": self.size,
            "by": list(self.facets),
            "allocation": self.allocation,
            "candidates": self.candidates,
            "chance": list(self.chance or ()),
            "not_in": list(self.not_in),
            "lake": {},
            "strata": dict(self.strata),
        }
        if self.draw:
            parts["lake"] = {"files": list(self.files), "draw": self.draw}
        for name, part in list(parts.items()):
            if name != "by" and part in ("", [], {}):
                del parts[name]
        return parts


class StudyRule(NamedTuple):
    """The rule by which a purpose takes items.

    `threshold` is the least distance of answers to a criterion (“”: any), or of training the least share of
    hits, which has a number of `attempts`.
    """

    threshold: float
    criterion: str = ""
    attempts: int | None = None


@dataclass(frozen=True)
class Study:
    """What is rated, by which criteria, and how often each unit (0: by everybody).

    Of “pairs” people and judges say which of two conversations is better. `source` is “drawn” or the format
    of the import, `benchmark` that of a draw. In an `anonymous` study people's ratings have no names, so that
    no figure may treat them as those of persons. `speakers` has titles by role, `own_judges` the judges whose
    ratings came with a file of the study, by name and version: they count, whatever they were asked by.

    The share `repeats` of everybody's items comes again. An annotator's label must be the value of the facet
    `match`. `revealed_judge` and, with `discussion`, others' answers are shown after the last item. The judge
    lab divided it by `lab_rubric` (“”: it did not).
    """

    name: str
    criteria: tuple[Criterion, ...]
    title: str = ""
    guidelines: str = ""
    source: str = "drawn"
    per_turn: bool = False
    overlap: int = 0
    seed: int = 0
    anonymous: bool = False
    kind: Literal["ratings", "pairs"] = "ratings"
    benchmark: str = ""
    asked_rubric: AskedRubric | None = None
    sample: StudySample | None = None
    rules: Mapping[RulePurpose, StudyRule] = field(default_factory=dict)
    repeats: float = 0.0
    match: str = ""
    revealed_judge: Rater | None = None
    discussion: bool = False
    own_judges: tuple[tuple[str, str], ...] = ()
    speakers: Mapping[str, str] = field(default_factory=dict)
    lab_rubric: str = ""
    created: str = ""

    @property
    def pairs(self) -> bool:
        """Whether pairs are compared in it."""
        return self.kind == "pairs"

    @property
    def ranks(self) -> bool:
        """Whether the pairs of a scenario are a group that is put in order: one item on a desk."""
        return any(criterion.scale.kind.ranks for criterion in self.criteria)

    @property
    def counting_unit(self) -> str:
        """What is counted in it, in words."""
        if self.ranks:
            return "groups"
        if self.pairs:
            return "pairs"
        return "items"

    @property
    def rubric(self) -> str:
        """The rubric by which it is rated; “” for a benchmark's own questions."""
        return self.asked_rubric.name if self.asked_rubric else ""

    @property
    def judge_rubrics(self) -> tuple[str, ...]:
        """The rubrics whose judges count in it: its own (“” for none), and that of its lab."""
        if self.lab_rubric in ("", self.rubric):
            return (self.rubric,)
        return (self.rubric, self.lab_rubric)

    @property
    def version(self) -> int:
        """The version of the rubric; 0 for a benchmark's own questions."""
        return self.asked_rubric.version if self.asked_rubric else 0

    @property
    def sampling(self) -> dict[str, Any]:
        """From where and how it was drawn, as reports and exports have it; empty where that is not known."""
        sampling: dict[str, Any] = {}
        if self.benchmark:
            sampling["benchmark"] = self.benchmark
        if self.sample:
            sampling.update(self.sample.as_dict())
        return sampling


def create(db: Database, study: Study) -> int:
    """Store a new study and return its id. Raises StudyError where the name is taken."""
    refuse_taken(db, study.name)
    row = {
        **{name: getattr(study, name) for name in _FIELDS},
        "title": study.title or study.name,
        "created": now(),
        "user_title": study.speakers.get("user", ""),
        "model_title": study.speakers.get("assistant", ""),
        "repeat_share": study.repeats,
        "matched_facet": study.match,
        "discussion": study.discussion,
        **_revealed(study.revealed_judge),
    }
    if study.asked_rubric:
        row.update(_rubric_columns(study.asked_rubric))
    new = database.insert(db, "studies", row)
    if study.sample:
        add_sample(db, new, study.sample)
    for purpose, rule in study.rules.items():
        _put_rule(db, new, purpose, rule)
    _put_judges(db, new, study.own_judges)
    ratings.register(db, scope(study.name), study.criteria)
    return new


_FIELDS = ("name", "guidelines", "source", "per_turn", "overlap", "seed", "anonymous", "kind", "benchmark")
"""Fields of a study that are columns of the same name."""


def _rubric_columns(rubric: AskedRubric) -> dict[str, Any]:
    return {
        "rubric": rubric.name,
        "rubric_version": rubric.version,
        "rubric_hash": rubric.hash,
        "context_fields": None if rubric.show is None else _json(rubric.show),
        "system_prompt": rubric.system_prompt,
    }


def add_sample(db: Database, study: int, sample: StudySample) -> None:
    """Store how the items of a study (id) were sampled."""
    lowest, highest = sample.chance or (None, None)
    row = {
        "study_id": study,
        "candidates": sample.candidates,
        "size": sample.size,
        "filter": _json(sample.filter),
        "strata_facets": _json(sample.facets),
        "allocation": sample.allocation,
        "lowest_chance": lowest,
        "highest_chance": highest,
        "without_studies": _json(sample.not_in),
        "draw": sample.draw,
        "files": _json(sample.files),
    }
    db.table("samples").insert(row)
    db.conn.executemany(
        "INSERT INTO strata (study_id, position, name, size) VALUES (?, ?, ?, ?)",
        [(study, position, name, size) for position, (name, size) in enumerate(sample.strata.items())],
    )


def _json(value: Mapping[str, Any] | Sequence[str]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _put_rule(db: Database, study: int, purpose: RulePurpose, rule: StudyRule) -> None:
    db.execute(
        "INSERT OR REPLACE INTO study_rules (study_id, purpose, threshold, criterion, attempts) "
        "VALUES (?, ?, ?, ?, ?)",
        [study, purpose, *rule],
    )


def _put_judges(db: Database, study: int, judges: Iterable[tuple[str, str]]) -> None:
    db.conn.executemany(
        "INSERT OR IGNORE INTO study_judges (study_id, name, variant) VALUES (?, ?, ?)",
        [(study, *judge) for judge in judges],
    )


def _revealed(judge: Rater | None) -> dict[str, str]:
    """The columns of the judge whose scores are shown."""
    if judge is None:
        return {"revealed_judge": "", "revealed_variant": ""}
    return {"revealed_judge": judge.name, "revealed_variant": judge.variant}


def refuse_taken(db: Database, name: str) -> None:
    """Raise StudyError where a study of any kind has this name."""
    row = find(db, "studies", "kind", name=name)
    if row:
        kind = {"ratings": "study", "pairs": "study of pairs", "checks": "spot-check"}[row["kind"]]
        raise StudyError(f"The {kind} “{name}” exists already. Choose another name.")


def scope(name: str) -> str:
    """The scope under which a study's criteria are registered."""
    return f"study:{name}"


def get(db: Database, name: str) -> Study:
    """A study by name. Raises NotFound."""
    row = _row(db, name)
    judge = None
    if row["revealed_judge"]:
        judge = Rater(row["revealed_judge"], "judge", row["revealed_variant"])
    speakers: dict[str, str] = {}
    if row["user_title"]:
        speakers["user"] = row["user_title"]
    if row["model_title"]:
        speakers["assistant"] = row["model_title"]
    lab_division = find(db, "lab_divisions", "rubric", study_id=row["id"]) or {}
    return Study(
        name=row["name"],
        criteria=ratings.criteria(db, scope(name)),
        title=row["title"],
        guidelines=row["guidelines"],
        source=row["source"],
        per_turn=bool(row["per_turn"]),
        overlap=row["overlap"],
        seed=row["seed"],
        anonymous=bool(row["anonymous"]),
        kind=row["kind"],
        benchmark=row["benchmark"],
        asked_rubric=_asked_rubric(row),
        sample=_sample(db, row["id"]),
        rules=_rules(db, row["id"]),
        repeats=row["repeat_share"],
        match=row["matched_facet"],
        revealed_judge=judge,
        discussion=bool(row["discussion"]),
        own_judges=tuple(_judges(db, row["id"])),
        speakers=speakers,
        lab_rubric=lab_division.get("rubric", ""),
        created=row["created"],
    )


def _asked_rubric(row: Mapping[str, Any]) -> AskedRubric | None:
    if not row["rubric"]:
        return None
    fields = row["context_fields"]
    return AskedRubric(
        row["rubric"],
        row["rubric_version"],
        row["rubric_hash"],
        None if fields is None else tuple(json.loads(fields)),
        row["system_prompt"],
    )


def _sample(db: Database, study: int) -> StudySample | None:
    row = find(db, "samples", study_id=study)
    if row is None:
        return None
    sizes = "SELECT name, size FROM strata WHERE study_id = ? ORDER BY position"
    chance = None
    if row["lowest_chance"] is not None:
        chance = (row["lowest_chance"], row["highest_chance"])
    return StudySample(
        row["candidates"],
        row["size"],
        json.loads(row["filter"]),
        tuple(json.loads(row["strata_facets"])),
        row["allocation"],
        chance,
        tuple(json.loads(row["without_studies"])),
        row["draw"],
        tuple(json.loads(row["files"])),
        dict(db.execute(sizes, [study]).fetchall()),
    )


def _rules(db: Database, study: int) -> dict[RulePurpose, StudyRule]:
    sql = (
        "SELECT purpose, threshold, criterion, attempts FROM study_rules WHERE study_id = ? ORDER BY purpose"
    )
    return {purpose: StudyRule(*rule) for purpose, *rule in db.execute(sql, [study])}


def _judges(db: Database, study: int) -> list[tuple[str, str]]:
    sql = "SELECT name, variant FROM study_judges WHERE study_id = ? ORDER BY name, variant"
    return list(db.execute(sql, [study]).fetchall())


def study_id(db: Database, name: str) -> int:
    """The id of a study in which people rate. Raises NotFound."""
    return int(_row(db, name)["id"])


def any_id(db: Database, name: str) -> int:
    """The id of a study, of pairs and of checks too. Raises NotFound."""
    row = find(db, "studies", "id", name=name)
    if row is None:
        return study_id(db, name)
    return int(row["id"])


def _row(db: Database, name: str) -> dict[str, Any]:
    row = next(iter(db.query("SELECT * FROM studies WHERE name = ? AND kind <> 'checks'", [name])), None)
    if row is None and find(db, "studies", "id", name=name):
        raise NotFound(
            f"There is no study “{name}”, but a spot-check: `concord export apart --study {name}` writes its "
            "findings."
        )
    if row is None:
        raise not_found("study", name, names(db))
    return row


def names(db: Database, *, pairs: bool = False) -> list[str]:
    """Every study in which items are rated, or pairs compared, newest first."""
    kind = "pairs" if pairs else "ratings"
    return column(db, "SELECT name FROM studies WHERE kind = ? ORDER BY id DESC", [kind])


def titles(db: Database) -> dict[str, str]:
    """The title of every study by its name, newest first; the name where it has no title."""
    rows = db.execute("SELECT name, title FROM studies WHERE kind <> 'checks' ORDER BY id DESC")
    return {name: title or name for name, title in rows}


def ranked(db: Database) -> list[str]:
    """Every study, the one first that says most about judges.

    Those rated by people and judges come first, then those with most conversations rated by people, then the
    newest.
    """
    return column(
        db,
        "SELECT t.name FROM studies t WHERE t.kind = 'ratings' ORDER BY "
        "EXISTS (SELECT 1 FROM scores s WHERE s.study_id = t.id) AND EXISTS (SELECT 1 FROM items u "
        "JOIN scores s ON s.conversation_id = u.conversation_id JOIN raters x ON x.id = s.rater_id "
        "WHERE u.study_id = t.id AND u.known = '' AND s.study_id IS NULL AND x.kind = 'judge') DESC, "
        "(SELECT count(DISTINCT s.conversation_id) FROM scores s WHERE s.study_id = t.id) DESC, t.id DESC",
    )


def conversations_rated(db: Database, name: str) -> int:
    """The number of conversations that people rated in a study."""
    sql = "SELECT count(DISTINCT conversation_id) FROM scores WHERE study_id = ?"
    return int(scalar(db, sql, [study_id(db, name)]))


def rated(db: Database, name: str) -> bool:
    """Whether anybody has rated in a study: people in it, or judges any of its units."""
    sql = (
        "SELECT EXISTS (SELECT 1 FROM items i JOIN ratings r ON r.conversation_id = i.conversation_id "
        "WHERE i.study_id = :study AND i.known = '') OR EXISTS (SELECT 1 FROM items i JOIN placements p "
        "ON p.item_id = i.id JOIN answers b ON b.placement_id = p.id WHERE i.study_id = :study)"
    )
    return bool(scalar(db, sql, {"study": study_id(db, name)}))


def raters(db: Database, name: str) -> list[tuple[str, bool]]:
    """The people who rated in a study, each with whether they are simulated. Raises NotFound."""
    rows = db.execute(
        "SELECT name, simulated FROM raters WHERE kind = 'human' AND id IN (SELECT rater_id FROM ratings "
        "WHERE study_id = ?) ORDER BY name",
        [study_id(db, name)],
    )
    return [(person, bool(simulated)) for person, simulated in rows]


def set_overlap(db: Database, name: str, overlap: int) -> None:
    """Remember how many raters each unit is to have."""
    db.table("studies").update(study_id(db, name), {"overlap": overlap})


def add_judges(db: Database, name: str, judges: Iterable[Rater]) -> None:
    """Count judges whose ratings came with a file of the study: see `Study.own_judges`."""
    _put_judges(db, study_id(db, name), [(judge.name, judge.variant) for judge in judges])


def languages(db: Database, name: str) -> dict[int, str]:
    """The language of each unit's conversation, where it is known. Raises NotFound."""
    sql = (
        "SELECT u.id, c.language FROM items u JOIN conversations c ON c.id = u.conversation_id "
        "WHERE u.study_id = ? AND u.known = '' AND c.language <> ''"
    )
    return dict(db.execute(sql, [study_id(db, name)]).fetchall())


def set_rule(db: Database, name: str, purpose: RulePurpose, rule: StudyRule | None) -> None:
    """Set the rule of a purpose, None for none. Raises NotFound."""
    study = study_id(db, name)
    before = _rules(db, study).get(purpose)
    if rule is None:
        db.execute("DELETE FROM study_rules WHERE (study_id, purpose) = (?, ?)", [study, purpose])
        return audit.record(db, _RULES[purpose], name, detail="off")
    _put_rule(db, study, purpose, rule)
    facts = rule._asdict()
    if before is not None and before != rule:
        earlier_facts = before._asdict()
        facts = {part: value for part, value in facts.items() if value != earlier_facts[part]}
        if before.criterion and not rule.criterion:
            facts["criterion"] = "none"
    return audit.record(db, _RULES[purpose], name, detail=audit.facts(**facts))


_RULES: Mapping[RulePurpose, AuditAct] = {
    "extra": AuditAct.EXTRA_SET,
    "training": AuditAct.TRAINING_SET,
    "adjudicate": AuditAct.ADJUDICATION_SET,
}


def set_repeats(db: Database, name: str, share: float) -> None:
    """Set which share of everybody's items comes again. Raises NotFound."""
    update(db, "studies", study_id(db, name), repeat_share=share)
    audit.record(db, AuditAct.REPEATS_SET, name, detail=audit.words(share))


def set_match(db: Database, name: str, facet: str) -> None:
    """Set the facet whose value must be a label of the annotator; “” for none. Raises NotFound."""
    update(db, "studies", study_id(db, name), matched_facet=facet)
    audit.record(db, AuditAct.MATCH_SET, name, detail=facet)


def reveal_judge(db: Database, name: str, judge: Rater | None) -> None:
    """Set the judge whose scores are shown after the last item; None for none. Raises NotFound."""
    update(db, "studies", study_id(db, name), **_revealed(judge))
    detail = "off"
    if judge:
        detail = audit.facts(judge=judge.name, variant=judge.variant)
    audit.record(db, AuditAct.REVEAL_SET, name, detail=detail)


def set_discussion(db: Database, name: str, visible: bool) -> None:
    """Set whether others' answers are shown after the last item. Raises NotFound."""
    update(db, "studies", study_id(db, name), discussion=visible)
    audit.record(db, AuditAct.DISCUSSION_SET, name, detail=audit.words(visible))


def write_guidelines(db: Database, name: str, text: str) -> None:
    """Replace a study's guidelines."""
    update(db, "studies", study_id(db, name), guidelines=text)
    audit.record(db, AuditAct.GUIDELINES_REPLACED, name)


def add_pairs(db: Database, name: str, pairs: Iterable[tuple[str, int, int]]) -> None:
    """Add pairs (scenario, id, id) that are not in a study yet."""
    study = study_id(db, name)
    db.conn.executemany(
        "INSERT OR IGNORE INTO items (study_id, stratum, conversation_id, other_id) VALUES (?, ?, ?, ?)",
        [(study, scenario, min(a, b), max(a, b)) for scenario, a, b in pairs],
    )


def add_units(db: Database, name: str, units: Iterable[tuple[int, int | None, str]]) -> list[int]:
    """Add (conversation id, turn, stratum) to a study; returns the units' ids in the same order."""
    study = study_id(db, name)
    last = scalar(db, "SELECT ifnull(max(id), 0) FROM items")
    db.conn.executemany(
        "INSERT INTO items (study_id, conversation_id, turn, stratum) VALUES (?, ?, ?, ?)",
        ((study, *unit) for unit in units),
    )
    return column(db, "SELECT id FROM items WHERE id > ? ORDER BY id", [last])


def units(db: Database, name: str) -> list[dict[str, Any]]:
    """A study's units: id, conversation_id, other_id, key, turn, stratum, player.

    A pair's `key` and `player` name both, the player first in the alphabet first; pairs of a group have the
    key of the group.
    """
    rows = db.query(
        "SELECT i.id, i.conversation_id, i.other_id, iif(i.ranked, i.stratum, n.key) AS key, i.turn, "
        "i.stratum, n.player FROM study_items i JOIN item_contents n ON n.item_id = i.id "
        "WHERE i.study_id = ? AND i.known = '' AND i.asked ORDER BY i.id",
        [study_id(db, name)],
    )
    return list(rows)


class ScenarioPair(NamedTuple):
    """Two conversations of a scenario: the ids and keys of both."""

    scenario: str
    first_id: int
    first_key: str
    second_id: int
    second_key: str


def pairs(db: Database, name: str) -> list[ScenarioPair]:
    """The pairs of a study, of each the player first in the alphabet first. Raises NotFound."""
    return records(
        db,
        ScenarioPair,
        """
        SELECT i.stratum, a.id, a.key, b.id, b.key
        FROM study_items i
            JOIN conversations c ON c.id = i.conversation_id JOIN conversations d ON d.id = i.other_id
            JOIN conversations a ON a.id = iif(c.player <= d.player, c.id, d.id)
            JOIN conversations b ON b.id = iif(c.player <= d.player, d.id, c.id)
        WHERE i.study_id = ? AND i.known = '' AND i.asked ORDER BY i.id""",
        [study_id(db, name)],
    )


def criteria_of(db: Database, study: str, conversation: int, turn: int | None) -> tuple[Criterion, ...]:
    """The criteria that a study asks of an item: of a conversation as a whole (None), or a turn of it."""
    criteria = ratings.criteria(db, scope(study))
    if any(criterion.whole for criterion in criteria):
        criteria = tuple(criterion for criterion in criteria if criterion.whole == (turn is None))
    if not any(criterion.only for criterion in criteria):
        return criteria
    dialogue = conversations.load(db, conversation)
    facets = {**dialogue.facets, "player": dialogue.player, "language": dialogue.language}
    return tuple(criterion for criterion in criteria if criterion.asked_of(facets))
