"""Spearman with another ranking of the same models, and agreement of orders, beside arithmetic by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from concord.statistics.rankings import against, among, beside, orders


def scores(*rows):
    return np.array(rows, dtype=float)


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
        ([1, 2, 3], [4, 4, 4], "one of the two scores them all alike"),
    ],
)
def test_spearman_is_undefined_with_its_reason(here, there, reason):
    rho, p = against(scores(*here), scores(*there))
    assert (rho.value, p.value, rho.reason) == (None, None, reason)


def test_a_perfect_order_of_few_has_no_p():
    rho, p = against(scores(1, 2, 3, 4), scores(1, 2, 3, 4))
    assert (rho.value, p.value) == (1.0, None)
    assert "perfect correlation" in p.reason


def outcomes(*orders, scenario="s"):
    """What orders (the rank of each of a, b, c …) say of every two."""
    rows = [
        (scenario, "abcdefghij"[i], "abcdefghij"[j], str(rater), np.sign(ranks[j] - ranks[i]))
        for rater, ranks in enumerate(orders)
        for i, j in combinations(range(len(ranks)), 2)
    ]
    return pd.DataFrame(rows, columns=["scenario", "one", "other", "rater", "outcome"])


def test_spearman_of_orders_is_the_mean_over_groups():
    """Of 1 2 3 with 1 3 2 ρ = 1 − 6 · 2 / 24 = 0.5, with 3 2 1 it is −1; the mean over both is −0.25."""
    groups = [np.array([[1.0, 2, 3], [1, 3, 2]]), np.array([[1.0, 2, 3], [3, 2, 1]])]
    assert among(groups)["rho"].value == pytest.approx(-0.25)
    rho = beside((of[:1], of[1:]) for of in groups)["rho"]
    assert (rho.value, rho.n) == (pytest.approx(-0.25), 2)


def test_orders_that_are_not_whole_and_ties_alone_are_left_out():
    table = outcomes((1, 2, 3), (1, 1, 1), (2, 1, 3))
    ranks = orders(table.iloc[:-1])["s"]
    assert [*ranks.index] == ["0", "1"]
    assert among([ranks.to_numpy()])["rho"].value is None
    assert orders(outcomes((1, 2), (1, 2))) == {}
