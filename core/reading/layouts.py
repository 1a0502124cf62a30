"""How a table holds its ratings, and the voices in it: who answers what, in which column and rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from shlex import quote
from typing import Any

import numpy as np

from concord import messages
from concord.codes import ColumnRole, Domain, Layout, RoleReason
from concord.errors import not_found
from concord.rating import RaterKind
from concord.reading import items as items_of
from concord.reading import pairs as pairs_of
from concord.reading.cells import is_blank, listed, number_of, one_of_two
from concord.reading.column import SourceColumn
from concord.reading.items import Ints, Items, id_text
from concord.reading.names import holds_part
from concord.reading.options import NO_ID, TableOptions
from concord.reading.profile import Profile
from concord.reading.roles import (
    MOST_JUDGES,
    RaterColumn,
    WideRoles,
    about_by_name,
    computed_by_name,
)
from concord.reading.table import SourceTable, of_records
from concord.reading.vocabulary import column_in_list, kinds_by_name, tokens, word_set, words

ORDERS = (None, False, True)
"""Whether the first of two was shown first, by the code of a row."""
MOST_GROUPS = 60
MOST_CRITERIA = 60
MOST_RUNS = 50
LONGEST_LIST = 50
ENOUGH = 0.8
KIND_BY_TITLE: Mapping[str, RaterKind] = {"annotators": "human", "judges": "judge", "gold": "gold"}
"""Whose answers columns hold, as it is said."""


@dataclass(frozen=True, eq=False)
class Voice:
    """The answers of one rater on one criterion (“” for the only one), in a column and some of its rows.

    `repeat` tells runs of a judge apart. Without `rows` it is every row. Of pairs `straight` says whether the
    first of the two was shown first; None where it is not known.
    """

    criterion: str
    rater: str
    kind: RaterKind
    column: str
    rows: Ints | None = None
    repeat: int = 0
    straight: bool | None = None


@dataclass(eq=False)
class Voices:
    """What a table holds: its voices, its items, and what its columns were taken for, a line each."""

    table: SourceTable
    layout: Layout
    voices: list[Voice]
    items: Items
    profiles: Mapping[str, Profile]
    lines: dict[str, str] = field(default_factory=dict)
    used_columns: set[str] = field(default_factory=set)
    groups: tuple[str, ...] = ()
    column_roles: Mapping[str, tuple[ColumnRole, RoleReason]] = field(default_factory=dict)


class Profiles(dict[str, Profile]):
    """The profiles of a table's columns."""

    def __init__(self, table: SourceTable) -> None:
        missing = frozenset(text for text in table.options.missing if text != NO_ID)
        super().__init__({name: Profile(column, missing) for name, column in table.columns.items() if name})


def voices_of(table: SourceTable) -> Voices:
    """The voices of a table. Raises ImportRefused where it is not known what its columns are."""
    table = _molten(_transposed(table))
    options = _check_names(table)
    table = pairs_of.paired(replace(table, options=options))
    profiles = Profiles(table)
    long = Long(table, profiles)
    if long.is_long:
        return long.voices()
    return _wide(table, profiles)


def _check_names(table: SourceTable) -> TableOptions:
    """The options with the columns that they name, in the table's case. Raises NotFound."""
    options = table.options
    single: dict[str, Any] = {}
    for option in ("id", "text", "rater", "score", "kind", "criterion_column", "run"):
        name = getattr(options, option)
        if name and not (option == "id" and name == NO_ID):
            single[option] = _one_column(table, name)
    group_columns = tuple(_one_column(table, name) for name in options.group_columns)
    other_columns = tuple(_one_column(table, name) for name in options.other_columns)
    return replace(options, group_columns=group_columns, other_columns=other_columns, **single)


def _one_column(table: SourceTable, name: str) -> str:
    if name in table.columns:
        return name
    folded = [column for column in table.columns if column.strip().casefold() == name.strip().casefold()]
    if len(folded) != 1:
        raise not_found("column", name, table.columns)
    return folded[0]


def _transposed(table: SourceTable) -> SourceTable:
    """A table with a row a rater and a column an item as one with a row an item."""
    names = [*table.columns]
    if table.size > MOST_JUDGES * 5 or len(names) < 3 or table.options.score:
        return table
    profiles = Profiles(table)
    first = (
        table.options.rater
        or column_in_list(names, "raters")
        or next(
            (name for name in names if not name.strip() or name.startswith("Unnamed:") or name == "id"),
            names[0],
        )
    )
    if first not in table.columns or not first:
        return table
    raters = [id_text(cell) for cell in table.cells(first)]
    criterion = table.listed_column("criteria")
    if criterion and criterion != first and len({*raters}) < len(raters):
        raters = [
            f"{name}_{id_text(cell)}" for name, cell in zip(raters, table.cells(criterion), strict=True)
        ]
    else:
        criterion = ""
    kinds = kinds_by_name(raters)
    stated_raters = {*table.options.raters}
    named_rater = first == table.options.rater or first.lower() in {w.lower() for w in words("raters")}
    if len({*raters}) < len(raters) or "" in raters:
        return table
    both_kinds = {kinds[rater] for rater in raters} >= {"human", "judge"} or bool(stated_raters & {*raters})
    rest = [name for name in names if name and name not in (first, criterion)]
    if not both_kinds:
        return table
    answering = [name for name in rest if profiles[name].answers.domain not in (Domain.TEXT, Domain.EMPTY)]
    columns_kinds = {*kinds_by_name(rest).values()} - {None}
    if not (both_kinds and answering and len(answering) == len(rest) and not columns_kinds):
        return table
    if not (named_rater or len(rest) > table.size) or len(rest) < 2:
        return table
    if column_in_list(rest, "ids") or column_in_list(rest, "scores"):
        return table
    cells = {name: table.cells(name) for name in rest}
    columns = {
        rater: SourceColumn(rater, [cells[name][row] for name in rest]) for row, rater in enumerate(raters)
    }
    columns_by_name = {"id": SourceColumn("id", [*rest]), **columns}
    return replace(
        table,
        columns=columns_by_name,
        size=len(rest),
        place=lambda row: f"column {rest[row]}",
        form=[*table.form, f"form: {messages.LAYOUTS[Layout.TRANSPOSED]} ({first} names raters)"],
        stated_raters=not criterion,
        options=replace(table.options, rater=""),
    )


def _molten(table: SourceTable) -> SourceTable:
    """A table with a cell a row, as pandas' melt writes it, as one with the columns that it names.

    The column of names, such as “variable”, holds those of people's and of judges' columns.
    """
    options = table.options
    if options.rater or options.score or options.kind or column_in_list(table.columns, "raters"):
        return table
    names = next((n for n in table.columns if n.lower() in words("molten") and _of_both_kinds(table, n)), "")
    value = next((n for n in table.columns if names and n.lower() in words("molten_values")), "")
    if not value:
        return table
    rest = [name for name in table.columns if name not in (names, value)]
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    places: list[int] = []
    cells = [table.cells(name) for name in rest]
    keys = [tuple(map(id_text, row)) for row in zip(*cells, strict=True)]
    for row, (key, title, cell) in enumerate(zip(keys, table.cells(names), table.cells(value), strict=True)):
        if key not in rows:
            rows[key] = {name: column[row] for name, column in zip(rest, cells, strict=True)}
            places.append(row)
        if str(title) in rows[key]:
            return table
        rows[key][str(title)] = cell
    if len(rows) * 2 > table.size:
        return table
    row_place = table.place
    wide = of_records(table.name, [*rows.values()], lambda row: row_place(places[row]))
    form = [*table.form, f"form: {messages.LAYOUTS[Layout.MOLTEN]} ({names} names columns)"]
    return replace(table, columns=wide.columns, size=wide.size, place=wide.place, form=form)


def _of_both_kinds(table: SourceTable, name: str) -> bool:
    """Whether the cells of a column name people and judges."""
    column = table.columns[name]
    if column.long or column.is_numeric or not 1 < len(column.coded[1]) <= MOST_CRITERIA:
        return False
    return {"human", "judge"} <= {*kinds_by_name(table.texts(name)).values()}


@dataclass(eq=False)
class Long:
    """A table with a rating a row, or a row an item and rater with a column a criterion."""

    table: SourceTable
    profiles: Mapping[str, Profile]

    @cached_property
    def kind(self) -> str:
        """The column that says of every row whose it is: people's or a judge's. “” without one."""
        if self.table.options.kind:
            return self.table.options.kind
        kind_columns = [
            name for name in self.table.columns if name.lower() in {w.lower() for w in words("kinds")}
        ]
        return next((name for name in kind_columns if self._says_kind(name)), "")

    def _says_kind(self, name: str) -> bool:
        texts = self.table.texts(name) if not self.profiles[name].column.long else []
        if name not in self.profiles or not 1 < len(texts) <= MOST_CRITERIA:
            return False
        return None not in {kind_of_source(text) for text in texts}

    @cached_property
    def rater(self) -> str:
        """The column that names the rater of each row; “” without one."""
        options = self.table.options
        if options.rater:
            return options.rater
        listed = [w.lower() for w in words("raters")]
        candidates = sorted(
            (name for name in self.table.columns if name.strip().lower() in listed and name != self.kind),
            key=lambda name: listed.index(name.strip().lower()),
        )
        for name in candidates:
            column = self.profiles[name].column
            if not column.long and self.table.texts(name) and name != self.table.options.score:
                return name
        return next((name for name in self.table.columns if self._names_raters(name)), "")

    def _names_raters(self, name: str) -> bool:
        """Whether a column called judge or the like names people and judges, as that of MT-Bench does."""
        column = self.profiles[name].column if name in self.profiles else None
        if column is None or column.long or column.is_numeric or len(tokens(name)) != 1:
            return False
        if not kinds_by_name([name])[name] or not 1 < len(column.coded[1]) <= MOST_CRITERIA * 10:
            return False
        return {"human", "judge"} <= {*kinds_by_name(self.table.texts(name)).values()}

    @cached_property
    def item(self) -> str:
        """The column of items, whose ids come again; “” without one."""
        if self.table.options.id:
            return self.table.options.id if self.table.options.id != NO_ID else ""
        other_roles = {self.rater, self.kind, self.score}
        listed = [w.lower() for w in words("ids")]
        candidates = sorted(
            (
                name
                for name in self.table.columns
                if name.strip().lower() in listed and name not in other_roles
            ),
            key=lambda name: listed.index(name.strip().lower()),
        )
        candidates += [
            name
            for name in self.table.columns
            if name not in candidates and name not in other_roles and _ends_as_id(name)
        ]
        candidates += [
            name
            for name in self.table.columns
            if name not in candidates
            and name not in other_roles
            and name.lower() in {*words("questions"), *words("texts")}
        ]
        named_one = next((name for name in candidates if self._comes_again(name)), "")
        return named_one or next((name for name in self.table.columns if self._tells_items(name)), "")

    def _tells_items(self, name: str) -> bool:
        """Whether a column of any name says which item each row is of: no rater has a value of it twice."""
        other_roles = {self.rater, self.kind, self.score, self.criterion_named}
        if name in other_roles or about_by_name(name) or not self._comes_again(name):
            return False
        rater_columns = [column for column in (self.rater or self.kind, self.criterion_named) if column]
        return _tells_apart(self.table, name, rater_columns) if rater_columns else False

    @cached_property
    def criterion_named(self) -> str:
        """The column that is called as those of criteria are; “” without one."""
        return self.table.options.criterion_column or self.table.listed_column("criteria")

    def _comes_again(self, name: str) -> bool:
        column = self.table.columns[name]
        if column.long:
            return not column.all_different
        return 1 < len({id_text(value).casefold() for value in column.coded[1]}) < self.table.size

    @cached_property
    def score(self) -> str:
        """The column of scores; “” where several hold answers."""
        options = self.table.options
        if options.score:
            return options.score
        other_roles = {self.rater, self.kind}
        listed = [w.lower() for w in words("scores")]
        candidates = sorted(
            (
                name
                for name in self.table.columns
                if _bare(name) in listed and name not in other_roles and self._may_answer(name)
            ),
            key=lambda name: listed.index(_bare(name)),
        )
        return candidates[0] if candidates else ""

    def _may_answer(self, name: str) -> bool:
        evidence = self.profiles[name].answers
        if evidence.domain is Domain.NUMBERS:
            return True
        return evidence.domain in (Domain.TWO, Domain.WORDS)

    @cached_property
    def answers(self) -> list[str]:
        """The columns of answers: that of scores, else all that may hold answers, each a criterion."""
        if self.score:
            return [self.score]
        listed = {
            word.lower()
            for names in ("texts", "questions", "groups", "criteria", "kinds", "raters", "repeats", "ids")
            for word in words(names)
        }
        options = self.table.options
        other_roles = {
            self.rater,
            self.kind,
            self.item,
            *options.group_columns,
            *options.other_columns,
            options.run,
        }
        may = [
            name
            for name, profile in self.profiles.items()
            if name not in other_roles
            and name.lower() not in listed
            and not about_by_name(_bare(name))
            and not _ends_as_id(name)
            and not computed_by_name(name)
            and name not in self.judge_columns
            and profile.may_answer
        ]
        answer_columns = [name for name in may if name.lower().startswith("answer.")]
        return answer_columns or [name for name in may if not name.lower().startswith("input.")]

    @cached_property
    def judge_columns(self) -> tuple[str, ...]:
        """The columns of judges beside ratings of people: one answer an item, on all of its rows."""
        options = self.table.options
        names = [name for name in options.judges if name in self.profiles]
        if names or self.kind or not self.rater or not self.item:
            return tuple(names)
        if "judge" in kinds_by_name(self.table.texts(self.rater)).values() or options.judges:
            return ()
        candidates = [
            name
            for name, profile in self.profiles.items()
            if name not in (self.rater, self.item, self.score, self.criterion_named, *options.group_columns)
            and profile.may_answer
            and not about_by_name(name)
            and not computed_by_name(name)
        ]
        kinds = kinds_by_name(candidates)
        fixed = [self.item, *filter(None, [self.criterion_named])]
        return tuple(
            name for name in candidates if kinds[name] == "judge" and _fixed(self.table, fixed, name)
        )

    @cached_property
    def criterion(self) -> str:
        """The column that names the criterion of each row; “” without one."""
        options = self.table.options
        if options.criterion_column:
            return options.criterion_column
        criterion_column = self.table.listed_column("criteria")
        if criterion_column and criterion_column not in (self.rater, self.item, self.kind, *self.answers):
            return criterion_column
        for name in self.table.columns:
            if name.lower() in words("criteria_or_name") and name not in (
                self.rater,
                self.item,
                self.kind,
                self.score,
            ):
                column = self.profiles[name].column
                if not column.long and 0 < len(self.table.texts(name)) <= MOST_CRITERIA:
                    return name
        return ""

    @cached_property
    def is_long(self) -> bool:
        """Whether rows are ratings."""
        options = self.table.options
        if options.rater or options.score or options.kind:
            if not (self.rater or self.kind):
                raise self.table.refusal(
                    "which column has the rater of each row?", "--rater", quote(self._likely_rater())
                )
            if not self.item:
                raise self.table.refusal(
                    "no column has repeated ids, so no two raters answer the same item. Give the column of "
                    "items:",
                    "--id COLUMN",
                )
            if not self.answers:
                raise self.table.refusal("which column has the answers?", "--score COLUMN")
            return True
        if not (self.rater or self.kind) or not self.item or not self.answers:
            return False
        wide = kinds_by_name(
            name
            for name in self.profiles
            if name not in (self.rater, self.kind, self.item, self.score)
            and not about_by_name(name)
            and name.lower()
            not in {w.lower() for w in (*words("raters"), *words("kinds"), *words("players"))}
            and self.profiles[name].may_answer
        )
        if {"human", "judge"} <= {*wide.values()} and not self.kind:
            return False
        return self.rater != "" or not any(wide.values())

    def _likely_rater(self) -> str:
        for name in self.table.columns:
            if {*tokens(name)} & {"worker", "annotator", "rater", "user", "coder", "who"}:
                return name
        return "COLUMN"

    def voices(self) -> Voices:
        """Who answers what."""
        table = self.table
        rater, notes = self._raters()
        names, kinds = self._kinds(rater)
        items, item_notes = self._items(rater)
        criterion = self.criterion
        criteria = self._criteria_codes(criterion)
        runs = self._runs(items, rater, criteria)
        voices = []
        present = (rater >= 0) & (items.of_row >= 0)
        for column in self.answers:
            order_codes = _order_codes(table)
            codes = np.stack([rater, criteria[0], runs[0], order_codes])[:, present]
            rows = np.flatnonzero(present)
            keys, inverse = np.unique(codes, axis=1, return_inverse=True)
            order = np.argsort(inverse.ravel(), kind="stable")
            ends = np.searchsorted(inverse.ravel()[order], np.arange(keys.shape[1] + 1))
            first_row = {n: rows[order[ends[n]]] for n in range(keys.shape[1])}
            for n in sorted(range(keys.shape[1]), key=lambda n: first_row[n]):
                rater_place, criterion_place, run, order_code = keys[:, n].tolist()
                run = 2 * run + (order_code == 1) if table.pairs is not None else run
                if not (kind := kinds.get(names[rater_place])):
                    continue
                of_criterion = column if len(self.answers) > 1 else ""
                if criterion:
                    of_criterion = criteria[1][criterion_place]
                voice_rows = rows[order[ends[n] : ends[n + 1]]]
                voices.append(
                    Voice(of_criterion, names[rater_place], kind, column, voice_rows, run, ORDERS[order_code])
                )
        layout = Layout.RATING_ROWS if self.score or len(self.answers) == 1 else Layout.RATER_ROWS
        voices += self._judge_voices(items, criteria)
        lines = {"form": messages.LAYOUTS[layout], "id": self.item}
        lines |= {"raters": self.rater} if self.rater else {}
        lines |= {"score": self.answers[0]} if len(self.answers) == 1 else {}
        lines |= {"kind": self.kind} if self.kind else {}
        lines |= {"criterion": criterion} if criterion else {}
        lines |= {"run": runs[1]} if runs[1] else {}
        table.form += [*notes, *item_notes]
        used_columns = {
            self.item,
            self.rater,
            self.kind,
            criterion,
            runs[1],
            *self.answers,
            *self.judge_columns,
        }
        return Voices(table, layout, voices, items, self.profiles, lines, used_columns)

    def _judge_voices(self, items: Items, criteria: tuple[Ints, list[str]]) -> list[Voice]:
        """The voices of judges in columns beside ratings of people: the first row of each item."""
        voices = []
        for column in self.judge_columns:
            answers = [answer for answer in self.answers if holds_part(column, _bare(answer))]
            if len(self.answers) > 1 and not answers:
                continue
            title = answers[0] if len(self.answers) > 1 else ""
            criterion_part = re.escape(_bare(title))
            for code in np.unique(criteria[0]).tolist():
                rows = np.flatnonzero((criteria[0] == code) & (items.of_row >= 0))
                first = np.unique(items.of_row[rows], return_index=True)[1]
                rater = re.sub(criterion_part, "", column, flags=re.I).strip(" _.-") if title else column
                voices.append(Voice(criteria[1][code] or title, rater, "judge", column, rows[np.sort(first)]))
        return voices

    def _raters(self) -> tuple[Ints, list[str]]:
        """Each row's rater by number, −1 where it has none, with a note of names that are one."""
        column = self.profiles[self.rater or self.kind]
        codes, values = column.column.coded
        texts = [id_text(value) for value in values]
        names: dict[str, int] = {}
        of_value = np.array(
            [names.setdefault(t, len(names)) if t else -1 for t in texts] + [-1], dtype=np.int64
        )
        self.names = [*names]
        rater = of_value[codes]
        folded: dict[str, list[int]] = {}
        for name, number in names.items():
            folded.setdefault(" ".join(name.casefold().split()), []).append(number)
        notes = []
        stated_raters = {*self.table.options.raters}
        item = self.table.columns[self.item].coded[0]
        for numbers in folded.values():
            if len(numbers) < 2 or sum(self.names[n] in stated_raters for n in numbers) > 1:
                continue
            items_of_raters = [{*item[rater == n].tolist()} for n in numbers]
            disjoint = sum(map(len, items_of_raters)) == len(set.union(*items_of_raters))
            alike_names = " and ".join(f"“{self.names[n]}”" for n in numbers)
            if disjoint:
                for n in numbers[1:]:
                    rater[rater == n] = numbers[0]
                notes.append(f"one rater: {alike_names}, which differ only in case or spaces")
            else:
                self.table.warnings.append(
                    f"{alike_names} differ only in case or spaces and rate the same items: two raters?"
                )
        if any(" ".join(str(v).split()) != str(v) for v in values if not is_blank(v)) and not notes:
            spaced = [str(v) for v in values if str(v).strip() != str(v)]
            if spaced and len(names) < len(values):
                notes.append(f"one rater: names with and without spaces, such as “{spaced[0]}”")
        return rater, notes

    def _kinds(self, rater: Ints) -> tuple[list[str], dict[str, RaterKind]]:
        """The names of raters, and the kind of each, as options, the column of kinds and names say."""
        from concord.reading.raters import kinds_of_raters

        present = [self.names[n] for n in np.unique(rater[rater >= 0]).tolist()]
        order = [name for name in self.names if name in present]
        stated_kinds: dict[str, RaterKind] = {}
        if self.kind:
            codes, values = self.profiles[self.kind].column.coded
            of_value = [kind_of_source(str(value)) for value in values]
            for name in order:
                rows = rater == self.names.index(name)
                kinds = {of_value[code] for code in np.unique(codes[rows]).tolist() if code >= 0} - {None}
                if len(kinds) == 1:
                    [kind] = kinds
                    stated_kinds[name] = kind
        table = self.table
        if self.judge_columns:
            stated_kinds.update({name: "human" for name, kind in kinds_by_name(order).items() if not kind})
            judges = tuple(name for name in table.options.judges if name not in self.judge_columns)
            options = replace(table.options, judges=judges)
            kinds_needed = [kind for kind in table.needed_kinds if kind != "judge"]
            table = replace(table, options=options, needed_kinds=kinds_needed)
        return self.names, kinds_of_raters(table, order, stated_kinds, self.rater or self.kind)

    def _items(self, rater: Ints) -> tuple[Items, list[str]]:
        """The items; ids that differ in case alone are one where nobody rates both."""
        column = self.table.columns[self.item]
        items = items_of.by_id(column)
        folded = items_of.by_id(column, folded=True)
        notes = []
        raw = {str(value) for value in column.coded[1] if not is_blank(value)}
        if len(raw) > len(items) and any(text != text.strip() for text in raw):
            notes.append("ids compared: without spaces around them")
        if folded.alike:
            pairs = np.stack([items.of_row, rater])
            keys = np.unique(pairs, axis=1).shape[1]
            after = np.unique(np.stack([folded.of_row, rater]), axis=1).shape[1]
            if keys == after:
                notes.append(f"ids compared: in any case ({folded.alike} differ only in case)")
                return folded, notes
        return items, notes

    def _criteria_codes(self, criterion: str) -> tuple[Ints, list[str]]:
        if not criterion:
            return np.zeros(self.table.size, dtype=np.int64), [""]
        codes, values = self.profiles[criterion].column.coded
        names: dict[str, int] = {}
        of_value = [names.setdefault(id_text(value), len(names)) for value in values]
        blank = names.setdefault("", len(names))
        return np.array([*of_value, blank], dtype=np.int64)[codes], [*names]

    def _runs(self, items: Items, rater: Ints, criteria: tuple[Ints, list[str]]) -> tuple[Ints, str]:
        """The run of each row, and its column; none unless somebody answers an item again."""
        none = np.zeros(self.table.size, dtype=np.int64)
        name = self.table.options.run
        if not name:
            keys = np.stack([items.of_row, rater, criteria[0]])
            if np.unique(keys, axis=1).shape[1] == self.table.size:
                return none, ""
            name = next(
                (
                    column
                    for column in self.table.columns
                    if column.lower() in words("repeats")
                    and column not in (self.rater, self.item, self.score)
                ),
                "",
            )
        if not name:
            return none, ""
        codes, values = self.profiles[name].column.coded
        order = sorted(
            range(len(values)),
            key=lambda n: (number_of(values[n]) is None, number_of(values[n]) or 0, str(values[n])),
        )
        place = np.zeros(len(values) + 1, dtype=np.int64)
        for rank, code in enumerate(order):
            place[code] = rank
        return place[codes], name


def _fixed(table: SourceTable, columns: Sequence[str], column: str) -> bool:
    """Whether all rows alike in some columns have one value of a column, or none; and some are alike."""
    codes = np.stack([table.columns[name].coded[0] for name in (*columns, column)])
    pairs = np.unique(codes[:, codes[-1] >= 0], axis=1)
    alike = np.unique(pairs[:-1], axis=1).shape[1]
    return bool(alike == pairs.shape[1] and alike < table.size)


def _order_codes(table: SourceTable) -> Ints:
    """The place of each row's order in `ORDERS`."""
    if table.pairs is None or table.pairs.straight is None:
        return np.zeros(table.size, dtype=np.int64)
    return np.where(np.isnan(table.pairs.straight), 0, 1 + np.nan_to_num(table.pairs.straight)).astype(
        np.int64
    )


def kind_of_source(text: str) -> RaterKind | None:
    """Whose ratings a source's name says they are: HUMAN, ANNOTATION; LLM, EVAL, API, model."""
    by_name = kinds_by_name([text])[text]
    if by_name:
        return by_name
    text_tokens = {*tokens(text)}
    if text_tokens & {"annotation", "annotations", "user", "review", "hand"}:
        return "human"
    if text_tokens & {"eval", "evaluation", "api", "code", "program", "model", "system", "script"}:
        return "judge"
    return "gold" if text_tokens & {*word_set("gold")} else None


def _bare(name: str) -> str:
    lowered = name.strip().lower()
    for prefix in ("answer.", "output:", "label.", "labels."):
        lowered = lowered.removeprefix(prefix)
    return lowered


def _ends_as_id(name: str) -> bool:
    name_tokens = tokens(name)
    lowered = name.lower().strip()
    return bool(name_tokens) and (
        name_tokens[-1] in ("id", "uuid", "guid", "key")
        or (
            len(lowered) > 3
            and lowered.endswith("id")
            and name_tokens[-1] not in ("valid", "invalid", "paid", "said")
        )
    )


def _wide(table: SourceTable, profiles: Mapping[str, Profile]) -> Voices:
    """The voices of a table with a column a rater, and perhaps a criterion."""
    expanded, parts = _lists(table, profiles)
    if parts:
        table = expanded
        profiles = Profiles(expanded)
    item = table.id
    if not item and not table.options.id:
        item = next((n for n in table.columns if _ends_as_id(n) and table.columns[n].all_different), "")
    criterion = _criterion_column(table, profiles, item)
    judge_name, run = _repeated_rows(table, profiles, item, criterion)
    other_roles = {
        item,
        criterion,
        *table.options.group_columns,
        *table.options.other_columns,
        table.options.run,
    }
    other_roles |= {judge_name, run} - {""}
    second = {*table.pairs.swapped.values(), *table.pairs.copies} if table.pairs else set()
    first = {name: profile for name, profile in profiles.items() if name not in second}
    roles = WideRoles(table, first, other_roles, judge_name).decide()
    table.warnings += roles.warnings
    role_columns = {item, criterion, judge_name, run, *(rater.column for rater in roles.raters), *second}
    role_columns.discard("")
    groups = groups_of(table, profiles, role_columns)
    if run and _differ_by_run(table, item, run, roles.raters):
        groups = (*groups, run)
        run = ""
    items = _items(table, item, groups, (criterion, judge_name, run), profiles, roles.raters)
    parts |= _runs_by_name(table, roles.raters)
    voices = _wide_voices(table, profiles, roles.raters, criterion, parts)
    if table.pairs:
        names = table.pairs.judges
        voices = [replace(voice, rater=names.get(voice.column, voice.rater)) for voice in voices]
    voices = _with_orders(table, _of_rows(table, voices, judge_name, run))
    layout = Layout.CRITERION_ROWS if criterion else Layout.WIDE
    lines = {"form": messages.LAYOUTS[layout]} if criterion else {}
    lines |= {"id": item} if item else {}
    lines |= {"criterion": criterion} if criterion else {}
    lines |= {"judge of each row": judge_name} if judge_name else {}
    lines |= {"run": run} if run else {}
    return Voices(table, layout, voices, items, profiles, lines, role_columns, groups, roles.other_columns)


def _repeated_rows(
    table: SourceTable, profiles: Mapping[str, Profile], item: str, criterion: str
) -> tuple[str, str]:
    """The column that names the judge of each row, and the one that numbers its runs, where these tell rows
    of
    one id apart; “” without one.
    """
    if not item or items_of.unique(table.columns[item]):
        return "", table.options.run
    fixed = [criterion] if criterion else []
    if table.pairs and table.pairs.straight is not None:
        codes = SourceColumn("", _order_codes(table))
        table = replace(table, columns={**table.columns, "": codes})
        fixed.append("")
    groups = groups_of(table, profiles, {item, criterion})
    if _tells_apart(table, item, [*fixed, *groups]) and not table.options.run:
        return "", ""
    runs = (
        [table.options.run]
        if table.options.run
        else [column for column in table.columns if _numbers_runs(column)]
    )
    judges = [name for name in table.columns if _names_judges(name, profiles)]
    for telling in ((), groups):
        for judge_name, run in [("", r) for r in runs] + [(j, r) for j in judges for r in ("", *runs)]:
            if _tells_apart(table, item, [*fixed, *telling, *filter(None, (judge_name, run))]):
                return judge_name, run
    return "", table.options.run


def _numbers_runs(name: str) -> bool:
    """Whether a column is called as one that numbers runs: run, run_idx, seed number."""
    if name.lower() in words("repeats"):
        return True
    first, *rest = tokens(name) or [""]
    return (
        bool(rest) and first in word_set("runs") and {*rest} <= {"id", "idx", "index", "number", "no", "num"}
    )


def _names_judges(name: str, profiles: Mapping[str, Profile]) -> bool:
    """Whether a column called judge or judge_model names judges: its cells are no answer of another
    column.
    """
    name_words = {*tokens(name)}
    judges = name_words & (word_set("judges") | word_set("sure_judges"))
    if not judges or name_words - judges - word_set("of_two") - {"id", "slug", "type", "version"}:
        return False
    profile = profiles[name]
    if profile.answers.domain is not Domain.WORDS or not 1 < len(profile.column.coded[1]) <= MOST_JUDGES:
        return False
    return not any(profile.answers.shares(rest.answers) for title, rest in profiles.items() if title != name)


def _differ_by_run(table: SourceTable, item: str, run: str, raters: Sequence[RaterColumn]) -> bool:
    """Whether people answer the runs of an item differently: each run is an answer of its own."""
    return any(
        not _tells_alike(table, item, rater.column) for rater in raters if rater.kind != "judge"
    ) and _tells_apart(table, item, [run])


def _tells_alike(table: SourceTable, item: str, column: str) -> bool:
    """Whether all rows of an id have one value of a column, or none."""
    codes = np.stack([table.columns[name].coded[0] for name in (item, column)])
    pairs = np.unique(codes[:, codes[1] >= 0], axis=1)
    return bool(len(np.unique(pairs[0])) == pairs.shape[1])


def _of_rows(table: SourceTable, voices: Sequence[Voice], judge_name: str, run: str) -> list[Voice]:
    """The voices of a table with several rows an item: judges by the column that names them, and their
    runs.
    """
    if not judge_name and not run:
        return [*voices]
    all_rows = np.arange(table.size, dtype=np.int64)
    columns_of = Counter(voice.criterion for voice in voices if voice.kind == "judge" and not voice.repeat)
    ordered = []
    for voice in voices:
        rows = all_rows if voice.rows is None else voice.rows
        if voice.kind != "judge":
            ordered.append(replace(voice, rows=rows))
            continue
        for name, of_judge in _rows_by(table, judge_name):
            judge = name or voice.rater
            if name and columns_of[voice.criterion] > 1:
                judge = f"{name} {voice.rater}"
            for number, (_, of_run) in enumerate(_rows_by(table, run, by_number=True)):
                cells = np.intersect1d(np.intersect1d(rows, of_judge), of_run)
                ordered.append(replace(voice, rater=judge, rows=cells, repeat=number))
    return ordered


def _rows_by(table: SourceTable, column: str, by_number: bool = False) -> list[tuple[str, Ints]]:
    """The rows of each value of a column; without one all rows."""
    if not column:
        return [("", np.arange(table.size, dtype=np.int64))]
    codes, values = table.columns[column].coded
    order = [*range(len(values))]
    if by_number:
        order = sorted(
            order, key=lambda n: (number_of(values[n]) is None, number_of(values[n]) or 0, str(values[n]))
        )
    return [
        (id_text(values[code]), np.flatnonzero(codes == code)) for code in order if not is_blank(values[code])
    ]


def _wide_voices(
    table: SourceTable,
    profiles: Mapping[str, Profile],
    raters: Sequence[RaterColumn],
    criterion: str,
    parts: Mapping[str, tuple[str, int]],
) -> list[Voice]:
    voices = []
    rows_of: dict[str, Ints | None] = {"": None}
    if criterion:
        codes, values = profiles[criterion].column.coded
        rows_of = {id_text(value): np.flatnonzero(codes == code) for code, value in enumerate(values)}
        rows_of = {name: rows for name, rows in rows_of.items() if name}
    for of_row, rows in rows_of.items():
        for one in raters:
            criterion_name = "_".join(filter(None, (of_row, one.criterion)))
            rater_name, place = parts.get(one.column, (one.rater, 0))
            if one.kind == "judge" and place:
                voices.append(Voice(criterion_name, rater_name, one.kind, one.column, rows, place - 1))
            else:
                voices.append(Voice(criterion_name, one.rater, one.kind, one.column, rows))
    return voices


def _runs_by_name(table: SourceTable, raters: Sequence[RaterColumn]) -> dict[str, tuple[str, int]]:
    """The judge and the number of the run of each column that is called so: gpt4_run1, gpt4_run2."""
    words_of_runs = "|".join(sorted(word_set("runs"), key=len, reverse=True))
    numbered = re.compile(rf"(.+?)[\s_.\-]*\(?(?:{words_of_runs})[\s_.\-#]*(\d+)\)?", re.I)
    judges: dict[tuple[str, str], dict[int, str]] = {}
    for rater in raters:
        match = numbered.fullmatch(rater.rater) if rater.kind == "judge" else None
        if match:
            judges.setdefault((rater.criterion, match[1]), {})[int(match[2])] = rater.column
    runs: dict[str, tuple[str, int]] = {}
    for (_, judge), columns in judges.items():
        if len(columns) < 2:
            continue
        ordered = [columns[number] for number in sorted(columns)]
        runs |= {column: (judge, place) for place, column in enumerate(ordered, 1)}
        table.form.append(f"runs of {judge}: {', '.join(ordered)}")
    return runs


def _with_orders(table: SourceTable, voices: Sequence[Voice]) -> list[Voice]:
    """The voices of pairs, those of each order ordered: second columns of judges, and rows by their order."""
    pairs: pairs_of.Presentation | None = table.pairs
    if pairs is None:
        return [*voices]
    if pairs.swapped:
        several: list[Voice] = []
        for voice in voices:
            second = pairs.swapped.get(voice.column)
            several.append(replace(voice, straight=True) if second else voice)
            if second:
                several.append(replace(voice, column=second, straight=False, repeat=voice.repeat + 1))
        return several
    codes = _order_codes(table)
    ordered = []
    for voice in voices:
        for code in np.unique(codes).tolist():
            rows = np.flatnonzero(codes == code)
            rows = rows if voice.rows is None else np.intersect1d(rows, voice.rows)
            ordered.append(
                replace(voice, rows=rows, straight=ORDERS[code], repeat=2 * voice.repeat + (code == 1))
            )
    return ordered


def _criterion_column(table: SourceTable, profiles: Mapping[str, Profile], item: str) -> str:
    """The column that names the criterion of each row, where ids come again; “” without one."""
    if table.options.criterion_column:
        return table.options.criterion_column
    if not item or items_of.unique(table.columns[item]):
        return ""
    for listed_names in ("criteria", "criteria_or_name"):
        for name in table.columns:
            if name.lower() not in {w.lower() for w in words(listed_names)} or name == item:
                continue
            if profiles[name].column.long or not 1 < len(table.texts(name)) <= MOST_CRITERIA:
                continue
            groups = groups_of(table, profiles, {item, name})
            if _tells_apart(table, item, [name]) or _tells_apart(table, item, [name, *groups]):
                return name
    return ""


def _tells_apart(table: SourceTable, item: str, columns: Sequence[str]) -> bool:
    """Whether every row differs from the others by its id and these columns."""
    codes = np.stack([table.columns[name].coded[0] for name in (item, *columns)])
    return bool(np.unique(codes, axis=1).shape[1] == table.size)


def _items(
    table: SourceTable,
    item: str,
    groups: Sequence[str],
    distinguishing: Sequence[str],
    profiles: Mapping[str, Profile],
    raters: Sequence[RaterColumn],
) -> Items:
    """The items of a table with a column a rater. Columns distinguish rows of one id, such as that of
    criteria, then the groups; otherwise the rows are refused.
    """
    if not item:
        return items_of.one_a_row(table.size)
    column = table.columns[item]
    distinguishing = [*filter(None, distinguishing)]
    if not distinguishing and items_of.unique(column):
        return items_of.one_a_row(table.size, column)
    orders = table.pairs is not None and table.pairs.straight is not None
    columns = {**table.columns, "": SourceColumn("", _order_codes(table))} if orders else table.columns
    fixed = [*distinguishing, *[""] * orders]
    ordered = replace(table, columns=columns)
    if fixed and _tells_apart(ordered, item, fixed):
        return items_of.by_id(column)
    if groups and _tells_apart(ordered, item, [*fixed, *groups]):
        return items_of.by_columns([column, *(table.columns[name] for name in groups)])
    if distinguishing:
        return items_of.by_id(column)
    texts = [id_text(cell) for cell in table.cells(item)]
    twice = (
        [key for key in dict.fromkeys(texts) if key and texts.count(key) > 1]
        if len(texts) < 5000
        else _twice(texts)
    )
    repeats = _repeats(table, texts, {*twice})
    if repeats is not None:
        number = "1 row repeats" if len(repeats) == 1 else f"{len(repeats):,} rows repeat"
        table.warnings.append(f"{number} an earlier one and {'is' if len(repeats) == 1 else 'are'} excluded")
        items = items_of.by_id(column)
        items.of_row[repeats] = -1
        return items
    occurrence = "1 id occurs" if len(twice) == 1 else f"{len(twice)} ids occur"
    telling_column = _telling(table, item, profiles, {rater.column for rater in raters})
    if telling_column:
        raise table.refusal(
            f"{occurrence} in several rows of the column {item}, such as “{twice[0]}”. If "
            f"{telling_column} names what is asked, add --criterion-column {quote(telling_column)}. "
            f"If it names a model or a group, add --by {quote(telling_column)}. "
            "If each row is an answer of its own, add:",
            "--id none",
        )
    raise table.refusal(
        f"{occurrence} in several rows of the column {item}, such as “{twice[0]}”. If each row is an "
        "answer of its own, add:",
        "--id none",
    )


def _repeats(table: SourceTable, texts: Sequence[str], twice: Collection[str]) -> Ints | None:
    """The rows that repeat an earlier one of their id in every cell; None where some row of an id differs."""
    first: dict[str, list[str]] = {}
    rows = []
    for row, text in enumerate(texts):
        if text not in twice:
            continue
        record = [str(column.cell(row)) for column in table.columns.values()]
        if first.setdefault(text, record) is not record:
            if first[text] != record:
                return None
            rows.append(row)
    return np.array(rows, dtype=np.int64)


def _twice(texts: Sequence[str]) -> list[str]:
    counts: dict[str, int] = {}
    for text in texts:
        counts[text] = counts.get(text, 0) + 1
    return [text for text, n in counts.items() if n > 1 and text]


def _telling(table: SourceTable, item: str, profiles: Mapping[str, Profile], raters: Collection[str]) -> str:
    """A column of few words that tells rows of one id apart."""
    return next(
        (
            name
            for name, profile in profiles.items()
            if name != item
            and name not in raters
            and not profile.column.long
            and 1 < len(profile.column.coded[1]) <= MOST_CRITERIA
            and _tells_apart(table, item, [name])
        ),
        "",
    )


def groups_of(
    table: SourceTable, profiles: Mapping[str, Profile], role_columns: Collection[str]
) -> tuple[str, ...]:
    """The columns that divide the rows into groups: those told, else those with such a name."""
    if table.options.group_columns:
        return table.options.group_columns
    by_name = {column.lower().rpartition("metadata.")[2]: column for column in table.columns}
    spelled = (f"{name}{end}" for name in words("groups") for end in ("", "_id", "_name", "_slug"))
    columns = [by_name[name] for name in spelled if name in by_name]
    largest = min(MOST_GROUPS, table.size - 1)
    return tuple(
        column
        for column in columns
        if column not in role_columns
        and not profiles[column].column.long
        and 1 < len(table.texts(column)) <= largest
    )


def _lists(
    table: SourceTable, profiles: Mapping[str, Profile]
) -> tuple[SourceTable, dict[str, tuple[str, int]]]:
    """The table with a column for each place of cells that hold several scores, and what these are parts
    of.
    """
    parts: dict[str, tuple[str, int]] = {}
    columns: dict[str, SourceColumn] = {}
    item = table.id
    for name, column in table.columns.items():
        several = _several(column) if name and name != item else None
        if several is None:
            columns[name] = column
            continue
        widest = max(map(len, several), default=0)
        codes = column.coded[0].tolist()
        for place in range(widest):
            title = f"{name} {place + 1}"
            cells = [
                several[code][place] if code >= 0 and place < len(several[code]) else None for code in codes
            ]
            columns[title] = SourceColumn(title, cells)
            parts[title] = (name, place + 1)
        table.form.append(
            f"{name}: {widest} answers in a cell, "
            + ("runs of one judge" if kinds_by_name([name])[name] == "judge" else "raters by their place")
        )
    return replace(table, columns=columns), parts


def _several(column: SourceColumn) -> list[list[Any]] | None:
    """The scores in each distinct cell of a column whose cells are lists of scores; None for another."""
    if column.is_numeric or column.long:
        return None
    values = column.coded[1]
    if not values or (len(values) > 5000 and _one_list(values[0]) is None):
        return None
    lists = [[] if is_blank(value) else _one_list(value) for value in values]
    read = [one for one in lists if one is not None]
    if len(read) < ENOUGH * len(values) or not any(len(one) > 1 for one in read):
        return None
    flat = [cell for one in read for cell in one if not is_blank(cell)]
    if max(map(len, read)) > LONGEST_LIST or not flat:
        return None
    scores = sum(number_of(cell) is not None or one_of_two(cell) is not None for cell in flat)
    if scores < ENOUGH * len(flat):
        # Words are labels of a set, unless every cell has as many and some twice.
        lengths = {len(one) for one in read if one}
        repeated = any(len({*map(str, one)}) < len(one) for one in read)
        if not (len(lengths) == 1 and repeated):
            return None
    return [one if one is not None else [value] for one, value in zip(lists, values, strict=True)]


def _one_list(value: Any) -> list[Any] | None:
    text = str(value).strip()
    if isinstance(value, list | tuple) or (text[:1] in "[(" and text[-1:] in "])" and "," in text):
        labels = listed(value)
        return None if labels is None else [None if is_blank(label) else label for label in labels]
    if (
        text[:1] == "["
        and text[-1:] == "]"
        and number_of(text[1:-1]) is not None
        and not text.startswith("[[")
    ):
        return [text[1:-1].strip()]
    for sign in (";", "|", ", "):
        cells = [cell.strip() for cell in text.split(sign)]
        if len(cells) > 1 and all(number_of(cell) is not None or is_blank(cell) for cell in cells):
            return cells
    return None
