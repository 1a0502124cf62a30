"""A table of labels while it is read: its columns, where its rows stand, and what was noticed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from concord.errors import ImportRefused
from concord.rating import RaterKind
from concord.reading.cells import is_blank
from concord.reading.column import SourceColumn
from concord.reading.options import NO_ID, NO_OPTIONS, TableOptions
from concord.reading.vocabulary import column_in_list

FRAME = "ratings"
"""What a table is called that is no file."""
MOST_NAMED = 3
"""So many places are named one by one."""


@dataclass
class SourceTable:
    """The columns of a table by name, and what messages say of it.

    `place` says where a row stands. `form` are lines about how the file is laid out, `warnings` what was left
    out. `needed_kinds` are the kinds of raters without which it is refused. `stated_raters` says that every
    column holds a rater's answers, as in an object of raters.
    """

    name: str
    columns: dict[str, SourceColumn]
    size: int
    place: Callable[[int], str] = field(default=lambda row: f"row {row + 1}")
    form: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    options: TableOptions = NO_OPTIONS
    needed_kinds: Collection[RaterKind] = ()
    stated_raters: bool = False
    pair: tuple[str, str] | None = None
    """The columns of a pair of series: people's and a judge's."""
    pairs: Any = None
    """What is known of the order of pairs, a `concord.reading.pairs.Presentation`; None where rows are no
    pairs.
    """

    @property
    def id(self) -> str:
        """The column of ids; “” where rows are numbered."""
        option = self.options.id
        return "" if option == NO_ID else option or self.listed_column("ids")

    def listed_column(self, listed: str) -> str:
        """The first name of a list of data/columns.toml, in any case, that a column has; else “”."""
        return column_in_list(self.columns, listed)

    def cells(self, column: str) -> Sequence[Any]:
        """A column's cells, row by row; none of one that is not there."""
        if column not in self.columns:
            return ()
        codes, values = self.columns[column].coded
        return [values[code] if code >= 0 else None for code in codes.tolist()]

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """The rows as mappings, for a table that is joined with another."""
        lists = {name: self.cells(name) for name in self.columns}
        return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]

    def texts(self, column: str) -> list[str]:
        """The distinct cells of a column that are not blank, as text."""
        values = self.columns[column].coded[1]
        return [*dict.fromkeys(str(value).strip() for value in values if not is_blank(value))]

    def refusal(self, message: str, *options: str) -> ImportRefused:
        """An error, with the options to add where some mend it; a message that ends in a colon leads to
        them.
        """
        lead = "" if message.endswith(":") else "Add: "
        return ImportRefused(
            f"{self.name}: {message} {lead}{' '.join(options)}" if options else f"{self.name}: {message}"
        )


def of_records(
    name: str, records: Sequence[Mapping[str, Any]], place: Callable[[int], str], **rest: Any
) -> SourceTable:
    """A table of rows as flat mappings; a column that a row lacks is missing there."""
    names = dict.fromkeys(column for record in records for column in record)
    columns = {column: SourceColumn(column, [record.get(column) for record in records]) for column in names}
    return SourceTable(name, columns, len(records), place, **rest)


def count_warning(one: str, several: str, places: Sequence[str]) -> str:
    """A warning with the number of places and the first of them."""
    noun = one if len(places) == 1 else several
    return (
        f"{len(places):,} {noun}: {'; '.join(places[:MOST_NAMED])}{' …' if len(places) > MOST_NAMED else ''}"
    )


def place_function(places: Sequence[str]) -> Callable[[int], str]:
    """Where rows stand, by their number."""
    return lambda row: places[row]


def numbered(word: str, lines: Sequence[int]) -> Callable[[int], str]:
    """Where rows stand, as “line 5”."""
    return lambda row: f"{word} {lines[row]}"
