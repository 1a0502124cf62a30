"""Ratings that were read, by column: a million of them take some 30 MB."""

import json
import tempfile
from array import array
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from concord.arrays import Codes
from concord.conversation import Unit
from concord.rating import Rater

NO_CELLS: Mapping[str, str] = {}


class RaterQuestion(NamedTuple):
    """What a rating answers, but for the item: who was asked what, about which turn, in which repeat."""

    criterion: str
    rater: Rater
    turn: int | None = None
    repeat: int = 0


class ScoreRow(NamedTuple):
    """One rating. `unit.conversation` is the conversation's key, `location` the place in the file."""

    unit: Unit
    criterion: str
    rater: Rater
    score: float
    explanation: str = ""
    created: str = ""
    location: str = ""


SPOOLED = 2**20
"""Bytes of texts that are kept in memory."""


class ItemTexts:
    """The texts of items, each with the place of the rating that gives it first, in a file that goes with
    this: memory holds few.
    """

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(SPOOLED)  # noqa: SIM115 - it is kept, and goes with this
        self._of: dict[int, tuple[int, int, int, int]] = {}  # where it begins, its size, hash and place
        self._size = 0

    def add(self, item: int, text: str, place: int) -> int | None:
        """Keep the text of the item with this number; the place of another one that was given before."""
        if (earlier := self._of.get(item)) is not None:
            return earlier[-1] if earlier[2] != hash(text) else None
        if self._file.tell() != self._size:
            self._file.seek(self._size)
        size = self._file.write(text.encode(errors="surrogatepass"))
        self._of[item] = self._size, size, hash(text), place
        self._size += size
        return None

    def text_of(self, item: int) -> tuple[str, int]:
        """The text of an item and its place; “” where it has none."""
        begins, size, _, place = self._of.get(item, (0, 0, 0, -1))
        self._file.seek(begins)
        return self._file.read(size).decode(errors="surrogatepass"), place


@dataclass(eq=False)
class RatingTable:
    """Ratings of a file, or of another table.

    `items` (names in the file, or keys of conversations) and `questions` are distinct, in the order in which
    they come. Of a rating, `item` and `question` are the numbers of these, `lines` is the line where its
    record begins or its place in words, `cells` its optional columns, of which `extra` are those that have no
    meaning here; those in `of_item` describe the items in `new`, not single ratings. `texts` are those of
    items.
    """

    file: str = ""
    items: list[str] = field(default_factory=list)
    questions: list[RaterQuestion] = field(default_factory=list)
    item: "array[int]" = field(default_factory=lambda: array("i"))
    question: "array[int]" = field(default_factory=lambda: array("i"))
    scores: "array[float]" = field(default_factory=lambda: array("d"))
    lines: "array[int] | Sequence[str]" = field(default_factory=lambda: array("i"))
    cells: list[Mapping[str, str]] = field(default_factory=list)
    texts: ItemTexts = field(default_factory=ItemTexts)
    extra: tuple[str, ...] = ()
    of_item: frozenset[str] = frozenset()
    new: Container[str] = ()

    @classmethod
    def from_ratings(cls, ratings: Iterable[ScoreRow], file: str = "") -> "RatingTable":
        """Ratings that come one by one."""
        items: dict[str, int] = {}
        questions: dict[RaterQuestion, int] = {}
        places: list[str] = []
        table = cls(file, lines=places)
        for one in ratings:
            question = RaterQuestion(one.criterion, one.rater, one.unit.turn)
            table.item.append(items.setdefault(one.unit.conversation, len(items)))
            table.question.append(questions.setdefault(question, len(questions)))
            table.scores.append(one.score)
            cells = {"explanation": one.explanation, "created": one.created}
            table.cells.append(cells if one.explanation or one.created else NO_CELLS)
            places.append(one.location)
        table.items = [*items]
        table.questions = [*questions]
        return table

    def __len__(self) -> int:
        return len(self.scores)

    def location(self, number: int) -> str:
        """The place of a rating in the file, as error messages begin."""
        place = self.lines[number]
        return place if isinstance(place, str) else f"{self.file}, line {place}"

    @cached_property
    def first(self) -> list[int]:
        """The first rating of each of `questions`, in their order."""
        first: list[int] = np.unique(np.asarray(self.question), return_index=True)[1].tolist()
        return first

    @property
    def raters(self) -> list[Rater]:
        """Who rated."""
        return [*dict.fromkeys(question.rater for question in self.questions)]

    @property
    def criteria(self) -> list[str]:
        """What was rated."""
        return [*dict.fromkeys(question.criterion for question in self.questions)]

    def twice(self) -> Iterator[tuple[int, int]]:
        """Ratings that say again what an earlier one says, each with the first of these."""
        keys = np.array(self.item, dtype=np.int64) * len(self.questions) + np.asarray(self.question)
        if (several := np.sort(keys))[1:].size == 0 or not (several[1:] == several[:-1]).any():
            return
        order = np.argsort(keys, kind="stable")
        new = np.append(True, np.diff(keys[order]) != 0)
        first = order[new][np.cumsum(new) - 1]
        yield from zip(order[~new].tolist(), first[~new].tolist(), strict=True)

    def places(self, criterion: str, raters: Iterable[Rater]) -> Codes:
        """The ratings of these raters on a criterion."""
        raters = {*raters}
        matches = [a.criterion == criterion and a.rater in raters for a in self.questions]
        return np.flatnonzero(np.array(matches, dtype=bool)[np.asarray(self.question)])

    def by_item(self) -> tuple[Codes, Codes]:
        """The ratings in the order of their items, and where each item's begin in it, with the end."""
        item = np.asarray(self.item)
        order = np.argsort(item, kind="stable")
        return order, np.searchsorted(item[order], np.arange(len(self.items) + 1))

    def units(self, per_turn: bool) -> tuple[list[Unit], Sequence[int]]:
        """What is rated, turns or whole conversations, in the order in which it comes; and its number for
        each rating.
        """
        turns = [question.turn if per_turn else None for question in self.questions]
        if not any(turns):
            return [Unit(item) for item in self.items], self.item
        numbers: dict[tuple[int, int | None], int] = {}
        codes = [
            numbers.setdefault((item, turns[question_number]), len(numbers))
            for item, question_number in zip(self.item, self.question, strict=True)
        ]
        return [Unit(self.items[item], turn) for item, turn in numbers], codes

    def about(self, cells: Mapping[str, str], new: bool) -> tuple[str, str | None, str]:
        """What cells say of a rating of an item that is new or is not: the reasons for it, what else, as
        JSON, and when it was given.
        """
        values = {
            column: cells[column]
            for column in ("comment", *self.extra)
            if column in cells and not (new and column in self.of_item)
        }
        meta = json.dumps(values, ensure_ascii=False) if values else None
        return cells.get("explanation", ""), meta, cells.get("created", "")
