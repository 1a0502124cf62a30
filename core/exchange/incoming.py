"""Store an imported study: everything in one transaction, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlite_utils import Database

from core.benchmarks import BENCHMARKS
from core.conversation import Conversation, Unit
from core.errors import ImportRefused
from core.rating import Rater
from core.store import conversations, ratings, studies, summaries
from core.store.database import now
from core.store.ratings import Row
from core.store.studies import Study


@dataclass(frozen=True, slots=True)
class Given:
    """One rating of a file. `unit.conversation` is the conversation's key, `where` the place in the file."""

    unit: Unit
    criterion: str
    rater: Rater
    score: float
    repeat: int = 0
    explanation: str = ""
    meta: str | None = None
    created: str = ""
    where: str = ""


@dataclass(frozen=True)
class Incoming:
    """A study with its ratings and the conversations the file describes; others must be stored already."""

    study: Study
    given: Sequence[Given]
    conversations: Mapping[str, Conversation] = field(default_factory=dict)
    file: str = ""


@dataclass(frozen=True)
class Imported:
    """What was stored: new units, conversations, ratings of people and judges; `known` was there before."""

    study: str
    units: int
    conversations: int
    people: int
    judges: int
    known: int


def store(db: Database, incoming: Incoming, *, append: bool = False) -> Imported:
    """Store a study; call it inside one transaction.

    Raises ImportRefused if the study of that name has ratings and `append` is not set, or if a rating is
    stored already (a judge's with the same score is left as it is).
    """
    name = incoming.study.name
    _make_room(db, incoming, append)
    new = [c for c in incoming.conversations.values() if conversations.find_id(db, c.key) is None]
    for conversation in new:
        conversations.save(db, conversation)
    keys = {g.unit.conversation for g in incoming.given}
    ids = conversations.existing(db, [*keys, *incoming.conversations])
    units = _add_units(db, incoming, ids)
    rows, known = _rows(db, incoming, ids, studies.study_id(db, name))
    ratings.insert_rows(db, rows)
    summaries.refresh(db, list({row.conversation_id for row in rows}))
    people = sum(row.study_id is not None for row in rows)
    return Imported(name, units, len(new), people, len(rows) - people, known)


def _make_room(db: Database, incoming: Incoming, append: bool) -> None:
    study = incoming.study
    if study.name not in studies.names(db):
        studies.create(db, study)
        # The benchmark as well: judges' ratings belong to the conversation, and other studies may use it.
        for scope in {c.benchmark for c in incoming.conversations.values()}:
            if not ratings.criteria(db, scope):
                ratings.register(db, scope, study.criteria, refusal=_refusal(study))
        return
    if not append and studies.rated(db, study.name):
        raise ImportRefused(
            f"There is a study “{study.name}” with ratings already. Give the import another name with "
            "--study, or add new ratings to that study with --append."
        )
    known = studies.get(db, study.name)
    names = {c.name for c in known.criteria}
    added = tuple(c for c in study.criteria if c.name not in names)
    if added:
        ratings.register(db, studies.scope(study.name), (*known.criteria, *added))


def _refusal(study: Study) -> str:
    """The criterion of an imported study that a benchmark uses for refusals; “” if there is none."""
    known = {benchmark.refusal for benchmark in BENCHMARKS.values()}
    return next((c.name for c in study.criteria if c.name in known), "")


def _add_units(db: Database, incoming: Incoming, ids: Mapping[str, int]) -> int:
    """The study's units in the order of the file: turns if people rated turns, else conversations."""
    have = {(u["conversation_id"], u["turn"]) for u in studies.units(db, incoming.study.name)}
    keys = dict.fromkeys(
        Unit(g.unit.conversation, g.unit.turn if incoming.study.per_turn else None) for g in incoming.given
    )
    new = [(ids[key], turn, "") for key, turn in keys if (ids[key], turn) not in have]
    studies.add_units(db, incoming.study.name, new)
    return len(new)


def _rows(db: Database, incoming: Incoming, ids: Mapping[str, int], study_id: int) -> tuple[list[Row], int]:
    raters = {rater: ratings.rater_id(db, rater) for rater in dict.fromkeys(g.rater for g in incoming.given)}
    stored = ratings.scores_of(db, {ids[g.unit.conversation] for g in incoming.given})
    moment = now()
    rows, known = [], 0
    for g in incoming.given:
        # A person's rating belongs to the study, a judge's to the conversation.
        owner = study_id if g.rater.kind == "human" else None
        conversation, rater = ids[g.unit.conversation], raters[g.rater]
        there = stored.get((conversation, rater, g.criterion, g.unit.turn, g.repeat, owner))
        if there is None:
            told = (g.score, g.explanation, g.meta, g.created or moment)
            rows.append(Row(conversation, g.unit.turn, g.criterion, rater, g.repeat, owner, *told))
        elif g.rater.kind == "judge" and there == g.score:
            known += 1
        else:
            raise ImportRefused(
                f"{g.where}: {g.rater.name} rated “{g.unit.conversation}” on “{g.criterion}” already "
                f"({there:g}). Remove the line; nothing was imported."
            )
    return rows, known
