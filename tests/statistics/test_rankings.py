"""Spearman with another ranking of the same models, beside arithmetic by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from concord.statistics.rankings import against


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
