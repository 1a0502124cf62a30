"""Which of two answers is better: the two of each row, which was shown first, and answers that name them.

A table says it by columns of the two (model_a, model_b), by a column of orders (swapped, shown_first, AB and
BA), or by a judge's second column (judge_swapped). Answers are read as naming the same two whatever was shown
first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from concord.codes import PairNote
from concord.messages import PAIR_NOTES
from concord.reading.cells import ENOUGH, is_blank, number_of
from concord.reading.column import Floats, SourceColumn
from concord.reading.items import id_text, unique
from concord.reading.names import parts
from concord.reading.table import SourceTable
from concord.reading.vocabulary import kind_of_words, kinds_by_name, tokens, word_set, words
from concord.statistics.position import side_of

MOST_NAMES = 200
"""Columns of the two have so many different names at most."""
LONGEST_NAME = 80
SIDE_PARTS = (("a", "b"), ("1", "2"), ("left", "right"), ("first", "second"), ("one", "two"), ("x", "y"))
"""How names of the two columns of a pair differ."""
STRAIGHT = frozenset(
    [
        "ab",
        "a/b",
        "a-b",
        "a,b",
        "a>b",
        "original",
        "orig",
        "normal",
        "straight",
        "unswapped",
        "forward",
        "regular",
        "default",
        "12",
        "1,2",
        "1-2",
    ]
)
SWAPPED = frozenset(
    [
        "ba",
        "b/a",
        "b-a",
        "b,a",
        "b>a",
        "swapped",
        "swap",
        "flipped",
        "flip",
        "reversed",
        "reverse",
        "inverted",
        "backward",
        "21",
        "2,1",
        "2-1",
    ]
)
YES = frozenset(("true", "1", "1.0", "yes", "y", "t"))
NO = frozenset(("false", "0", "0.0", "no", "n", "f"))
_SECOND = re.compile(r"[_.\- ]?(?:swapped|swap|flipped|flip|reversed|reverse|inverted|backward|rev)", re.I)
_FIRST = re.compile(r"[_.\- ]?(?:original|orig|normal|straight|unswapped|forward)", re.I)
_ORDER = (
    (re.compile(r"(?<![a-z])ab(?![a-z])", re.I), "ba"),
    (re.compile(r"(?<=order)[_ ]?1(?!\d)", re.I), "2"),
)
_SIDE_ENDS = re.compile(
    r"^(.+?[_. ])((?:model|response|answer|system|assistant)?[_ ]?"
    r"(?:[ab12]|tie|both_?bad|tie \(both ?bad\)))$",
    re.I,
)
"""The side at the end of a column's name: winner_model_a, preferred_tie."""
TIE = "tie"
FEWEST_PLACED = 6
"""In so many rows a column must say by place what another says by name."""


@dataclass(frozen=True, eq=False)
class Presentation:
    """The order of presentation of pairs, as far as a table says it.

    `straight` says of each row whether the first of the two was shown first (1), the second (0), or that it
    is not known (nan); `swapped` has of judges' columns the second one, asked in the other order.
    """

    straight: Floats | None = None
    swapped: Mapping[str, str] = field(default_factory=dict)
    judges: Mapping[str, str] = field(default_factory=dict)
    """What the judges of such columns are called."""
    copies: frozenset[str] = frozenset()
    """Columns that say by place what another one says by name."""


def paired(table: SourceTable) -> SourceTable:
    """A table whose answers name the same two on every row of a pair; the table itself without pairs."""
    table, pair_columns = _named_sides(_chosen_sides(table))
    answers = {name for name, column in table.columns.items() if _prefers(column)}
    if not answers:
        return table
    straight = _straight_rows(table, answers, pair_columns)
    copies = _by_place(table, answers, straight) if straight is not None else {}
    answers -= {*copies}
    read, pairs = _second_columns(table, answers)
    read.form.extend(PAIR_NOTES[PairNote.COPY].format(copy=c, column=column) for c, column in copies.items())
    if pair_columns and straight is None:
        read, straight = _one_orientation(read, pair_columns, answers)
    elif straight is not None:
        read = _answers_not_places(read, straight, answers - {*pairs.swapped.values()})
    if straight is None and not pairs.swapped:
        return table if not pair_columns else read
    return replace(read, pairs=replace(pairs, straight=straight, copies=frozenset(copies)))


def _texts(column: SourceColumn) -> tuple[np.ndarray, list[str]]:
    """The codes of a column, and the text of each distinct value in lower case."""
    codes, values = column.coded
    return codes, ["" if is_blank(value) else str(value).strip().casefold() for value in values]


def _prefers(column: SourceColumn) -> bool:
    """Whether the cells of a column choose one of two."""
    if column.is_numeric or column.long or len(column.coded[1]) > MOST_NAMES:
        return False
    codes, texts = _texts(column)
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    matches = {text: side_of(text) for text in texts if text}
    if not {0.0, 1.0} <= {*matches.values()} or all(re.fullmatch(r"[\d.]+", text) for text in matches):
        return False
    nonblank = np.array([bool(text) for text in texts], dtype=bool)
    names_side = np.array([matches.get(text) is not None for text in texts], dtype=bool)
    return bool(counts[names_side].sum() >= ENOUGH * counts[nonblank].sum())


def _chosen_sides(table: SourceTable) -> SourceTable:
    """A table in which columns of 0 and 1, one for each side and the tie, are one column: winner_model_a,
    winner_model_b, winner_tie become winner.
    """
    by_prefix: dict[str, dict[str, str]] = {}
    for name in table.columns:
        for prefix, end in _SIDE_ENDS.findall(name):
            by_prefix.setdefault(prefix.rstrip("_. "), {})[name] = end
    for prefix, ends in by_prefix.items():
        columns = [table.columns[name] for name in ends]
        if not {0.0, 1.0} <= {side_of(end) for end in ends.values()} or prefix in table.columns:
            continue
        if any(column.long or len(column.coded[1]) > 2 for column in columns):
            continue
        rows = [[number_of(cell) for cell in table.cells(name)] for name in ends]
        sides_of_rows = [
            [end for end, cell in zip(ends.values(), row, strict=True) if cell == 1]
            for row in zip(*rows, strict=True)
        ]
        if any(len(one) > 1 for one in sides_of_rows) or not any(sides_of_rows):
            continue
        cells = [one[0] if one else None for one in sides_of_rows]
        rest = {name: column for name, column in table.columns.items() if name not in ends}
        note = PAIR_NOTES[PairNote.ONE_HOT].format(column=prefix, columns=", ".join(ends))
        table = replace(
            table, columns={**rest, prefix: SourceColumn(prefix, cells)}, form=[*table.form, note]
        )
    return table


def _named_sides(table: SourceTable) -> tuple[SourceTable, tuple[str, str] | None]:
    """The columns that name the two of each row, and the table with A and B for answers by name."""
    for one, second_name in _side_columns(table):
        names = [_cells(table.columns[column]) for column in (one, second_name)]
        recoded = {}
        for name, column in table.columns.items():
            if name in (one, second_name) or column.is_numeric or column.long:
                continue
            if (cells := _letters(_cells(column), *names)) is not None:
                recoded[name] = SourceColumn(name, cells)
        by_side = [
            name
            for name, column in table.columns.items()
            if name not in (one, second_name) and _prefers(column)
        ]
        if recoded or by_side:
            if recoded:
                note = PAIR_NOTES[PairNote.NAMES].format(one=one, other=second_name)
                table = replace(table, columns={**table.columns, **recoded}, form=[*table.form, note])
            return table, (one, second_name)
    return table, None


def _side_columns(table: SourceTable) -> Iterator[tuple[str, str]]:
    """Columns whose names differ in A and B alone, with names of few things in them."""
    folded = {tuple(part.key for part in parts(name)): name for name in table.columns if name}
    players = {word.lower() for word in words("players")} | word_set("of_two")
    for keys, name in folded.items():
        for first, second in SIDE_PARTS:
            for place, key in enumerate(keys):
                if key != first:
                    continue
                second_name = folded.get((*keys[:place], second, *keys[place + 1 :]))
                name_words = {*tokens(name)}
                if second_name is None or not name_words & players or kind_of_words(tokens(name)):
                    continue
                if all(_names(table.columns[column]) for column in (name, second_name)):
                    yield name, second_name


def _names(column: SourceColumn) -> bool:
    """Whether cells name a few things."""
    if column.is_numeric or column.long or not 0 < len(column.coded[1]) <= MOST_NAMES:
        return False
    texts = [str(value).strip() for value in column.coded[1] if not is_blank(value)]
    return bool(texts) and max(map(len, texts)) <= LONGEST_NAME


def _cells(column: SourceColumn) -> list[str]:
    """The text of each row in lower case; “” where it is missing."""
    codes, texts = _texts(column)
    return [texts[code] if code >= 0 else "" for code in codes.tolist()]


def _letters(cells: Sequence[str], one: Sequence[str], second_name: Sequence[str]) -> list[str | None] | None:
    """A, B and tie in place of the names that cells have of their row; None where they are no such names."""
    letter_cells: list[str | None] = []
    sides_of: list[str] = []
    matches = total = 0
    for cell, first, second in zip(cells, one, second_name, strict=True):
        side = ""
        if cell in (first, second):
            side = "A" if cell == first else "B"
        tie = bool(cell) and not side and side_of(cell) == 0.5
        matches += bool(side) or tie
        total += bool(cell)
        sides_of.append(side)
        letter_cells.append(side or (TIE if tie else cell or None))
    if not total or matches < ENOUGH * total or not {"A", "B"} <= {*sides_of}:
        return None
    return letter_cells


def _by_place(table: SourceTable, answers: set[str], straight: Floats) -> dict[str, str]:
    """The columns that name the place where another column names one of the two, and that column."""
    order = [name for name in table.columns if name in answers]
    shares = {name: _shares(table.columns[name]) for name in order}
    copies: dict[str, str] = {}
    for one, two in combinations(order, 2):
        place_shares = np.where(straight == 0, 1 - shares[one], shares[one])
        sided = np.isfinite(place_shares + shares[two]) & (place_shares != 0.5)
        if sided.sum() < FEWEST_PLACED or not np.array_equal(place_shares[sided], shares[two][sided]):
            continue
        if np.array_equal(shares[one][sided], shares[two][sided]):
            continue
        raw = one if {*tokens(one)} & word_set("by_place") else two
        if not {*tokens(raw)} & word_set("by_place") and _agrees_more(shares, one, two, order):
            raw = two
        copies[raw] = two if raw == one else one
    return copies


def _agrees_more(shares: Mapping[str, Floats], one: str, two: str, order: Sequence[str]) -> bool:
    """Whether people's columns agree more with one column than with another."""
    people = [name for name in order if kinds_by_name([name])[name] == "human" and name not in (one, two)]
    counts = [sum(int((shares[name] == shares[person]).sum()) for person in people) for name in (one, two)]
    return counts[0] >= counts[1]


def _second_columns(table: SourceTable, answers: set[str]) -> tuple[SourceTable, Presentation]:
    """The second columns of judges, asked in the other order, with answers that name the same two as the
    first.

    Where the second one mostly names the other of the two, its answers name places, and are turned round.
    """
    swapped = {}
    judges = {}
    columns = dict(table.columns)
    form = [*table.form]
    raters = {*table.options.raters}
    for name in table.columns:
        if name not in answers or name in raters:
            continue
        base = next((one for one in _first_names(name, table.columns) if one in answers), None)
        if base is None:
            continue
        swapped[base] = name
        title = _ORDER[0][0].sub("", _FIRST.sub("", base))
        judges[base] = re.sub(r"[_ ]?order[_ ]?1$", "", title).strip("_ -.") or base
        first, second = (_shares(table.columns[column]) for column in (base, name))
        n_sides = np.isfinite(first + second) & (first != 0.5) & (second != 0.5)
        alike = int((first == second)[n_sides].sum())
        unlike = int(n_sides.sum()) - alike
        places = unlike > alike
        if places:
            columns[name] = _opposite_answers(table.columns[name], np.ones(table.size, dtype=bool))
        note = PairNote.SECOND_PLACES if places else PairNote.SECOND_ANSWERS
        form.append(PAIR_NOTES[note].format(second=name, first=base))
    if not swapped:
        return table, Presentation()
    return replace(table, columns=columns, form=form), Presentation(None, swapped, judges)


def _first_names(name: str, columns: Mapping[str, object]) -> Iterator[str]:
    """What the column of the same judge in the usual order may be called."""
    if _SECOND.search(name):
        bare = _SECOND.sub("", name, count=1)
        yield from (
            second_name
            for second_name in columns
            if second_name != name and _FIRST.sub("", second_name) == bare
        )
    for first, second in _ORDER:
        for second_name in columns:
            if (
                second_name != name
                and first.search(second_name)
                and first.sub(second, second_name).lower() == name.lower()
            ):
                yield second_name


def _shares(column: SourceColumn) -> Floats:
    """The share of the first in each row's answer; nan where it names no side."""
    codes, texts = _texts(column)
    of_value = [side_of(text) if text else None for text in texts]
    shares: Floats = np.array([np.nan if share is None else share for share in of_value] + [np.nan])
    return np.asarray(shares[codes])


def _opposite_answers(column: SourceColumn, rows: np.ndarray) -> SourceColumn:
    """A column whose answers in some rows name the other of the two."""
    values = [value for value in column.coded[1] if not is_blank(value)]
    names = {side_of(str(value)): value for value in values}
    opposite = {}
    for value in values:
        share = side_of(str(value))
        opposite[str(value)] = names.get(1 - share, value) if share is not None else value
    cells = [column.cell(row) for row in range(len(column))]
    return SourceColumn(
        column.name,
        [
            cell if not turn or is_blank(cell) else opposite.get(str(cell), cell)
            for cell, turn in zip(cells, rows.tolist(), strict=True)
        ],
    )


def _straight_rows(
    table: SourceTable, answers: set[str], pair_columns: tuple[str, str] | None
) -> Floats | None:
    """Whether the first of two was shown first in each row, by a column that says so; None without one."""
    for name, column in table.columns.items():
        name_words = {*tokens(name)}
        if name in answers and not (name_words & word_set("shown")):
            continue
        if column.long or not name_words & word_set("orders") or not 1 < len(column.coded[1]) <= MOST_NAMES:
            continue
        straight = _read_order(name, _cells(column), table, pair_columns)
        if straight is not None and {0.0, 1.0} <= {*straight[np.isfinite(straight)].tolist()}:
            answers.discard(name)
            table.form.append(PAIR_NOTES[PairNote.ORDER].format(column=name))
            return straight
    return None


def _read_order(
    name: str, cells: Sequence[str], table: SourceTable, pair_columns: tuple[str, str] | None
) -> Floats | None:
    """What the cells of a column of orders say: 1 where the first of two was shown first, else 0."""
    name_words = {*tokens(name)}
    swaps = bool(name_words & word_set("swaps"))
    names = (
        [_cells(table.columns[column]) for column in pair_columns]
        if pair_columns
        else [[""] * len(cells)] * 2
    )
    read: list[float] = []
    for cell, one, second_name in zip(cells, *names, strict=True):
        text = cell.replace(" then ", "").replace(" first", "").replace("_first", "").replace(" ", "")
        if not cell:
            read.append(np.nan)
        elif text in STRAIGHT or (swaps and text in NO):
            read.append(1.0)
        elif text in SWAPPED or (swaps and text in YES):
            read.append(0.0)
        elif pair_columns and cell in (one, second_name):
            read.append(float(cell == one))
        elif (share := side_of(text)) in (0.0, 1.0) and not swaps:
            read.append(float(share or 0.0))
        elif name_words & {"first", "shown"} and text in YES | NO:
            read.append(float(text in YES))
        elif text in ("0", "0.0"):
            read.append(1.0)
        else:
            return None
    if (
        {cell for cell in cells if cell} <= {"0", "1", "0.0", "1.0"}
        and not swaps
        and not name_words & {"first", "shown"}
    ):
        return 1 - np.array([float(cell) if cell else np.nan for cell in cells])
    return np.array(read)


def _answers_not_places(table: SourceTable, straight: Floats, answers: set[str]) -> SourceTable:
    """A table whose answers name the same two in every row: those called first, second, left and right, or
    that change with the order of a pair, name places.
    """
    item = table.id
    columns = dict(table.columns)
    read = []
    unsure = []
    for name in sorted(answers, key=[*table.columns].index):
        column = table.columns[name]
        labels = {word for value in column.coded[1] for word in tokens(str(value))}
        share = _shares(column)
        places = bool(labels & {"first", "second", "left", "right"})
        if not places and item and not unique(table.columns[item]):
            places = _changes_with_order(_cells(table.columns[item]), share, straight)
        elif not places:
            unsure.append(name)
        if places:
            columns[name] = _opposite_answers(column, straight == 0)
            read.append(name)
    form = [*table.form]
    if read:
        form.append(PAIR_NOTES[PairNote.PLACES].format(columns=", ".join(read)))
    if unsure:
        form.append(PAIR_NOTES[PairNote.ANSWERS].format(columns=", ".join(unsure)))
    return replace(table, columns=columns, form=form)


def _changes_with_order(items: Sequence[str], share: Floats, straight: Floats) -> bool:
    """Whether most answers to one pair in both orders name the other of the two."""
    by_item: dict[str, dict[float, float]] = {}
    for item, letter_cells, order in zip(items, share.tolist(), straight.tolist(), strict=True):
        if letter_cells in (0.0, 1.0) and order == order:
            by_item.setdefault(item, {})[order] = letter_cells
    twice = [orders_of_item for orders_of_item in by_item.values() if len(orders_of_item) == 2]
    return sum(orders_of_item[0.0] != orders_of_item[1.0] for orders_of_item in twice) * 2 > len(twice) > 0


def _one_orientation(
    table: SourceTable, pair_columns: tuple[str, str], answers: set[str]
) -> tuple[SourceTable, Floats | None]:
    """A table whose ids name a pair of its two, where ids come again; answers name the same two in every row.

    The one in the first column was shown first.
    """
    item = table.id
    if not item or unique(table.columns[item]):
        return table, None
    one, second_name = ([id_text(cell) for cell in table.cells(column)] for column in pair_columns)
    ids = [id_text(cell) for cell in table.cells(item)]
    turn = next((name for name in table.columns if name.lower() == "turn" and name != item), "")
    turns = [f" · turn {id_text(cell)}" for cell in table.cells(turn)] if turn else [""] * table.size
    several = len({*turns}) > 1
    straight = np.array([float(a <= b) for a, b in zip(one, second_name, strict=True)])
    pairs = [
        f"{key} · {min(a, b)} or {max(a, b)}{of_turn if several else ''}" if key else None
        for key, a, b, of_turn in zip(ids, one, second_name, turns, strict=True)
    ]
    columns = {**table.columns, item: SourceColumn(item, pairs)}
    swapped = straight == 0
    for name in answers if swapped.any() else ():
        columns[name] = _opposite_answers(table.columns[name], swapped)
    form = [
        *table.form,
        PAIR_NOTES[PairNote.SIDES].format(item=item, one=pair_columns[0], other=pair_columns[1]),
    ]
    oriented = replace(table, columns=columns, form=form)
    return oriented, straight if swapped.any() and not swapped.all() else None
