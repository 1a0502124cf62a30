"""A stream of judgements, of which people answer some: agreement and rates, looked at as often as one likes.

Each figure has a confidence sequence (`concord.statistics.sequences`), and a range that it should keep to.
"""

from dataclasses import dataclass

import numpy as np

from concord.codes import StreamFigure, StreamState
from concord.estimate import Estimate, undefined
from concord.statistics.intervals import Ends, bounded_mean
from concord.statistics.ratings import Floats, Ints
from concord.statistics.sequences import ERROR, ConfidenceSequence, confidence_sequence


@dataclass(frozen=True, eq=False)
class Followed:
    """A figure of a stream: its mean with an interval, the range that it should keep to, and its state.

    `place` is the place in the stream of the item with which it was shown to have left the range, or to have
    changed (None: it was not).
    """

    figure: StreamFigure
    estimate: Estimate
    reference: Ends | None
    state: StreamState
    place: int | None = None


def closeness(people: Floats, judge: Floats, ends: Ends, *, ordered: bool) -> Floats:
    """How closely a judge answers as people do, from 0 to 1, by item; nan where one of them has no answer.

    Of two answers and of categories 1 where they are equal, else 0; of scores 1 less their distance, as a
    share of the scale from end to end.
    """
    common = np.isfinite(people) & np.isfinite(judge)
    near = np.full(len(people), np.nan)
    if ordered:
        near[common] = 1 - np.minimum(np.abs(people[common] - judge[common]) / (ends[1] - ends[0]), 1)
    else:
        near[common] = people[common] == judge[common]
    return near


def follow(
    people: Floats,
    judge: Floats,
    ends: Ends,
    *,
    ordered: bool = True,
    agreement: Ends | None = None,
    rate: Ends | None = None,
    error: float = ERROR,
) -> list[Followed]:
    """Agreement with people, the judge's mean, and the mean that people would give, of a stream in its order.

    `people` and `judge` hold the answers to each item (nan: none), `ends` are those of the scale, of which a
    stream may hold two answers (0 and 1), scores, or, without `ordered`, categories: these have no mean.
    `agreement` and `rate` are the ranges that agreement and the judge's mean should keep to. The figures with
    a range share `error`, so that any of them is said to have left it, though none did, with probability
    `error` at most, over all looks. The mean that people would give is the judge's and that of people less
    judge where both answered; people's items have to be a random draw of the stream. It has no range.
    """
    ranges = {StreamFigure.AGREEMENT: agreement, StreamFigure.JUDGE_MEAN: rate if ordered else None}
    tested = max(sum(values_of_figure is not None for values_of_figure in ranges.values()), 1)
    near = closeness(people, judge, ends, ordered=ordered)
    judged = np.isfinite(judge)
    values = {StreamFigure.AGREEMENT: (near, (0.0, 1.0))}
    if ordered:
        values[StreamFigure.JUDGE_MEAN] = (judge, ends)
    figures = []
    for figure, (values_of_figure, scale) in values.items():
        reference = ranges[figure]
        items = np.flatnonzero(np.isfinite(values_of_figure))
        sequence = confidence_sequence(
            values_of_figure[items],
            scale,
            error=error / tested,
            bounds=() if reference is None else reference,
        )
        figures.append(_followed(figure, sequence, reference, items))
    if ordered:
        figures.append(_corrected(people, judge, judged, ends, error))
    return figures


def _followed(
    figure: StreamFigure, sequence: ConfidenceSequence, reference: Ends | None, items: Ints
) -> Followed:
    """The state of a figure from its sequence; `items` are the places of its values in the stream."""
    left = []
    if reference is not None:
        left = [sequence.first_below(reference[0]), sequence.first_above(reference[1])]
    looks_outside = [look for look in left if look is not None]
    low, high = sequence.interval
    if looks_outside:
        state = StreamState.OUTSIDE
        place = int(items[min(looks_outside) - 1])
    elif sequence.changed:
        looks = np.unique(np.concatenate([sequence.excluded_above, sequence.excluded_below]))
        crossed = (
            look for look in looks.tolist() if sequence.interval_at(look)[0] > sequence.interval_at(look)[1]
        )
        state = StreamState.CHANGED
        place = int(items[next(crossed) - 1])
    elif reference is None:
        state = StreamState.NO_RANGE
        place = None
    else:
        contained = reference[0] <= low and high <= reference[1]
        state = StreamState.WITHIN if contained else StreamState.INCONCLUSIVE
        place = None
    return Followed(figure, sequence.estimate, reference, state, place)


def _corrected(people: Floats, judge: Floats, judged: Floats, ends: Ends, error: float) -> Followed:
    """The mean that people would give: each of its two parts has half of the error."""
    common = judged & np.isfinite(people)
    width = ends[1] - ends[0]
    figure = StreamFigure.CORRECTED_MEAN
    state = StreamState.NO_RANGE
    if not common.any():
        return Followed(figure, undefined("no item with annotators", n=0), None, state)
    judge_sequence = confidence_sequence(judge[judged], ends, error=error / 2)
    gap_sequence = confidence_sequence((people - judge)[common], (-width, width), error=error / 2)
    value = judge_sequence.value + gap_sequence.value
    n = int(common.sum())
    if judge_sequence.changed or gap_sequence.changed:
        changed = undefined("the judge's mean, or its difference from annotators, has changed", n=n)
        return Followed(figure, changed, None, state)
    low, high = (a + b for a, b in zip(judge_sequence.interval, gap_sequence.interval, strict=True))
    low = max(low, ends[0])
    high = min(high, ends[1])
    method = f"{100 * (1 - error):.4g}% at every look: the judge's mean and annotators less judge, by betting"
    return Followed(figure, Estimate(value, min(low, value), max(high, value), n, method), None, state)


def expected_range(values: Floats, ends: Ends, *, margin: float = 0.0, error: float = ERROR) -> Ends:
    """The range that a mean should keep to, from finished values: its interval, `margin` wider on each side.

    The interval excludes the mean with probability `error`. Raises ValueError for fewer than two values.
    """
    n = len(values)
    if n < 2:
        raise ValueError("a range needs two values")
    deviation = float(values.std(ddof=1)) / n**0.5
    low, high = bounded_mean(float(values.mean()), deviation, n, ends, level=1 - error)
    return low - margin, high + margin
