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
from concord.exchange.given import RatingTable
from concord.exchange.incoming import Incoming
from concord.exchange.ratings_csv import OF_ITEM, differs
from concord.questions import Scale
from concord.rating import Criterion, Rater
from concord.store import conversations, ratings, studies
from concord.store.conversations import Filter
from concord.store.studies import Study
from concord.studies.scales import shared_scale

if TYPE_CHECKING:
    from concord.rubrics.rubric_store import Numbered

FACET_LENGTH, FACET_VALUES = 80, 100


class _Described(Mapping[str, Conversation]):
    """The new conversations that a file describes, each made when it is asked for: memory holds none.

    `numbers` are those of their items, by key.
    """

    def __init__(self, numbers: Mapping[str, int], make: Callable[[int], Conversation]) -> None:
        self._numbers, self._make = numbers, make

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
    brought: Mapping[str, Conversation] = {},
) -> Incoming:
    """The study of a file, its items matched with the conversations of this workspace, or those `brought`.

    An item is the stored conversation “study/item_id”, “item_id” or one imported under another name with
    this id, else a new one, “study/item_id”. The study rates turns if people's lines have a turn. With a
    rubric its questions are those of the same names, and judges who rated by it stand beside the people: all
    items are then stored conversations, and at least one criterion is the rubric's. Raises ImportRefused for
    lines that contradict each other or the workspace.
    """
    existing = studies.get(db, study) if db and study in studies.names(db) else None
    if rubric and existing and existing.rubric != rubric.rubric.name:
        by = f"the rubric {existing.rubric}" if existing.rubric else "no rubric"
        raise ImportRefused(
            f"The study “{study}” is rated by {by}. Give the import another name with --study, or remove "
            "--rubric."
        )
    by_rubric = {c.name: c for c in rubric.rubric.criteria} if rubric else {}
    questions = existing.criteria if existing else tuple(by_rubric.values())
    per_turn = _per_turn(table, existing, {c.name for c in questions if c.whole})
    imported, stored = _stored(db, study, table.items)
    keys = [_key(study, item, stored, imported) for item in table.items]
    if len(set(keys)) < len(keys):
        names = {*table.items}
        twice = next(item for item in table.items if f"{study}/{item}" in names)
        raise ImportRefused(
            f"{table.file}: “{twice}” and “{study}/{twice}” are the same item. Rename one of them."
        )
    fresh = {key: number for number, key in enumerate(keys) if key not in stored}
    if rubric:
        _refuse_others(table, rubric, [table.items[number] for number in fresh.values()], per_turn)
    if existing is None and fresh and db and conversations.count(db, Filter(benchmark=study)):
        raise ImportRefused(
            f"“{study}” is a benchmark of this workspace, so the file's items would be mixed with its "
            "conversations. Give the study another name with --study."
        )
    new, of_item = _conversations(db, table, study, keys, fresh, brought)
    _refuse_missing_turns(db, table, keys, new)
    scopes = conversations.benchmarks_of(db, [key for key in keys if key in stored]) if db else ()
    registered = {c.name: c for scope in scopes for c in ratings.criteria(db, scope)} if db else {}
    criteria = _criteria(table, existing, registered, scales or {}, uncounted, by_rubric)
    version = rubric.noted if rubric else None
    base = existing or Study(
        study, (), title=title, source="ratings", per_turn=per_turn, asked_rubric=version
    )
    given = replace(table, items=keys, of_item=frozenset(of_item), new=new)
    return Incoming(replace(base, criteria=criteria), given, new)


def _stored(db: Database | None, study: str, items: Sequence[str]) -> tuple[list[str], dict[str, int]]:
    """The names under which conversations were imported, and the stored ones that items may be. Raises
    ImportRefused for a study that is called like a benchmark.
    """
    if db is None:
        return [], {}
    from concord.runs.registry import BENCHMARKS  # loads every benchmark

    if study in BENCHMARKS:
        raise ImportRefused(f"“{study}” is the name of a benchmark. Give the study another name.")
    imported = [name for name in conversations.benchmark_names(db) if name not in BENCHMARKS]
    stored = conversations.existing(db, items)
    for name in dict.fromkeys([study, *imported]):
        stored |= conversations.existing(db, [f"{name}/{item}" for item in items])
    return imported, stored


def _refuse_others(table: RatingTable, rubric: Numbered, unknown: Sequence[str], per_turn: bool) -> None:
    """Refuse what judges by a rubric cannot meet: other conversations, criteria and units."""
    if unknown:
        raise ImportRefused(
            f"{table.file}: the item “{unknown[0]}” ({len(unknown)} in all) is not a stored conversation, "
            "so judges cannot have rated it. Import the conversations first, with the same ids."
        )
    named = set(table.criteria)
    questions = [c.name for c in rubric.rubric.criteria]
    if named.isdisjoint(questions):
        raise ImportRefused(
            f"{table.file} rates {', '.join(sorted(named))}, but the rubric has other criteria: "
            f"{', '.join(questions)}. Use the same names."
        )
    if per_turn != rubric.rubric.per_turn:
        wants = "single replies: give each line a turn" if rubric.rubric.per_turn else "whole conversations"
        raise ImportRefused(f"{table.file} does not rate what the rubric does, {wants}.")


def _per_turn(table: RatingTable, existing: Study | None, whole: Collection[str]) -> bool:
    """Whether turns are rated: on the criteria in `whole` conversations are, beside turns. Where turns are
    not, a judge may still rate them. Raises ImportRefused for a rating of the other kind.
    """
    turned = any(asked.turn for asked in table.asked if asked.rater.kind != "judge")
    per_turn = existing.per_turn if existing else bool(whole) or turned
    for asked, at in zip(table.asked, table.first, strict=True):
        of_turns = per_turn and asked.criterion not in whole
        if of_turns and not asked.turn:
            raise ImportRefused(
                f"{table.where(at)}, has no turn: “{asked.criterion}” is rated turn by turn. Give the line a "
                "turn, or import it as another study."
            )
        if asked.turn and not of_turns and (asked.criterion in whole or asked.rater.kind != "judge"):
            raise ImportRefused(
                f"{table.where(at)}, has a turn: “{asked.criterion}” is rated of whole conversations. "
                "Remove the turn, or import the line as another study."
            )
    return per_turn


def _about(
    table: RatingTable, keys: Sequence[str], fresh: Collection[str]
) -> tuple[Sequence[Mapping[str, str]], set[str]]:
    """The cells of each item's last rating, with those of OF_ITEM that an earlier one has; and the extra
    columns that all lines of each new item have the same value in. Raises ImportRefused.
    """
    unread: Mapping[str, str] = {}
    last, same = [unread] * len(table.items), {*table.extra}
    for at, (item, cells) in enumerate(zip(table.item, table.cells, strict=True)):
        if cells is (before := last[item]):  # which adds nothing
            continue
        kept = {column: before[column] for column in OF_ITEM if column in before}
        for column, value in kept.items():
            if cells.get(column, value) != value:
                first = next(n for n, of in enumerate(table.item) if of == item and column in table.cells[n])
                message = differs(column, table.items[item], table.lines[first])
                raise ImportRefused(f"{table.where(at)}: {message}")
        last[item] = cells if kept.keys() <= cells.keys() else {**kept, **cells}
        if before is not unread and keys[item] in fresh:
            same -= {column for column in same if cells.get(column, "") != before.get(column, "")}
    return last, same


def _key(study: str, item: str, stored: Mapping[str, int], imported: Sequence[str]) -> str:
    """The key of an item's conversation; imported ones begin with the name under which they are kept."""
    own = f"{study}/{item}"
    if own in stored:
        return own
    if item in stored or item.startswith(f"{study}/"):
        return item
    there = [key for name in imported if (key := f"{name}/{item}") in stored]
    if len(there) > 1:
        raise ImportRefused(
            f"“{item}” may be {' or '.join(f'“{key}”' for key in there[:3])}. Write the full key as item_id."
        )
    return there[0] if there else own


def _conversations(
    db: Database | None,
    table: RatingTable,
    study: str,
    keys: Sequence[str],
    fresh: Mapping[str, int],
    brought: Mapping[str, Conversation],
) -> tuple[_Described, set[str]]:
    """The new conversations, and the extra columns that describe items, not single ratings."""
    last, of_item = _about(table, keys, fresh)
    facets = {c for c in of_item if _is_facet([last[number].get(c, "") for number in fresh.values()])}
    columns = [column for column in table.extra if column in of_item]

    def messages(number: int) -> tuple[Message, ...]:
        text, line = table.texts.of(number)
        return from_cell(text, f"{table.file}, line {line}") if text else ()

    def make(number: int) -> Conversation:
        if (item := table.items[number]) in brought:
            return replace(brought[item], benchmark=study, key=keys[number])
        about = {column: cell for column in columns if (cell := last[number].get(column))}
        return Conversation(
            benchmark=study,
            key=keys[number],
            player=last[number].get("model", "unknown"),
            messages=messages(number),
            language=last[number].get("language", "en"),
            facets={column: cell for column, cell in about.items() if column in facets},
            meta={column: cell for column, cell in about.items() if column not in facets},
        )

    for number, key in enumerate(keys):
        said = messages(number)
        if said and db and key not in fresh:
            there = conversations.load(db, key).messages
            if [(m.role, m.content) for m in there] != [(m.role, m.content) for m in said]:
                raise ImportRefused(
                    f"{table.file}, line {table.texts.of(number)[1]}: the conversation “{key}” is stored "
                    "with another text. Rename the item, or remove the text."
                )
    return _Described(fresh, make), of_item


def _is_facet(values: Sequence[str]) -> bool:
    """Whether a column can be a facet: short values, few of them, shared by several items."""
    different = set(values)
    few = len(different) <= min(FACET_VALUES, len(values) - 1)
    return few and all(len(value) <= FACET_LENGTH for value in different)


def _refuse_missing_turns(
    db: Database | None, table: RatingTable, keys: Sequence[str], new: Mapping[str, Conversation]
) -> None:
    """Refuse ratings of turns that the dialogue does not have."""
    turn_of = [asked.turn for asked in table.asked]
    if not any(turn_of):
        return
    turns: dict[int, set[int]] = {}
    for at, (item, by) in enumerate(zip(table.item, table.by, strict=True)):
        if (turn := turn_of[by]) is None:
            continue
        if item not in turns:
            key = keys[item]
            conversation = new.get(key) or (conversations.load(db, key) if db else None)
            assert conversation, "without a database every conversation is new"
            turns[item] = {t.number for t in conversation.turns() if t.reply is not None}
        # A conversation without text has no known turns.
        if turns[item] and turn not in turns[item]:
            raise ImportRefused(
                f"{table.where(at)}: “{table.items[item]}” has no reply in turn {turn}; "
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
    named = table.criteria
    for name in (*scales, *uncounted):
        if name and name not in named:
            raise ImportRefused(f"{table.file} has no ratings on “{name}”. Its criteria: {', '.join(named)}.")
    there = {c.name: c for c in existing.criteria} if existing else {}
    criteria = list(there.values())
    for name in named:
        if name in there or (existing and not len(by_people[name])):
            continue
        people = scores[by_people[name]]
        usual, declared = registered.get(name), scales.get(name, scales.get(""))
        if name in by_rubric:
            criterion = by_rubric[name]
        elif declared is not None:
            criterion = Criterion(name, usual.statement if usual else name, declared)
        elif usual and all(score in usual.scale for score in set(people.tolist())):
            criterion = usual
        else:
            of_judges = {f"{j.name} {j.variant}": scores[table.places(name, [j])] for j in raters["judge"]}
            guess = shared_scale(people, {j: of for j, of in of_judges.items() if len(of)}, None).scale
            assert guess is not None, "a criterion of the file has scores"
            criterion = Criterion(name, name, guess)
        criteria.append(replace(criterion, counted=False) if name in uncounted else criterion)
    for criterion in criteria:
        scale, places = criterion.scale, by_people.get(criterion.name)
        if scale.guessed or places is None:
            continue
        off = [score for score in dict.fromkeys(scores[places].tolist()) if score not in scale]
        for at in places[scores[places] == off[0]][:1].tolist() if off else ():
            raise ImportRefused(
                f"{table.where(at)}: the score {off[0]:g} is not on the scale of “{criterion.name}” "
                f"({scale.low:g} to {scale.high:g}). Correct it, or the scale."
            )
    return tuple(criteria)
