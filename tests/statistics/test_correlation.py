"""Correlations against arithmetic by hand and scipy, and weights against drawn items."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from concord.statistics.correlation import correlation, point, rank_correlation, spearman_p
from tests.statistics.frames import two_scores

REFERENCE = {
    "spearman": lambda x, y: stats.spearmanr(x, y).statistic,
    "kendall": lambda x, y: stats.kendalltau(x, y).statistic,
    "pearson": lambda x, y: stats.pearsonr(x, y).statistic,
}


def ours(x, y, coefficient, weights=None):
    weights = np.ones((len(x), 1)) if weights is None else weights
    return correlation(x, y, coefficient)(weights)


def test_by_hand():
    x, y = np.array([1.0, 2, 2, 3]), np.array([1.0, 3, 2, 4])
    # Ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4; about 2.5: −1.5, 0, 0, 1.5 and −1.5, .5, −.5, 1.5.
    # Products 2.25 + 0 + 0 + 2.25 = 4.5; squares 4.5 and 5.
    assert ours(x, y, "spearman")[0] == pytest.approx(4.5 / np.sqrt(4.5 * 5))
    assert point(x, y) == pytest.approx(4.5 / np.sqrt(4.5 * 5))
    # Six pairs of items: five concordant, one tied on x: 5 / √((6 − 1)·6).
    assert ours(x, y, "kendall")[0] == pytest.approx(5 / np.sqrt(30))
    # About their means 2 and 2.5: −1, 0, 0, 1 and −1.5, .5, −.5, 1.5: 3 / √(2·5).
    assert ours(x, y, "pearson")[0] == pytest.approx(3 / np.sqrt(10))


@settings(max_examples=60, deadline=None)
@given(two_scores(), st.sampled_from(sorted(REFERENCE)))
def test_equals_scipy(scores, coefficient):
    x, y = scores
    assume(len(set(x)) > 1 and len(set(y)) > 1)
    expected = REFERENCE[coefficient](x, y)
    assert ours(x, y, coefficient)[0] == pytest.approx(expected, abs=1e-9)
    assert ours(y, x, coefficient)[0] == pytest.approx(expected, abs=1e-9)
    assert point(x, y, coefficient) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(two_scores(), st.sampled_from(sorted(REFERENCE)), st.randoms(use_true_random=False))
def test_weights_are_repeated_items(scores, coefficient, random):
    x, y = scores
    weights = np.array([random.randint(0, 3) for _ in x])
    drawn_x, drawn_y = np.repeat(x, weights), np.repeat(y, weights)
    got = ours(x, y, coefficient, np.stack([weights, np.ones_like(weights)], axis=1))[0]
    if len(set(drawn_x)) > 1 and len(set(drawn_y)) > 1:
        assert got == pytest.approx(REFERENCE[coefficient](drawn_x, drawn_y), abs=1e-9)
    else:
        assert np.isnan(got)


@given(two_scores())
def test_spearman_keeps_its_value_under_a_rising_transform(scores):
    x, y = scores
    assert point(np.exp(x), y**3) == pytest.approx(point(x, y), nan_ok=True)


def test_missing_scores_take_no_part():
    x = np.array([1, np.nan, 2, 2, 3, 5])
    y = np.array([1, 9, 3, 2, 4, np.nan])
    assert ours(x, y, "spearman")[0] == pytest.approx(4.5 / np.sqrt(4.5 * 5))


def test_equal_averages_are_ties():
    # (1 + 2 + 2)/3 added up from thirds differs from 5/3 in the last binary digit; it is the same score.
    x = np.array([5 / 3, 1 / 3 + 2 / 3 + 2 / 3, 2, 3])
    x[1] = np.nextafter(x[0], 2)
    assert point(x, np.array([2.0, 1, 3, 4])) == pytest.approx(4.5 / np.sqrt(4.5 * 5))


def test_tau_of_many_values_on_both_sides():
    rng = np.random.default_rng(0)
    x = rng.normal(size=700)
    y = x + rng.normal(size=700)
    assert point(x, y, "kendall") == pytest.approx(stats.kendalltau(x, y).statistic)
    assert np.isnan(correlation(x, y, "kendall")(np.ones((700, 3)))).all()


@settings(max_examples=40, deadline=None)
@given(two_scores())
def test_p_is_scipys(scores):
    x, y = scores
    assume(len(x) >= 4 and len(set(x)) > 1 and len(set(y)) > 1)
    rho = stats.spearmanr(x, y)
    assume(abs(rho.statistic) < 0.999)
    assert spearman_p(rank_correlation(x, y, "x", "y")).value == pytest.approx(rho.pvalue)


def test_p_where_the_approximation_fails():
    rank = np.arange(3.0)
    # What scipy says; by chance alone it happens in 2 of 3! orders.
    assert stats.spearmanr(rank, rank).pvalue == 0
    assert spearman_p(rank_correlation(rank, rank, "x", "y")).reason == "3 items are too few for a p-value"
    six = np.arange(6.0)
    assert (
        spearman_p(rank_correlation(six, -six, "x", "y")).reason
        == "a perfect correlation of 6 items has no p-value by the t approximation"
    )
    many = np.arange(250.0)
    assert spearman_p(rank_correlation(many, many, "x", "y")).value == 0


def test_constant_and_few():
    constant = rank_correlation(np.array([3.0, 3, 3, 3]), np.array([1.0, 2, 3, 4]), "j", "people")
    assert (constant.value, constant.reason) == (None, "j is constant on the items in common")
    few = rank_correlation(np.array([1.0, 2]), np.array([1.0, 2]), "j", "people")
    assert (few.value, few.n, few.reason) == (None, 2, "2 items in common, at least 3 are needed")
    assert np.isnan(ours(np.full(5, 0.1), np.arange(5.0), "pearson")[0])
