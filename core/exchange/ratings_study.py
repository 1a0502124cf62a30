"""Make a study of a ratings file: match its items with conversations and its criteria with scales."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from sqlite_utils import Database

from concord.conversation import Conversation, Message
from concord.errors import ImportRefused
from concord.exchange.dialogue import from_cell
from concord.exchange.incoming import Incoming
from concord.exchange.rating_table import RatingTable
from concord.exchange.ratings_csv import OF_ITEM, differs
from concord.questions import Scale
from concord.rating import Criterion, Rater, criteria_by_name
from concord.store import conversations, ratings, studies
from concord.store.conversations import Filter
from concord.store.studies import Study
from concord.studies.scales import shared_scale

if TYPE_CHECKING:
    from concord.rubrics.rubric_store import Numbered

FACET_LENGTH = 80
FACET_VALUES = 100


class _Described(Mapping[str, Conversation]):
    """The new conversations that a file describes, each made when it is asked for: memory holds none.

    `numbers` are those of their items, by key.
    """

    def __init__(self, numbers: Mapping[str, int], make: Callable[[int], Conversation]) -> None:
        self._numbers = numbers
        self._make = make

    def __getitem__(self, key: str) -> Conversation:
        return self._make(self._numbers[key])

    def __contains__(self, key: object) -> bool:
        return key in self._numbers

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)


def incoming(
    db: Database | None,
    table: RatingTable,
    study: str,
    *,
    title: str = "",
    scales: Mapping[str, Scale] | None = None,
    uncounted: Sequence[str] = (),
    rubric: Numbered | None = None,
    new_conversations: Mapping[str, Conversation] = {},
) -> Incoming:
    """The study of a file, its items matched with the conversations of this workspace, or those
    `new_conversations`.

    An item is the stored conversation “study/item_id”, “item_id” or one imported under another name with
    this id, else a new one, “study/item_id”. The study rates turns if people's lines have a turn. With a
    rubric its questions are those of the same names, and judges who rated by it stand beside the people: all
    items are then stored conversations, and at least one criterion is the rubric's. Raises ImportRefused for
    lines that contradict each other or the workspace.
    """
    existing = studies.get(db, study) if db and study in studies.names(db) else None
    if rubric and existing and existing.rubric != rubric.rubric.name:
        rubric_words = f"the rubric {existing.rubric}" if existing.rubric else "no rubric"
        raise ImportRefused(
            f"The study “{study}” is rated by {rubric_words}. Give the import another name with "
            "--study, or remove "
            "--rubric."
        )
    by_rubric = criteria_by_name(rubric.rubric.criteria) if rubric else {}
    questions = existing.criteria if existing else tuple(by_rubric.values())
    per_turn = _per_turn(table, existing, {c.name for c in questions if c.whole})
    imported, stored_ids = _stored_conversations(db, study, table.items)
    keys = [_key(study, item, stored_ids, imported) for item in table.items]
    if len(set(keys)) < len(keys):
        names = {*table.items}
        twice = next(item for item in table.items if f"{study}/{item}" in names)
        raise ImportRefused(
            f"{table.file}: “{twice}” and “{study}/{twice}” are the same item. Rename one of them."
        )
    fresh = {key: number for number, key in enumerate(keys) if key not in stored_ids}
    if rubric:
        _refuse_others(table, rubric, [table.items[number] for number in fresh.values()], per_turn)
    if existing is None and fresh and db and conversations.count(db, Filter(benchmark=study)):
        raise ImportRefused(
            f"“{study}” is a benchmark of this workspace, so the file's items would be mixed with its "
            "conversations. Give the study another name with --study."
        )
    new, of_item = _conversations(db, table, study, keys, fresh, new_conversations)
    _refuse_missing_turns(db, table, keys, new)
    scopes = conversations.benchmarks_of(db, [key for key in keys if key in stored_ids]) if db else ()
    registered = {c.name: c for scope in scopes for c in ratings.criteria(db, scope)} if db else {}
    criteria = _criteria(table, existing, registered, scales or {}, uncounted, by_rubric)
    version = rubric.noted if rubric else None
    base = existing or Study(
        study, (), title=title, source="ratings", per_turn=per_turn, asked_rubric=version
    )
    study_table = replace(table, items=keys, of_item=frozenset(of_item), new=new)
    return Incoming(replace(base, criteria=criteria), study_table, new)


def _stored_conversations(
    db: Database | None, study: str, items: Sequence[str]
) -> tuple[list[str], dict[str, int]]:
    """The names under which conversations were imported, and the stored ones that items may be. Raises
    ImportRefused for a study that is called like a benchmark.
    """
    if db is None:
        return [], {}
    from concord.runs.registry import BENCHMARKS  # loads every benchmark

    if study in BENCHMARKS:
        raise ImportRefused(f"“{study}” is the name of a benchmark. Give the study another name.")
    imported = [name for name in conversations.benchmark_names(db) if name not in BENCHMARKS]
    stored_ids = conversations.existing(db, items)
    for name in dict.fromkeys([study, *imported]):
        stored_ids |= conversations.existing(db, [f"{name}/{item}" for item in items])
    return imported, stored_ids


def _refuse_others(table: RatingTable, rubric: Numbered, unknown: Sequence[str], per_turn: bool) -> None:
    """Refuse what judges by a rubric cannot meet: other conversations, criteria and units."""
    if unknown:
        raise ImportRefused(
            f"{table.file}: the item “{unknown[0]}” ({len(unknown)} in all) is not a stored conversation, "
            "so judges cannot have rated it. Import the conversations first, with the same ids."
        )
    criteria = set(table.criteria)
    questions = [c.name for c in rubric.rubric.criteria]
    if criteria.isdisjoint(questions):
        raise ImportRefused(
            f"{table.file} rates {', '.join(sorted(criteria))}, but the rubric has other criteria: "
            f"{', '.join(questions)}. Use the same names."
        )
    if per_turn != rubric.rubric.per_turn:
        wants = "single replies: give each line a turn" if rubric.rubric.per_turn else "whole conversations"
        raise ImportRefused(f"{table.file} does not rate what the rubric does, {wants}.")


def _per_turn(table: RatingTable, existing: Study | None, conversation_criteria: Collection[str]) -> bool:
    """Whether turns are rated: on the criteria in `conversation_criteria` conversations are, beside turns.
    Where turns are not, a judge may still rate them. Raises ImportRefused for a rating of the other kind.
    """
    has_turns = any(question.turn for question in table.questions if question.rater.kind != "judge")
    per_turn = existing.per_turn if existing else bool(conversation_criteria) or has_turns
    for question, position in zip(table.questions, table.first, strict=True):
        of_turns = per_turn and question.criterion not in conversation_criteria
        if of_turns and not question.turn:
            raise ImportRefused(
                f"{table.location(position)}, has no turn: “{question.criterion}” is rated turn by "
                "turn. Give the line a "
                "turn, or import it as another study."
            )
        if (
            question.turn
            and not of_turns
            and (question.criterion in conversation_criteria or question.rater.kind != "judge")
        ):
            raise ImportRefused(
                f"{table.location(position)}, has a turn: “{question.criterion}” is rated of whole "
                "conversations. "
                "Remove the turn, or import the line as another study."
            )
    return per_turn


def _item_cells(
    table: RatingTable, keys: Sequence[str], fresh: Collection[str]
) -> tuple[Sequence[Mapping[str, str]], set[str]]:
    """The cells of each item's last rating, with those of OF_ITEM that an earlier one has; and the extra
    columns that all lines of each new item have the same value in. Raises ImportRefused.
    """
    unread: Mapping[str, str] = {}
    last = [unread] * len(table.items)
    constant = {*table.extra}
    for position, (item, cells) in enumerate(zip(table.item, table.cells, strict=True)):
        if cells is (before := last[item]):  # which adds nothing
            continue
        item_values = {column: before[column] for column in OF_ITEM if column in before}
        for column, value in item_values.items():
            if cells.get(column, value) != value:
                first = next(
                    n
                    for n, rated_item in enumerate(table.item)
                    if rated_item == item and column in table.cells[n]
                )
                message = differs(column, table.items[item], table.lines[first])
                raise ImportRefused(f"{table.location(position)}: {message}")
        last[item] = cells if item_values.keys() <= cells.keys() else {**item_values, **cells}
        if before is not unread and keys[item] in fresh:
            constant -= {column for column in constant if cells.get(column, "") != before.get(column, "")}
    return last, constant


def _key(study: str, item: str, stored_ids: Mapping[str, int], imported: Sequence[str]) -> str:
    """The key of an item's conversation; imported ones begin with the name under which they are kept."""
    study_key = f"{study}/{item}"
    if study_key in stored_ids:
        return study_key
    if item in stored_ids or item.startswith(f"{study}/"):
        return item
    stored_keys = [key for name in imported if (key := f"{name}/{item}") in stored_ids]
    if len(stored_keys) > 1:
        raise ImportRefused(
            f"“{item}” may be {' or '.join(f'“{key}”' for key in stored_keys[:3])}. Write the full key "
            "as item_id."
        )
    return stored_keys[0] if stored_keys else study_key


def _conversations(
    db: Database | None,
    table: RatingTable,
    study: str,
    keys: Sequence[str],
    fresh: Mapping[str, int],
    new_conversations: Mapping[str, Conversation],
) -> tuple[_Described, set[str]]:
    """The new conversations, and the extra columns that describe items, not single ratings."""
    last, of_item = _item_cells(table, keys, fresh)
    facets = {c for c in of_item if _is_facet([last[number].get(c, "") for number in fresh.values()])}
    columns = [column for column in table.extra if column in of_item]

    def messages(number: int) -> tuple[Message, ...]:
        text, line = table.texts.text_of(number)
        return from_cell(text, f"{table.file}, line {line}") if text else ()

    def make(number: int) -> Conversation:
        if (item := table.items[number]) in new_conversations:
            return replace(new_conversations[item], benchmark=study, key=keys[number])
        values = {column: cell for column in columns if (cell := last[number].get(column))}
        return Conversation(
            benchmark=study,
            key=keys[number],
            player=last[number].get("model", "unknown"),
            messages=messages(number),
            language=last[number].get("language", "en"),
            facets={column: cell for column, cell in values.items() if column in facets},
            meta={column: cell for column, cell in values.items() if column not in facets},
        )

    for number, key in enumerate(keys):
        texts = messages(number)
        if texts and db and key not in fresh:
            stored_messages = conversations.load(db, key).messages
            if [(m.role, m.content) for m in stored_messages] != [(m.role, m.content) for m in texts]:
                raise ImportRefused(
                    f"{table.file}, line {table.texts.text_of(number)[1]}: the conversation “{key}” is "
                    "stored "
                    "with another text. Rename the item, or remove the text."
                )
    return _Described(fresh, make), of_item


def _is_facet(values: Sequence[str]) -> bool:
    """Whether a column can be a facet: short values, few of them, shared by several items."""
    different = set(values)
    is_divisible = len(different) <= min(FACET_VALUES, len(values) - 1)
    return is_divisible and all(len(value) <= FACET_LENGTH for value in different)


def _refuse_missing_turns(
    db: Database | None, table: RatingTable, keys: Sequence[str], new: Mapping[str, Conversation]
) -> None:
    """Refuse ratings of turns that the dialogue does not have."""
    turn_of = [question.turn for question in table.questions]
    if not any(turn_of):
        return
    turns: dict[int, set[int]] = {}
    for position, (item, question_number) in enumerate(zip(table.item, table.question, strict=True)):
        if (turn := turn_of[question_number]) is None:
            continue
        if item not in turns:
            key = keys[item]
            conversation = new.get(key) or (conversations.load(db, key) if db else None)
            assert conversation, "without a database every conversation is new"
            turns[item] = {t.number for t in conversation.turns() if t.reply is not None}
        # A conversation without text has no known turns.
        if turns[item] and turn not in turns[item]:
            raise ImportRefused(
                f"{table.location(position)}: “{table.items[item]}” has no reply in turn {turn}; "
                f"turns count from 1 to {max(turns[item])}."
            )


def _criteria(
    table: RatingTable,
    existing: Study | None,
    registered: Mapping[str, Criterion],
    scales: Mapping[str, Scale],
    uncounted: Sequence[str],
    by_rubric: Mapping[str, Criterion],
) -> tuple[Criterion, ...]:
    """The criteria: for a new study all that the file rates; a known study gains those that people rate."""
    raters: dict[str, list[Rater]] = {"human": [], "judge": []}
    for rater in table.raters:
        raters["judge" if rater.kind == "judge" else "human"].append(rater)
    scores = np.array(table.scores)
    by_people = {name: table.places(name, raters["human"]) for name in table.criteria}
    rated = table.criteria
    for name in (*scales, *uncounted):
        if name and name not in rated:
            raise ImportRefused(f"{table.file} has no ratings on “{name}”. Its criteria: {', '.join(rated)}.")
    study_criteria = criteria_by_name(existing.criteria) if existing else {}
    criteria = list(study_criteria.values())
    for name in rated:
        if name in study_criteria or (existing and not len(by_people[name])):
            continue
        people = scores[by_people[name]]
        registered_criterion = registered.get(name)
        declared = scales.get(name, scales.get(""))
        if name in by_rubric:
            criterion = by_rubric[name]
        elif declared is not None:
            criterion = Criterion(
                name, registered_criterion.statement if registered_criterion else name, declared
            )
        elif registered_criterion and all(
            score in registered_criterion.scale for score in set(people.tolist())
        ):
            criterion = registered_criterion
        else:
            of_judges = {f"{j.name} {j.variant}": scores[table.places(name, [j])] for j in raters["judge"]}
            guess = shared_scale(
                people, {j: judge_scores for j, judge_scores in of_judges.items() if len(judge_scores)}, None
            ).scale
            assert guess is not None, "a criterion of the file has scores"
            criterion = Criterion(name, name, guess)
        criteria.append(replace(criterion, counted=False) if name in uncounted else criterion)
    for criterion in criteria:
        scale = criterion.scale
        places = by_people.get(criterion.name)
        if scale.guessed or places is None:
            continue
        outside = [score for score in dict.fromkeys(scores[places].tolist()) if score not in scale]
        for position in places[scores[places] == outside[0]][:1].tolist() if outside else ():
            raise ImportRefused(
                f"{table.location(position)}: the score {outside[0]:g} is not on the scale of "
                f"“{criterion.name}” "
                f"({scale.low:g} to {scale.high:g}). Correct it, or the scale."
            )
    return tuple(criteria)
