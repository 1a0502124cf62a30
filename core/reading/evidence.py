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


def same_scores(column: Profile, other: Profile) -> bool:
    """Whether a column has the scores of another wherever both have some."""
    if column.given.domain is Domain.WORDS and other.given.domain is Domain.WORDS:
        mine, theirs = (
            of.by_row(np.array([core.lower() for core in of.cores]), "") for of in (column, other)
        )
        answered = column.answered & other.answered
        return bool(answered.any()) and np.array_equal(mine[answered], theirs[answered])
    if column.given.domain is Domain.WORDS or other.given.domain is Domain.WORDS:
        return False
    both = np.isfinite(column.scores) & np.isfinite(other.scores)
    return bool(both.any()) and bool(np.array_equal(column.scores[both], other.scores[both]))


def computed_from(
    column: Profile, others: Sequence[Profile], *, ends: bool = True
) -> tuple[Computation, tuple[str, ...]] | None:
    """How a column is computed from two or more others, row by row; None where it is not.

    The mean, median and sum may have been rounded. Columns that others hardly differ in tell nothing, unless
    the column has values that none of them has, such as halves; nor does one that equals another. Without
    `ends` it is not asked whether a column is the least or the greatest of others.
    """
    x = column.scores[:ROWS]
    known = [other for other in others if other.name != column.name]
    if np.isfinite(x).sum() < OFTEN or len(known) < 2:
        return None
    sizes = range(len(known), 1, -1) if len(known) <= MOST_SUBSETS else (len(known),)
    for size in sizes:
        for some in combinations(known, size):
            y = np.array([other.scores[:ROWS] for other in some])
            complete = np.isfinite(x) & np.isfinite(y).all(axis=0)
            if (how := _computed(x[complete], y[:, complete], ends)) is not None:
                return how, tuple(other.name for other in some)
    return None


def _computed(x: Floats, y: Floats, ends: bool) -> Computation | None:
    if len(x) < OFTEN + 1 or np.ptp(x) == 0 or any(np.array_equal(x, other) for other in y):
        return None
    differ = np.ptp(y, axis=0) > 0
    if not differ.any():
        return None
    if len(x) > 2 * FIRST_ROWS and not _may_be(x[:FIRST_ROWS], y[:, :FIRST_ROWS]):
        return None
    telling = int(differ.sum()) >= DIFFERENT
    new = not np.isin(x, y).all()
    for how, value in _candidates(y, ends):
        if (telling or new) and _equal(x, value):
            return how
    if telling and len(y) > 2 and (majority := _majority(y)) is not None:
        decided = np.isfinite(majority)
        if decided.sum() >= DIFFERENT and np.array_equal(x[decided], majority[decided]):
            return Computation.MAJORITY
    if len(y) != 2 or not new or differ.sum() < OFTEN:
        return None
    gap = y[0] - y[1]
    return Computation.DIFFERENCE if any(_equal(x, value) for value in (gap, -gap, np.abs(gap))) else None


def _candidates(y: Floats, ends: bool) -> Iterator[tuple[Computation, Floats]]:
    yield Computation.MEAN, y.mean(axis=0)
    yield Computation.MEDIAN, np.median(y, axis=0)
    yield Computation.SUM, y.sum(axis=0)
    if ends:
        yield Computation.MINIMUM, y.min(axis=0)
        yield Computation.MAXIMUM, y.max(axis=0)


def _may_be(x: Floats, y: Floats) -> bool:
    """Whether some computation gives these first rows, however little they tell."""
    if any(_equal(x, value) for _, value in _candidates(y, ends=True)):
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
            up = np.floor(value / unit + 0.5 + 1e-9) * unit
            return bool(
                np.allclose(x, np.round(value, decimals), rtol=0, atol=1e-9)
                or np.allclose(x, up, rtol=0, atol=1e-9)
            )
    return False


def _majority(y: Floats) -> Floats | None:
    """The answer given most often in each row; nan where two are."""
    values = np.unique(y)
    if len(values) > MOST_SUBSETS * 4:
        return None
    counts = np.array([(y == value).sum(axis=0) for value in values])
    most = counts.max(axis=0)
    once = (counts == most).sum(axis=0) == 1
    return np.where(once, values[counts.argmax(axis=0)], np.nan)


def computed_words(column: Profile, others: Sequence[Profile]) -> tuple[str, ...] | None:
    """The columns of whose words a column holds the majority in every row; None where it does not."""
    known = [other for other in others if other.name != column.name]
    if len(known) < 3 or column.given.domain not in (Domain.WORDS, Domain.TWO):
        return None
    vocabulary: dict[str, float] = {}

    def numbers(profile: Profile) -> Floats:
        values = [
            np.nan if not core else vocabulary.setdefault(core.lower(), float(len(vocabulary)))
            for core in profile.cores
        ]
        whole = profile.by_row(np.array(values, dtype=np.float64), np.nan)
        return np.asarray(whole[:ROWS], dtype=np.float64)

    x, y = numbers(column), np.array([numbers(other) for other in known])
    complete = np.isfinite(x) & np.isfinite(y).all(axis=0)
    x, y = x[complete], y[:, complete]
    majority = _majority(y) if len(x) else None
    if majority is None:
        return None
    decided = np.isfinite(majority) & (np.ptp(y, axis=0) > 0)
    same = np.array_equal(x[np.isfinite(majority)], majority[np.isfinite(majority)])
    return tuple(other.name for other in known) if same and decided.sum() >= DIFFERENT else None


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
        comparison, equality = x[complete], equal[complete]
        if min((equality == 0).sum(), (equality == 1).sum()) < OFTEN or complete.sum() < DIFFERENT:
            continue
        if np.array_equal(comparison, equality) or np.array_equal(comparison, 1 - equality):
            return one.name, two.name
    return None


def _equal_rows(one: Profile, two: Profile) -> Floats:
    """1 where two columns have one answer, 0 where they have others, nan where one has none."""
    both_answered = (one.answered & two.answered)[:ROWS]
    numeric = {Domain.NUMBERS, Domain.TWO}
    if {one.given.domain, two.given.domain} <= numeric:
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
    x, y = column.scores[present][:ROWS], base.scores[present][:ROWS]
    if len(x) < DIFFERENT or len(np.unique(y)) < LEVELS or len(np.unique(x)) != len(np.unique(y)):
        return False
    slope, height = np.polyfit(y, x, 1)
    if slope <= 0 or np.abs(slope * y + height - x).max() > SAME_SCALE * np.ptp(x):
        return False
    unchanged = abs(slope - 1) < SAME_SCALE and abs(height) < SAME_SCALE
    if unchanged:
        return False
    return (not column.given.whole, np.ptp(x)) > (not base.given.whole, np.ptp(y))


def answers_like(column: Profile, rater: Profile) -> bool:
    """Whether a column of unknown meaning goes with a rater's answers from row to row."""
    if not column.given.alike(rater.given):
        return False
    both = column.answered & rater.answered
    if both.sum() < OFTEN + 1:
        return False
    if {column.given.domain, rater.given.domain} <= {Domain.NUMBERS, Domain.TWO}:
        x, y = column.scores[both], rater.scores[both]
        finite = np.isfinite(x) & np.isfinite(y)
        x, y = x[finite], y[finite]
        if len(x) <= OFTEN or np.ptp(x) == 0 or np.ptp(y) == 0:
            return False
        return float(np.corrcoef(x, y)[0, 1]) >= LIKE
    mine = [core.lower() for core in column.cores]
    theirs = [core.lower() for core in rater.cores]
    numbers = {word: n for n, word in enumerate(dict.fromkeys([*mine, *theirs]))}
    a, b = (
        profile.by_row(np.array([numbers[word] for word in of], dtype=np.int64), -1)[both]
        for profile, of in ((column, mine), (rater, theirs))
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


def sentinels_of(rater: str, scores: Floats, others: Sequence[Floats]) -> Iterator[Sentinel]:
    """The numbers of one rater that lie far off the range of everybody else."""
    finite = scores[np.isfinite(scores)]
    rest = np.concatenate([other[np.isfinite(other)] for other in others]) if others else np.empty(0)
    if not len(finite) or not len(rest):
        return
    low, high = float(rest.min()), float(rest.max())
    width = max(high - low, 1.0)
    values, counts = np.unique(finite, return_counts=True)
    outside = (values < low) | (values > high)
    inside = finite[(finite >= low) & (finite <= high)]
    if not len(inside) or len(inside) < len(finite) / 2 or outside.sum() > 3:
        return
    found = []
    for value, count in zip(values[outside].tolist(), counts[outside].tolist(), strict=True):
        distance = low - value if value < low else value - high
        usual = value in sentinels() and distance >= max(1.0, width / 4 if value > 0 else 0.0)
        if count < OFTEN or not (usual or distance > FAR * width):
            return
        found.append(Sentinel(rater, value, count, len(finite), low, high))
    yield from found


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
    bad, good = {*answers("failed")}, {*answers("not_failed")}
    numeric = flag.given.domain is Domain.NUMBERS
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
