"""What relates columns: one is computed from others, answers like them, or holds values that stand for
none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from concord.codes import Computation, Domain
from concord.reading.column import Floats
from concord.reading.profile import Profile
from concord.reading.vocabulary import answers, sentinels

ROWS = 20_000
"""So many rows decide whether a column is computed from others."""
DIFFERENT = 6
"""In so many rows the columns that another is computed from must differ, unless its values tell."""
MOST_SUBSETS = 6
"""Of so many columns every subset is tried."""
OFTEN = 2
"""A value that comes less often stands for nothing."""
FAR = 1.0
"""How many widths of everybody else's range a value lies off it to stand for nothing."""
SAME_SCALE = 0.005
"""How far, as a share of their range, numbers of one scale lie off those of another after rounding."""
LEVELS = 3
"""So many different numbers tell whether two scales are one."""
LIKE = 0.5
"""Correlation from which a column of unknown meaning answers like a rater."""


FIRST_ROWS = 1000
"""Rows of a long table that show first whether a column may be computed from others at all."""


def same_scores(column: Profile, second: Profile) -> bool:
    """Whether a column has the scores of another wherever both have some."""
    if column.answers.domain is Domain.WORDS and second.answers.domain is Domain.WORDS:
        first_words, second_words = (
            profile.by_row(np.array([core.lower() for core in profile.cores]), "")
            for profile in (column, second)
        )
        both_answered = column.has_answer & second.has_answer
        return bool(both_answered.any()) and np.array_equal(
            first_words[both_answered], second_words[both_answered]
        )
    if column.answers.domain is Domain.WORDS or second.answers.domain is Domain.WORDS:
        return False
    both_finite = np.isfinite(column.scores) & np.isfinite(second.scores)
    return bool(both_finite.any()) and bool(
        np.array_equal(column.scores[both_finite], second.scores[both_finite])
    )


def computed_from(
    column: Profile, profiles: Sequence[Profile], *, ends: bool = True
) -> tuple[Computation, tuple[str, ...]] | None:
    """How a column is computed from two or more others, row by row; None where it is not.

    The mean, median and sum may have been rounded. Columns that others hardly differ in tell nothing, unless
    the column has values that none of them has, such as halves; nor does one that equals another. Without
    `ends` it is not asked whether a column is the least or the greatest of others.
    """
    x = column.scores[:ROWS]
    candidates = [profile for profile in profiles if profile.name != column.name]
    if np.isfinite(x).sum() < OFTEN or len(candidates) < 2:
        return None
    sizes = range(len(candidates), 1, -1) if len(candidates) <= MOST_SUBSETS else (len(candidates),)
    for size in sizes:
        for subset in combinations(candidates, size):
            y = np.array([profile.scores[:ROWS] for profile in subset])
            complete = np.isfinite(x) & np.isfinite(y).all(axis=0)
            if (computation := _computed(x[complete], y[:, complete], ends)) is not None:
                return computation, tuple(profile.name for profile in subset)
    return None


def _computed(x: Floats, y: Floats, ends: bool) -> Computation | None:
    if len(x) < OFTEN + 1 or np.ptp(x) == 0 or any(np.array_equal(x, row) for row in y):
        return None
    differ = np.ptp(y, axis=0) > 0
    if not differ.any():
        return None
    if len(x) > 2 * FIRST_ROWS and not _may_be(x[:FIRST_ROWS], y[:, :FIRST_ROWS]):
        return None
    telling = int(differ.sum()) >= DIFFERENT
    new = not np.isin(x, y).all()
    for computation, value in _candidates(y, ends):
        if (telling or new) and _equal(x, value):
            return computation
    if telling and len(y) > 2 and (majority := _majority(y)) is not None:
        clear = np.isfinite(majority)
        if clear.sum() >= DIFFERENT and np.array_equal(x[clear], majority[clear]):
            return Computation.MAJORITY
    if new and _weighted(x, y):
        return Computation.WEIGHTED
    if len(y) != 2 or not new or differ.sum() < OFTEN:
        return None
    gap = y[0] - y[1]
    return Computation.DIFFERENCE if any(_equal(x, value) for value in (gap, -gap, np.abs(gap))) else None


def _weighted(x: Floats, y: Floats) -> bool:
    """Whether a column is the mean of others by weights that add up to 1, but for rounding."""
    if len(x) < len(y) + DIFFERENT or np.linalg.matrix_rank(y) < len(y):
        return False
    weights = np.linalg.lstsq(y.T, x, rcond=None)[0]
    if weights.min() < SAME_SCALE or abs(weights.sum() - 1) > SAME_SCALE:
        return False
    return bool(np.abs(weights @ y - x).max() <= SAME_SCALE * np.ptp(x))


def _candidates(y: Floats, ends: bool) -> Iterator[tuple[Computation, Floats]]:
    yield Computation.MEAN, y.mean(axis=0)
    yield Computation.MEDIAN, np.median(y, axis=0)
    yield Computation.SUM, y.sum(axis=0)
    if ends:
        yield Computation.MINIMUM, y.min(axis=0)
        yield Computation.MAXIMUM, y.max(axis=0)


def _may_be(x: Floats, y: Floats) -> bool:
    """Whether some computation gives these first rows, however little they tell."""
    if any(_equal(x, value) for _, value in _candidates(y, ends=True)) or _weighted(x, y):
        return True
    if len(y) == 2:
        gap = y[0] - y[1]
        return any(_equal(x, value) for value in (gap, -gap, np.abs(gap)))
    majority = _majority(y)
    clear = np.zeros(len(x), dtype=bool) if majority is None else np.isfinite(majority)
    return majority is not None and np.array_equal(x[clear], majority[clear])


def _equal(x: Floats, value: Floats) -> bool:
    """Whether values are equal, or what is left of them after rounding."""
    if np.allclose(x, value, rtol=0, atol=1e-9):
        return True
    for decimals in range(4):
        unit = 10.0**-decimals
        if np.allclose(np.round(x, decimals), x, rtol=0, atol=1e-9):
            rounded_up = np.floor(value / unit + 0.5 + 1e-9) * unit
            return bool(
                np.allclose(x, np.round(value, decimals), rtol=0, atol=1e-9)
                or np.allclose(x, rounded_up, rtol=0, atol=1e-9)
            )
    return False


def _majority(y: Floats) -> Floats | None:
    """The answer given most often in each row; nan where two are."""
    values = np.unique(y)
    if len(values) > MOST_SUBSETS * 4:
        return None
    counts = np.array([(y == value).sum(axis=0) for value in values])
    largest = counts.max(axis=0)
    is_single = (counts == largest).sum(axis=0) == 1
    return np.where(is_single, values[counts.argmax(axis=0)], np.nan)


def computed_words(column: Profile, profiles: Sequence[Profile]) -> tuple[str, ...] | None:
    """The columns of whose words a column holds the majority in every row; None where it does not."""
    candidates = [candidate for candidate in profiles if candidate.name != column.name]
    if len(candidates) < 3 or column.answers.domain not in (Domain.WORDS, Domain.TWO):
        return None
    vocabulary: dict[str, float] = {}

    def numbers(profile: Profile) -> Floats:
        values = [
            np.nan if not core else vocabulary.setdefault(core.lower(), float(len(vocabulary)))
            for core in profile.cores
        ]
        by_row = profile.by_row(np.array(values, dtype=np.float64), np.nan)
        return np.asarray(by_row[:ROWS], dtype=np.float64)

    x = numbers(column)
    y = np.array([numbers(candidate) for candidate in candidates])
    complete = np.isfinite(x) & np.isfinite(y).all(axis=0)
    x = x[complete]
    y = y[:, complete]
    majority = _majority(y) if len(x) else None
    if majority is None:
        return None
    clear = np.isfinite(majority) & (np.ptp(y, axis=0) > 0)
    agrees = np.array_equal(x[np.isfinite(majority)], majority[np.isfinite(majority)])
    return tuple(candidate.name for candidate in candidates) if agrees and clear.sum() >= DIFFERENT else None


def compared_from(column: Profile, profiles: Sequence[Profile]) -> tuple[str, str] | None:
    """The two columns whose equality, or difference, a column of two answers states in every row; None
    else.
    """
    x = column.scores[:ROWS]
    finite = x[np.isfinite(x)]
    if not len(finite) or not np.isin(finite, (0.0, 1.0)).all() or len(np.unique(finite)) < 2:
        return None
    for one, two in combinations([profile for profile in profiles if profile.name != column.name], 2):
        equal = _equal_rows(one, two)
        complete = np.isfinite(x) & np.isfinite(equal)
        comparison = x[complete]
        equality = equal[complete]
        if min((equality == 0).sum(), (equality == 1).sum()) < OFTEN or complete.sum() < DIFFERENT:
            continue
        if np.array_equal(comparison, equality) or np.array_equal(comparison, 1 - equality):
            return one.name, two.name
    return None


def _equal_rows(one: Profile, two: Profile) -> Floats:
    """1 where two columns have one answer, 0 where they have others, nan where one has none."""
    both_answered = (one.has_answer & two.has_answer)[:ROWS]
    numeric = {Domain.NUMBERS, Domain.TWO}
    if {one.answers.domain, two.answers.domain} <= numeric:
        equal = one.scores[:ROWS] == two.scores[:ROWS]
    else:
        numbers: dict[str, int] = {}
        codes = [
            profile.by_row(
                np.array(
                    [numbers.setdefault(core.lower(), len(numbers)) for core in profile.cores], dtype=int
                ),
                -1,
            )
            for profile in (one, two)
        ]
        equal = codes[0][:ROWS] == codes[1][:ROWS]
    return np.where(both_answered, equal.astype(np.float64), np.nan)


def rescaled(column: Profile, base: Profile) -> bool:
    """Whether a column has the numbers of another on another scale, such as z-scores, but for rounding.

    Of two columns it is the one whose numbers are no whole ones, or the wider.
    """
    present = np.isfinite(column.scores) & np.isfinite(base.scores)
    x = column.scores[present][:ROWS]
    y = base.scores[present][:ROWS]
    if len(x) < DIFFERENT or len(np.unique(y)) < LEVELS:
        return False
    if not base.answers.whole_numbers and len(np.unique(x)) >= LEVELS and column.answers.whole_numbers:
        return bool(np.array_equal(x, np.round(y)) or np.array_equal(x, np.floor(y + 0.5)))
    if len(np.unique(x)) != len(np.unique(y)):
        return False
    slope, height = np.polyfit(y, x, 1)
    if slope <= 0 or np.abs(slope * y + height - x).max() > SAME_SCALE * np.ptp(x):
        return False
    unchanged = abs(slope - 1) < SAME_SCALE and abs(height) < SAME_SCALE
    if unchanged:
        return False
    return (not column.answers.whole_numbers, np.ptp(x)) > (not base.answers.whole_numbers, np.ptp(y))


def answers_like(column: Profile, rater: Profile) -> bool:
    """Whether a column of unknown meaning goes with a rater's answers from row to row."""
    if not column.answers.alike(rater.answers):
        return False
    both_answered = column.has_answer & rater.has_answer
    if both_answered.sum() < OFTEN + 1:
        return False
    if {column.answers.domain, rater.answers.domain} <= {Domain.NUMBERS, Domain.TWO}:
        x = column.scores[both_answered]
        y = rater.scores[both_answered]
        finite = np.isfinite(x) & np.isfinite(y)
        x = x[finite]
        y = y[finite]
        if len(x) <= OFTEN or np.ptp(x) == 0 or np.ptp(y) == 0:
            return False
        return float(np.corrcoef(x, y)[0, 1]) >= LIKE
    column_words = [core.lower() for core in column.cores]
    rater_words = [core.lower() for core in rater.cores]
    numbers = {word: n for n, word in enumerate(dict.fromkeys([*column_words, *rater_words]))}
    a, b = (
        profile.by_row(np.array([numbers[word] for word in words], dtype=np.int64), -1)[both_answered]
        for profile, words in ((column, column_words), (rater, rater_words))
    )
    share = float(np.mean(a == b))
    chance = sum(float(np.mean(a == n)) * float(np.mean(b == n)) for n in numbers.values())
    return chance < 1 and (share - chance) / (1 - chance) >= LIKE


@dataclass(frozen=True)
class Sentinel:
    """A number of one rater that may stand for no answer: how often it comes, and everybody else's range."""

    rater: str
    value: float
    count: int
    total: int
    low: float
    high: float
    flag: str = ""
    """The column that says of these rows that something failed."""


def sentinels_of(rater: str, scores: Floats, score_lists: Sequence[Floats]) -> Iterator[Sentinel]:
    """The numbers of one rater that lie far off the range of everybody else."""
    finite = scores[np.isfinite(scores)]
    rest = (
        np.concatenate([scores_of_one[np.isfinite(scores_of_one)] for scores_of_one in score_lists])
        if score_lists
        else np.empty(0)
    )
    if not len(finite) or not len(rest):
        return
    low = float(rest.min())
    high = float(rest.max())
    width = max(high - low, 1.0)
    values, counts = np.unique(finite, return_counts=True)
    outside = (values < low) | (values > high)
    inside = finite[(finite >= low) & (finite <= high)]
    if not len(inside) or len(inside) < len(finite) / 2 or outside.sum() > 3:
        return
    list_of_sentinels = []
    for value, count in zip(values[outside].tolist(), counts[outside].tolist(), strict=True):
        distance = low - value if value < low else value - high
        is_typical = value in sentinels() and distance >= max(1.0, width / 4 if value > 0 else 0.0)
        if count < OFTEN or not (is_typical or distance > FAR * width):
            return
        list_of_sentinels.append(Sentinel(rater, value, count, len(finite), low, high))
    yield from list_of_sentinels


def zeros_below(scores: Floats, raters: Sequence[Floats]) -> int:
    """How often one rater gives 0 where everybody else's whole numbers begin at 1; 0 where that is no
    question.
    """
    rest = (
        np.concatenate([given_scores[np.isfinite(given_scores)] for given_scores in raters])
        if raters
        else np.empty(0)
    )
    finite = scores[np.isfinite(scores)]
    if not len(rest) or rest.min() != 1 or len(finite) < 2 or (finite % 1).any() or finite.max() > rest.max():
        return 0
    zeros = int((finite == 0).sum())
    return zeros if zeros >= OFTEN and (finite >= 1).mean() > LIKE else 0


def failed_rows(flag: Profile) -> npt.NDArray[np.bool_]:
    """The rows in which a column about an answer says that it failed."""
    bad = {*answers("failed")}
    good = {*answers("not_failed")}
    numeric = flag.answers.domain is Domain.NUMBERS
    texts = [core.lower().removesuffix(".0") for core in flag.reading.cores]
    name = flag.name.lower()
    free = any(word in name for word in ("error", "exception", "failure"))
    inverted = any(word in name for word in ("valid", "success", "parsed", "ok")) and "invalid" not in name
    says = []
    for text, core in zip(texts, flag.cores, strict=True):
        if inverted:
            says.append(text in ("false", "0", "no", "n", "failed", "invalid"))
        else:
            says.append(text in bad or (free and not numeric and bool(core) and text not in good))
    return np.asarray(flag.by_row(np.array(says, dtype=bool), False), dtype=bool)
