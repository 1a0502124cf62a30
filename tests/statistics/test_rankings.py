"""Orders of the same players compared: tau-b, PageRank and Spearman beside their arithmetic by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy import stats

from concord.statistics.rankings import against, means, pagerank, stability, taus

NAN = np.nan


def scores(*rows):
    return np.array(rows, dtype=float)


def undrawn(own):
    return np.empty((0, *own.shape))


# Kendall's tau-b


def test_tau_of_two_orders_by_hand():
    # Players p q r s. One: 4 3 2 1; other: 4 2 3 1. Of the 6 pairs only q–r is turned round: (5 − 1) / 6.
    found = taus(scores([4, 3, 2, 1], [4, 2, 3, 1], [1, 2, 3, 4]))
    assert found[0, 1] == pytest.approx(4 / 6)
    assert found[0, 2] == -1.0, "the reverse"
    assert found[1, 2] == pytest.approx(-4 / 6)
    assert np.diag(found).tolist() == [1, 1, 1]


def test_ties_are_taken_out_of_both_sides_of_tau_b():
    # One: p > q > r. Other: p > q = r. Pairs pq, pr agree, qr is tied in the other: 2 / √(3 × 2).
    assert taus(scores([3, 2, 1], [5, 4, 4]))[0, 1] == pytest.approx(2 / np.sqrt(6))


def test_scores_that_differ_by_rounding_only_are_tied():
    thirds = 1 / 3 + 1 / 3 + 1 / 3
    assert taus(scores([3, 2, 1], [5, 4 * thirds + 1e-9, 4]))[0, 1] == pytest.approx(2 / np.sqrt(6))


def test_a_player_one_ranking_lacks_is_left_out_of_its_pairs():
    # Without s: 3 2 1 beside 1 3 2. pq and pr are turned round, qr is not: (1 − 2) / 3.
    found = taus(scores([3, 2, 1, 9], [1, 3, 2, NAN]))
    assert found[0, 1] == pytest.approx(-1 / 3)


@given(some.lists(some.tuples(*[some.integers(1, 5)] * 2), min_size=3, max_size=12))
def test_tau_is_scipys(pairs):
    x, y = np.array(pairs, dtype=float).T
    own = taus(scores(x, y))[0, 1]
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert np.isnan(own)
    else:
        assert own == pytest.approx(stats.kendalltau(x, y).statistic)


def test_the_mean_is_over_every_two():
    own = scores([4, 3, 2, 1], [4, 2, 3, 1], [1, 2, 3, 4])
    found = stability(["a", "b", "c"], own, undrawn(own), 60)
    assert [(t.a, t.b, t.tau.n) for t in found.pairs] == [("a", "b", 4), ("a", "c", 4), ("b", "c", 4)]
    assert found.mean.value == pytest.approx((4 / 6 - 1 - 4 / 6) / 3)
    assert found.mean.n == 3
    assert (found.mean.interval, found.mean.reason) == (None, "no interval: no resamples were drawn")


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (([2, 1], [2, 1]), "2 players in common, at least 3 are needed"),
        (([3, 2, NAN], [NAN, 2, 1]), "one player in common, at least 3 are needed"),
        (([3, 2, 1], [4, 4, 4]), "b gives all of them the same score"),
    ],
)
def test_tau_is_undefined_with_its_reason(rows, reason):
    own = scores(*rows)
    found = stability(["a", "b"], own, undrawn(own), 60)
    assert (found.pairs[0].tau.value, found.pairs[0].tau.reason) == (None, reason)
    assert (found.mean.value, found.mean.reason, found.mean.n) == (None, reason, 0)


def test_pairs_without_a_value_are_out_of_the_mean():
    own = scores([3, 2, 1], [4, 4, 4], [3, 1, 2])
    found = stability(["a", "b", "c"], own, undrawn(own), 60)
    assert [t.tau.value for t in found.pairs] == [None, pytest.approx(1 / 3), None]
    assert (found.mean.value, found.mean.n) == (pytest.approx(1 / 3), 1)


def test_one_ranking_has_nothing_to_be_compared_with():
    own = scores([3, 2, 1])
    assert stability(["a"], own, undrawn(own), 60).mean.reason == "fewer than two rankings to compare"


def test_the_interval_is_of_the_resampled_orders():
    own = scores([3, 2, 1], [3, 2, 1])
    # Of four resamples two keep the order (τ = 1) and two turn q and r round in the second (τ = 1/3).
    turned = scores([3, 2, 1], [3, 1, 2])
    found = stability(["a", "b"], own, np.array([own, own, turned, turned]), 60)
    assert found.pairs[0].tau.value == 1.0
    # The resamples' SD is √(4/3)/3 = 0.3849, with 60 items SE = 0.3849 · √(60/59) = 0.38815. Four resamples
    # leave t three degrees of freedom: t₃ = 3.18245.
    assert found.pairs[0].tau.interval == pytest.approx((1 - 3.18245 * 0.38815, 1), abs=1e-4)
    assert found.mean.interval == found.pairs[0].tau.interval


def test_a_resample_that_lost_a_player_has_no_value():
    own = scores([3, 2, 1], [3, 2, 1])
    lost = scores([NAN, 2, 1], [NAN, 2, 1])
    found = stability(["a", "b"], own, np.array([own, lost, lost]), 60)
    assert (found.pairs[0].tau.interval, found.pairs[0].tau.reason) == (
        None,
        "no interval: undefined in 67% of the resamples",
    )


# Means under resampling


def test_means_of_groups_and_of_resamples():
    values = scores([1, 10], [3, 30], [5, 50])
    own, drawn = means(values, np.array([0, 0, 1]), 3, resamples=500, seed=1)
    # Group 0 holds the first two items, group 1 the third, group 2 none.
    assert own[:, :2].tolist() == [[2, 5], [20, 50]]
    assert np.isnan(own[:, 2]).all()
    assert drawn.shape == (500, 2, 3)
    assert set(np.unique(drawn[:, 0, 1][~np.isnan(drawn[:, 0, 1])])) == {5.0}
    # The second column is ten times the first in every resample: both rest on the same draws.
    assert np.allclose(drawn[:, 1], 10 * drawn[:, 0], equal_nan=True)
    # All three draws miss the third item with (2/3)³ = 8/27.
    assert np.isnan(drawn[:, 0, 1]).mean() == pytest.approx(8 / 27, abs=0.06)


def test_means_of_nothing():
    own, drawn = means(np.empty((0, 2)), np.array([], dtype=int), 0)
    assert own.shape == (2, 0)
    assert len(drawn) == 0


# PageRank


def test_pagerank_of_three_models_by_hand():
    """Judge a gives 1 to b and 3 to c; b gives 1 to a and 1 to c; c gives all to a. Damping 1/2.

    a = 1/6 + ½(b/2 + c), b = 1/6 + ½ · a/4, c = 1/6 + ½(3a/4 + b/2). With a + b + c = 1: b = 1/6 + a/8, so a
    = 1/6 + ½(b/2 + 1 − a − b) = 2/3 − a/2 − b/4 = 2/3 − a/2 − 1/24 − a/32, hence a · 49/32 = 5/8, a = 20/49.
    """
    found = pagerank(scores([0, 1, 3], [1, 0, 1], [2, 0, 0]), damping=0.5)
    assert found[0] == pytest.approx(20 / 49)
    assert found[1] == pytest.approx(1 / 6 + 20 / 49 / 8)
    assert found.sum() == pytest.approx(1)


def test_a_model_s_own_praise_does_not_count():
    fair = scores([0, 2, 2], [2, 0, 2], [2, 2, 0])
    vain = fair + np.diag([100, 0, 0])
    assert pagerank(vain).tolist() == pytest.approx(pagerank(fair).tolist())
    assert pagerank(fair).tolist() == pytest.approx([1 / 3] * 3)


def test_a_model_that_gives_nothing_hands_its_rank_to_all():
    # c gives nobody anything: a = b by symmetry, all of them fed alike by c.
    found = pagerank(scores([0, 1, 1], [1, 0, 1], [0, 0, 0]))
    assert found[0] == pytest.approx(found[1])
    assert found.sum() == pytest.approx(1)


def test_pagerank_is_where_the_walk_ends():
    edges = np.random.default_rng(4).uniform(0.1, 5, (6, 6))
    np.fill_diagonal(edges, 0)
    handed, rank = edges / edges.sum(axis=1, keepdims=True), np.full(6, 1 / 6)
    for _ in range(200):
        rank = 0.15 / 6 + 0.85 * handed.T @ rank
    assert pagerank(edges).tolist() == pytest.approx(rank.tolist())


def test_negative_weights_are_refused():
    with pytest.raises(ValueError, match="negative"):
        pagerank(scores([0, -1], [1, 0]))


# Against another ranking


def test_spearman_and_ranks_by_hand():
    # Ranks here 1 2 3 4, there 2 1 4 3: ρ = 1 − 6 · (1 + 1 + 1 + 1) / (4 · 15) = 0.6.
    rho, p = against(scores(9, 8, 7, 6), scores(30, 40, 10, 20))
    assert rho.value == pytest.approx(0.6), "1 − 6 · 4 / (4 · 15)"
    assert p.value == pytest.approx(stats.spearmanr([9, 8, 7, 6], [30, 40, 10, 20]).pvalue)


@pytest.mark.parametrize(
    ("here", "there", "reason"),
    [
        ([], [], "no model in common, at least 3 are needed"),
        ([1, 2], [2, 1], "2 models in common, at least 3 are needed"),
        ([1, 2, 3], [4, 4, 4], "one of the two gives all of them the same score"),
    ],
)
def test_spearman_is_undefined_with_its_reason(here, there, reason):
    rho, p = against(scores(*here), scores(*there))
    assert (rho.value, p.value, rho.reason) == (None, None, reason)


def test_a_perfect_order_of_few_has_no_p():
    rho, p = against(scores(1, 2, 3, 4), scores(1, 2, 3, 4))
    assert (rho.value, p.value) == (1.0, None)
    assert "perfect correlation" in p.reason
