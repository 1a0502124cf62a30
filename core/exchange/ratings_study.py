"""Make a study of a ratings file: match its items with conversations and its criteria with scales."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, overload

import numpy as np
from sqlite_utils import Database

from concord.conversation import Conversation, Unit
from concord.errors import ImportRefused
from concord.exchange.dialogue import from_cell
from concord.exchange.incoming import Given, Incoming
from concord.exchange.ratings_csv import OF_ITEM, RatingLine, RatingsFile
from concord.questions import Scale
from concord.rating import Criterion
from concord.store import conversations, ratings, studies
from concord.store.conversations import Filter
from concord.store.studies import Study
from concord.studies.scales import shared_scale

if TYPE_CHECKING:
    from concord.rubrics.shelf import Numbered

FACET_LENGTH, FACET_VALUES = 80, 100


@dataclass
class _Item:
    """What the lines of one item say about it: each column's value, and the first line that gives it."""

    cells: dict[str, tuple[str, int]] = field(default_factory=dict)
    extra: Mapping[str, str] = field(default_factory=dict)


def incoming(
    db: Database | None,
    table: RatingsFile,
    study: str,
    *,
    title: str = "",
    scales: Mapping[str, Scale] | None = None,
    uncounted: Sequence[str] = (),
    rubric: Numbered | None = None,
) -> Incoming:
    """The study of a file, its items matched with the conversations of this workspace.

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
            f"The study “{study}” is rated by {by}. Give the import another name with --study, or leave out "
            "--rubric."
        )
    by_rubric = {c.name: c for c in rubric.rubric.criteria} if rubric else {}
    questions = existing.criteria if existing else tuple(by_rubric.values())
    per_turn = _per_turn(table, existing, {c.name for c in questions if c.whole})
    items = _items(table)
    imported, stored = _stored(db, study, items)
    key_of = {item: _key(study, item, stored, imported) for item in items}
    if len(set(key_of.values())) < len(items):
        twice = next(item for item in items if f"{study}/{item}" in items)
        raise ImportRefused(
            f"{table.file}: “{twice}” and “{study}/{twice}” are the same item. Rename one of them."
        )
    if rubric:
        _refuse_others(table, rubric, [item for item in items if key_of[item] not in stored], per_turn)
    adds = existing is None and any(key not in stored for key in key_of.values())
    if adds and db and conversations.count(db, Filter(benchmark=study)):
        raise ImportRefused(
            f"“{study}” is a benchmark of this workspace, and the file's items would be counted with its "
            "conversations. Give the study another name with --study."
        )
    new, of_item = _conversations(db, table, study, items, key_of, stored)
    _refuse_missing_turns(db, table, key_of, new)
    scopes = conversations.benchmarks_of(db, list(key_of.values())) if db else ()
    registered = {c.name: c for scope in scopes for c in ratings.criteria(db, scope)} if db else {}
    criteria = _criteria(table, existing, registered, scales or {}, uncounted, by_rubric)
    about = {"rubric": rubric.noted} if rubric else {}
    base = existing or Study(study, (), title=title, source="ratings", per_turn=per_turn, meta=about)
    given = _Ratings(table, key_of, of_item, frozenset(new))
    return Incoming(replace(base, criteria=criteria), given, new, table.file)


@dataclass(frozen=True)
class _Ratings(Sequence[Given]):
    """A file's ratings, each made when it is asked for: a million at once would take 200 MB.

    `of_item` are the columns that describe the items in `new`, not single ratings.
    """

    table: RatingsFile
    keys: Mapping[str, str]
    of_item: Collection[str]
    new: Collection[str]

    def __len__(self) -> int:
        return len(self.table.lines)

    @overload
    def __getitem__(self, at: int) -> Given: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Given]: ...
    def __getitem__(self, at: int | slice) -> Given | Sequence[Given]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        line, meta = self.table.lines[at], None
        key = self.keys[line.item]
        if line.cells:
            own = ["comment", *(c for c in self.table.extra if c not in self.of_item or key not in self.new)]
            beside = {c: line.cells[c] for c in own if c in line.cells}
            meta = json.dumps(beside, ensure_ascii=False) if beside else None
        reasons, created = line.cells.get("explanation", ""), line.cells.get("created", "")
        rating = (line.criterion, line.rater, line.score, line.repeat, reasons, meta, created)
        return Given(Unit(key, line.turn), *rating, self.table.where(line))


def _stored(db: Database | None, study: str, items: Iterable[str]) -> tuple[list[str], dict[str, int]]:
    """The names under which conversations were imported, and the stored ones that items may be."""
    if db is None:
        return [], {}
    from concord.runs.registry import BENCHMARKS  # loads every benchmark

    imported = [name for name in conversations.benchmark_names(db) if name not in BENCHMARKS]
    known_as = [*items, *(f"{name}/{item}" for name in dict.fromkeys([study, *imported]) for item in items)]
    return imported, conversations.existing(db, known_as)


def _refuse_others(table: RatingsFile, rubric: Numbered, unknown: Sequence[str], per_turn: bool) -> None:
    """Refuse what judges by a rubric cannot meet: other conversations, criteria and units."""
    if unknown:
        raise ImportRefused(
            f"{table.file}: the item “{unknown[0]}” ({len(unknown)} in all) is no stored conversation, so no "
            "judge can have rated it by the rubric. Import the conversations first, under the same ids."
        )
    named = {line.criterion for line in table.lines}
    questions = [c.name for c in rubric.rubric.criteria]
    if named.isdisjoint(questions):
        raise ImportRefused(
            f"{table.file} rates {', '.join(sorted(named))}, of which the rubric asks nothing; it asks "
            f"{', '.join(questions)}. Give criteria the same names."
        )
    if per_turn != rubric.rubric.per_turn:
        wants = "single replies: give each line a turn" if rubric.rubric.per_turn else "whole conversations"
        raise ImportRefused(f"{table.file} does not rate what the rubric does, {wants}.")


def _per_turn(table: RatingsFile, existing: Study | None, whole: Collection[str]) -> bool:
    """Whether turns are rated; on the criteria in `whole` conversations are, beside turns."""
    lines = [line for line in table.lines if line.criterion not in whole]
    if turned := next((x for x in table.lines if x.criterion in whole and x.turn is not None), None):
        raise ImportRefused(
            f"{table.where(turned)}: “{turned.criterion}” is asked of the conversation as a whole. "
            "Remove the turn."
        )
    people = [line for line in lines if line.rater.kind == "human"]
    with_turn = next((line for line in people if line.turn is not None), None)
    without = next((line for line in people if line.turn is None), None)
    if with_turn and without:
        raise ImportRefused(
            f"{table.where(without)}, has no turn and line {with_turn.number} has one: a study rates either "
            "turns or whole conversations. Import the two kinds as two studies."
        )
    per_turn = existing.per_turn if existing else bool(whole) or with_turn is not None
    wrong = (without if per_turn else with_turn) if existing else None
    if wrong is not None:
        what = "turns; give the line a turn" if per_turn else "whole conversations; remove the turn"
        raise ImportRefused(f"{table.where(wrong)}: the study rates {what}, or import another study.")
    lost = next((line for line in lines if per_turn and line.turn is None), None)
    if lost is not None:
        raise ImportRefused(
            f"{table.where(lost)}, has no turn, while people rate turns: it could not be compared. "
            "Give it a turn, or import it as another study."
        )
    return per_turn


def _items(table: RatingsFile) -> dict[str, _Item]:
    items: dict[str, _Item] = {}
    for line in table.lines:
        extra = {c: line.cells.get(c, "") for c in table.extra}
        if (item := items.get(line.item)) is None:
            item = items[line.item] = _Item(extra=extra)
        elif not line.cells and not extra:
            continue
        for column in OF_ITEM:
            if (value := line.cells.get(column)) is not None:
                first_value, number = item.cells.setdefault(column, (value, line.number))
                if first_value != value:
                    raise ImportRefused(
                        f"{table.where(line)}: the {column} of “{line.item}” differs from that in line "
                        f"{number}. Make them the same, or give it once."
                    )
        item.extra = {c: value for c, value in item.extra.items() if value == extra[c]}
    return items


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
            f"“{item}” may be {' or '.join(f'“{key}”' for key in there[:3])}. Write the whole key as item_id."
        )
    return there[0] if there else own


def _conversations(
    db: Database | None,
    table: RatingsFile,
    study: str,
    items: Mapping[str, _Item],
    key_of: Mapping[str, str],
    stored: Mapping[str, int],
) -> tuple[dict[str, Conversation], set[str]]:
    """The new conversations, and the extra columns that describe items, not single ratings."""
    fresh = {item: about for item, about in items.items() if key_of[item] not in stored}
    of_item = {c for c in table.extra if all(c in about.extra for about in fresh.values())}
    facets = {c for c in of_item if _is_facet([about.extra[c] for about in fresh.values()])}
    new = {}
    for item, about in items.items():
        if item not in fresh and "text" not in about.cells:
            continue
        text, number = about.cells.get("text", ("", 0))
        messages = from_cell(text, table.where(number)) if text else ()
        if item not in fresh and db:
            there = conversations.load(db, key_of[item]).messages
            if [(m.role, m.content) for m in there] != [(m.role, m.content) for m in messages]:
                raise ImportRefused(
                    f"{table.where(number)}: the conversation “{key_of[item]}” is stored with "
                    "another text. Rename the item, or leave out the text."
                )
            continue
        new[key_of[item]] = Conversation(
            benchmark=study,
            key=key_of[item],
            player=about.cells.get("model", ("unknown", 0))[0],
            messages=messages,
            language=about.cells.get("language", ("en", 0))[0],
            facets={c: about.extra[c] for c in table.extra if c in facets and about.extra[c]},
            meta={c: about.extra[c] for c in table.extra if c in of_item - facets and about.extra[c]},
        )
    return new, of_item


def _is_facet(values: Sequence[str]) -> bool:
    """Whether a column can be a facet: short values, few of them, shared by several items."""
    different = set(values)
    few = len(different) <= min(FACET_VALUES, len(values) - 1)
    return few and all(len(value) <= FACET_LENGTH for value in different)


def _refuse_missing_turns(
    db: Database | None, table: RatingsFile, key_of: Mapping[str, str], new: Mapping[str, Conversation]
) -> None:
    """Refuse ratings of turns that the dialogue does not have."""
    turns: dict[str, set[int]] = {}
    for line in table.lines:
        key = key_of[line.item]
        if line.turn is None:
            continue
        if key not in turns:
            conversation = new.get(key) or (conversations.load(db, key) if db else None)
            assert conversation, "without a database every conversation is new"
            turns[key] = {t.number for t in conversation.turns() if t.reply is not None}
        # A conversation without text has no known turns.
        if turns[key] and line.turn not in turns[key]:
            raise ImportRefused(
                f"{table.where(line)}: “{line.item}” has no reply in turn {line.turn}; "
                f"turns count from 1 to {max(turns[key])}."
            )


def _criteria(
    table: RatingsFile,
    existing: Study | None,
    registered: Mapping[str, Criterion],
    scales: Mapping[str, Scale],
    uncounted: Sequence[str],
    by_rubric: Mapping[str, Criterion],
) -> tuple[Criterion, ...]:
    """The criteria: for a new study all that the file rates; a known study gains those that people rate."""
    people: dict[str, list[RatingLine]] = {}
    judges: dict[str, list[RatingLine]] = {}
    for line in table.lines:
        (people if line.rater.kind == "human" else judges).setdefault(line.criterion, []).append(line)
    named = dict.fromkeys(line.criterion for line in table.lines)
    for name in (*scales, *uncounted):
        if name and name not in named:
            raise ImportRefused(f"{table.file} rates nothing on “{name}”. Its criteria: {', '.join(named)}.")
    there = {c.name: c for c in existing.criteria} if existing else {}
    criteria = list(there.values())
    for name in named:
        if name in there or (existing and name not in people):
            continue
        usual, declared = registered.get(name), scales.get(name, scales.get(""))
        if name in by_rubric:
            criterion = by_rubric[name]
        elif declared is not None:
            criterion = Criterion(name, usual.statement if usual else name, declared)
        elif usual and all(line.score in usual.scale for line in people.get(name, ())):
            criterion = usual
        else:
            criterion = Criterion(name, name, _guessed(people.get(name, ()), judges.get(name, ())))
        criteria.append(replace(criterion, counted=False) if name in uncounted else criterion)
    for criterion in criteria:
        scale = criterion.scale
        for line in () if scale.guessed else people.get(criterion.name, ()):
            if line.score not in scale:
                raise ImportRefused(
                    f"{table.where(line)}: the score {line.score:g} is not on the scale of "
                    f"“{criterion.name}” ({scale.low:g} to {scale.high:g}). Correct it, or the scale."
                )
    return tuple(criteria)


def _guessed(people: Collection[RatingLine], judges: Collection[RatingLine]) -> Scale:
    """The scale of a criterion for which none is declared: of people's scores and those of judges on it."""
    of_judges: dict[str, list[float]] = {}
    for line in judges:
        of_judges.setdefault(f"{line.rater.name} {line.rater.variant}", []).append(line.score)
    scale = shared_scale(
        np.array([line.score for line in people]),
        {judge: np.array(scores) for judge, scores in of_judges.items()},
        None,
    ).scale
    assert scale is not None, "a criterion of the file has scores"
    return scale
