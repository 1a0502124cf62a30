"""Store an imported study: everything, or nothing."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from sqlite_utils import Database

from concord.arrays import Columns
from concord.conversation import Conversation, Unit
from concord.errors import ImportRefused
from concord.exchange.rating_table import RatingTable, ScoreRow
from concord.rating import Rater
from concord.scores import is_refusal, labels
from concord.store import conversations, placements, ratings, studies, summaries
from concord.store.database import now
from concord.store.parts import in_parts, rated_by
from concord.store.studies import Study
from concord.studies.studies import StudyRatings, study_ratings
from concord.workspace import Workspace

T = TypeVar("T")
DUPLICATE = "known"
AT_ONCE = 100
"""Conversations of a file with texts that are stored in one part: some hundredths of a second."""
CONVERSATIONS = 1000
RATINGS = 6000
"""Conversations, and ratings of whole conversations, that an imported study stores in one part: a tenth of a
second.
"""


@dataclass(frozen=True)
class Incoming:
    """A study with its ratings and the conversations the file describes; others must be stored already."""

    study: Study
    ratings: RatingTable
    conversations: Mapping[str, Conversation] = field(default_factory=dict)


def store(
    workspace: Workspace,
    incoming: Incoming,
    *,
    append: bool = False,
    progress: Callable[[float], None] | None = None,
) -> str:
    """Store a study in transactions of some hundredths of a second, so that others write in between. Returns
    what is new, in a sentence.

    `progress` is told the share that is done. Where it fails, nothing stays. Raises ImportRefused if the
    study of that name has ratings and `append` is not set, or if a rating is stored already (a judge's with
    the same score is left as it is), and WorkspaceError while another import is under way.
    """
    table = incoming.ratings
    name = incoming.study.name
    start_time = now()
    with in_parts(workspace.db_path) as part:
        with part() as db:
            asked_more = _make_room(db, incoming, append)
            study = studies.study_id(db, name)
            raters = {rater: ratings.rater_id(db, rater) for rater in table.raters}
            have = {(u["key"], u["turn"]) for u in studies.units(db, name)}
        new = 0
        for batch in _batches(incoming.conversations.values(), CONVERSATIONS):
            with part() as db:
                new += conversations.save_all(db, batch)
        units = [unit for unit in table.units(incoming.study.per_turn)[0] if unit not in have]
        for of_some in _batches(units, CONVERSATIONS):
            with part() as db:
                ids = conversations.existing(db, [key for key, _ in of_some])
                studies.add_units(db, name, [(ids[key], turn, "") for key, turn in of_some])
        order, begins = table.by_item()
        question_keys = _question_keys(table, study, raters)
        counts = Counter[str]()
        start = 0
        item_count = len(table.items)
        while start < item_count:
            if progress is not None:
                progress(start / item_count)
            fit = int(np.searchsorted(begins, begins[start] + RATINGS, "right")) - 1
            places = order[begins[start] : begins[max(start + 1, fit)]].tolist()
            start = max(start + 1, fit)
            with part() as db:
                counts += _rate(db, table, places, question_keys)
        if asked_more:  # the finals of people who were not asked the new criteria
            with part() as db:
                rest = rated_by(db, studies.scope(name))
            for numbers in _batches(rest, CONVERSATIONS):
                with part() as db:
                    summaries.refresh(db, numbers)
        with part() as db:
            studies.add_judges(db, name, [rater for rater in raters if rater.kind == "judge"])
            persons = [number for rater, number in raters.items() if rater.kind == "human"]
            placements.close_imported(db, study, persons, start_time)
    return _sentence(name, counts + Counter(units=len(units), conversations=new))


def _sentence(study: str, new: Counter[str]) -> str:
    """What was stored of a study, by the kind of rater and other names."""
    counts = [f"{new['human']:,} ratings by annotators", f"{new['judge']:,} by judges"]
    nouns = {"gold": "gold labels", "units": "units", "conversations": "conversations"}
    counts += [f"{new[name]:,} {words}" for name, words in nouns.items() if new[name]]
    stored_note = "" if new["conversations"] else ", all on stored conversations"
    duplicates = f" {new[DUPLICATE]:,} ratings were stored already." if new[DUPLICATE] else ""
    return f"Study “{study}”, new: {', '.join(counts)}{stored_note}.{duplicates}"


def rate(
    db: Database, rows: Sequence[ScoreRow], study_id: int | None, raters: Mapping[Rater, int]
) -> tuple[int, int, int]:
    """Store ratings of stored conversations; returns how many by people, by judges, and known before.

    People's belong to the study. Raises ImportRefused for one that is stored with another score.
    """
    table = RatingTable.from_ratings(rows)
    counts = _rate(db, table, range(len(table)), _question_keys(table, study_id, raters))
    return counts["human"], counts["judge"], counts[DUPLICATE]


QUESTION_COLUMNS = ("turn", "criterion", "rater_id", "repeat", "study_id")
QuestionKeys = Sequence[tuple[int | None, str, int, int, int | None]]
"""What a row of the store has of each of a table's `questions`: the columns of QUESTION_COLUMNS."""


def _question_keys(table: RatingTable, study_id: int | None, raters: Mapping[Rater, int]) -> QuestionKeys:
    # A person's rating belongs to the study, a judge's and a gold label to the conversation.
    return [
        (turn, criterion, raters[rater], repeat, study_id if rater.kind == "human" else None)
        for criterion, rater, turn, repeat in table.questions
    ]


def _rate(
    db: Database, table: RatingTable, places: Sequence[int], question_keys: QuestionKeys
) -> Counter[str]:
    """Store the ratings at these places of a table; how many by whom, and how many were known.

    Raises ImportRefused for one that is stored with another score.
    """
    keys = {number: table.items[number] for number in {table.item[position] for position in places}}
    ids = conversations.existing(db, [*keys.values()])
    conversation_of = {number: ids[key] for number, key in keys.items()}
    counts = Counter[str]()
    if stored := ratings.scores_of(db, ids.values()):
        places_to_store = []
        for position in places:
            row = (conversation_of[table.item[position]], *question_keys[table.question[position]])
            if (stored_score := stored.get(row)) is None:
                places_to_store.append(position)
            elif row[-1] is None and stored_score == table.scores[position]:
                counts[DUPLICATE] += 1
            else:
                criterion, rater, *_ = table.questions[table.question[position]]
                raise ImportRefused(
                    f"{table.location(position)}: {rater.name} rated “{keys[table.item[position]]}” on "
                    f"“{criterion}” "
                    f"already ({stored_score:g}). Remove the line; nothing was imported."
                )
        places = places_to_store
    if not places:
        return counts
    conversation_ids = [conversation_of[table.item[position]] for position in places]
    question_numbers = [table.question[position] for position in places]
    columns = {
        name: [values[number] for number in question_numbers]
        for name, values in zip(QUESTION_COLUMNS, zip(*question_keys, strict=True), strict=True)
    }
    columns |= _other_columns(table, places, {number for number, key in keys.items() if key in table.new})
    scores = [table.scores[position] for position in places]
    ratings.insert_columns(db, {"conversation_id": conversation_ids, "score": scores, **columns})
    summaries.refresh(db, [*{*conversation_ids}])
    for question_number, count in Counter(question_numbers).items():
        counts[table.questions[question_number].rater.kind] += count
    return counts


def _other_columns(
    table: RatingTable, places: Sequence[int], described: Container[int]
) -> dict[str, list[Any]]:
    """What else is stored of ratings, by column. The file describes the items in `described`."""
    moment = now()
    columns: dict[tuple[int, bool], tuple[str, str | None, str]] = {}  # most cells are those of others
    explanations = list[str]()
    metas = list[str | None]()
    moments = list[str]()
    for position in places:
        cells = table.cells[position]
        is_described = table.item[position] in described
        values = columns.get((id(cells), is_described))
        if values is None:
            values = columns[id(cells), is_described] = table.about(cells, is_described)
        explanation, meta, created = values
        explanations.append(explanation)
        metas.append(meta)
        moments.append(created or moment)
    return {"explanation": explanations, "meta": metas, "created": moments}


def unstored_ratings(
    incoming: Incoming, *, exclude_refused: bool = True, cluster_by: Sequence[str] | None = None
) -> tuple[StudyRatings, Columns]:
    """The ratings of a study that was not stored, as if it were the only one, and the features of its units.

    Every conversation is among those of the import. Raises NotFound for an unknown facet.
    """
    study = incoming.study
    per_turn = incoming.study.per_turn
    table = incoming.ratings
    keys, of_ratings = table.units(per_turn)
    unit_of = {key: number for number, key in enumerate(keys, 1)}
    number_of = {key: number for number, key in enumerate(incoming.conversations, 1)}
    turns = {unit: float("nan") if key.turn is None else key.turn for key, unit in unit_of.items()}
    scores: dict[tuple[int, Rater, str, int], list[float]] = {}
    for unit, question, score in zip(of_ratings, table.question, table.scores, strict=True):
        criterion, rater, _, repeat = table.questions[question]
        scores.setdefault((unit + 1, rater, criterion, repeat), []).append(score)
    units, raters, criteria, repeats = zip(*scores, strict=True)
    total = np.array([sum(values) for values in scores.values()], dtype=np.float64)
    count = np.array([len(values) for values in scores.values()], dtype=np.int64)
    rater_names = labels(raters)
    of_unit = {unit: incoming.conversations[key.conversation] for key, unit in unit_of.items()}
    rows: Columns = {
        "unit": np.array(units, dtype=np.int64),
        "conversation_id": np.array([number_of[of_unit[unit].key] for unit in units], dtype=np.int64),
        "turn": np.array([turns[unit] for unit in units], dtype=np.float64),
        "player": np.array([of_unit[unit].player for unit in units], dtype=object),
        "criterion": np.array(criteria, dtype=object),
        "rater": np.array([rater_names[rater] for rater in raters], dtype=object),
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
    refusing_judges: dict[int, dict[str, None]] = {}
    for (unit, rater, criterion, _), of_rater in scores.items():
        if flag and criterion == flag and rater.kind == "judge" and is_refusal(sum(of_rater)):
            refusing_judges.setdefault(unit, {})[rater_names[rater]] = None
    values = study_ratings(
        study,
        rows,
        places,
        dict(sorted(facets.items())),
        {unit: tuple(refusing_judges[unit]) for unit in sorted(refusing_judges)},
        (flag,) if flag else (),
        cluster_by=cluster_by,
    )
    return values, _features(unit_of, of_unit)


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


def _batches(things: Iterable[T], size: int) -> Iterator[list[T]]:
    left = iter(things)
    while batch := list(islice(left, size)):
        yield batch


def _make_room(db: Database, incoming: Incoming, append: bool) -> bool:
    """Make the study, or add criteria to the one there is. Whether it did the latter."""
    study = incoming.study
    if study.name not in studies.names(db):
        studies.create(db, study)
        # The benchmark as well: judges' ratings belong to the conversation, and other studies may use it.
        if incoming.conversations and not ratings.criteria(db, study.name):
            ratings.register(db, study.name, study.criteria, refusal=_refusal(study))
        return False
    if not append and studies.rated(db, study.name):
        raise ImportRefused(
            f"The study “{study.name}” has ratings already. Give the import another name with --study, or "
            "add new ratings to it with --append."
        )
    existing = studies.get(db, study.name)
    names = {c.name for c in existing.criteria}
    new_criteria = tuple(c for c in study.criteria if c.name not in names)
    if new_criteria:
        ratings.register(db, studies.scope(study.name), (*existing.criteria, *new_criteria))
    return bool(new_criteria)


def _refusal(study: Study) -> str:
    """The criterion of an imported study that a benchmark uses for refusals; “” if there is none."""
    from concord.runs.registry import BENCHMARKS  # loads every benchmark

    refusals = {benchmark.refusal for benchmark in BENCHMARKS.values()}
    return next((c.name for c in study.criteria if c.name in refusals), "")
