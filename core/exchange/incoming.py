"""Store an imported study: everything, or nothing."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple, TypedDict, TypeVar, Unpack

import numpy as np
from sqlite_utils import Database

from concord.arrays import Columns
from concord.conversation import Conversation, Unit
from concord.errors import ImportRefused
from concord.rating import Rater
from concord.scores import labels, refused
from concord.store import conversations, placements, ratings, studies, summaries
from concord.store.database import now
from concord.store.parts import in_parts, rated_by
from concord.store.ratings import Row
from concord.store.studies import Study
from concord.studies.studies import Runs, StudyRatings, study_ratings
from concord.workspace import Workspace

T = TypeVar("T")
AT_ONCE = 100
"""Conversations stored, or whose ratings are stored, in one part: some hundredths of a second."""


class Given(NamedTuple):
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


class Measured(TypedDict, total=False):
    """How ratings become those of agreement: see `concord.studies.studies.study_ratings`."""

    runs: Runs
    nominal: bool
    cluster_by: Sequence[str] | None


@dataclass(frozen=True)
class Imported:
    """What was stored: new units, conversations, ratings of people and judges; `known` was there before."""

    study: str
    units: int
    conversations: int
    people: int
    judges: int
    known: int


def store(
    workspace: Workspace,
    incoming: Incoming,
    *,
    append: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Imported:
    """Store a study in transactions of some hundredths of a second, so that others write in between.

    `progress` is told the share that is done. Where it fails, nothing stays. Raises ImportRefused if the
    study of that name has ratings and `append` is not set, or if a rating is stored already (a judge's with
    the same score is left as it is), and WorkspaceError while another import is under way.
    """
    name, begun = incoming.study.name, now()
    every: dict[Rater, None] = {}
    keys: dict[Unit, None] = {}
    by_conversation: dict[str, array[int]] = {}
    for at, one in enumerate(incoming.given):
        key = one.unit.conversation
        every[one.rater] = None
        keys[one.unit if incoming.study.per_turn else Unit(key)] = None
        if key not in by_conversation:
            by_conversation[key] = array("q")
        by_conversation[key].append(at)
    new = units = people = judges = repeated = 0
    with in_parts(workspace.db_path) as part:
        with part() as db:
            asked_more = _make_room(db, incoming, append)
            study = studies.study_id(db, name)
            raters = {rater: ratings.rater_id(db, rater) for rater in every}
        for some in _some(incoming.conversations.values()):
            with part() as db:
                for conversation in some:
                    if conversations.find_id(db, conversation.key) is None:
                        conversations.save(db, conversation)
                        new += 1
        for of_some in _some(keys, 2000):
            with part() as db:
                units += _add_units(db, name, of_some)
        for done, some_keys in enumerate(_some(by_conversation)):
            if progress is not None:
                progress(done * AT_ONCE / len(by_conversation))
            with part() as db:
                given = [incoming.given[at] for key in some_keys for at in by_conversation[key]]
                added = rate(db, given, study, raters)
            people, judges, repeated = people + added[0], judges + added[1], repeated + added[2]
        if asked_more:  # the finals of people who were not asked the new criteria
            with part() as db:
                rest = rated_by(db, studies.scope(name))
            for ids in _some(rest):
                with part() as db:
                    summaries.refresh(db, ids)
        with part() as db:
            persons = [number for rater, number in raters.items() if rater.kind == "human"]
            placements.close_imported(db, study, persons, begun)
        return Imported(name, units, new, people, judges, repeated)


def rate(
    db: Database, given: Sequence[Given], study_id: int | None, raters: Mapping[Rater, int]
) -> tuple[int, int, int]:
    """Store ratings of stored conversations; returns how many by people, by judges, and known before.

    People's belong to the study. Raises ImportRefused for one that is stored with another score.
    """
    rows, repeated = _rows(db, given, study_id, raters)
    ratings.insert_rows(db, rows)
    summaries.refresh(db, list({row.conversation_id for row in rows}))
    people = sum(row.study_id is not None for row in rows)
    return people, len(rows) - people, repeated


def measured(
    incoming: Incoming, *, exclude_refused: bool = True, **how: Unpack[Measured]
) -> tuple[StudyRatings, Columns]:
    """The ratings of a study that was not stored, as if it were the only one, and the features of its units.

    Every conversation is among those of the import. Raises NotFound for an unknown facet.
    """
    study, per_turn = incoming.study, incoming.study.per_turn
    keys = [Unit(g.unit.conversation, g.unit.turn if per_turn else None) for g in incoming.given]
    unit_of = {key: number for number, key in enumerate(dict.fromkeys(keys), 1)}
    number_of = {key: number for number, key in enumerate(incoming.conversations, 1)}
    turns = {unit: float("nan") if key.turn is None else key.turn for key, unit in unit_of.items()}
    scores: dict[tuple[int, Rater, str, int], list[float]] = {}
    for key, given in zip(keys, incoming.given, strict=True):
        scores.setdefault((unit_of[key], given.rater, given.criterion, given.repeat), []).append(given.score)
    units, raters, criteria, repeats = zip(*scores, strict=True)
    total = np.array([sum(of) for of in scores.values()], dtype=np.float64)
    count = np.array([len(of) for of in scores.values()], dtype=np.int64)
    called = labels(raters)
    of_unit = {unit: incoming.conversations[key.conversation] for key, unit in unit_of.items()}
    rows: Columns = {
        "unit": np.array(units, dtype=np.int64),
        "conversation_id": np.array([number_of[of_unit[unit].key] for unit in units], dtype=np.int64),
        "turn": np.array([turns[unit] for unit in units], dtype=np.float64),
        "player": np.array([of_unit[unit].player for unit in units], dtype=object),
        "criterion": np.array(criteria, dtype=object),
        "rater": np.array([called[rater] for rater in raters], dtype=object),
        "model": np.array([r.name if r.kind == "judge" else "" for r in raters], dtype=object),
        "variant": np.array([r.variant if r.kind == "judge" else "" for r in raters], dtype=object),
        "kind": np.array([rater.kind for rater in raters], dtype=object),
        "simulated": np.array([rater.simulated for rater in raters], dtype=bool),
        "repeat": np.array(repeats, dtype=np.int64),
        "total": total,
        "n": count,
        "score": total / count,
    }
    places = sorted(
        ((unit, of_unit[unit].benchmark, key.conversation, key.turn or -1) for key, unit in unit_of.items()),
        key=lambda place: place[1:],
    )
    facets: dict[str, dict[int, str]] = {}
    for unit, conversation in of_unit.items():
        for name, value in conversation.facets.items():
            facets.setdefault(name, {})[unit] = str(value)
    flag = _refusal(study) if exclude_refused else ""
    seen: dict[int, dict[str, None]] = {}
    for (unit, rater, criterion, _), of_rater in scores.items():
        if flag and criterion == flag and rater.kind == "judge" and refused(sum(of_rater)):
            seen.setdefault(unit, {})[called[rater]] = None
    of = study_ratings(
        study,
        rows,
        places,
        dict(sorted(facets.items())),
        {unit: tuple(seen[unit]) for unit in sorted(seen)},
        (flag,) if flag else (),
        **how,
    )
    return of, _features(unit_of, of_unit)


def _features(unit_of: Mapping[Unit, int], of_unit: Mapping[int, Conversation]) -> Columns:
    """What `concord.store.frames.feature_rows` has of stored units; nobody was dealt these."""
    lengths = []
    for key, unit in unit_of.items():
        replies = [t.reply for t in of_unit[unit].turns() if t.reply and key.turn in (None, t.number)]
        sizes = [len(reply.content) for reply in replies]
        lengths.append(sum(sizes) / len(sizes) if sizes else float("nan"))
    return {
        "unit": np.array([*unit_of.values()], dtype=np.int64),
        "reply_chars": np.array(lengths, dtype=np.float64),
        "turns": np.array([len(of_unit[unit].replies) for unit in unit_of.values()], dtype=np.float64),
        "turn": np.array([float("nan") if k.turn is None else k.turn for k in unit_of], dtype=np.float64),
        "place": np.full(len(unit_of), np.nan),
        "language": np.array([of_unit[unit].language for unit in unit_of.values()], dtype=object),
    }


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
    existing = studies.get(db, study.name)
    names = {c.name for c in existing.criteria}
    added = tuple(c for c in study.criteria if c.name not in names)
    if added:
        ratings.register(db, studies.scope(study.name), (*existing.criteria, *added))
    return bool(added)


def _refusal(study: Study) -> str:
    """The criterion of an imported study that a benchmark uses for refusals; “” if there is none."""
    from concord.runs.registry import BENCHMARKS  # loads every benchmark

    refusals = {benchmark.refusal for benchmark in BENCHMARKS.values()}
    return next((c.name for c in study.criteria if c.name in refusals), "")


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
    rows, repeated = [], 0
    for g in given:
        # A person's rating belongs to the study, a judge's to the conversation.
        owner = study_id if g.rater.kind == "human" else None
        conversation, rater = ids[g.unit.conversation], raters[g.rater]
        there = stored.get((conversation, rater, g.criterion, g.unit.turn, g.repeat, owner))
        if there is None:
            values = (g.score, g.explanation, g.meta, g.created or moment)
            rows.append(Row(conversation, g.unit.turn, g.criterion, rater, g.repeat, owner, *values))
        elif g.rater.kind == "judge" and there == g.score:
            repeated += 1
        else:
            raise ImportRefused(
                f"{g.where}: {g.rater.name} rated “{g.unit.conversation}” on “{g.criterion}” already "
                f"({there:g}). Remove the line; nothing was imported."
            )
    return rows, repeated
