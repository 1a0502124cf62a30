"""The columns of a table of labels: what their names and their cells say that they hold."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from concord.errors import ImportRefused
from concord.exchange.answer_words import is_blank, number_of, one_of_two, words
from concord.questions import Scale
from concord.rating import RaterKind

SHOWN = 3
"""So many cells of a column are quoted."""
_WORDS = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|\d+")


def tokens(name: str) -> list[str]:
    """The words of a column's or a rater's name, in lower case."""
    return [word.lower() for word in _WORDS.findall(name)]


def kinds_by_name(names: Iterable[str]) -> dict[str, RaterKind | None]:
    """Whose answers columns hold by their names; None where a name does not say, or says both.

    Words that only may be people's count where no name says so for sure, and judges' likewise.
    """
    by_name = {name: set(tokens(name)) for name in names}
    kinds: dict[str, RaterKind | None] = dict.fromkeys(by_name)
    for sure in ("", "maybe_"):
        people, judges = (set(words(f"{sure}{whose}")) for whose in ("people", "judges"))
        known = {*kinds.values()}
        for name, of in by_name.items():
            theirs, its = not of.isdisjoint(people), not of.isdisjoint(judges)
            kind: RaterKind = "human" if theirs else "judge"
            if kinds[name] is None and theirs != its and kind not in known:
                kinds[name] = kind
    return kinds


@dataclass(frozen=True, eq=False)
class FileColumn:
    """A column: its name, and its cells in the order of the rows."""

    name: str
    cells: Sequence[Any]

    @cached_property
    def texts(self) -> list[str]:
        """The different cells that are not blank, as text, in their order."""
        return [*dict.fromkeys(str(cell).strip() for cell in self.cells if not is_blank(cell))]

    @property
    def examples(self) -> list[str]:
        """Some of the different cells, shortened."""
        return [text[:40] for text in self.texts[:SHOWN]]

    @cached_property
    def words(self) -> set[str]:
        """The different words that are neither numbers nor pass or fail, which can be compared and are “”."""
        read = ((text, number_of(text) is None and one_of_two(text) is None) for text in self.texts)
        return {text.lower() if word else "" for text, word in read}

    @property
    def varies(self) -> bool:
        """Whether not all cells are equal."""
        return len({*map(str, self.cells)}) > 1

    @cached_property
    def numeric(self) -> bool:
        """Whether most of the cells that are not blank are numbers."""
        given = [cell for cell in self.cells if not is_blank(cell)]
        return 2 * sum(number_of(cell) is not None for cell in given) > len(given)

    @cached_property
    def rated(self) -> bool:
        """Whether the cells may be answers: numbers, or few short words."""
        name = [word for word in tokens(self.name) if not word.isdigit()]
        if not self.texts or (name and name[-1] in words("no_rating")):
            return False
        return self.numeric or (len(self.texts) <= 20 and all(len(text) <= 40 for text in self.texts))

    @property
    def says_whose(self) -> bool:
        """Whether it is of a known name and says of every rating whether it is a person's or a judge's."""
        known = self.name.lower() in words("kinds")
        return known and len(self.texts) > 1 and None not in kinds_by_name(self.texts).values()


@dataclass(frozen=True)
class TableOptions:
    """What a user states about the columns of a table; all of it optional.

    `people`, `judges` and `gold` are columns, or raters of a long table; `id` is “none” where rows are
    numbered. From `passing` on a number passes.
    """

    people: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    id: str = ""
    by: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()
    scales: Mapping[str, Scale] = field(default_factory=dict)
    passing: float | None = None
    gold: tuple[str, ...] = ()

    @property
    def criterion(self) -> str:
        """The first criterion that is stated; “” where none is."""
        return self.criteria[0] if self.criteria else ""


NO_OPTIONS = TableOptions()


@dataclass
class FileTable:
    """A table while it is read: its rows, where they stand, and what its columns were taken for.

    `needed` are the kinds of raters without which it is refused. `used` are the columns that hold answers,
    and in a long table those that say whose.
    """

    name: str
    options: TableOptions
    records: Sequence[Mapping[str, Any]]
    places: Sequence[str]
    warnings: list[str]
    needed: Collection[RaterKind]
    columns: dict[str, FileColumn] = field(init=False)
    roles: dict[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        names = dict.fromkeys(column for record in self.records for column in record)
        self.columns = {
            name: FileColumn(name, [record.get(name) for record in self.records]) for name in names
        }

    @property
    def id(self) -> str:
        """The column of ids; “” where rows are numbered."""
        option = self.options.id
        return "" if option == "none" else option or self.named("ids")

    @property
    def notes(self) -> tuple[str, ...]:
        """What its columns were taken for, a line each."""
        return tuple(f"{role}: {column}" for role, column in self.roles.items())

    def named(self, names: str) -> str:
        """The first name of a list of data/columns.toml, in any case, that a column has; else “”."""
        by_name = {column.lower().rpartition("metadata.")[2]: column for column in reversed(self.columns)}
        return next((by_name[name] for name in words(names) if name in by_name), "")

    def cells(self, column: str) -> Sequence[Any]:
        """A column's cells; none of one that is not there."""
        return self.columns[column].cells if column in self.columns else ()

    def refusal(self, message: str, *options: str) -> ImportRefused:
        """An error, with the options to add where some mend it."""
        return ImportRefused(f"{self.name}: {message}{' Add: ' * bool(options)}{' '.join(options)}")
