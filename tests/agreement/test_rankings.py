"""Spearman with another ranking of the same models, and agreement of orders, beside arithmetic by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from concord.statistics.rankings import against, among, beside, orders, strengths


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


def luce(*orders_and_counts):
    """Groups, each of one order (ranks of a, b, c) by one rater."""
    ranks = [order for order, count in orders_and_counts for _ in range(count)]
    return {str(n): pd.DataFrame([order], columns=["a", "b", "c"]) for n, order in enumerate(ranks)}


def test_strengths_are_those_by_which_orders_are_as_frequent_as_the_model_says():
    """Of a, b, c chosen in proportion to 3 : 2 : 1 the order abc has 3/6 · 2/3 = 1/3, acb 3/6 · 1/3 = 1/6,
    bac 2/6 · 3/4 = 1/4, bca 1/12, cab 1/6 · 3/5 = 1/10, cba 1/15: of 60 they are 20, 10, 15, 5, 6 and 4.
    """
    groups = luce(
        ((1, 2, 3), 20), ((1, 3, 2), 10), ((2, 1, 3), 15), ((3, 1, 2), 5), ((2, 3, 1), 6), ((3, 2, 1), 4)
    )
    rows = {row["player"]: row["strength"] for row in strengths(groups, ["a", "b", "c"], resamples=200)}
    middle = np.log([3, 2, 1]).mean()
    assert {name: of.value for name, of in rows.items()} == pytest.approx(
        {"a": np.log(3) - middle, "b": np.log(2) - middle, "c": -middle}, abs=1e-6
    )
    assert all(of.n == 60 and of.interval[0] < of.value < of.interval[1] for of in rows.values())


def test_strengths_of_groups_of_two_are_those_of_bradley_and_terry():
    """a before b three times of four: 3 : 1, half of ln 3 on either side of 0."""
    groups = {
        str(n): pd.DataFrame([order], columns=["a", "b"]) for n, order in enumerate([(1, 2)] * 3 + [(2, 1)])
    }
    first, second = strengths(groups, ["a", "b"], resamples=0)
    assert (first["player"], first["strength"].value) == ("a", pytest.approx(np.log(3) / 2))
    assert second["strength"].value == pytest.approx(-np.log(3) / 2)


def test_players_that_share_each_rank_are_equally_strong():
    rows = strengths(luce(((1.5, 1.5, 3), 4), ((2.5, 2.5, 1), 2)), ["a", "b", "c"], resamples=0)
    of = {row["player"]: row["strength"].value for row in rows}
    assert of["a"] == pytest.approx(of["b"])
    assert of["a"] > of["c"]


def test_a_player_that_is_always_last_has_no_strength():
    rows = strengths(luce(((1, 2, 3), 2), ((2, 1, 3), 2)), ["a", "b", "c"], resamples=0)
    assert {row["strength"].reason for row in rows} == {
        "some players never took half a point from the others"
    }
    assert strengths({}, ["a", "b"], resamples=0)[0]["strength"].reason == "nothing was compared"
