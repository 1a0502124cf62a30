"""Confidence sequences: bets as by hand, intervals that hold at every look, and changes that are seen."""

from __future__ import annotations

import math

import numpy as np
import pytest

from concord.codes import StreamFigure, StreamState
from concord.statistics.sequences import NEVER, confidence_sequence
from concord.statistics.stream import closeness, expected_range, follow


def by_hand(values, mean, error=0.05):
    """After how many values the wealth that bets on more than `mean` was 2/error-fold, in a loop."""
    wealth = {1.0: 1.0, 0.5**0.01: 1.0}
    for row in range(len(values)):
        for memory in wealth:
            weights = [memory ** (row - 1 - place) for place in range(row)]
            predictions = []
            for place in range(row + 1):
                own = [memory ** (place - 1 - earlier) for earlier in range(place)]
                predictions.append(
                    (0.5 + sum(w * x for w, x in zip(own, values[:place], strict=True))) / (1 + sum(own))
                )
            errors = [(x - p) ** 2 for x, p in zip(values[:row], predictions[1:], strict=True)]
            spread = (0.25 + sum(w * e for w, e in zip(weights, errors, strict=True))) / (1 + sum(weights))
            over = predictions[row] - mean
            bet = min(max(over / (spread + over**2), 0), 0.5 / mean)
            wealth[memory] *= 1 + bet * (values[row] - mean)
        if sum(wealth.values()) / 2 >= 2 / error:
            return row + 1
    return NEVER


def test_bets_are_those_by_hand():
    values = (np.random.default_rng(1).random(40) < 0.9) * 1.0
    sequence = confidence_sequence(values)
    for mean in (0.1, 0.5, 0.7):
        place = int(np.argmin(np.abs(sequence.means - mean)))
        assert sequence.excluded_above[place] == by_hand(values.tolist(), mean)
    assert sequence.excluded_above[np.argmin(np.abs(sequence.means - 0.5))] < NEVER


def test_the_first_value_wins_what_it_should():
    # ½ is expected with variance ¼: against 0.1 the bet is 0.4 / (0.25 + 0.16), and a 1 wins 0.9 times that.
    gain = 1 + 0.4 / 0.41 * 0.9
    assert gain == pytest.approx(1.878, abs=1e-3)
    sequence = confidence_sequence(np.ones(1), error=2 / gain + 1e-9, bounds=(0.1,))
    assert sequence.excluded_above[np.argmin(np.abs(sequence.means - 0.1))] == 1
    sequence = confidence_sequence(np.ones(1), error=2 / gain - 1e-9, bounds=(0.1,))
    assert sequence.excluded_above[np.argmin(np.abs(sequence.means - 0.1))] == NEVER


@pytest.mark.parametrize(("mean", "n"), [(0.5, 400), (0.9, 400), (0.97, 400)])
def test_the_interval_holds_at_every_look(mean, n):
    """200 streams: as the interval never widens, the last look says whether any of them missed."""
    rng = np.random.default_rng(7)
    missed = 0
    for _ in range(200):
        low, high = confidence_sequence((rng.random(n) < mean) * 1.0).interval
        missed += not low <= mean <= high
    assert missed / 200 <= 0.05


def test_a_fixed_interval_does_not_hold_at_every_look():
    """What the sequence is for: 95% intervals looked at 40 times miss in more than a fifth of the streams."""
    rng = np.random.default_rng(7)
    n = np.arange(10, 401, 10)
    means = np.array([np.cumsum(rng.random(400) < 0.5)[n - 1] / n for _ in range(200)])
    missed = (np.abs(means - 0.5) > 1.96 * 0.5 / np.sqrt(n)).any(axis=1)
    assert missed.mean() > 0.2


def test_the_interval_never_widens_and_scales():
    values = np.random.default_rng(2).integers(1, 6, 300).astype(float)
    sequence = confidence_sequence(values, (1.0, 5.0))
    ends = np.array([sequence.interval_at(look) for look in range(301)])
    assert (np.diff(ends[:, 0]) >= 0).all()
    assert (np.diff(ends[:, 1]) <= 0).all()
    assert tuple(ends[0]) == (1.0, 5.0)
    assert tuple(ends[-1]) == sequence.interval
    unit = confidence_sequence((values - 1) / 4)
    assert sequence.interval == pytest.approx([1 + 4 * end for end in unit.interval])
    low, high = confidence_sequence(5 - (values - 1), (1.0, 5.0)).interval
    assert (low, high) == pytest.approx((6 - sequence.interval[1], 6 - sequence.interval[0]))


def test_no_value_knows_nothing_and_equal_values_leave_room():
    empty = confidence_sequence(np.array([]))
    assert empty.interval == (0.0, 1.0)
    assert empty.estimate.reason == "no value"
    low, high = confidence_sequence(np.ones(100)).interval
    assert (0.9 < low < 1, high) == (True, 1.0)


@pytest.mark.parametrize(("values", "ends"), [([0.5], (1.0, 1.0)), ([2.0], (0.0, 1.0))])
def test_what_has_no_scale_is_refused(values, ends):
    with pytest.raises(ValueError, match="scale"):
        confidence_sequence(np.array(values), ends)


def stream(rng, n, accuracy, labelled=1.0, yes=0.6):
    truth = rng.random(n) < yes
    judge = np.where(rng.random(n) < accuracy, truth, ~truth)
    return np.where(rng.random(n) < labelled, truth, np.nan), judge.astype(float)


def followed(people, judge, figure=StreamFigure.AGREEMENT, **how):
    return next(one for one in follow(people, judge, (0.0, 1.0), **how) if one.figure == figure)


def test_a_fall_is_seen_where_it_happens_and_not_before():
    rng = np.random.default_rng(3)
    before, after = stream(rng, 1500, 0.92), stream(rng, 1500, 0.7)
    people, judge = (np.concatenate(parts) for parts in zip(before, after, strict=True))
    found = followed(people, judge, agreement=(0.85, 1.0))
    assert found.state == StreamState.OUTSIDE
    assert 1500 < found.place < 2100
    assert followed(*before, agreement=(0.85, 1.0)).state == StreamState.WITHIN
    without = followed(people, judge)
    assert (without.state, without.place > 1500) == (StreamState.CHANGED, True)


def test_where_it_was_shown_is_a_place_in_the_stream():
    rng = np.random.default_rng(4)
    people, judge = stream(rng, 3000, 0.6, labelled=0.2)
    found = followed(people, judge, agreement=(0.8, 1.0))
    assert np.isfinite(people[found.place])
    assert found.estimate.n == np.isfinite(people).sum()


def test_the_false_alarms_of_a_stream_on_its_bound_stay_below_the_error():
    rng = np.random.default_rng(5)
    states = [
        {
            one.state
            for one in follow(*stream(rng, 300, 0.85), (0.0, 1.0), agreement=(0.85, 1), rate=(0.55, 1))
        }
        for _ in range(150)
    ]
    alarms = sum(not states_of.isdisjoint({StreamState.OUTSIDE, StreamState.CHANGED}) for states_of in states)
    assert alarms / 150 <= 0.05


def test_the_corrected_rate_is_that_of_people_though_the_judge_is_biased():
    rng = np.random.default_rng(6)
    truth = rng.random(4000) < 0.3
    judge = (truth | (rng.random(4000) < 0.2)).astype(float)
    people = np.where(rng.random(4000) < 0.5, truth, np.nan)
    found = followed(people, judge, StreamFigure.CORRECTED_MEAN)
    low, high = found.estimate.interval
    assert low < 0.3 < high < judge.mean()
    both = np.isfinite(people)
    assert found.estimate.value == pytest.approx(judge.mean() + (people - judge)[both].mean())


def test_scores_are_close_as_a_share_of_the_scale():
    near = closeness(np.array([1, 5, 3, np.nan]), np.array([1, 1, 4, 2]), (1.0, 5.0), ordered=True)
    assert near[:3].tolist() == [1.0, 0.0, 0.75]
    assert math.isnan(near[3])
    same = closeness(np.array([1.0, 2.0]), np.array([1.0, 1.0]), (0.0, 3.0), ordered=False)
    assert same.tolist() == [1.0, 0.0]


def test_categories_have_no_mean():
    figures = follow(np.array([1.0, 2.0]), np.array([1.0, 1.0]), (0.0, 3.0), ordered=False, rate=(0.0, 1.0))
    assert [one.figure for one in figures] == [StreamFigure.AGREEMENT]


def test_a_range_of_finished_values_is_its_interval_and_the_margin():
    values = np.array([0.0, 1.0] * 50)
    low, high = expected_range(values, (0.0, 1.0), margin=0.05)
    # 51 of 102 with one more at each end: ½ ± 1.98 · √(25.5 / 101 / 102).
    half = 1.9835 * math.sqrt(25.5 / 101 / 102)
    assert (low, high) == pytest.approx((0.5 - half - 0.05, 0.5 + half + 0.05), abs=1e-3)
    with pytest.raises(ValueError, match="two values"):
        expected_range(values[:1], (0.0, 1.0))
