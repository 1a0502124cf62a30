"""95% intervals from a bootstrap's standard error, by the kind of figure.

A percentile interval of few or skewed items is too narrow, and has no width where all resamples agree.
`bench/coverage.py` measures how often each interval here holds the truth; docs/intervals.md has its table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from concord.codes import IntervalMethod
from concord.estimate import Estimate, estimate, too_few
from concord.statistics.ratings import Ends as Ends
from concord.statistics.ratings import Floats

LEVEL = 0.95

RARER = "fewer than {fewest} items have a rarer answer"
"""What is too few where a kappa has no interval."""

FEWEST = 8
"""Items below which a figure has no interval; a bounded mean needs two."""

FEWEST_UNCOMMON = 10
"""Items with a rating other than the commonest below which alpha has no interval: it rests on these few."""

UNDEFINED_SHARE = 0.05
"""A figure that is undefined in more than this share of its resamples has no interval."""

ROUNDING = 1e-9
"""A mean of rounded scores may lie so far outside its scale."""


def _identity(values: Floats, _n: int) -> Floats:
    return values


@dataclass(frozen=True)
class Kind:
    """How the interval of a kind of figure is found: `words` say it in a basis line.

    The interval is symmetric on the scale that `transform` (values, items) leads to and `inverse` leads from.
    `parameters` is how many degrees of freedom the figure takes from its items, `ends` the least and greatest
    value it can have. A `padded` figure is a mean of values between its ends (`bounded_mean`). `lacking` says
    why a figure has no interval, whatever its resamples. `short` says how often the interval holds in
    simulated studies where that is fewer than 93 times of 100, `short_like_these` where it is for annotators
    like these.
    """

    words: str = ""
    transform: Callable[[Floats, int], Floats] = _identity
    inverse: Callable[[Floats], Floats] = np.asarray
    parameters: int = 1
    ends: Ends = (-math.inf, math.inf)
    padded: bool = False
    lacking: str = ""
    short: str = ""
    short_like_these: str = ""
    freedom: float = math.inf
    """The most degrees of freedom, where a figure rests on fewer answers than it has items."""
    unequal: float = 0.0
    """How far the figure falls, at most, for each share of items that are unequal; 0 where that is not known.
    Where all are equal it has the interval of `all_equal`."""


def undercoverage(figure_words: str, lowest: int, highest: int | None = None) -> str:
    """That intervals of a figure hold less often than 93 times of 100 (docs/intervals.md has the table)."""
    times = f"{lowest}" if highest is None else f"{lowest} to {highest}"
    return f"intervals of {figure_words} hold in {times} of 100 simulated studies, not 95"


def _fisher(values: Floats, n: int) -> Floats:
    """Fisher's z (1921), of correlations kept within ±(1 − 1/2n), as z of 1 is infinite."""
    bound = 1 - 1 / (2 * n)
    return np.arctanh(np.clip(values, -bound, bound))


CORRELATION = Kind("correlations on Fisher's z scale", _fisher, np.tanh, 2, (-1.0, 1.0))
"""A correlation, kappa or ICC: value ± t·SE of z (Fisher 1921; Bonett and Wright 2000 for ranks)."""

DIFFERENCE = Kind()
"""A difference, or another figure without bounds: value ± t·SE."""

BIAS = Kind(short_like_these=undercoverage("bias for annotators like few", 91, 95))
"""A mean difference of scores: value ± t·SE."""

MAE = Kind(ends=(0.0, math.inf), short=undercoverage("MAE", 92, 94))
"""A distance: value ± t·SE, not below 0."""

PAIRWISE_ACCURACY = Kind(ends=(0.0, 1.0), short=undercoverage("pairwise accuracy", 86))
"""The accuracy of an order of few players: value ± t·SE, kept within 0 and 1; a draw of items confounds
neighbours, never the other way."""

ORDER = Kind(ends=(-1.0, 1.0), short=undercoverage("tau", 89))
"""Tau of two orders of few players, whose true value may be 1 exactly: value ± t·SE, kept within ±1."""

PILED_UP = undercoverage("alpha", 70, 90) + ", where most items hold the commonest rating alone"


def alpha(uncommon: int, items: int) -> Kind:
    """Krippendorff's alpha of `items` of which `uncommon` hold a rating other than the commonest.

    None for fewer than `FEWEST_UNCOMMON` of them, and a warning for fewer than half of the items: alpha then
    rests on rare ratings, of which a study has seen too few.
    """
    lacking = too_few(uncommon, FEWEST_UNCOMMON, "with a rating other than the commonest")
    return replace(
        CORRELATION,
        short=PILED_UP if 2 * uncommon < items else "",
        ends=(-math.inf, math.inf),
        lacking=lacking if uncommon < FEWEST_UNCOMMON else "",
    )


FEWEST_RARER = 20
"""Items with another answer than the commonest below which a difference of two kappas has no interval."""

FEWEST_RARER_OF_ONE = 10
"""The same of one kappa, where more than three of four items hold the commonest answer."""


def piled_up(rarer: int, items: int) -> bool:
    """Whether more than three of four items hold the commonest answer, and `rarer` another one."""
    return 4 * rarer < items


def rests_on(kind: Kind, rarer: int, items: int, *, fewest: int = 0) -> Kind:
    """An agreement of `items` of which `rarer` hold another answer than the commonest; fewer than `fewest`
    have no interval.

    Where answers pile up a standard error is itself known from few items: Student's t has half a degree of
    freedom for each rarer answer (docs/intervals.md has how often such intervals hold).
    """
    return replace(
        kind,
        lacking=RARER.format(fewest=fewest) if rarer < fewest else kind.lacking,
        freedom=max(rarer / 2, 1.0) if piled_up(rarer, items) else kind.freedom,
    )


def of_kappa(rarer: int, items: int) -> Kind:
    """A kappa of `items` of which `rarer` hold another answer than the commonest."""
    fewest = FEWEST_RARER_OF_ONE if piled_up(rarer, items) else 0
    kind = rests_on(CORRELATION, rarer, items, fewest=fewest)
    return replace(kind, unequal=unequal_of_kappa(rarer, items))


def unequal_of_kappa(rarer: int, items: int) -> float:
    """How far kappa falls for each share of unequal answers: 1 / (1 − p_e); 0 where all answers are alike.

    p_e is that of two answers, of which the commonest has the share p of all: p² + (1 − p)². Of more answers
    it is less.
    """
    commoner = rarer / items if items else 0.0
    return 1 / (2 * commoner * (1 - commoner)) if 0 < commoner < 1 else 0.0


def unequal_of_ranks(rarer: int, items: int) -> float:
    """How far Spearman's ρ falls, at most, for each share of unequal items: 6 / (1 − p²), or 0.

    Of ranks from 0 to 1 with midranks for ties their variance is (1 − Σ p³) / 12, where p are the shares of
    scores, and Σ p³ is at most the square of the commonest one's. ρ is 1 less half of the mean square of the
    differences of ranks, each at most 1, over that variance.
    """
    commonest = 1 - rarer / items if items else 1.0
    return 6 / (1 - commonest**2) if 0 < commonest < 1 else 0.0


EQUAL_FREEDOM = 6.0
"""Student's t of an exact interval: its tail is heavier than the exponential one of so many equal items."""


def all_equal(value: float, n: int, units: int, kind: Kind) -> Estimate:
    """The interval of a figure of items that are all equal, such as a kappa of 1 or a difference of 0.

    With 0 of n items unequal, their share is at most 1 − 0.025^(1/n) (Clopper and Pearson 1934; about 3.7/n,
    of which the “rule of three” is the one-sided form); the figure falls by that times `kind.unequal`.
    """
    reach = kind.unequal * (1 - ((1 - LEVEL) / 2) ** (1 / units))
    low = max(kind.ends[0], value - reach)
    high = min(kind.ends[1], value + reach)
    return replace(estimate(value, low, high, n=n, method=EXACTLY_EQUAL), freedom=EQUAL_FREEDOM)


EXACTLY_EQUAL = "95%: all items are equal; the share of unequal ones is bounded exactly"
"""How such an interval is found."""


def bounded(lowest: float, greatest: float) -> Kind:
    """A mean of values from `lowest` to `greatest`, such as a share or a mean score."""
    words = "means of bounded values with up to one more value at each end"
    return Kind(words, ends=(lowest, greatest), padded=True)


SHARE = bounded(0.0, 1.0)
"""A share of items."""


def resampled(
    value: float,
    resampled_values: Floats,
    *,
    n: int,
    kind: Kind = DIFFERENCE,
    method: str = "",
    units: int | None = None,
    widened: float = 1.0,
    without_each: Floats | None = None,
) -> Estimate:
    """A figure of `n` items with its interval, value ± t·SE on the scale of its kind, or why it has none.

    `units` is how many items or clusters a resample draws, where that is not `n`. SE is the standard
    deviation of the resamples, t Student's, times `widened` (see `simultaneous`); t has no more degrees of
    freedom than there are resamples, less one. With `without_each`, the
    figure without each annotator in turn, the interval is for annotators like these: the variance of items
    and that of k annotators by the jackknife, (k − 1)/k · the sum of squares about their mean (Efron and
    Stein 1981), are added, and t has the degrees of freedom of Satterthwaite (1946).

    Where all items are equal, and with them all resamples, it is that of `all_equal`. None without resamples,
    for fewer than `FEWEST` units, for a figure that is often undefined, where all other resamples have the
    same value, and for annotators like fewer than three.
    """

    def none(reason: str) -> Estimate:
        return estimate(value, n=n, reason=f"no interval: {reason}")

    units = n if units is None else units
    fewest = 2 if kind.padded else FEWEST
    if kind.lacking:
        return none(kind.lacking)
    if not len(resampled_values):
        return none("no resamples were drawn")
    if units < fewest:
        return none(too_few(units, fewest))
    defined = kind.transform(resampled_values, units)
    defined = defined[~np.isnan(defined)]
    undefined = len(resampled_values) - len(defined)
    if undefined > UNDEFINED_SHARE * len(resampled_values):
        return none(f"undefined in {undefined / len(resampled_values):.0%} of the resamples")
    by_draws = len(defined) - 1.0
    error = _spread(defined, units)
    freedom = min(float(units - kind.parameters), kind.freedom, by_draws)
    if without_each is not None:
        combined = _with_annotators(error, freedom, kind.transform(without_each, units))
        if combined is None:
            return none("fewer than three annotators can be held out")
        error, freedom = combined
    if kind.padded:
        low, high = bounded_mean(
            value, error, units, kind.ends, by_draws if without_each is None else freedom
        )
    else:
        transformed = float(kind.transform(np.array([value]), units)[0])
        half = widened * student(freedom) * error
        if half == 0 and kind.unequal and without_each is None and _is_equal(value, kind):
            return all_equal(value, n, units, kind)
        if half == 0:
            return none("all resamples have the same value")
        low, high = kind.inverse(np.array([transformed - half, transformed + half])).tolist()
        low = max(kind.ends[0], min(low, value))
        high = min(kind.ends[1], max(high, value))
    return replace(estimate(value, low, high, n=n, method=method), freedom=freedom)


def percentile(value: float, resampled_values: Floats, *, n: int) -> Estimate:
    """A figure of `n` items with the percentile interval of its resamples (Efron and Tibshirani 1993).

    None without resamples. It has no width where all resamples have the same value.
    """
    if not len(resampled_values):
        return estimate(value, n=n, reason="no interval: no resamples were drawn")
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(resampled_values, [tail, 1 - tail]).tolist()
    return estimate(value, min(low, value), max(high, value), n=n)


def described(
    kinds: Iterable[Kind] = (),
    *,
    resamples: int = 1000,
    seed: int = 0,
    units: str = "items",
    like_these: bool = False,
    method: IntervalMethod = IntervalMethod.PADDED,
) -> str:
    """How intervals were found and where they hold too seldom, in words; empty without resamples.

    `units` is what was drawn. With `like_these` the intervals are for annotators like these.
    """
    if not resamples:
        return ""
    if method is IntervalMethod.PERCENTILE:
        return f"95% intervals: percentiles of {resamples} resamples of {units}, seed {seed}"
    kinds = list(kinds)
    short = (kind.short_like_these if like_these else kind.short for kind in kinds)
    words = dict.fromkeys(filter(None, [*(kind.words for kind in kinds), *short]))
    error = f"standard error of {resamples} resamples of {units}, seed {seed}"
    return "; ".join((f"95% intervals: value ± Student's t · {error}", *words))


def simultaneous(resampled_values: Floats, n: int, kind: Kind = DIFFERENCE) -> float:
    """How much wider intervals must be to hold all figures at once (max-t; Westfall and Young 1993).

    `resampled_values` is figures × resamples on shared draws. With t the deviation of a resample from the
    figure's mean over its standard deviation, on the scale of the kind, it is the 95% quantile over resamples
    of the largest |t| of all figures, over the normal quantile; 1 for a single figure.
    """
    transformed = kind.transform(resampled_values, n)
    transformed = transformed[:, ~np.isnan(transformed).any(axis=0)]
    return _widened([transformed])


def simultaneous_differences(resampled_values: Floats) -> float:
    """`simultaneous` for the differences of every two figures."""
    resampled_values = resampled_values[:, ~np.isnan(resampled_values).any(axis=0)]
    return _widened(
        resampled_values[place] - resampled_values[place + 1 :] for place in range(len(resampled_values) - 1)
    )


def _widened(parts: Iterable[Floats]) -> float:
    """Of parts of figures × resamples, all on the same resamples."""
    maxima: Floats | None = None
    for part in parts:
        if part.shape[1] < 2:
            return 1.0
        centred = part - part.mean(axis=1, keepdims=True)
        spread = centred.std(axis=1, ddof=1)
        varied = spread > 1e-12
        largest = np.abs(centred[varied] / spread[varied, None]).max(axis=0, initial=0.0)
        maxima = largest if maxima is None else np.maximum(maxima, largest)
    return 1.0 if maxima is None else max(1.0, float(np.quantile(maxima, LEVEL)) / student(math.inf))


def holm(p: Floats) -> Floats:
    """p-values adjusted for their number (Holm 1979); nan takes no part."""
    adjusted = np.full(len(p), np.nan)
    defined = np.flatnonzero(~np.isnan(p))
    order = defined[np.argsort(p[defined], kind="stable")]
    times = len(order) - np.arange(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(times * p[order]), 1.0)
    return adjusted


def _is_equal(value: float, kind: Kind) -> bool:
    """Whether a figure without spread is that of equal items: it is the greatest there is, or unbounded."""
    return math.isinf(kind.ends[1]) or value >= kind.ends[1] - ROUNDING


def _with_annotators(error: float, freedom: float, without_each: Floats) -> tuple[float, float] | None:
    """The standard error of items and annotators together, and its degrees of freedom."""
    k = len(without_each)
    if k < 3 or np.isnan(without_each).any():
        return None
    by_people = (k - 1) / k * float(((without_each - without_each.mean()) ** 2).sum())
    variance = error**2 + by_people
    if variance > 0:
        freedom = variance**2 / (error**4 / freedom + by_people**2 / (k - 1))
    return math.sqrt(variance), freedom


def bounded_mean(
    value: float,
    error: float,
    n: int,
    scale: Ends,
    freedom: float = math.inf,
    weight: float | None = None,
    level: float = LEVEL,
) -> Ends:
    """The interval of a mean of `n` values on `scale` (its least and greatest value) with standard `error`.

    One observation is added at each end of the scale, then Student's t is taken: what Agresti and Coull
    (1998) do for a share, for any bounded value. It has width where all values are equal: eight people who
    all say 5 of 1–5 do not show that everybody would.

    The two observations count in full where values lie at the ends alone, as those of a share do, and less
    the nearer values lie to their mean: with the weight w = (Σ(x − m)² + M) / ((n + 1)·M), where M = (m −
    least)(greatest − m) is the largest variance that values of mean m can have; 1 where m lies at an end of
    the scale. Student's t has n − 1 + 2w degrees of freedom, or `freedom`, if that is less. `weight` sets w:
    to 1 where `error` is not that of values on the scale, as of a corrected mean, whose rare large
    corrections a small sample has not seen. The ends are kept within the scale. `bench/bounded_mean.py`
    measures how often it holds the mean.

    Raises ValueError for a scale without width and a value outside the scale.
    """
    lowest, greatest = scale
    if not lowest < greatest or not lowest - ROUNDING <= value <= greatest + ROUNDING:
        raise ValueError(f"the mean {value:g} does not lie on the scale {lowest:g} to {greatest:g}")
    squares = (n - 1) * n * error**2
    if weight is None:
        largest = max(0.0, (value - lowest) * (greatest - value))
        weight = min(1.0, (squares + largest) / ((n + 1) * largest)) if largest > 0 else 1.0
    total = n + 2 * weight
    mean = (n * value + weight * (lowest + greatest)) / total
    about_mean = squares + n * (value - mean) ** 2 + weight * ((lowest - mean) ** 2 + (greatest - mean) ** 2)
    half = student(min(total - 1, freedom), level) * math.sqrt(about_mean / (total - 1) / total)
    return max(lowest, min(mean - half, value)), min(greatest, max(mean + half, value))


def _spread(values: Floats, n: int) -> float:
    """The standard deviation of resamples, corrected for drawing n of n: √(n / (n − 1)) larger."""
    if len(values) < 2 or np.ptp(values) <= 1e-12:
        return 0.0
    return float(values.std(ddof=1)) * math.sqrt(n / (n - 1))


def student(freedom: float, level: float = LEVEL) -> float:
    """The multiplier of a standard error: Student's t between whose points ± a share `level` lies."""
    from scipy import special  # a tenth of the import time of scipy.stats

    if math.isinf(freedom):
        return float(special.ndtri((1 + level) / 2))
    return float(special.stdtrit(freedom, (1 + level) / 2))
