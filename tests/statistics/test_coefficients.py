"""Coefficients of a judge with people: weighted kappa, kappa and alpha by hand, and what they refuse."""

import krippendorff
import numpy as np
import pytest

from concord.statistics.coefficients import coefficient
from concord.statistics.figures import PointEstimate, estimates
from concord.statistics.ratings import read_ratings
from tests.statistics.frames import study

PEOPLE = {"Ada": [1, 2, 3, 4, 1, 2], "Ben": [1, 2, 3, 4, 3, 2]}
JUDGES = {"j": [1, 3, 3, 4, 2, 1], "k": [2, 3, 3, 4, 2, None]}
MEAN = np.array([1, 2, 3, 4, 2, 2.0])


def found(name, members=("j",), people=PEOPLE, judges=JUDGES, metric="ordinal"):
    ratings = read_ratings(study(people, judges))
    figure = coefficient(ratings, "quality", members, name, metric)
    return estimates([figure], ratings, resamples=100)[0]


def test_weighted_kappa_by_hand():
    # Squared differences of judge and mean: 0, 1, 0, 0, 0, 1; over every pair of the two their mean is
    # mean(x²) + mean(y²) − 2 mean(x) mean(y) = 40/6 + 38/6 − 2 · 14/6 · 14/6.
    x = np.array(JUDGES["j"], dtype=float)
    assert x.sum() == MEAN.sum() == 14
    by_chance = 40 / 6 + 38 / 6 - 2 * (14 / 6) ** 2
    assert found("weighted-kappa").value == pytest.approx(1 - (2 / 6) / by_chance)


def test_kappa_takes_the_majority_of_people_and_leaves_ties_out():
    # Item 5 is a tie of 1 and 3. Of the other five, items 1, 3 and 4 agree. Chance: each answer's share
    # among the judge's 1 3 3 4 1 times its share among people's 1 2 3 4 2.
    chance = 2 / 5 * 1 / 5 + 2 / 5 * 1 / 5 + 1 / 5 * 1 / 5
    kappa = found("kappa")
    assert kappa.value == pytest.approx((3 / 5 - chance) / (1 - chance))
    assert kappa.n == 5


def test_a_panel_keeps_the_items_on_which_it_splits():
    # k did not rate 6; people tie on 5; on 1 the panel splits: items 1 to 4 are left.
    assert found("kappa", ("j", "k")).n == 4


@pytest.mark.parametrize("metric", ["ordinal", "interval"])
def test_alpha_is_that_of_two_raters(metric):
    given = np.array([JUDGES["j"], MEAN], dtype=float)
    alpha = krippendorff.alpha(reliability_data=given, level_of_measurement=metric)
    assert found("alpha", metric=metric).value == pytest.approx(alpha)


def test_alpha_of_categories_is_with_the_majority():
    given = np.array([[1, 3, 3, 4, 1], [1, 2, 3, 4, 2]], dtype=float)
    alpha = krippendorff.alpha(reliability_data=given, level_of_measurement="nominal")
    assert found("alpha", metric="nominal").value == pytest.approx(alpha)


@pytest.mark.parametrize("name", ["alpha", "weighted-kappa", "kappa"])
def test_what_cannot_be_measured_says_why(name):
    few = found(name, people={"Ada": [1, 2]}, judges={"j": [1, 2]})
    assert few.reason == "2 items in common, at least 3 are needed"
    one = found(name, people={"Ada": [3, 3, 3, 3]}, judges={"j": [3, 3, 3, 3]})
    assert one.value is None
    assert "one answer to all items" in one.reason or one.reason == "all ratings are equal"


def test_every_coefficient_of_equal_answers_is_one():
    same = {"Ada": [1, 2, 3, 4, 1, 2]}
    for name in ("spearman", "kendall", "pearson", "alpha", "weighted-kappa", "kappa"):
        assert found(name, people=same, judges={"j": same["Ada"]}).value == pytest.approx(1)


def test_an_answer_on_another_scale_has_no_level():
    ratings = read_ratings(
        study(PEOPLE, JUDGES), other_scale={"quality": {"j": "the judge answers on 0 to 10"}}
    )
    for name in ("alpha", "weighted-kappa", "kappa"):
        assert coefficient(ratings, "quality", ("j",), name).reason == "the judge answers on 0 to 10"
    assert isinstance(coefficient(ratings, "quality", ("j",), "spearman"), PointEstimate)
