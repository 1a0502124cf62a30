"""What the cells of a table of labels mean: one of two answers in their usual words, numbers, categories."""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np

from concord.files import SHIPPED, read_toml
from concord.questions import Scale, between, categories
from concord.rating import RaterKind
from concord.studies.scales import shared_scale


@cache
def words(name: str) -> tuple[str, ...]:
    """A list of words or names of data/columns.toml."""
    text: str = read_toml(SHIPPED / "data" / "columns.toml")[name]
    return tuple(text.split())


MOST = 20
"""Words of which there are more are no categories."""
ENOUGH = 0.8
"""The share of answers that must be of one kind for the others to count as ones that cannot be read."""

GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Grades as Inspect gives them: correct, partially, incorrect, no answer."""

PASS_FAIL = Scale((0, 1), ("fail", "pass"))

DECIMAL_COMMA = re.compile(r"([+-]?)(0,\d+|\d+,(?!\d{3}$)\d+)")
"""A number with a decimal comma; 1,000 may be a thousand and is none."""

Cells = Sequence[tuple[RaterKind, str, Any]]
"""(kind, rater, cell) of the cells of one criterion that are not blank."""


@dataclass(frozen=True)
class CellReading:
    """How the answers on one criterion are read: their scale, the score of a cell (None: it has none), and
    both in words.

    Where that is unsure `problem` says why, and `option` what to type.
    """

    scale: Scale
    score: Callable[[Any], float | None]
    description: str = ""
    problem: str = ""
    option: tuple[str, ...] = ()
    of_rater: Mapping[str, Callable[[Any], float | None]] = field(default_factory=dict)
    """The scores of raters whose cells are read otherwise."""


def reading_of(cells: Cells, declared: Scale | None, passing: float | None) -> CellReading:
    """How the answers of people and judges on one criterion are read, as they share them.

    A declared scale stands; its answers are read by number or by word. From `passing` on a number passes.
    """
    if declared is not None:
        if any((number_of(cell) or 0) % 1 for *_, cell in cells):
            declared = between(declared.low, declared.high)
        described = f"from {declared.low:g} to {declared.high:g}, as declared"
        return CellReading(declared, partial(_on, declared), described)
    if (grades := {str(cell).strip() for *_, cell in cells}) <= GRADES.keys() and grades & {"C", "I"}:
        scale = between(0, 1) if "P" in grades else Scale((0, 1), ("incorrect", "correct"))
        return CellReading(scale, partial(_among, GRADES), "grades of Inspect: C is correct, I incorrect")
    people = Counter(str(cell).strip() for kind, _, cell in cells if kind == "human")
    every = Counter(str(cell).strip() for *_, cell in cells)
    if passing is not None:
        if any(number_of(cell) not in (None, 0, 1) for cell in people):
            people, every = (
                Counter({cell: n for cell, n in of.items() if number_of(cell) is None})
                for of in (people, every)
            )
        scale = _two_answers(people, every)
        beyond = {rater for _, rater, cell in cells if number_of(cell) not in (None, 0, 1)}
        return CellReading(
            scale,
            partial(_from, passing),
            f"{_named(scale)}; numbers from {passing:g} pass",
            of_rater=dict.fromkeys(beyond, partial(_from, passing, words_01=False)),
        )
    for who, kind, odd in (
        ("people", "human", _in_numbers(cells, "judge")),
        ("judges", "judge", _in_numbers(cells, "human")),
    ):
        given = [cell for of, _, cell in cells if of == kind]
        # 0 and 1 are words of people, and numbers of judges.
        decided = [
            c for c in given if one_of_two(c) is not None and (kind == "human" or number_of(c) is None)
        ]
        if odd and len(decided) >= ENOUGH * len(given) > 0:
            rater, low, high = odd
            problem = f"{who} give one of two answers, {rater} numbers from {low:g} to {high:g}. Say from "
            problem += "which number on it passes."
            option = ("--pass-from", f"{(low + high) / 2:.2g}")
            return CellReading(PASS_FAIL, one_of_two, problem=problem, option=option)
    if _share(every, one_of_two) >= ENOUGH:
        scale = _two_answers(people, every)
        return CellReading(scale, one_of_two, _named(scale))
    if _share(every, number_of) >= ENOUGH or all(number_of(cell) is not None for cell in every):
        return _numbers(cells)
    return _categories(every)


def one_of_two(cell: Any) -> float | None:
    """1 for a word that passes, 0 for one that fails."""
    word = str(cell).strip().lower().rstrip(".!")
    return 1.0 if word in words("pass") else 0.0 if word in words("fail") else None


def is_blank(cell: Any) -> bool:
    """Whether a cell holds no answer: nothing, a word for that, or what is no number."""
    return cell is None or cell != cell or str(cell).strip().lower() in ("", *words("blank"))


def number_of(cell: Any) -> float | None:
    """A finite number, also with a decimal comma; of true and false 1 and 0."""
    if isinstance(cell, bool | np.bool_):
        return float(cell)
    text = str(cell).strip().removesuffix("%").strip()
    text = text.replace(",", ".") if DECIMAL_COMMA.fullmatch(text) else text
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text else None


def _share(cells: Mapping[str, int], read: Callable[[Any], float | None]) -> float:
    """The share of cells that are read so."""
    total = sum(cells.values())
    return sum(n for cell, n in cells.items() if read(cell) is not None) / total if total else 0.0


def _two_answers(people: Mapping[str, int], every: Mapping[str, int]) -> Scale:
    """The scale of two answers in the words that people use most, else anybody.

    Where nobody gives one of the answers, its word is the one beside the other's in the lists of words.
    """
    most: dict[float, str] = {}
    for cells in (every, people):
        for cell, _ in sorted(cells.items(), key=lambda one: (len(one[0]) > 1, one[1])):
            if (score := one_of_two(cell)) is not None:
                most[score] = _plain(cell)
    lists = {0.0: words("fail"), 1.0: words("pass")}
    for score, of in lists.items():
        if score not in most:
            other = lists[1 - score]
            most[score] = of[other.index(most[1 - score]) if 1 - score in most else 0]
    return Scale((0, 1), (most[0.0], most[1.0]))


def _plain(cell: str) -> str:
    return cell.lower().rstrip(".!").removesuffix(".0")


def _named(scale: Scale) -> str:
    """Two answers in words, the one that passes first."""
    return f"{scale.labels[1]} or {scale.labels[0]}"


def _in_numbers(cells: Cells, whose: RaterKind) -> tuple[str, float, float] | None:
    """The first rater of a kind with numbers other than 0 and 1, with the least and the greatest."""
    raters: dict[str, list[float | None]] = {}
    for kind, rater, cell in cells:
        if kind == whose:
            raters.setdefault(rater, []).append(number_of(cell))
    for rater, values in raters.items():
        numbers = [value for value in values if value is not None]
        if len(numbers) >= ENOUGH * len(values) and not set(numbers) <= {0.0, 1.0}:
            return rater, min(numbers), max(numbers)
    return None


def _numbers(cells: Cells) -> CellReading:
    people: list[float] = []
    judges: dict[str, list[float]] = {}
    for kind, rater, cell in cells:
        if (value := number_of(cell)) is not None:
            (judges.setdefault(rater, []) if kind == "judge" else people).append(value)
    arrays = {judge: np.array(values) for judge, values in judges.items()}
    shared = shared_scale(np.array(people, dtype=np.float64), arrays, None)
    scale = shared.scale
    assert scale is not None, "a criterion has numbers"
    kind_of_number = "whole numbers" if scale.offered else "numbers"
    described = f"{kind_of_number} from {scale.low:g} to {scale.high:g} (guessed; --scale declares it)"
    return CellReading(scale, number_of, "; ".join([described, *shared.other.values()]))


def _categories(cells: Mapping[str, int]) -> CellReading:
    by_word: dict[str, str] = {}
    for cell in cells:
        by_word.setdefault(cell.lower(), cell)
    names = [by_word[word] for word in sorted(by_word)]
    if len(names) > MOST or len(names) < 2:
        few = "one and the same word" if len(names) < 2 else f"{len(names)} different words"
        problem = (
            f"its answers are {few}, neither two answers such as pass and fail nor numbers. Name other "
            "columns with --human and --judge, or write answers as numbers."
        )
        return CellReading(PASS_FAIL, one_of_two, problem=problem)
    place = {cell: float(sorted(by_word).index(cell.lower())) for cell in cells}
    return CellReading(categories(names), partial(_among, place), f"categories {', '.join(names)}")


def _on(scale: Scale, cell: Any) -> float | None:
    number = number_of(cell)
    return scale.read(str(cell)) if number is None else number


def _from(passing: float, cell: Any, words_01: bool = True) -> float | None:
    """Whether an answer passes; 0 and 1 are words of a rater who gives no other numbers."""
    number = number_of(cell)
    return one_of_two(cell) if number is None or (words_01 and number in (0, 1)) else float(number >= passing)


def _among(place: Mapping[str, float], cell: Any) -> float | None:
    return place.get(str(cell).strip())
