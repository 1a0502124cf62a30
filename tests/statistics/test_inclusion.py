"""Items that were not drawn alike: weighted figures by hand, and intervals that hold in simulated draws."""

from __future__ import annotations

import math

import numpy as np
import pytest

from concord.estimate import Estimate, undefined
from concord.statistics.confusion import two_answers
from concord.statistics.corrected import corrected_mean, rogan_gladen
from concord.statistics.inclusion import (
    DrawnAnswers,
    effective,
    sampling_gap,
    weighted_error,
    weighted_share,
    weights_of_strata,
)
from concord.statistics.ratings import Inclusion

N = 4000


def test_weights_of_strata_are_items_per_drawn_item():
    strata = np.array([0, 0, 0, 0, 1, 1])
    drawn = np.array([True, False, True, False, True, False])
    assert weights_of_strata(strata, drawn).tolist() == [2, 0, 2, 0, 2, 0]
    drawn[0] = False
    assert weights_of_strata(strata, drawn).tolist() == [0, 0, 4, 0, 2, 0]


def test_effective_items_by_hand():
    assert effective(np.ones(7)) == 7
    assert effective(np.array([3.0, 1.0])) == 16 / 10
    assert effective(np.zeros(3)) == 0


def test_equal_weights_have_the_usual_error():
    values = np.array([1.0, 2, 2, 5, 3])
    assert weighted_error(values, np.full(5, 4.0)) == pytest.approx(values.std(ddof=1) / math.sqrt(5))


def test_a_stratified_error_by_hand():
    # √(Σ W²·s²/n): strata of 60 and 40 items, 3 drawn of each.
    values, strata = np.array([1.0, 2, 3, 4, 6, 8]), np.array([0, 0, 0, 1, 1, 1])
    weights = np.where(strata == 0, 20.0, 40 / 3)
    by_hand = math.sqrt(0.6**2 * 1 / 3 + 0.4**2 * 4 / 3)
    assert weighted_error(values, weights, strata) == pytest.approx(by_hand)


def test_half_items_stand_for_what_a_draw_has_not_seen():
    drawn = DrawnAnswers.from_answers(
        np.array([1.0, 0, 1]), np.array([1.0, 0, 1]), np.array([2.0, 5, 2]), None
    )
    assert drawn.people.tolist() == [1, 0, 1, 0, 1, 0, 1]
    assert drawn.judge.tolist() == [1, 0, 1, 1, 1, 0, 0]
    assert drawn.weights.tolist() == [2, 5, 2, 2, 2, 5, 5]
    assert drawn.times.tolist() == [1, 1, 1, 0.5, 0.5, 0.5, 0.5]


def test_a_weighted_share_by_hand():
    people, judge = np.array([1.0] * 20), np.array([1.0, 1, 0, 0, 1] * 4)
    drawn = DrawnAnswers.from_answers(people, judge, np.array([1.0, 1, 1, 3, 1] * 4), None)
    yes = drawn.people == 1
    found = weighted_share(drawn.judge == 1, yes, drawn)
    assert found.value == pytest.approx(3 / 7)
    # With half an item more of each weight and answer of the judge: 12 + ½ of 28 + ½ + ½ + 3/2 by weight.
    assert (found.low + found.high) / 2 == pytest.approx(12.5 / 30.5)
    assert weighted_share(yes, ~yes & (drawn.times == 1), drawn).reason == "no item"
    few = DrawnAnswers.from_answers(people[:5], judge[:5], np.ones(5), None)
    assert "too few" in weighted_share(few.judge == 1, few.people == 1, few).reason


def test_equal_weights_correct_as_none_do():
    rng = np.random.default_rng(1)
    people, judged, others = ((rng.random(n) < 0.6) * 1.0 for n in (80, 80, 400))
    plain = corrected_mean(people, judged, others, scale=(0.0, 1.0))
    weighted = corrected_mean(people, judged, others, scale=(0.0, 1.0), weights=np.full(80, 6.0))
    assert weighted.value.value == pytest.approx(plain.value.value)
    assert weighted.value.interval == pytest.approx(plain.value.interval, abs=0.002)


def study(rng, yes=0.1, sensitivity=0.8, specificity=0.95):
    truth = rng.random(N) < yes
    return truth.astype(float), np.where(
        truth, rng.random(N) < sensitivity, rng.random(N) > specificity
    ) * 1.0


def drawn_by_judge(rng, judge, of_yes=80, of_no=80):
    drawn = np.zeros(N, dtype=bool)
    for answer, number in ((1.0, of_yes), (0.0, of_no)):
        drawn[rng.choice(np.flatnonzero(judge == answer), number, replace=False)] = True
    return drawn


def test_rows_chosen_by_the_judge_are_weighed_back():
    """400 studies: without weights the rate is far off, with them 93 of 100 intervals hold at least."""
    rng, held, plain = np.random.default_rng(2), {"corrected": 0, "sensitivity": 0, "precision": 0}, 0
    for _ in range(400):
        truth, judge = study(rng)
        drawn = drawn_by_judge(rng, judge)
        people = np.where(drawn, truth, np.nan)
        strata = judge.astype(np.int64)
        row = two_answers(people, judge, ("no", "yes"), Inclusion(weights_of_strata(strata, drawn), strata))
        true = {
            "corrected": truth.mean(),
            "sensitivity": judge[truth == 1].mean(),
            "precision": truth[judge == 1].mean(),
        }
        for name, value in true.items():
            low, high = row[name].interval
            held[name] += low <= value <= high
        low, high = two_answers(people, judge, ("no", "yes"))["people"].value, 0
        plain += low > 2 * truth.mean()
    assert plain == 400
    assert min(held.values()) / 400 >= 0.93, held


def test_rogan_and_gladen_by_hand():
    found = rogan_gladen(Estimate(0.3, n=1000), Estimate(0.8, n=100), Estimate(0.9, n=100))
    assert found.value == pytest.approx((0.3 + 0.9 - 1) / (0.8 + 0.9 - 1))
    # Lang and Reiczigel (2014), with z² = 3.8415.
    z2 = 3.8414588
    p, se, sp = (300 + z2 / 2) / (1000 + z2), 81 / 102, 91 / 102
    centre, apart = (p + sp - 1) / (se + sp - 1), se + sp - 1
    var_se, var_sp = se * (1 - se) / 102, sp * (1 - sp) / 102
    shift = 2 * z2 * (centre * var_se - (1 - centre) * var_sp)
    spread = p * (1 - p) / (1000 + z2) + centre**2 * var_se + (1 - centre) ** 2 * var_sp
    half = math.sqrt(z2 * spread) / apart
    assert found.interval == pytest.approx((centre + shift - half, centre + shift + half), abs=1e-6)


def test_rogan_and_gladen_hold_where_people_s_rows_have_more_yes_than_all():
    """300 studies: half of the labelled rows are yes, a tenth of all; PPI++ without weights cannot know."""
    rng, held, plain = np.random.default_rng(3), 0, 0
    for _ in range(300):
        truth, judge = study(rng)
        people = np.full(N, np.nan)
        for answer in (0.0, 1.0):
            own = rng.choice(np.flatnonzero(truth == answer), 100, replace=False)
            people[own] = answer
        row = two_answers(people, judge, ("no", "yes"))
        low, high = row["rogan_gladen"].interval
        held += low <= truth.mean() <= high
        low, high = row["corrected"].interval
        plain += low <= truth.mean() <= high
    assert held / 300 >= 0.93
    assert plain < 30


@pytest.mark.parametrize(
    "parts",
    [
        (Estimate(0.5, n=100), Estimate(0.5, n=50), Estimate(0.5, n=50)),
        (Estimate(0.5, n=100), Estimate(0.6, n=10), Estimate(0.5, n=10)),
        (Estimate(0.5, n=100), undefined("annotators answer yes to no item", n=0), Estimate(0.9, n=50)),
        (undefined("no item", n=0), Estimate(0.9, n=50), Estimate(0.9, n=50)),
    ],
)
def test_a_judge_that_tells_nothing_apart_gives_no_share(parts):
    assert rogan_gladen(*parts).reason


def test_rows_that_a_judge_chose_are_seen_and_a_random_draw_is_not():
    rng, apart, alike = np.random.default_rng(4), 0, 0
    for _ in range(300):
        _, judge = study(rng)
        apart += sampling_gap(judge, drawn_by_judge(rng, judge, 60, 60)) <= 0.001
        random = np.zeros(N, dtype=bool)
        random[rng.choice(N, 120, replace=False)] = True
        alike += sampling_gap(judge, random) <= 0.01
    assert apart == 300
    assert alike / 300 <= 0.03
    assert sampling_gap(np.ones(N), np.arange(N) < 100) == 1.0
    assert sampling_gap(np.arange(30.0), np.arange(30) < 15) == 1.0
