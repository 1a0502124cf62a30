"""Judges that lack ratings: on common items, and whether what they lack is chance."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from concord.statistics.missing import common_items, missing_ratings, rank_test, without_rating
from concord.statistics.ratings import read_ratings

from .frames import flat, judges, people, study


def test_the_rank_test_is_scipys():
    rng = np.random.default_rng(0)
    for n, m in ((3, 3), (5, 40), (30, 12)):
        x, y = rng.integers(1, 6, n).astype(float), rng.integers(1, 7, m).astype(float)
        expected = stats.mannwhitneyu(x, y, method="asymptotic").pvalue
        assert rank_test(x, y).value == pytest.approx(min(expected, 1))


def test_the_rank_test_by_hand():
    # Ranks 1, 2, 3 and 4, 5, 6: U = 0, its mean 9/2, its variance 3·3·7/12 = 5.25, no ties.
    # z = (4.5 − .5)/√5.25 = 1.7457, two-sided p = .0809.
    assert rank_test(np.array([1.0, 2, 3]), np.array([4.0, 5, 6])).value == pytest.approx(0.0809, abs=5e-5)


def test_what_cannot_be_tested_says_why():
    few = rank_test(np.array([1.0, 2]), np.arange(9.0))
    assert few.reason == "2 items of a kind are too few, at least 3 are needed"
    assert rank_test(np.ones(5), np.ones(5)).reason == "people's mean does not vary"


def lacking():
    """j lacks the four items that people rate 1; k has all."""
    quality = [1, 1, 1, 1, 2, 3, 4, 5, 2, 3, 4, 5]
    mine = [None] * 4 + quality[4:]
    return study({"ann": quality, "bob": quality}, {"j": mine, "k": [*quality[:-2], 2, 1]})


def test_a_judge_that_fails_on_bad_items_is_found():
    (row,) = missing_ratings(read_ratings(lacking()), "quality").rows
    assert (row["rater"], row["rated"], row["missing"]) == ("j", 8, 4)
    assert (row["mean_rated"].value, row["mean_missing"].value, row["difference"].value) == (3.5, 1, -2.5)
    expected = stats.mannwhitneyu([2, 3, 4, 5] * 2, [1] * 4, method="asymptotic").pvalue
    assert row["p"].value == pytest.approx(expected)


def test_all_judges_stand_on_common_items_beside_their_own():
    found = flat(common_items(read_ratings(lacking()), "quality", resamples=20)).set_index("rater")
    assert found.own_n.to_dict() == {"j": 8, "k": 12}
    assert found.n.to_dict() == {"j": 8, "k": 8}
    quality = [2, 3, 4, 5, 2, 3, 4, 5]
    expected = stats.spearmanr(quality, [*quality[:-2], 2, 1]).statistic
    assert found.spearman["k"] == pytest.approx(expected)
    assert found.own["k"] != pytest.approx(expected)
    # On the common items k is 2 and 4 points too low on two of eight.
    assert found.bias["k"] == pytest.approx(-6 / 8)


def test_items_closed_to_judges_and_judges_who_were_not_asked_lack_nothing():
    assert not without_rating(read_ratings(lacking(), without_judges=range(4)), "quality")
    asked = pd.concat([lacking(), people({"ann": [1, 2, 3, 4]}, "other")])
    assert not without_rating(read_ratings(asked), "other")
    alone = read_ratings(judges({"j": [1, 2, None]}))
    assert not without_rating(alone, "quality")
