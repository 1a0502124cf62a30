"""What the cells of a column show: which answers they may be, and whether they are ids, times or texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from concord.codes import CellPattern, Domain
from concord.reading.cells import (
    ENOUGH,
    LONGEST,
    CellReading,
    are_sets,
    as_sets,
    is_blank,
    number_of,
    one_of_two,
    read_cells,
)
from concord.reading.column import Codes, Floats, SourceColumn
from concord.reading.vocabulary import orders

MOST_WORDS = 20
"""Words of which there are more are no categories."""
MOST_CANDIDATES = 100_000
"""A column of more distinct words than this is text, whatever its name."""
INDEX_ROWS = 4
"""So many rows tell a numbering from scores."""
EPOCH = 86_400 * 365 * 30
"""Seconds since 1970 from which on a number is a time."""
MOST_NAMED = 3


@dataclass(frozen=True)
class Answers:
    """The domain of a column's answers: its words in lower case, or the range of its numbers."""

    domain: Domain
    low: float = np.nan
    high: float = np.nan
    whole_numbers: bool = True
    words: frozenset[str] = frozenset()

    @property
    def zero_one(self) -> bool:
        """Whether all numbers are 0 or 1."""
        return self.domain is Domain.NUMBERS and self.whole_numbers and self.low >= 0 and self.high <= 1

    def shares(self, answers: Answers) -> bool:
        """Whether two columns may answer one question: a word in common, or ranges that meet."""
        pair = {self.domain, answers.domain}
        if pair == {Domain.NUMBERS}:
            return self.low <= answers.high and answers.low <= self.high
        if pair <= {Domain.TWO, Domain.WORDS}:
            return bool(self.words & answers.words) or pair == {Domain.TWO}
        if pair == {Domain.NUMBERS, Domain.TWO}:
            return self.zero_one or answers.zero_one
        return False

    def alike(self, answers: Answers) -> bool:
        """Whether two columns have one domain: words that meet, or numbers of one step and a range alike."""
        if not self.shares(answers):
            return False
        if {self.domain, answers.domain} != {Domain.NUMBERS}:
            return True
        return self.whole_numbers == answers.whole_numbers and self.like_range(answers)

    def like_range(self, answers: Answers) -> bool:
        """Whether two columns of numbers have ranges that meet and are alike, in whatever steps."""
        if {self.domain, answers.domain} != {Domain.NUMBERS} or not self.shares(answers):
            return False
        widths = [
            max(domain_answers.high, 1) - min(domain_answers.low, 1 if domain_answers.low >= 1 else 0)
            for domain_answers in (self, answers)
        ]
        return max(widths) <= 2 * max(min(widths), 1)

    def text(self) -> str:
        """The range or some words, as a message shows them."""
        if self.domain is Domain.NUMBERS:
            return f"{self.low:g} to {self.high:g}"
        return ", ".join(sorted(self.words)[:MOST_NAMED])


NO_ANSWERS = Answers(Domain.EMPTY)


@dataclass(frozen=True, eq=False)
class Profile:
    """A column with what its cells show."""

    column: SourceColumn
    missing: frozenset[str] = frozenset()
    """Values that mean a missing answer here."""
    levels: frozenset[str] = frozenset()
    """Words for nothing that are answers here, such as “none” among severities."""
    sets: bool = False
    """Whether cells of the criterion's columns hold several labels, in more than one order."""

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    @cached_property
    def codes(self) -> Codes:
        """The number of each row's value; −1 where the cell is missing."""
        return self.column.coded[0]

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """How often each distinct value comes."""
        codes, values = self.column.coded
        return np.bincount(codes[codes >= 0], minlength=len(values))

    @cached_property
    def reading(self) -> CellReading:
        """The answers in the distinct values."""
        values = self.column.coded[1]
        if self.column.is_numeric:
            return CellReading(tuple(map(_number_text, values)))
        if len(values) > MOST_CANDIDATES:
            return CellReading(tuple(map(str, values)))
        if self.is_set:
            return as_sets(values)
        return read_cells(values, self.counts.tolist())

    @cached_property
    def is_set(self) -> bool:
        """Whether cells hold several labels."""
        values = self.column.coded[1]
        if self.sets:
            return True
        return not self.column.is_numeric and len(values) <= MOST_CANDIDATES and are_sets(values)

    @cached_property
    def cores(self) -> tuple[str, ...]:
        """The answer in each distinct value, “” where it is none."""
        return tuple("" if self.blank(core) else core for core in self.reading.cores)

    def blank(self, core: str) -> bool:
        """Whether a core is no answer here."""
        if core.lower() in self.levels:
            return False
        return is_blank(core) or core in self.missing or _number_text(number_of(core)) in self.missing

    @cached_property
    def answers(self) -> Answers:
        """The domain of the answers."""
        long = self.column.numbers
        if long is not None:
            present = long[np.isfinite(long)]
            if not len(present):
                return NO_ANSWERS
            return Answers(
                Domain.NUMBERS, float(present.min()), float(present.max()), not np.any(present % 1)
            )
        if self.column.long:
            return Answers(Domain.TEXT)
        return _domain(self.cores, self.counts.tolist())

    @property
    def patterns(self) -> tuple[CellPattern, ...]:
        """How answers are written in the cells."""
        return () if self.column.long else self.reading.patterns

    @cached_property
    def has_answer(self) -> npt.NDArray[np.bool_]:
        """Whether each row has an answer."""
        long = self.column.numbers
        if long is not None:
            return np.isfinite(long)
        return self.by_row(np.array([bool(core) for core in self.cores], dtype=bool), False)

    @cached_property
    def scores(self) -> Floats:
        """The number in each row, 1 and 0 for words that pass and fail; nan where there is none."""
        long = self.column.numbers
        if long is not None:
            return long
        two = self.answers.domain is Domain.TWO
        values = [one_of_two(core) if two else number_of(core) for core in self.cores]
        return self.by_row(np.array([np.nan if v is None else v for v in values], dtype=np.float64), np.nan)

    def by_row(self, values: npt.NDArray[Any], missing: object) -> npt.NDArray[Any]:
        """A value for each distinct one, row by row."""
        extended = np.append(values, np.array([missing], dtype=values.dtype))
        return extended[self.codes]

    @cached_property
    def words(self) -> Codes:
        """The number of each row's answer in words of any case; −1 where there is none."""
        numbers: dict[str, int] = {}
        codes = [numbers.setdefault(core.lower(), len(numbers)) if core else -1 for core in self.cores]
        return self.by_row(np.array(codes, dtype=np.int32), -1).astype(np.int32)

    @property
    def varies(self) -> bool:
        """Whether not all cells are equal."""
        if self.column.long:
            return True
        return len(self.column.coded[1]) + bool((self.codes < 0).any()) > 1

    @cached_property
    def numbering(self) -> bool:
        """Whether whole numbers are different in every row, as an index is, or are times."""
        if self.answers.domain is not Domain.NUMBERS or not self.answers.whole_numbers:
            return False
        if self.answers.low > EPOCH:
            return True
        if len(self.column) < INDEX_ROWS:
            return False
        scores = self.scores[np.isfinite(self.scores)]
        return (
            len(scores) == len(self.column)
            and len(np.unique(scores)) == len(scores)
            and len(scores) > MOST_WORDS // 2
        )

    @cached_property
    def steps(self) -> bool:
        """Whether numbers rise by one from row to row."""
        scores = self.scores
        return len(scores) >= INDEX_ROWS and bool(np.all(np.diff(scores) == 1))

    @cached_property
    def may_answer(self) -> bool:
        """Whether the cells may be answers: numbers that are no index, or few short words."""
        if self.answers.domain is Domain.NUMBERS:
            return not (self.numbering or self.steps)
        if self.answers.domain is Domain.TWO:
            return True
        return self.answers.domain is Domain.WORDS and len(self.answers.words) <= MOST_WORDS

    @property
    def examples(self) -> str:
        """Some distinct cells, shortened."""
        texts = dict.fromkeys(
            str(value).strip()[:LONGEST] for value in self.column.coded[1][:50] if not is_blank(value)
        )
        return ", ".join([*texts][:MOST_NAMED])


def _number_text(number: float | None) -> str:
    if number is None:
        return ""
    return f"{number:g}" if abs(number) < 1e6 else repr(number)


def _domain(cores: Sequence[str], counts: Sequence[int]) -> Answers:
    counted_cores = [(core, n) for core, n in zip(cores, counts, strict=True) if core and n]
    total = sum(n for _, n in counted_cores)
    if not total:
        return NO_ANSWERS
    numbers = [(number, n) for core, n in counted_cores if (number := number_of(core)) is not None]
    if sum(n for _, n in numbers) >= ENOUGH * total:
        values = [number for number, _ in numbers]
        return Answers(Domain.NUMBERS, min(values), max(values), not any(value % 1 for value in values))
    if sum(n for core, n in counted_cores if one_of_two(core) is not None) >= ENOUGH * total:
        return Answers(Domain.TWO, words=frozenset(core.lower().rstrip(".!") for core, _ in counted_cores))
    words = frozenset(core.lower().replace("_", " ") for core, _ in counted_cores)
    short = sum(n for core, n in counted_cores if len(core) <= LONGEST)
    if short < ENOUGH * total or len(words) > MOST_CANDIDATES:
        return Answers(Domain.TEXT)
    return Answers(Domain.WORDS, words=words)


def is_level(profiles: Iterable[Profile], word: str) -> bool:
    """Whether a word for nothing, such as “none”, is an answer: people and judges give it among other
    words.
    """
    words_of_others: set[str] = set()
    givers = 0
    for profile in profiles:
        texts = {
            core.lower(): n for core, n in zip(profile.reading.cores, profile.counts.tolist(), strict=True)
        }
        givers += word in texts
        words_of_others |= {text for text in texts if not is_blank(text)}
    if not words_of_others or any(
        number_of(text) is not None or one_of_two(text) is not None for text in words_of_others
    ):
        return False
    return givers > 1 or any(word in order and words_of_others <= {*order} for order in orders())
