"""Store an imported study: everything, or nothing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from sqlite_utils import Database

from concord.conversation import Conversation, Unit
from concord.errors import ImportRefused
from concord.rating import Rater
from concord.runs.registry import BENCHMARKS
from concord.store import conversations, placements, ratings, studies, summaries
from concord.store.database import now
from concord.store.parts import Part, in_parts, rated_by
from concord.store.ratings import Row
from concord.store.studies import Study
from concord.workspace import Workspace

T = TypeVar("T")
AT_ONCE = 100
"""Conversations stored, or whose ratings are stored, in one part: some hundredths of a second."""


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
    return _store(lambda: nullcontext(db), incoming, append)


def store_in_parts(workspace: Workspace, incoming: Incoming, *, append: bool = False) -> Imported:
    """`store` in transactions of some hundredths of a second, so that others write in between.

    Where it fails, nothing stays. Raises WorkspaceError while another import is under way.
    """
    with in_parts(workspace.db_path) as part:
        return _store(part, incoming, append)


def _store(part: Part, incoming: Incoming, append: bool) -> Imported:
    name, begun = incoming.study.name, now()
    with part() as db:
        asked_more = _make_room(db, incoming, append)
        study = studies.study_id(db, name)
        raters = {
            rater: ratings.rater_id(db, rater) for rater in dict.fromkeys(g.rater for g in incoming.given)
        }
    new = 0
    for some in _some(incoming.conversations.values()):
        with part() as db:
            for conversation in some:
                if conversations.find_id(db, conversation.key) is None:
                    conversations.save(db, conversation)
                    new += 1
    units = 0
    keys = dict.fromkeys(
        Unit(g.unit.conversation, g.unit.turn if incoming.study.per_turn else None) for g in incoming.given
    )
    for of_some in _some(keys, 2000):
        with part() as db:
            units += _add_units(db, name, of_some)
    people = judges = known = 0
    by_conversation: dict[str, list[Given]] = {}
    for one in incoming.given:
        by_conversation.setdefault(one.unit.conversation, []).append(one)
    for some_keys in _some(by_conversation):
        with part() as db:
            added = rate(db, [one for key in some_keys for one in by_conversation[key]], study, raters)
        people, judges, known = people + added[0], judges + added[1], known + added[2]
    if asked_more:  # the finals of people who were not asked the new criteria
        with part() as db:
            rest = rated_by(db, studies.scope(name))
        for ids in _some(rest):
            with part() as db:
                summaries.refresh(db, ids)
    with part() as db:
        persons = [number for rater, number in raters.items() if rater.kind == "human"]
        placements.close_imported(db, study, persons, begun)
    return Imported(name, units, new, people, judges, known)


def rate(
    db: Database, given: Sequence[Given], study_id: int | None, raters: Mapping[Rater, int]
) -> tuple[int, int, int]:
    """Store ratings of stored conversations; returns how many by people, by judges, and known before.

    People's belong to the study. Raises ImportRefused for one that is stored with another score.
    """
    rows, known = _rows(db, given, study_id, raters)
    ratings.insert_rows(db, rows)
    summaries.refresh(db, list({row.conversation_id for row in rows}))
    people = sum(row.study_id is not None for row in rows)
    return people, len(rows) - people, known


def _some(things: Iterable[T], size: int = 0) -> Iterator[list[T]]:
    left = iter(things)
    while some := list(islice(left, size or AT_ONCE)):
        yield some


def _make_room(db: Database, incoming: Incoming, append: bool) -> bool:
    """Make the study, or add criteria to the one there is. Whether it did the latter."""
    study = incoming.study
    if study.name not in studies.names(db):
        studies.create(db, study)
        # The benchmark as well: judges' ratings belong to the conversation, and other studies may use it.
        for scope in {c.benchmark for c in incoming.conversations.values()}:
            if not ratings.criteria(db, scope):
                ratings.register(db, scope, study.criteria, refusal=_refusal(study))
        return False
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
    return bool(added)


def _refusal(study: Study) -> str:
    """The criterion of an imported study that a benchmark uses for refusals; “” if there is none."""
    known = {benchmark.refusal for benchmark in BENCHMARKS.values()}
    return next((c.name for c in study.criteria if c.name in known), "")


def _add_units(db: Database, study: str, keys: Sequence[Unit]) -> int:
    """Add units in the order of the file: turns if people rated turns, else conversations."""
    have = {(u["conversation_id"], u["turn"]) for u in studies.units(db, study)}
    ids = conversations.existing(db, [key for key, _ in keys])
    new = [(ids[key], turn, "") for key, turn in keys if (ids[key], turn) not in have]
    studies.add_units(db, study, new)
    return len(new)


def _rows(
    db: Database, given: Sequence[Given], study_id: int | None, raters: Mapping[Rater, int]
) -> tuple[list[Row], int]:
    ids = conversations.existing(db, list({g.unit.conversation for g in given}))
    stored = ratings.scores_of(db, set(ids.values()))
    moment = now()
    rows, known = [], 0
    for g in given:
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
